"""Arrow's arrays by their buffers, and its schemas as Arrow itself writes them. Whatever is made of stored bytes is validated in full."""

from __future__ import annotations

import functools
from pickle import PickleBuffer
from typing import Any, NamedTuple

import pyarrow as pa

from .._core import sound_arrow
from ._checks import exact, octets, parts

# An array that holds this much less than its buffers is stored without what it doesn't hold.
_SPARE = 4096


def schema_bytes(schema: Any) -> bytes:
    """A schema with its metadata, as in Arrow's files."""
    return bytes(schema.serialize())


def schema_of(data: Any) -> Any:
    return columns_of(data).schema


def type_bytes(kind: Any) -> bytes | str:
    """A type: its name if that says all, else a schema with one field of it."""
    name = str(kind)
    if name in _NAMED:
        return name
    return schema_bytes(pa.schema([pa.field("", kind)]))


def type_of(data: Any) -> Any:
    return planned(data).kind


def planned(data: Any) -> Plan:
    """The plan of a stored type."""
    if type(data) is str:
        return _PLANS[data]
    plans = columns_of(data).plans
    if len(plans) != 1:
        raise ValueError("expected a schema of one field")
    return plans[0]


_NAMED = {
    str(kind): kind
    for kind in (
        pa.null(),
        pa.bool_(),
        *(
            make()
            for make in (pa.int8, pa.int16, pa.int32, pa.int64, pa.uint8, pa.uint16, pa.uint32, pa.uint64)
        ),
        *(make() for make in (pa.float16, pa.float32, pa.float64, pa.date32, pa.date64)),
        *(make() for make in (pa.string, pa.large_string, pa.binary, pa.large_binary)),
        *(pa.timestamp(unit) for unit in ("s", "ms", "us", "ns")),
        *(pa.duration(unit) for unit in ("s", "ms", "us", "ns")),
    )
}


def _is_fixed(kind: Any) -> bool:
    """Whether any bytes of that width are a value."""
    return kind not in (
        pa.bool_(),
        pa.string(),
        pa.large_string(),
        pa.binary(),
        pa.large_binary(),
        pa.date64(),
    )


_VIEWS = frozenset((pa.string_view(), pa.binary_view()))
# Types without children, and how many buffers they have.
_FLAT = {
    kind.id: kind.num_buffers
    for kind in (
        *_NAMED.values(),
        pa.time32("s"),
        pa.time64("us"),
        pa.decimal128(9),
        pa.decimal256(9),
        pa.binary(3),
    )
    if kind.num_buffers > 1
}
_NOTHING = pa.py_buffer(b"")
_restored: Any = pa.lib._restore_array
_py_buffer = pa.py_buffer

# Types of which the native side knows what makes an array of them sound, in its letters.
_LETTERS = {
    **{kind.id: f"{kind.bit_width // 8}" for kind in _NAMED.values() if kind.id in _FLAT and _is_fixed(kind)},
    pa.bool_().id: "b",
    pa.string().id: "t",
    pa.large_string().id: "T",
    pa.binary().id: "y",
    pa.large_binary().id: "Y",
    pa.string_view().id: "v",
    pa.binary_view().id: "w",
}
_LISTS = {pa.list_(pa.null()).id: "l", pa.large_list(pa.null()).id: "L"}
# The letters of their places.
_PLACES = {
    kind.id: letter
    for kind, letter in zip(
        (pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()),
        "bhiqBHIQ",
        strict=True,
    )
}


class Plan(NamedTuple):
    """A type, its letters for the native side (none: it can't tell), and the type of its only child and of its dictionary."""

    kind: Any
    letters: bytes
    child: Any = None
    coded: Any = None


def plan_of(kind: Any) -> Plan:
    """What there is to know of a type, once."""
    number = kind.id
    if number in _LETTERS and not isinstance(kind, pa.BaseExtensionType):
        return Plan(kind, _LETTERS[number].encode())
    if number in _LISTS and kind.value_field.nullable:
        child = plan_of(kind.value_type)
        return Plan(kind, child.letters and _LISTS[number].encode() + child.letters, child)
    if pa.types.is_dictionary(kind) and kind.index_type.id in _PLACES:
        coded = plan_of(kind.value_type)
        letters = b"d" + _PLACES[kind.index_type.id].encode() + coded.letters
        return Plan(kind, coded.letters and letters, None, coded)
    return Plan(kind, b"")


_PLANS = {name: plan_of(kind) for name, kind in _NAMED.items()}
LARGE_STRINGS = _PLANS["large_string"]


class Columns(NamedTuple):
    """A schema, the plan of each of its columns, and the type of a row of them: with what else a field says, and without."""

    schema: Any
    plans: list[Plan]
    row: Any
    bare_row: Any


# Below this size what data say of types is remembered.
_REMEMBERED = 4096


def columns_of(data: Any) -> Columns:
    """What a stored schema says. Tables that are stored alike ask once."""
    if type(data) is bytes and len(data) <= _REMEMBERED:
        return _columns_remembered(data)
    return _columns(octets(data))


def _columns(data: Any) -> Columns:
    schema = pa.ipc.read_schema(pa.py_buffer(data))
    bare = pa.struct([pa.field(one.name, one.type) for one in schema])
    return Columns(schema, [plan_of(one.type) for one in schema], pa.struct(list(schema)), bare)


_columns_remembered = functools.lru_cache(maxsize=64)(_columns)


def array_parts(array: Any) -> Any:
    """An array without its type: length, null count, offset, buffers, the same of its children, and of its dictionary."""
    # Of what a slice shares, only its own part is stored.
    if (array.offset or len(array) < 1 << 16) and _spare(array) > _SPARE:
        array = pa.concat_arrays([array])
    return _without_type(array.__reduce__()[1][0])


def _spare(array: Any) -> int:
    """How many bytes of an array's buffers it doesn't hold."""
    try:
        spare: int = array.get_total_buffer_size() - array.nbytes
    except pa.ArrowTypeError:
        return 0  # a type of which an older version can't tell
    return spare


def _without_type(data: Any) -> Any:
    _, length, _, offset, buffers, children, dictionary = data
    return (
        length,
        offset,
        [None if buffer is None else PickleBuffer(memoryview(buffer).toreadonly()) for buffer in buffers],
        [_without_type(child) for child in children] if children else (),
        None if dictionary is None else _without_type(dictionary),
    )


def array_of(plan: Plan, stored: Any, all_slots: bool = False) -> Any:
    """An array of a type. Raises ValueError, TypeError: parts that don't make one.

    all_slots: what stands where nulls are has to be valid, too: polars looks at it, Arrow doesn't.
    """
    if plan.letters and sound_arrow(plan.letters, stored):
        return _restored(_bare(plan, stored))
    made = _restored(_with_type(plan.kind, stored, all_slots))
    made.validate(full=True)
    return made


def row_of(columns: Columns, stored: Any, rows: Any, all_slots: bool = False) -> Any:
    """Columns as one array of rows. Raises ValueError, TypeError: as `array_of`; columns of another length.

    all_slots: as for `array_of`, and nothing of fields but names and types.
    """
    made = []
    exact(rows, int)
    for plan, content in zip(columns.plans, stored, strict=True):
        if plan.letters and sound_arrow(plan.letters, content):
            made.append(_bare(plan, content))
        else:
            data = _with_type(plan.kind, content, all_slots)
            _restored(data).validate(full=True)
            made.append(data)
        if content[0] != rows:
            raise ValueError("columns of another length")
    return _restored((columns.bare_row if all_slots else columns.row, rows, 0, 0, [None], made, None))


def _bare(plan: Plan, stored: Any) -> Any:
    """What Arrow makes an array of, of parts that are sound."""
    kind, _, child, coded = plan
    length, offset, buffers, children, dictionary = stored
    return (
        kind,
        length,
        0 if buffers[0] is None else -1,
        offset,
        [None if buffer is None else _py_buffer(buffer) for buffer in buffers],
        () if child is None else [_bare(child, children[0])],
        None if coded is None else _bare(coded, dictionary),
    )


def _with_type(kind: Any, stored: Any, all_slots: bool = False) -> Any:
    """What Arrow makes an array of. All that its constructors take for granted is checked here, the rest by `validate`."""
    length, offset, buffers, children, dictionary = parts(stored, 5)
    if not 0 <= exact(length, int) < 1 << 62 or not 0 <= exact(offset, int) < 1 << 62:
        raise ValueError("expected a length and an offset")
    made = [None if buffer is None else _buffer(buffer) for buffer in exact(buffers, list)]
    count = _FLAT.get(kind.id)
    if count is not None:
        if len(made) != count or children or dictionary is not None:
            raise ValueError("another number of buffers")
        return kind, length, _nulls(made), offset, made, (), None
    # What an extension type adds says nothing about buffers.
    plain = kind
    while isinstance(plain, pa.BaseExtensionType):
        plain = plain.storage_type
    count = plain.num_buffers
    if len(made) != count and not (plain in _VIEWS and len(made) > count):
        raise ValueError("another number of buffers")
    if any(buffer is None for buffer in made[1:]):
        if length + offset:
            raise ValueError("an array without a buffer")
        made[1:] = [_NOTHING if buffer is None else buffer for buffer in made[1:]]
    number = plain.id
    if number in _WITHOUT_NULLS and made and made[0] is not None:
        raise ValueError("nulls where none can be")
    is_coded = pa.types.is_dictionary(plain)
    fields = [] if is_coded else [plain.field(at).type for at in range(plain.num_fields)]
    if (
        type(children) not in (list, tuple)
        or len(children) != len(fields)
        or (dictionary is None) == is_coded
    ):
        raise ValueError("another number of children")
    within = [_with_type(field, child, all_slots) for field, child in zip(fields, children, strict=True)]
    # Of these `validate` says no word.
    size = plain.list_size if number == _FIXED else 1
    if number in _SLICED and any(child[1] < (length + offset) * size for child in within):
        raise ValueError("children that are too short")
    if number == _MAP:
        # Arrow ends the process where a map says that it has entries or keys that are null.
        entries = within[0]
        keys = entries[5][0]
        within = [(*entries[:2], 0, *entries[3:5], [(*keys[:2], 0, *keys[3:]), entries[5][1]], None)]
    coded = _with_type(plain.value_type, dictionary, all_slots) if is_coded else None
    if all_slots and made and made[0] is not None and (is_coded or plain in _VIEWS):
        pa.lib._restore_array((plain, length, 0, offset, [None, *made[1:]], (), coded)).validate(full=True)
    return kind, length, 0 if number in _WITHOUT_NULLS else _nulls(made), offset, made, within, coded


_MAP = pa.map_(pa.int8(), pa.int8()).id
_FIXED = pa.list_(pa.int8(), 1).id
# Types whose children are as long as they are.
_SLICED = frozenset((_FIXED, pa.struct([]).id, pa.sparse_union([]).id))
_WITHOUT_NULLS = frozenset(
    kind.id
    for kind in (
        pa.sparse_union([]),
        pa.dense_union([]),
        pa.run_end_encoded(pa.int32(), pa.null()),
    )
)


def _nulls(buffers: Any) -> int:
    """How many nulls there are: -1 for Arrow to count them."""
    return -1 if buffers and buffers[0] is not None else 0


def _buffer(buffer: Any) -> Any:
    """A buffer from a message: bytes, or a view of a file or of what the caller gave."""
    if type(buffer) in (list, tuple, str, dict):
        raise TypeError("expected bytes")
    return pa.py_buffer(buffer)


def chunks_parts(chunked: Any) -> Any:
    return [array_parts(chunk) for chunk in chunked.chunks]


def row_parts(batch: Any) -> Any:
    """The parts of each column of a batch."""
    rows = batch.to_struct_array()
    if batch.num_rows < 1 << 16 and _spare(rows) > _SPARE:
        return [array_parts(column) for column in batch.columns]
    return [_without_type(column) for column in rows.__reduce__()[1][0][5]]


def chunked_of(plan: Plan, stored: Any) -> Any:
    return pa.chunked_array([array_of(plan, one) for one in exact(stored, list)], type=plan.kind)
