"""Depth: no recursion limit on either side, in the main thread and in one with a small stack; `limits.depth` bounds it."""

from __future__ import annotations

import collections
import gc
import sys
import threading
import types
from typing import Any, Callable

import pytest

import holdall
from tests.support import models
from tests.support.isomorphic import isomorphic
from tests.support.kinds import build

DEEP = 1_000_000
# for the shapes that are not promised by name: as deep as no C stack is
LESS_DEEP = 100_000
pytestmark = pytest.mark.usefixtures("no_collector")
TYPES = [models.PlainSlots, models.PlainDict, models.DNode, models.NPoint]


def lists(depth: int = DEEP) -> Any:
    node: Any = [7]
    for _ in range(depth):
        node = [node]
    return node


def linked(depth: int = DEEP) -> Any:
    """A linked list of slotted nodes."""
    node = None
    for value in range(depth):
        node = build(models.PlainSlots, value=value, right=node)
    return node


def dicts(depth: int = DEEP) -> Any:
    node: Any = {"end": True}
    for _ in range(depth):
        node = {"next": node, "flag": None}
    return node


def int_keys(depth: int = LESS_DEEP) -> Any:
    node: Any = {}
    for value in range(depth):
        node = {value: node}
    return node


def tuples(depth: int = LESS_DEEP) -> Any:
    node: Any = []
    for _ in range(depth):
        node = (node, 1)
    return node


def instances(depth: int = LESS_DEEP) -> Any:
    node = None
    for _ in range(depth):
        node = build(models.PlainDict, child=node)
    return node


def mixed(depth: int = LESS_DEEP) -> Any:
    node: Any = None
    for i in range(depth // 4):
        node = models.DNode(i, [({"next": node},)])
    return node


def ring(depth: int = LESS_DEEP) -> Any:
    """The linked list closed to a ring, linked in both directions."""
    nodes = [build(models.PlainSlots, value=value) for value in range(depth)]
    for index, node in enumerate(nodes):
        node.left, node.right = nodes[index - 1], nodes[(index + 1) % len(nodes)]
    return nodes[0]


SHAPES: dict[str, Callable[..., Any]] = {
    make.__name__: make for make in (lists, linked, dicts, int_keys, tuples, instances, mixed, ring)
}


def in_small_thread(work: Callable[[], Any]) -> Any:
    """Run `work` in a thread whose stack is 64 KiB, or as near as the platform allows."""
    found: list[Any] = []

    def run() -> None:
        try:
            found.append(work())
        except BaseException as error:
            found.append(error)

    before = threading.stack_size()
    for size in (64, 128, 256):
        try:
            threading.stack_size(size * 1024)
            break
        except ValueError:
            continue
    try:
        thread = threading.Thread(target=run)
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join()
    if isinstance(found[0], BaseException):
        raise found[0]
    return found[0]


def unchain(node: Any) -> None:
    """Take a ring apart, so that freeing it needs no collector run."""
    while isinstance(node, models.PlainSlots) and hasattr(node, "right"):
        following = node.right
        del node.right
        if hasattr(node, "left"):
            del node.left
        node = following


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.xdist_group("memory")
def test_a_million_deep(name: str) -> None:
    """On the smallest stack; on the main one what comes back is dumped once more."""
    assert sys.getrecursionlimit() <= 1_000
    obj = SHAPES[name]()
    data = in_small_thread(lambda: holdall.dumps(obj))
    assert len(data) <= 16 * DEEP
    copied = in_small_thread(lambda: holdall.deepcopy(obj))
    unchain(obj)
    obj = None
    # To compare a million objects one by one takes longer than all the rest; equal bytes tell the same, as the next test checks.
    for back in (copied, in_small_thread(lambda: holdall.loads(data, types=TYPES))):
        assert holdall.dumps(back) == data
        unchain(back)


@pytest.mark.parametrize("name", SHAPES)
def test_deep_graphs_are_what_they_were(name: str) -> None:
    obj = SHAPES[name](30_000)
    data = holdall.dumps(obj)
    back = in_small_thread(lambda: holdall.loads(data, types=TYPES))
    isomorphic(obj, back)
    assert holdall.dumps(back) == in_small_thread(lambda: holdall.dumps(back)) == data
    unchain(obj)
    unchain(back)


@pytest.mark.xdist_group("memory")
@pytest.mark.parametrize(
    "options", [{"canonical": True}, {"refs": False}, {"trust": True}, {"intern": True}], ids=str
)
def test_other_modes_deeper_than_any_stack(options: dict[str, bool]) -> None:
    gc.enable()  # it has its turn in the midst of them
    obj = lists(LESS_DEEP * 2)
    data = in_small_thread(lambda: holdall.dumps(obj, **options))
    back = in_small_thread(lambda: holdall.loads(data, trust=options.get("trust", False)))
    assert holdall.dumps(back) == holdall.dumps(obj)


def nested(make: Callable[[Any], Any], depth: int) -> Any:
    node: Any = None
    for _ in range(depth):
        node = make(node)
    return node


LEVELS: dict[str, Callable[[Any], Any]] = {
    "list": lambda node: [node],
    "tuple": lambda node: (node,),
    "dict": lambda node: {1: node},
    "shaped dict": lambda node: {"a": node},
    "frozenset": lambda node: frozenset([node]),
    "instance": lambda node: build(models.PlainDict, child=node),
    "named tuple": lambda node: models.NPoint(node),
    "deque": lambda node: collections.deque([node]),
    "slice": lambda node: slice(node),
    "namespace": lambda node: types.SimpleNamespace(a=node),
}


@pytest.mark.parametrize("name", LEVELS)
def test_limit_of_depth(name: str) -> None:
    """`limits.depth` counts containers: as many as it says pass, more do not."""
    make = LEVELS[name]
    data = holdall.dumps(nested(make, 200))
    back = holdall.loads(data, types=TYPES, limits=holdall.Limits(depth=1_000))
    isomorphic(nested(make, 200), back)
    with pytest.raises(holdall.LimitError, match=r"limits\.depth=100\b") as caught:
        holdall.loads(data, types=TYPES, limits=holdall.Limits(depth=100))
    assert 0 < caught.value.offset <= len(data)


def test_limit_of_depth_is_exact() -> None:
    for depth in (1, 2, 50):
        data = holdall.dumps(nested(LEVELS["list"], depth))
        holdall.loads(data, limits=holdall.Limits(depth=depth))
        with pytest.raises(holdall.LimitError):
            holdall.loads(data, limits=holdall.Limits(depth=depth - 1))


def test_width_is_not_depth() -> None:
    wide = [[i] for i in range(10_000)]
    isomorphic(wide, holdall.loads(holdall.dumps(wide), limits=holdall.Limits(depth=2)))
