"""Arrow: `to_arrow(records, Event)`, `schema_of(Event)`, `from_arrow(table, Event)`: typed records as columns, and back.

A column is a field of a dataclass, a NamedTuple, a TypedDict, or of a class of attrs, msgspec or pydantic.
"""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import operator
import types
import typing
import uuid
from typing import TYPE_CHECKING, Any

from .. import _core
from ._base import missing

try:
    import pyarrow as pa
except ImportError as error:
    raise missing("pyarrow", "arrow", error) from error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

__all__ = ["batches", "from_arrow", "schema_of", "to_arrow"]

# What Python's values of a type become. A datetime has its zone by its own: as Arrow keeps one zone for a column, that is UTC.
_LEAVES: dict[Any, Any] = {
    bool: pa.bool_(),
    int: pa.int64(),
    float: pa.float64(),
    str: pa.string(),
    bytes: pa.binary(),
    bytearray: pa.binary(),
    datetime.datetime: pa.timestamp("us", tz="UTC"),
    datetime.date: pa.date32(),
    datetime.time: pa.time64("us"),
    datetime.timedelta: pa.duration("us"),
    uuid.UUID: pa.string(),
    type(None): pa.null(),
}
_SEQUENCES = (list, set, frozenset, typing.get_origin(typing.Sequence[int]))
# What a TypedDict says of a key, since Python 3.11.
_REQUIREMENTS = tuple(getattr(typing, name) for name in ("Required", "NotRequired") if hasattr(typing, name))
# How many records become columns at once.
BATCH = 1 << 16


def schema_of(type: Any) -> pa.Schema:
    """The columns of records of a type.

    ints become int64, texts string, datetimes timestamps of microseconds in UTC (those without a zone keep none: annotate them
    `Annotated[datetime, pa.timestamp("us")]`), UUIDs text, lists and sets lists, `dict[str, T]` maps, classes with fields structs,
    members of an Enum their values, `T | None` what may be null. An Arrow type in `Annotated` is taken as it stands; for Decimals one
    is needed, as their precision is no matter of theirs.

    Raises TypeError: a field has a type that no column has; the text names it.

    >>> import dataclasses
    >>> @dataclasses.dataclass
    ... class Event:
    ...     at: int
    ...     name: str | None
    >>> schema_of(Event).names
    ['at', 'name']
    """
    fields = _fields(type)
    if fields is None:
        raise TypeError(f"expected a class with fields, got {_shown(type)}")
    return pa.schema([_field(name, wanted, (_shown(type),)) for name, wanted in fields.items()])


def to_arrow(records: Iterable[Any], type: Any) -> pa.Table:
    """A table of typed records. Raises TypeError: as `schema_of`; pyarrow's errors, where a value is no `type`'s.

    >>> from typing import NamedTuple
    >>> class Point(NamedTuple):
    ...     x: int
    ...     y: float
    >>> to_arrow([Point(1, 0.5), Point(2, 1.5)], Point).to_pylist()
    [{'x': 1, 'y': 0.5}, {'x': 2, 'y': 1.5}]
    """
    return pa.Table.from_batches(list(batches(records, type)), schema_of(type))


def batches(records: Iterable[Any], type: Any, size: int = BATCH) -> Iterator[pa.RecordBatch]:
    """The same, `size` records at a time."""
    import itertools

    schema, columns = schema_of(type), _columns(type)
    left = iter(records)
    while rows := list(itertools.islice(left, size)):
        yield pa.RecordBatch.from_arrays(
            [pa.array(column(rows), field.type) for column, field in zip(columns, schema, strict=True)],
            schema=schema,
        )


def from_arrow(table: pa.Table | pa.RecordBatch, type: Any) -> Iterator[Any]:
    """The records of a table, built and checked as `type`: `to_arrow`'s way back.

    Raises ValidationError: a row is no `type`.
    """
    build = _core.Decoder(type=list[type], strict=False).decode
    encode, back = _core.Encoder().encode, _back(type) or _same
    for batch in table.to_batches(BATCH) if isinstance(table, pa.Table) else [table]:
        yield from build(encode([back(row) for row in batch.to_pylist()]))


def _shown(type: Any) -> str:
    return getattr(type, "__qualname__", None) or str(type)


def _fields(cls: Any) -> dict[str, Any] | None:
    """The annotations of a class with fields; None for anything else."""
    if not isinstance(cls, type):
        return None
    is_one = (
        dataclasses.is_dataclass(cls)
        or (issubclass(cls, tuple) and hasattr(cls, "_fields"))
        or typing.is_typeddict(cls)
        or hasattr(cls, "__attrs_attrs__")
        or hasattr(cls, "__struct_fields__")
        or hasattr(cls, "model_fields")
    )
    if not is_one:
        return None
    hints = typing.get_type_hints(cls, include_extras=True)
    names: Any
    if dataclasses.is_dataclass(cls):
        names = [field.name for field in dataclasses.fields(cls)]
    elif hasattr(cls, "__attrs_attrs__"):
        names = [field.name for field in cls.__attrs_attrs__]
    else:
        names = next(
            (
                getattr(cls, name)
                for name in ("_fields", "__struct_fields__", "model_fields")
                if hasattr(cls, name)
            ),
            hints,
        )
    return {name: hints.get(name, Any) for name in names}


def _plain(wanted: Any) -> tuple[Any, bool, list[pa.DataType]]:
    """An annotation without what is around it, whether None is allowed, and Arrow types that it names."""
    optional, named = False, []
    while True:
        origin = typing.get_origin(wanted)
        if origin is typing.Annotated:
            named += [extra for extra in wanted.__metadata__ if isinstance(extra, pa.DataType)]
            wanted = wanted.__origin__
        elif origin in (typing.Union, types.UnionType):
            others = [one for one in typing.get_args(wanted) if one is not type(None)]
            if len(others) != 1:
                return wanted, optional, named
            wanted, optional = others[0], True
        elif origin is not None and origin in _REQUIREMENTS:
            optional = optional or origin is _REQUIREMENTS[-1]
            wanted = typing.get_args(wanted)[0]
        elif isinstance(wanted, typing.NewType):
            wanted = wanted.__supertype__
        else:
            return wanted, optional, named


def _field(name: str, wanted: Any, path: tuple[str, ...]) -> pa.Field:
    plain, optional, _ = _plain(wanted)
    return pa.field(name, _type(wanted, (*path, name)), nullable=optional or plain is type(None))


def _type(wanted: Any, path: tuple[str, ...]) -> pa.DataType:
    plain, _, named = _plain(wanted)
    if named:
        return named[-1]
    if plain in _LEAVES:
        return _LEAVES[plain]
    origin, args = typing.get_origin(plain), typing.get_args(plain)
    if origin in _SEQUENCES and args:
        return pa.list_(_field("item", args[0], path))
    if origin is tuple and len(args) == 2 and args[1] is ...:
        return pa.list_(_field("item", args[0], path))
    if origin is dict and len(args) == 2:
        return pa.map_(_type(args[0], path), _type(args[1], path))
    if origin is typing.Literal:
        kinds = {type(one) for one in args}
        if len(kinds) == 1:
            return _type(kinds.pop(), path)
    if isinstance(plain, type) and issubclass(plain, enum.Enum):
        kinds = {type(member.value) for member in plain}
        if len(kinds) == 1:
            return _type(kinds.pop(), path)
    fields = _fields(plain)
    if fields is not None:
        return pa.struct([_field(name, one, path) for name, one in fields.items()])
    hint = ""
    if plain is decimal.Decimal:
        hint = ": annotate it `Annotated[Decimal, pyarrow.decimal128(precision, scale)]`"
    raise TypeError(f"no column for `{_shown(plain)}`, which {'.'.join(path)} is{hint}")


def _columns(cls: Any) -> list[Callable[[list[Any]], list[Any]]]:
    """What takes the values of each field out of rows."""
    taken: list[Callable[[list[Any]], list[Any]]] = []
    for place, (name, wanted) in enumerate((_fields(cls) or {}).items()):
        change = _change(wanted)
        if typing.is_typeddict(cls):
            taken.append(_column(_member(name), change))
        elif issubclass(cls, tuple):
            taken.append(_column(operator.itemgetter(place), change))
        else:
            taken.append(_column(operator.attrgetter(name), change))
    return taken


def _member(name: str) -> Callable[[Any], Any]:
    return lambda row: row.get(name)


def _column(
    get: Callable[[Any], Any], change: Callable[[Any], Any] | None
) -> Callable[[list[Any]], list[Any]]:
    if change is None:
        return lambda rows: [*map(get, rows)]
    return lambda rows: [None if (value := get(row)) is None else change(value) for row in rows]


def _change(wanted: Any) -> Callable[[Any], Any] | None:
    """What pyarrow has to be given in the place of a value; None: the value itself."""
    plain, _, _ = _plain(wanted)
    origin, args = typing.get_origin(plain), typing.get_args(plain)
    if plain is uuid.UUID:
        return str
    if plain is bytearray:
        return bytes
    if isinstance(plain, type) and issubclass(plain, enum.Enum):
        return operator.attrgetter("value")
    if origin is dict:
        key, value = (_change(one) or _same for one in args)
        return lambda items: [(key(name), value(item)) for name, item in items.items()]
    if (origin in _SEQUENCES or origin is tuple) and args:
        inner = _change(args[0])
        if inner is not None:
            return lambda items: [None if item is None else inner(item) for item in items]
        return None if origin in (list, tuple) else list
    fields = _fields(plain)
    if fields is not None:
        names, columns = list(fields), _columns(plain)
        return lambda item: {name: column([item])[0] for name, column in zip(names, columns, strict=True)}
    return None


def _back(wanted: Any) -> Callable[[Any], Any] | None:
    """Mirror of `_change`: what holdall builds a type of, in the place of what pyarrow gives."""
    plain, _, _ = _plain(wanted)
    origin, args = typing.get_origin(plain), typing.get_args(plain)
    made: Callable[[Any], Any] | None = None
    if origin is dict:
        key, value = (_back(one) or _same for one in args)
        made = lambda items: {key(name): value(item) for name, item in items}  # noqa: E731
    elif (origin in _SEQUENCES or origin is tuple) and args:
        inner = _back(args[0])
        if inner is not None:
            made = lambda items: [inner(item) for item in items]  # noqa: E731
    elif (fields := _fields(plain)) is not None:
        ways = [_back(one) for one in fields.values()]
        if issubclass(plain, tuple):
            made = lambda row: [(way or _same)(value) for way, value in zip(ways, row.values(), strict=True)]  # noqa: E731
        elif any(ways):
            made = lambda row: {  # noqa: E731
                name: value if way is None else way(value)
                for (name, value), way in zip(row.items(), ways, strict=True)
            }
    return None if made is None else lambda value: None if value is None else made(value)


def _same(value: Any) -> Any:
    return value
