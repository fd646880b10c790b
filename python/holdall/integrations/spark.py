"""PySpark: `SparkContext(serializer=HoldSerializer())`, and `read_log(spark, paths, type=Event)` or `spark.read.format("holdall")`.

The processes of an application trust each other, as with pickle.
"""

from __future__ import annotations

import importlib
import io
import json
import struct
from typing import TYPE_CHECKING, Any

from .. import _core
from . import _parts
from ._base import missing

try:
    from pyspark.serializers import (
        CloudPickleSerializer,
        FramedSerializer,
        SpecialLengths,
        read_int,
        write_int,
    )
    from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
except ImportError as error:
    raise missing("PySpark", "spark", error) from error

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame, SparkSession

__all__ = ["HoldSerializer", "LogSource", "read_log", "register"]

_BY_VALUE = (b"__main__", b"<locals>")
_PICKLE = 0x80
# The first byte of a message that has arrays beside it: then the number of parts, their lengths, and the parts, the message first.
_PARTS = 0
_COUNT = struct.Struct("<xI")
_MOST = (1 << 31) - 1
# Smaller arrays are copied into the message, which takes less than to write and read each by itself.
_LARGE = 1 << 16


class HoldSerializer(FramedSerializer):  # type: ignore[misc]
    """The data of RDDs by holdall. What has to be sent by value, as classes of a notebook, goes by cloudpickle.

    Large arrays are written from where they are, and read to where they stay.
    """

    def __init__(self) -> None:
        self._other = CloudPickleSerializer()

    def _parts(self, obj: Any) -> list[Any]:
        """What is sent of an object, to be joined."""
        buffers: list[memoryview] = []

        def stays(buffer: Any) -> bool:
            view = memoryview(buffer)
            # What a class gives as a buffer it may want back as the bytes that it gave.
            if view.nbytes < _LARGE or type(view.obj).__module__ != "numpy":
                return True
            buffers.append(view.cast("B"))
            return False

        try:
            message = _core.dumps(obj, trust=True, buffers=stays)
        except _core.EncodeError:
            return [self._other.dumps(obj)]
        if any(name in message for name in _BY_VALUE):
            return [self._other.dumps(obj)]
        if not buffers:
            return [message]
        parts = [message, *buffers]
        return [_COUNT.pack(len(parts)) + struct.pack(f"<{len(parts)}Q", *map(len, parts)), *parts]

    def dumps(self, obj: Any) -> bytes:
        parts = self._parts(obj)
        return bytes(parts[0]) if len(parts) == 1 else b"".join(parts)

    def loads(self, data: Any) -> Any:
        if data[0] == _PARTS:
            return _of_parts(io.BytesIO(data))
        if data[0] == _PICKLE:
            return self._other.loads(data)
        return _core.loads(data, trust=True)

    def _write_with_length(self, obj: Any, stream: Any) -> None:
        parts = self._parts(obj)
        length = sum(map(len, parts))
        if length > _MOST:
            raise ValueError(f"a batch of {length} bytes: Spark takes up to {_MOST}")
        write_int(length, stream)
        for part in parts:
            stream.write(part)

    def _read_with_length(self, stream: Any) -> Any:
        length = read_int(stream)
        if length == SpecialLengths.END_OF_DATA_SECTION:
            raise EOFError
        if length == SpecialLengths.NULL:
            return None
        data = stream.read(min(length, _COUNT.size))
        if data[:1] == bytes([_PARTS]):
            return _of_parts(stream, data)
        whole = memoryview(bytearray(length))
        whole[: len(data)] = data
        _fill(stream, whole[len(data) :])
        return self.loads(whole)

    def __repr__(self) -> str:
        return "HoldSerializer()"


def _of_parts(stream: Any, head: bytes | None = None) -> Any:
    (count,) = _COUNT.unpack(stream.read(_COUNT.size) if head is None else head)
    first, *others = struct.unpack(f"<{count}Q", stream.read(8 * count))
    message = stream.read(first)
    # Memory of its own for each, as one that is kept would keep the others.
    buffers = [bytearray(length) for length in others]
    for buffer in buffers:
        _fill(stream, memoryview(buffer))
    return _core.loads(message, trust=True, buffers=buffers)


def _fill(stream: Any, room: memoryview) -> None:
    while room:
        count = stream.readinto(room)
        if not count:
            raise EOFError
        room = room[count:]


class _Partition(InputPartition):  # type: ignore[misc]
    def __init__(self, part: _parts.Part) -> None:
        super().__init__(tuple(part))


def _name_of(type: Any) -> str:
    return f"{type.__module__}:{type.__qualname__}"


def _named(name: str) -> Any:
    module, _, path = name.partition(":")
    found: Any = importlib.import_module(module)
    for part in path.split("."):
        found = getattr(found, part)
    return found


class LogSource(DataSource):  # type: ignore[misc]
    """The format "holdall": `spark.read.format("holdall").option("type", "shop.models:Order").load("logs/*.log")`.

    type: a class with fields, by its module and name, which every worker can import: these are the columns, by Arrow's types. blocksize: about
    how many bytes a task reads. repair: "skip" passes over what is damaged. storage_options: those of fsspec for URLs, as JSON.
    """

    @classmethod
    def name(cls) -> str:
        return "holdall"

    def schema(self) -> Any:
        from pyspark.sql.pandas.types import from_arrow_schema

        from .arrow import schema_of

        return from_arrow_schema(schema_of(self._type()))

    def _type(self) -> Any:
        name = self.options.get("type")
        if not name:
            raise ValueError('expected an option `type`, as in .option("type", "shop.models:Order")')
        return _named(name)

    def reader(self, schema: Any) -> DataSourceReader:
        return _Reader(dict(self.options), self._type())


class _Reader(DataSourceReader):  # type: ignore[misc]
    def __init__(self, options: dict[str, str], type: Any) -> None:
        self._options, self._type = options, type
        self._reading: dict[str, Any] = {"type": type}
        if "repair" in options:
            self._reading["repair"] = options["repair"]

    def partitions(self) -> list[Any]:
        given = self._options
        paths = json.loads(given["paths"]) if "paths" in given else given.get("path")
        if not paths:
            raise ValueError("expected paths of logs: .load(paths)")
        storage = json.loads(given["storage_options"]) if "storage_options" in given else None
        found = _parts.parts_of(paths, int(given.get("blocksize", _parts.BLOCK)), storage)
        return [_Partition(part) for part in found]

    def read(self, partition: Any) -> Iterator[Any]:
        from .arrow import batches

        records = _parts.records_of(_parts.Part(*partition.value), **self._reading)
        yield from batches(records, self._type)


def register(spark: SparkSession) -> None:
    """Make the format "holdall" known to a session."""
    spark.dataSource.register(LogSource)


def read_log(
    spark: SparkSession,
    paths: Any,
    blocksize: int = _parts.BLOCK,
    *,
    type: Any,
    repair: str | None = None,
    storage_options: dict[str, Any] | None = None,
) -> DataFrame:
    """A frame of the records of logs. paths, blocksize: as for `holdall.integrations.dask.read_log`. type, repair, storage_options: as for
    `LogSource`; the class itself."""
    register(spark)
    reader = spark.read.format("holdall").option("type", _name_of(type)).option("blocksize", str(blocksize))
    if repair is not None:
        reader = reader.option("repair", repair)
    if storage_options:
        reader = reader.option("storage_options", json.dumps(storage_options))
    return reader.option("paths", json.dumps(_parts.paths_of(paths, storage_options))).load()
