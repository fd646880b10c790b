"""pyarrow: tables, arrays and scalars by their buffers, schemas and types as Arrow writes them."""

from __future__ import annotations

from pickle import PickleBuffer
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from .._bundles import Known
from ._arrow import (
    array_of,
    array_parts,
    chunked_of,
    chunks_parts,
    schema_bytes,
    schema_of,
    type_bytes,
    type_of,
)
from ._checks import exact, octets, parts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def known() -> Iterator[Known]:
    # From this version on no type of a schema is unpickled.
    if tuple(int(part) for part in pa.__version__.split(".")[:2]) < (15, 0):
        raise ImportError(f"pyarrow 15 or newer, and this is {pa.__version__}")
    yield Known(pa.Table, "pyarrow.Table", _table, _table_of)
    yield Known(pa.RecordBatch, "pyarrow.RecordBatch", _batch, _batch_of)
    yield Known(pa.ChunkedArray, "pyarrow.ChunkedArray", _chunked, _chunked_of)
    yield Known(pa.Schema, "pyarrow.Schema", schema_bytes, schema_of)
    yield Known(pa.Field, "pyarrow.Field", lambda field: schema_bytes(pa.schema([field])), _field_of)
    yield Known(
        pa.Buffer, "pyarrow.Buffer", lambda buffer: PickleBuffer(memoryview(buffer).toreadonly()), _buffer_of
    )
    for base, encode, decode in (
        (pa.Array, _array, _array_of),
        (pa.Scalar, _scalar, _scalar_of),
        (pa.DataType, type_bytes, _type_of),
    ):
        for cls in _classes(base):
            yield Known(cls, f"pyarrow.{cls.__name__}", encode, decode(cls))


def _classes(base: Any) -> Iterator[Any]:
    """pyarrow's own classes below one, those of extension types that a program defines left out."""
    found, todo = {base}, [base]
    while todo:
        for cls in todo.pop().__subclasses__():
            if cls not in found and cls.__module__ == "pyarrow.lib":
                found.add(cls)
                todo.append(cls)
    return iter(sorted(found, key=lambda cls: cls.__name__))


def _table(table: Any) -> Any:
    return schema_bytes(table.schema), table.num_rows, [chunks_parts(column) for column in table.columns]


def _table_of(stored: Any) -> Any:
    data, rows, columns = parts(stored, 3)
    schema = schema_of(data)
    made = [
        chunked_of(field.type, column) for field, column in zip(schema, exact(columns, list), strict=True)
    ]
    _check_rows(made, rows)
    table = pa.Table.from_arrays(made, schema=schema)
    return table


def _check_rows(columns: Any, rows: Any) -> None:
    if any(len(column) != exact(rows, int) for column in columns) or (not columns and rows != 0):
        raise ValueError("columns of another length")


def _batch(batch: Any) -> Any:
    return schema_bytes(batch.schema), batch.num_rows, [array_parts(column) for column in batch.columns]


def _batch_of(stored: Any) -> Any:
    data, rows, columns = parts(stored, 3)
    schema = schema_of(data)
    made = [array_of(field.type, column) for field, column in zip(schema, exact(columns, list), strict=True)]
    _check_rows(made, rows)
    return pa.RecordBatch.from_arrays(made, schema=schema)


def _chunked(chunked: Any) -> Any:
    return type_bytes(chunked.type), chunks_parts(chunked)


def _chunked_of(stored: Any) -> Any:
    kind, chunks = parts(stored, 2)
    return chunked_of(type_of(kind), chunks)


def _array(array: Any) -> Any:
    return type_bytes(array.type), array_parts(array)


def _array_of(cls: Any) -> Callable[[Any], Any]:
    def array_of_class(stored: Any) -> Any:
        kind, content = parts(stored, 2)
        return exact(array_of(type_of(kind), content), cls)

    return array_of_class


# Types whose values are Python's own, to the last bit.
_OWN = frozenset(
    (
        "bool", "double", "string", "large_string", "binary", "large_binary",
        *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
    )
)  # fmt: skip


def _scalar(scalar: Any) -> Any:
    name = str(scalar.type)
    if name in _OWN:
        return name, scalar.as_py()
    return type_bytes(scalar.type), array_parts(pa.repeat(scalar, 1))


def _scalar_of(cls: Any) -> Callable[[Any], Any]:
    def scalar_of_class(stored: Any) -> Any:
        kind, content = parts(stored, 2)
        if type(content) is not tuple:
            return exact(pa.scalar(content, type_of(kind)), cls)
        row = array_of(type_of(kind), content)
        if len(row) != 1:
            raise ValueError("expected one value")
        return exact(row[0], cls)

    return scalar_of_class


def _type_of(cls: Any) -> Callable[[Any], Any]:
    def type_of_class(stored: Any) -> Any:
        return exact(type_of(stored), cls)

    return type_of_class


def _field_of(stored: Any) -> Any:
    schema = schema_of(stored)
    if len(schema) != 1:
        raise ValueError("expected one field")
    return schema.field(0)


def _buffer_of(stored: Any) -> Any:
    return pa.py_buffer(octets(stored))
