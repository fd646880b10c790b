"""Dask: `install(client)` sends objects by holdall; `read_log(paths)` and `write_log` are bags and frames over logs.

What is sent is what `holdall.dumps(..., trust=True)` makes, with large buffers as frames of their own, which nobody copies. The processes of
a cluster trust each other, as with pickle.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .. import _core
from . import _parts
from ._base import missing

try:
    import distributed
    from distributed.protocol.serialize import Serialize, dask_serialize, register_serialization_family
except ImportError as error:
    raise missing("Dask's distributed", "dask", error) from error

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Install", "install", "installed", "read_log", "uninstall", "write_log"]

NAME = "holdall"
# The module, which has a function of its own name.
_module: Any = sys.modules["distributed.protocol.serialize"]
_its_own: Callable[..., Any] = _module.serialize
_SMALL = (int, float, bool, type(None), str, bytes, complex)
_COLLECTIONS = (list, tuple, dict, set)
# What has no other place: classes that only this process has. cloudpickle sends them by value.
_BY_VALUE = (b"__main__", b"<locals>")
# Values whose types Dask itself has ways for that are as good as ours are sent in a graph of ours, and by those ways alone.
_ALSO_OURS = frozenset({"ndarray", "memoryview", "bytes", "bytearray"})


def dumps(obj: Any) -> tuple[dict[str, Any], list[Any]]:
    """Dask's header and frames of an object. Raises NotImplementedError: Dask's other ways know more of it."""
    if type(obj) in _SMALL:
        raise NotImplementedError
    buffers: list[Any] = []
    try:
        message = _core.dumps(obj, trust=True, buffers=buffers)
    except _core.EncodeError as error:
        raise NotImplementedError(str(error)) from error
    if any(name in message for name in _BY_VALUE):
        raise NotImplementedError("a class or function that has to be sent by value")
    frames = [memoryview(buffer).cast("B") for buffer in buffers]
    return {"writeable": [not frame.readonly for frame in frames]}, [message, *frames]


def loads(header: dict[str, Any], frames: list[Any]) -> Any:
    """Mirror of `dumps`."""
    buffers = []
    for frame, writeable in zip(frames[1:], header["writeable"], strict=True):
        view = memoryview(frame)
        if writeable and view.readonly:
            # Whoever owns it may not change it.
            view = memoryview(bytearray(view))
        elif not writeable:
            view = view.toreadonly()
        buffers.append(view)
    return _core.loads(frames[0], trust=True, buffers=buffers)


def _serialize(
    x: Any,
    serializers: Any = None,
    on_error: Any = "message",
    context: Any = None,
    iterate_collection: bool | None = None,
) -> Any:
    """`distributed.protocol.serialize`, with holdall before pickle where nothing else was asked for.

    A bare list goes as one graph. Dask would send each of its elements by itself, which takes 95 µs for one.
    """
    if serializers is None or tuple(serializers) == ("dask", "pickle"):
        serializers = ("dask", NAME, "pickle")
    data = x.data if isinstance(x, Serialize) else x
    if NAME in serializers and type(data) in _COLLECTIONS and _is_ours(data):
        with contextlib.suppress(NotImplementedError):
            header, frames = dumps(data)
            header["serializer"] = NAME
            return header, frames
    return _its_own(x, serializers, on_error, context, iterate_collection)


def _is_ours(data: Any) -> bool:
    """Whether the first values of a collection are not of a type for which Dask has a better way: those of GPUs, of sparse matrices."""
    for value in data.values() if type(data) is dict else data:
        while type(value) in (list, tuple, dict) and value:
            value = next(iter(value.values() if type(value) is dict else value))
        if type(value) in _COLLECTIONS or type(value) in _SMALL or type(value).__name__ in _ALSO_OURS:
            return True
        try:
            dask_serialize.dispatch(type(value))
        except TypeError:
            return True
        return False
    return False


def install(client: distributed.Client | None = None) -> None:
    """Send by holdall from this process on, and with a client from all workers of its cluster too, also those that come later. A second call
    does nothing."""
    register_serialization_family(NAME, dumps, loads)
    _module.serialize = _serialize
    if client is not None:
        client.register_plugin(Install())


def uninstall() -> None:
    """Send by Dask's own ways again. What others send by holdall is still read."""
    _module.serialize = _its_own


@contextlib.contextmanager
def installed(client: distributed.Client | None = None) -> Iterator[None]:
    """`install` for a block, in this process; workers keep it."""
    before = _module.serialize
    install(client)
    try:
        yield
    finally:
        _module.serialize = before


class Install(distributed.WorkerPlugin):
    """A plugin that installs it in each worker: `client.register_plugin(Install())`, or `--preload` of a module that calls `install`."""

    name = "holdall"

    def setup(self, worker: distributed.Worker) -> None:
        install()

    def teardown(self, worker: distributed.Worker) -> None:
        uninstall()


def read_log(
    paths: Any,
    blocksize: int | None = _parts.BLOCK,
    *,
    type: Any = Any,
    to: str = "bag",
    storage_options: dict[str, Any] | None = None,
    **options: Any,
) -> Any:
    """A bag of the records of logs, or a frame of them.

    paths: a path or URL, a pattern, or several of them. blocksize: about how many bytes a task reads; None: a log each.
    type: what records are. With `to="frame"` it has to be a class with fields: these are the columns, by Arrow's types.
    storage_options: those of fsspec for URLs. options: the others of `holdall.Reader`; `repair="skip"` passes over what is damaged.

    Here only the size of each log is asked for. Each worker finds by itself where its records begin and end, so that each record is in one
    task, whatever the blocksize, and a task that is done again has the same ones.

    Raises TypeError: as `holdall.integrations.arrow.schema_of`.

    >>> import holdall
    >>> with holdall.Writer("events.log") as log:
    ...     for number in range(100):
    ...         at = log.write({"number": number})
    >>> from holdall.integrations.dask import read_log
    >>> read_log("events.log").pluck("number").sum().compute(scheduler="sync")
    4950
    """
    parts = _parts.parts_of(paths, blocksize, storage_options)
    reading = {**options, "type": type}
    if to == "bag":
        import dask.bag

        return _bag(dask.bag, parts, reading)
    if to != "frame":
        raise ValueError(f'to: expected "bag" or "frame", got {to!r}')
    import dask.dataframe

    return dask.dataframe.from_map(_frame, parts, reading=reading, meta=_frame(None, reading))


def _bag(bags: Any, parts: list[_parts.Part], reading: dict[str, Any]) -> Any:
    from dask.base import tokenize

    name = "read-log-" + tokenize(parts, sorted(reading))
    from dask._task_spec import Task

    graph = {(name, at): Task((name, at), _records, part, reading) for at, part in enumerate(parts)}
    return bags.Bag(graph, name, max(len(parts), 1)) if parts else bags.from_sequence([])


def _records(part: _parts.Part, reading: dict[str, Any]) -> list[Any]:
    return list(_parts.records_of(part, **reading))


def _frame(part: _parts.Part | None, reading: dict[str, Any]) -> Any:
    import pandas as pd

    from .arrow import to_arrow

    records = [] if part is None else _parts.records_of(part, **reading)
    return to_arrow(records, reading["type"]).to_pandas(types_mapper=pd.ArrowDtype)


def write_log(bag: Any, folder: str, **options: Any) -> Any:
    """Write each partition of a bag, or of a frame (whose rows become dicts), as a log into a folder: `part-00000.log` and so on.

    options: those of `holdall.Writer`. A log comes into its place when it is whole: a task that is done again, or twice, writes the same
    one. Gives a delayed list with the number of records of each.
    """
    import os

    import dask

    parts = bag.to_delayed()
    paths = [os.path.join(folder, f"part-{number:05}.log") for number in range(len(parts))]
    write = dask.delayed(_write, pure=False)
    return dask.delayed(list)([write(part, path, options) for part, path in zip(parts, paths, strict=True)])


def _write(records: Any, path: str, options: dict[str, Any]) -> int:
    if hasattr(records, "to_dict"):
        records = records.to_dict("records")
    return _parts.write_log(path, records, **options)
