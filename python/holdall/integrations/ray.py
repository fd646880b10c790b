"""Ray: `ray.put(packed(obj))` stores by holdall, `install(Order)` the instances of classes, and `read_log(paths)` is a dataset of logs.

The processes of a cluster trust each other, as with pickle.
"""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any

from .. import _core
from . import _parts
from ._base import missing

try:
    import ray
    import ray.data
    import ray.util
    from ray.data import Datasource, ReadTask
    from ray.data.block import BlockMetadata
except ImportError as error:
    raise missing("Ray", "ray", error) from error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["LogSource", "install", "packed", "read_log", "uninstall"]

# What Ray has to see itself, as it counts references to objects of its store; and classes that it has to send by value.
_RAYS = (b"ObjectRef", b"ray.actor", b"ray._", b"__main__", b"<locals>")


class _Packed:
    """What pickle makes the object itself of, where it is loaded."""

    __slots__ = ("_buffers", "_message")

    def __init__(self, message: bytes, buffers: list[Any]) -> None:
        self._message, self._buffers = message, buffers

    def __reduce_ex__(self, protocol: Any) -> Any:
        return _unpacked, (
            pickle.PickleBuffer(self._message),
            [pickle.PickleBuffer(one) for one in self._buffers],
        )


def _unpacked(message: Any, buffers: list[Any]) -> Any:
    return _core.loads(message, trust=True, buffers=buffers)


def packed(obj: Any) -> Any:
    """What is put into Ray's store, given to a task or returned by one in an object's place, and comes out as the object.

        reference = ray.put(packed(orders))
        ray.get(reference) == orders

    Arrays are views of the store, as Ray's own are, and can't be written to. An object that holds references of Ray's, or classes and
    functions that only this process has, is given back as it is: Ray knows more of these.
    """
    buffers: list[Any] = []
    try:
        message = _core.dumps(obj, trust=True, buffers=buffers)
    except _core.EncodeError:
        return obj
    if any(name in message for name in _RAYS):
        return obj
    return _Packed(message, buffers)


def install(*classes: type) -> None:
    """Let Ray send instances of these classes by holdall, from this process. What reads them needs no call.

    It is for classes whose instances hold much. Ray asks for each instance: many small ones in a list are `packed` together.
    """
    for cls in classes:
        ray.util.register_serializer(cls, serializer=_parts_of, deserializer=_of_parts)


def uninstall(*classes: type) -> None:
    """Let Ray send them by its own way again."""
    for cls in classes:
        ray.util.deregister_serializer(cls)


def _parts_of(obj: Any) -> Any:
    buffers: list[Any] = []
    message = _core.dumps(obj, trust=True, buffers=buffers)
    return pickle.PickleBuffer(message), [pickle.PickleBuffer(one) for one in buffers]


def _of_parts(parts: Any) -> Any:
    return _unpacked(*parts)


class LogSource(Datasource):
    """A source of Ray Data: `ray.data.read_datasource(LogSource(paths, type=Event))`. See `read_log`."""

    def __init__(
        self,
        paths: Any,
        blocksize: int = _parts.BLOCK,
        *,
        type: Any = Any,
        storage_options: dict[str, Any] | None = None,
        **options: Any,
    ) -> None:
        super().__init__()
        self._parts = _parts.parts_of(paths, blocksize, storage_options)
        self._reading = {**options, "type": type}
        if type is not Any:
            from .arrow import schema_of

            schema_of(type)

    def get_name(self) -> str:
        return "HoldallLog"

    def estimate_inmemory_data_size(self) -> int:
        return sum(part.end - part.start for part in self._parts)

    def get_read_tasks(self, parallelism: int, *args: Any, **options: Any) -> list[ReadTask]:
        tasks = []
        for part in self._parts:
            told = BlockMetadata(
                num_rows=None, size_bytes=part.end - part.start, input_files=[part.path], exec_stats=None
            )
            tasks.append(ReadTask(_reader(part, self._reading), told))
        return tasks


def _reader(part: _parts.Part, reading: dict[str, Any]) -> Callable[[], Iterator[Any]]:
    def read() -> Iterator[Any]:
        records = _parts.records_of(part, **reading)
        if reading["type"] is not Any:
            from .arrow import batches, to_arrow

            empty = True
            for batch in batches(records, reading["type"]):
                empty = False
                yield _table(batch)
            if empty:
                yield to_arrow([], reading["type"])
            return
        import pandas as pd

        yield pd.DataFrame({"item": pd.Series(list(records), dtype="object")})

    return read


def _table(batch: Any) -> Any:
    import pyarrow as pa

    return pa.Table.from_batches([batch])


def read_log(
    paths: Any, blocksize: int = _parts.BLOCK, *, type: Any = Any, **options: Any
) -> ray.data.Dataset:
    """A dataset of the records of logs.

    paths, blocksize, storage_options, options: as for `holdall.integrations.dask.read_log`. type: a class with fields, which are the
    columns, by Arrow's types; without one there is a column `item` of objects.
    """
    return ray.data.read_datasource(LogSource(paths, blocksize, type=type, **options))
