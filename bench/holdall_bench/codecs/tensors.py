"""Those that are made for arrays."""

from __future__ import annotations

import io
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .base import Codec, Ends, Unsuitable, only_arrays
from .ours import scratch

if TYPE_CHECKING:
    from ..data import Subject


def joblib(joblib: Any, subject: Subject) -> Ends:
    only_arrays(subject)

    def dumps(value: Any) -> bytes:
        buffer = io.BytesIO()
        joblib.dump(value, buffer)
        return buffer.getvalue()

    return Ends(dumps, lambda stored: joblib.load(io.BytesIO(stored)))


def joblib_mapped(joblib: Any, subject: Subject) -> Ends:
    only_arrays(subject)
    path = scratch() / "data.joblib"

    def dump(value: Any) -> Path:
        joblib.dump(value, path)
        return path

    return Ends(dump, partial(joblib.load, mmap_mode="r"))


def numpy(np: Any, subject: Subject) -> Ends:
    """A dict or list of arrays as an archive of them."""
    named = all_arrays(subject.sample)

    def dumps(value: Any) -> bytes:
        buffer = io.BytesIO()
        np.savez(buffer, **value) if named else np.savez(buffer, *value)
        return buffer.getvalue()

    def loads(stored: bytes) -> Any:
        with np.load(io.BytesIO(stored)) as archive:
            return dict(archive) if named else [archive[name] for name in archive.files]

    return Ends(dumps, loads)


def safetensors(numpy: Any, subject: Subject) -> Ends:
    named = all_arrays(subject.sample)
    if named:
        return Ends(numpy.save, numpy.load)

    def dumps(value: Any) -> bytes:
        made: bytes = numpy.save({str(i): array for i, array in enumerate(value)})
        return made

    def loads(stored: bytes) -> Any:
        found = numpy.load(stored)
        return [found[str(i)] for i in range(len(found))]

    return Ends(dumps, loads)


def all_arrays(value: Any) -> bool:
    """True for a dict of nothing but arrays, False for a list of them."""
    from ..data import is_array

    if not isinstance(value, (dict, list)):
        raise Unsuitable("for dicts and lists of arrays")
    members = value.values() if isinstance(value, dict) else value
    if not members or not all(is_array(type(member)) for member in members):
        raise Unsuitable("for dicts and lists of arrays")
    return isinstance(value, dict)


def arrow(arrow: Any, subject: Subject) -> Ends:
    """Lists of dicts as a table, in the stream format; dicts and lists of arrays as tensors one after the other."""
    if subject.arrays:
        return arrow_tensors(arrow, subject)
    sample = subject.sample
    if not (isinstance(sample, list) and sample and all(isinstance(row, dict) for row in sample)):
        raise Unsuitable("for tables and arrays")

    def dumps(value: Any) -> Any:
        table = arrow.Table.from_pylist(value)
        sink = arrow.BufferOutputStream()
        with arrow.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        return sink.getvalue()

    return Ends(dumps, lambda stored: arrow.ipc.open_stream(stored).read_all().to_pylist())


def arrow_tensors(arrow: Any, subject: Subject) -> Ends:
    named = all_arrays(subject.sample)
    names = list(subject.sample) if named else []

    def dumps(value: Any) -> Any:
        sink = arrow.BufferOutputStream()
        for array in value.values() if named else value:
            arrow.ipc.write_tensor(arrow.Tensor.from_numpy(array), sink)
        return sink.getvalue()

    def loads(stored: Any) -> Any:
        source = arrow.BufferReader(stored)
        size = len(stored)
        arrays = []
        while source.tell() < size:
            arrays.append(arrow.ipc.read_tensor(source).to_numpy())
        return dict(zip(names, arrays, strict=True)) if named else arrays

    return Ends(dumps, loads)


ARRAYS = "dicts and lists of arrays"

TENSORS = (
    Codec(
        "joblib",
        "joblib",
        "joblib",
        "any graph; runs code",
        "`dump` and `load` in memory; for arrays",
        joblib,
    ),
    Codec(
        "joblib mmap",
        "joblib",
        "joblib",
        "any graph; runs code",
        "`dump` to a file, `load(mmap_mode='r')`; for arrays",
        joblib_mapped,
    ),
    Codec("numpy", "numpy", "numpy", ARRAYS, "`savez`, `load`", numpy),
    Codec("safetensors", "safetensors", "safetensors.numpy", ARRAYS, "`save`, `load`", safetensors),
    Codec(
        "pyarrow",
        "pyarrow",
        "pyarrow",
        "tables, arrays",
        "`Table.from_pylist` to a stream and `to_pylist`; arrays as tensors without their names, which are views of the bytes after",
        arrow,
    ),
)
