"""`same_tree(a, b)`: do two trees of `julia_tree.parse` say the same, with the same parts shared?"""

from __future__ import annotations

import struct
from typing import Any


def same_tree(ours: Any, theirs: Any) -> None:
    """Raise AssertionError unless they do. Elements of a document with a tag may stand in any order."""
    todo = [(ours, theirs, "$", False)]
    seen: set[tuple[int, int]] = set()
    forward: dict[int, int] = {}
    backward: dict[int, int] = {}
    while todo:
        a, b, path, in_type = todo.pop()
        assert type(a) is type(b), f"{path}: {type(a).__name__} and {type(b).__name__}"
        if not isinstance(a, (dict, list)):
            assert (struct.pack("<d", a) == struct.pack("<d", b)) if isinstance(a, float) else a == b, path
            continue
        if has_identity(a, in_type):
            assert forward.setdefault(id(a), id(b)) == id(b), f"{path}: shared in the first alone"
            assert backward.setdefault(id(b), id(a)) == id(a), f"{path}: shared in the second alone"
        if (id(a), id(b)) in seen:
            continue
        seen.add((id(a), id(b)))
        assert len(a) == len(b), f"{path}: {len(a)} and {len(b)} parts"
        if isinstance(a, list):
            pairs = enumerate(zip(a, b, strict=True))
            todo += [(mine, yours, f"{path}[{at}]", in_type) for at, (mine, yours) in pairs]
            continue
        assert (set(a) == set(b)) if "tag" in a else (list(a) == list(b)), f"{path}: {list(a)} and {list(b)}"
        todo += [(a[key], b[key], f"{path}.{key}", is_type(a)) for key in a]


def is_type(node: dict[str, Any]) -> bool:
    """Types are described anew, or referred to, as a writer likes."""
    return node.get("tag") in ("datatype", "unionall", "jl_anonymous") or named(node) == "Union"


def named(node: dict[str, Any]) -> str:
    of = node.get("type") if node.get("tag") == "struct" else None
    return of["name"][-1] if isinstance(of, dict) and "name" in of else ""


def has_identity(node: Any, in_type: bool) -> bool:
    """Whether Julia has one object wherever this is met."""
    if isinstance(node, list):
        return not in_type
    if node.get("tag") == "struct":
        return named(node) != "Union"
    return node.get("tag") == "array" or "tag" not in node
