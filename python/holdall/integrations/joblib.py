"""joblib: `Memory(folder, backend="hold", backend_options={"types": [Result]})`, and `dump` and `load` with joblib's arguments.

Importing this module registers the backend.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import _files
from ._base import Codec, Options, calling, is_holdalls, missing

try:
    import joblib
    from joblib._store_backends import FileSystemStoreBackend
except ImportError as error:
    raise missing("joblib", "joblib", error) from error

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["HoldBackend", "dump", "install_loky", "load"]

_OWN = frozenset(Options.__annotations__) - {"compress"}
_MAPPED: dict[str | None, Any] = {None: False, "r": True, "c": "copy", "r+": "copy"}


def _compression(compress: Any) -> Any:
    """joblib's ways to say how to compress, as ours."""
    if isinstance(compress, tuple):
        compress = compress[1]
    if isinstance(compress, str):
        return compress if compress in ("zstd", "lz4") else "zstd"
    if compress is True:
        return "zstd"
    return ("zstd", int(compress)) if compress else None


class _InNumpyPicklesPlace:
    """What a store backend calls `numpy_pickle`."""

    def __init__(self, codec: Codec) -> None:
        self.codec = codec
        given = codec.options
        self._from = {
            name: given[name] for name in given if name in _OWN - {"refs", "enc_hook", "unreadable", "old"}
        }
        self._to = {name: given[name] for name in given if name in ("refs", "enc_hook", "trust", "seal")}

    def dump(self, value: Any, file: Any, compress: Any = 0, protocol: object = None) -> None:
        _files.dump(value, file, compress=_compression(compress), sync=False, **self._to)

    def load(self, source: Any, mmap_mode: str | None = None) -> Any:
        if self.codec.old is not None:
            with open(source if isinstance(source, str) else source.name, "rb") as file:
                if not is_holdalls(file.read(4)):
                    file.seek(0)
                    return self.codec.old(file.read())
        mapped = _MAPPED[mmap_mode]
        return _files.load(source if mapped else getattr(source, "name", source), mmap=mapped, **self._from)


class HoldBackend(FileSystemStoreBackend):
    """The backend `hold` of `Memory`. A result that can't be read is computed again, with a warning, as joblib has it.

    `backend_options`: those of `holdall.integrations.Codec`. Arrays, and what consists of them, need none; estimators and frames need
    `trust=True`. With a `seal`, a Memory and what it caches can't be sent to other processes, as a Seal can't. `mmap_mode`, and `compress` with "zstd", "lz4" or a level of zstd, are the Memory's.
    """

    def configure(self, location: Any, verbose: int = 1, backend_options: Any = None) -> None:
        options = dict(backend_options or {})
        own = {name: options.pop(name) for name in [*options] if name in _OWN}
        super().configure(location, verbose=verbose, backend_options=options)
        self.codec = Codec(**own)

    def load_item(self, *args: Any, **options: Any) -> Any:
        return self._by_ours(FileSystemStoreBackend.load_item)(self, *args, **options)

    def dump_item(self, *args: Any, **options: Any) -> Any:
        return self._by_ours(FileSystemStoreBackend.dump_item)(self, *args, **options)

    def _by_ours(self, method: Any) -> Any:
        return calling(method, numpy_pickle=_InNumpyPicklesPlace(self.codec))


joblib.register_store_backend("hold", HoldBackend)


def dump(value: Any, filename: Any, compress: Any = 0, protocol: object = None, **options: Any) -> list[str]:
    """`joblib.dump`, into a file of holdall's."""
    if hasattr(filename, "write"):
        _InNumpyPicklesPlace(Codec(**options)).dump(value, filename, compress)
        return []
    to = {name: options[name] for name in options if name in ("refs", "enc_hook", "trust", "seal")}
    _files.dump(value, filename, compress=_compression(compress), sync=False, **to)  # type: ignore[arg-type]
    return [str(filename)]


def load(filename: Any, mmap_mode: str | None = None, **options: Unpack[Options]) -> Any:
    """`joblib.load`, of such a file. `mmap_mode="r"`: large arrays are views of it."""
    return _InNumpyPicklesPlace(Codec(**options)).load(str(filename), mmap_mode)


def install_loky() -> None:
    """Send by holdall to joblib's worker processes; they read it by the standard library's pickle (`holdall.envelope_pickle`).

    Functions and classes must then be importable: cloudpickle, which sends those of the main program by value, is what this replaces.
    """
    from joblib.externals.loky import set_loky_pickler

    set_loky_pickler("holdall.envelope_pickle")
