"""Arrow's arrays by their buffers, and its schemas as Arrow itself writes them. Whatever is made of stored bytes is validated in full."""

from __future__ import annotations

from pickle import PickleBuffer
from typing import Any

import numpy as np
import pyarrow as pa

from ._checks import exact, octets, parts

# An array that holds this much less than its buffers is stored without what it doesn't hold.
_SPARE = 4096


def schema_bytes(schema: Any) -> bytes:
    """A schema with its metadata, as in Arrow's files."""
    return bytes(schema.serialize())


def schema_of(data: Any) -> Any:
    return pa.ipc.read_schema(pa.py_buffer(octets(data)))


def type_bytes(kind: Any) -> bytes | str:
    """A type: its name if that says all, else a schema with one field of it."""
    name = str(kind)
    if name in _NAMED:
        return name
    return schema_bytes(pa.schema([pa.field("", kind)]))


def type_of(data: Any) -> Any:
    if type(data) is str:
        return _NAMED[data]
    schema = schema_of(data)
    if len(schema) != 1:
        raise ValueError("expected a schema of one field")
    return schema.field(0).type


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
_LONG = frozenset((pa.large_string().id, pa.large_binary().id))
_TEXT = frozenset((pa.string().id, pa.large_string().id))
_VARIABLE = frozenset((*_LONG, *_TEXT, pa.binary().id))
_NOTHING = pa.py_buffer(b"")
LARGE_STRING = pa.large_string()


def array_parts(array: Any) -> Any:
    """An array without its type: length, null count, offset, buffers, the same of its children, and of its dictionary."""
    if array.offset or len(array) < 1 << 16:
        # Of what a slice shares, only its own part is stored.
        try:
            spare = array.get_total_buffer_size() - array.nbytes
        except pa.ArrowTypeError:
            spare = 0  # a type of which an older version can't tell
        if spare > _SPARE:
            array = pa.concat_arrays([array])
    return _without_type(array.__reduce__()[1][0])


def _without_type(data: Any) -> Any:
    _, length, _, offset, buffers, children, dictionary = data
    return (
        length,
        offset,
        [None if buffer is None else PickleBuffer(memoryview(buffer).toreadonly()) for buffer in buffers],
        [_without_type(child) for child in children] if children else (),
        None if dictionary is None else _without_type(dictionary),
    )


def array_of(kind: Any, stored: Any, all_slots: bool = False) -> Any:
    """An array of a type. Raises ValueError, TypeError: parts that don't make one.

    all_slots: what stands where nulls are has to be valid, too: polars looks at it, Arrow doesn't.
    """
    made = pa.lib._restore_array(_with_type(kind, stored, all_slots))
    if kind.id not in _VARIABLE or not _is_ascii(made):
        made.validate(full=True)
    return made


def _is_ascii(array: Any) -> bool:
    """Whether the texts of a long array are ASCII and one behind the other: then they are all valid, which Arrow asks of each one."""
    if len(array) < 64:
        return False
    array.validate()
    _, places, data = array.buffers()
    offsets = np.frombuffer(places, np.int64 if array.type.id in _LONG else np.int32)[
        array.offset : array.offset + len(array) + 1
    ]
    if not (offsets[1:] >= offsets[:-1]).all():
        return False
    return (
        array.type.id not in _TEXT or data is None or not len(data) or np.frombuffer(data, np.int8).min() >= 0
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


def chunked_of(kind: Any, stored: Any) -> Any:
    return pa.chunked_array([array_of(kind, one) for one in exact(stored, list)], type=kind)
