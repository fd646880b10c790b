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
    columns_of,
    planned,
    row_of,
    row_parts,
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
    schema, rows = table.schema, table.num_rows
    if rows < _FEW_ROWS and rows and len(schema):
        batches = table.to_batches()
        if len(batches) == 1 and all(column.num_chunks == 1 for column in table.itercolumns()):
            return schema_bytes(schema), rows, [[one] for one in row_parts(batches[0])]
    return schema_bytes(schema), rows, [chunks_parts(column) for column in table.itercolumns()]


# Below it, what is asked of each column takes longer than what they hold.
_FEW_ROWS = 1 << 16


def _table_of(stored: Any) -> Any:
    data, rows, columns = parts(stored, 3)
    known = columns_of(data)
    if exact(columns, list) and all(type(chunks) is list and len(chunks) == 1 for chunks in columns):
        made = row_of(known, [chunks[0] for chunks in columns], rows)
        table = pa.Table.from_batches([pa.RecordBatch.from_struct_array(made)])
        metadata = known.schema.metadata
        return table if metadata is None else table.replace_schema_metadata(metadata)
    arrays = [chunked_of(plan, chunks) for plan, chunks in zip(known.plans, columns, strict=True)]
    _check_rows(arrays, rows)
    return pa.Table.from_arrays(arrays, schema=known.schema)


def _check_rows(columns: Any, rows: Any) -> None:
    if any(len(column) != exact(rows, int) for column in columns) or (not columns and rows != 0):
        raise ValueError("columns of another length")


def _batch(batch: Any) -> Any:
    return (
        schema_bytes(batch.schema),
        batch.num_rows,
        row_parts(batch) if batch.num_columns else [],
    )


def _batch_of(stored: Any) -> Any:
    data, rows, columns = parts(stored, 3)
    known = columns_of(data)
    if not exact(columns, list):
        _check_rows(columns, rows)
        return pa.RecordBatch.from_arrays([], schema=known.schema)
    made = pa.RecordBatch.from_struct_array(row_of(known, columns, rows))
    metadata = known.schema.metadata
    return made if metadata is None else made.replace_schema_metadata(metadata)


def _chunked(chunked: Any) -> Any:
    return type_bytes(chunked.type), chunks_parts(chunked)


def _chunked_of(stored: Any) -> Any:
    kind, chunks = parts(stored, 2)
    return chunked_of(planned(kind), chunks)


def _array(array: Any) -> Any:
    return type_bytes(array.type), array_parts(array)


def _array_of(cls: Any) -> Callable[[Any], Any]:
    def array_of_class(stored: Any) -> Any:
        kind, content = parts(stored, 2)
        return exact(array_of(planned(kind), content), cls)

    return array_of_class


# Types whose values are Python's own, to the last bit.
_OWN = frozenset(
    (
        "bool", "double", "string", "large_string", "binary", "large_binary",
        *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
    )
)  # fmt: skip
_OWN_TYPES = {name: type_of(name) for name in _OWN}


def _scalar(scalar: Any) -> Any:
    name = str(scalar.type)
    if name in _OWN:
        return name, scalar.as_py()
    return type_bytes(scalar.type), array_parts(pa.repeat(scalar, 1))


def _scalar_of(cls: Any) -> Callable[[Any], Any]:
    make, own = pa.scalar, _OWN_TYPES

    def scalar_of_class(stored: Any) -> Any:
        kind, content = stored
        if type(content) is not tuple:
            made = make(content, own[kind] if kind in own else type_of(kind))
            return made if type(made) is cls else exact(made, cls)
        row = array_of(planned(kind), content)
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
