"""Which key or member of the restored object stands for which of the original's."""

from __future__ import annotations

import base64
import datetime
import enum
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable
from typing import Any

from .kinds import FIELDS, MAPPING, MEMBERS, REFERENCE, SEQUENCE, VALUE, Kind

PLAIN = frozenset({type(None), bool, int, str, bytes})
DEPTH = 6
WIDTH = 24

KindOf = Callable[[type], Kind]


def pair_up(
    ours: list[Any],
    theirs: list[Any],
    kind_of: KindOf,
    known: Callable[[Any], Any],
    fits: Callable[[Any, Any], bool] | None = None,
) -> tuple[list[tuple[Any, Any]], list[Any], list[Any], bool]:
    """The pairs, in our order; what has no partner, of both; whether some look alike, so that the choice may be wrong.

    known: what an object of ours became, if that is known. fits: decides between those that look alike.
    """
    partners: dict[int, Any] = {}
    alike = False
    left, right = list(range(len(ours))), theirs
    by_id = {id(each): each for each in right}
    for index in left:
        partner = known(ours[index])
        if partner is not None and by_id.pop(id(partner), None) is not None:
            partners[index] = partner
    for loosely in (False, True):
        left = [index for index in left if index not in partners]
        right = [each for each in right if id(each) in by_id]
        if not left or not right:
            break
        groups: dict[Hashable, list[Any]] = defaultdict(list)
        for each in reversed(right):
            groups[sketch(each, kind_of, loosely)].append(each)
        for index in left:
            group = groups.get(sketch(ours[index], kind_of, loosely))
            if group:
                chosen = -1
                if len(group) > 1 and kind_of(type(ours[index])).bound:
                    alike = True
                    if fits is not None:
                        fitting = (at for at in reversed(range(len(group))) if fits(ours[index], group[at]))
                        chosen = next(fitting, -1)
                partners[index] = group.pop(chosen)
                by_id.pop(id(partners[index]), None)
    left = [index for index in left if index not in partners]
    right = [each for each in right if id(each) in by_id]
    # Whose contents changed too is taken to have kept its place among the others.
    if len(left) == len(right):
        for index, each in zip(left, right, strict=True):
            cls = type(ours[index])
            if cls is not type(each) or cls not in PLAIN:
                partners[index] = each
                by_id.pop(id(each))
        left = [index for index in left if index not in partners]
        right = [each for each in right if id(each) in by_id]
    pairs = [(ours[index], partners[index]) for index in sorted(partners)]
    return pairs, [ours[index] for index in left], right, alike


def sketch(obj: Any, kind_of: KindOf, loosely: bool, depth: int = DEPTH) -> Hashable:
    """What equal objects have in common, and different ones mostly don't. loosely: whatever their types."""
    cls = type(obj)
    if loosely:
        text = as_text(obj)
        if text is not None:
            return text
    elif cls in PLAIN:
        return (cls, obj)
    elif cls is tuple and PLAIN.issuperset(types := tuple(map(type, obj))):
        return (types, obj)
    kind = kind_of(cls)
    if kind.shape == REFERENCE:
        return id(obj)
    name: Hashable = () if loosely else (cls,)
    if kind.shape == VALUE and not kind.has_fields:
        return (name, repr(kind.take(obj)))
    if depth == 0:
        return name
    if kind.shape == SEQUENCE or kind.shape == MEMBERS:
        each = [
            sketch(item, kind_of, loosely, depth - 1)
            for item, _ in zip(kind.take(obj), range(WIDTH), strict=False)
        ]
        if kind.shape == SEQUENCE:
            return (name, tuple(each))
        return (name, frozenset(Counter(each).items()))
    if kind.shape == FIELDS or kind.shape == MAPPING:
        fields = kind.fields(obj).items() if kind.shape == FIELDS else list(zip(*kind.take(obj), strict=True))
        named = {field: value for field, value in fields if type(field) is str}
        parts = [
            (field, sketch(named[field], kind_of, loosely, depth - 1)) for field in sorted(named)[:WIDTH]
        ]
        return (name, len(fields), tuple(parts))
    return name


def as_text(obj: Any) -> str | None:
    """What formats whose keys are text make of a key."""
    # `isinstance` would ask the object
    cls = type(obj)
    if issubclass(cls, enum.Enum):
        return as_text(obj.value)
    if cls is bool:
        return "true" if obj else "false"
    if obj is None:
        return "null"
    if cls is float:
        return repr(int(obj)) if obj.is_integer() else repr(obj)
    if issubclass(cls, str):
        return str.__str__(obj)
    if issubclass(cls, bytes):
        try:
            return bytes.decode(obj)
        except UnicodeDecodeError:
            return base64.b64encode(obj).decode()
    if issubclass(cls, int):
        return int.__repr__(obj)
    if issubclass(cls, (datetime.date, datetime.time)):
        return str(obj.isoformat())
    if cls.__module__ in ("uuid", "decimal", "pathlib", "fractions", "ipaddress"):
        return str(obj)
    return None
