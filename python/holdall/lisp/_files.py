"""`load`, `load_all`, `open`, `parse`, `dump` and `loads_all`: cl-binary-store's files, and their bytes."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from .. import _core, _files
from . import _registry

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def load(
    file: _files.Path | _files.Data | _files.Readable | _files.ReadableInto,
    *,
    types: Mapping[str, type[Any]] | None = None,
    mmap: bool | Literal["copy"] = False,
    type: Any = Any,
    strict: bool = True,
    dec_hook: Callable[[type[Any], Any], Any] | None = None,
    limits: _core.Limits | None = None,
) -> Any:
    """Restore the value that one call of `cl-binary-store:store` wrote.

    file: a path; bytes-like data; or a binary file object with `read`, which is read to its end.
    types: classes that Lisp's types become, besides those mapped by `struct`: a dict of names (`PACKAGE::NAME`) and classes. All
        others come as `LispObject`.
    mmap: arrays are views of the file (or of the buffer given) instead of copies, and keep it open. `True`: they can't be written
        to; `"copy"`: what is written stays in memory. A file that is cut short while it is mapped ends the process where the missing part is
        touched, as with any map; this goes for large files also while they are loaded.
    type: what the value must be, and is built as: an annotation, as for `holdall.loads`.
    strict, dec_hook, limits: as for `holdall.loads`.

    Nothing that a file names is run or imported.

    Raises DecodeError: malformed bytes, or several values (`load_all` reads them); `.offset` counts from the start.
    Raises ValidationError: it is not a `type`. Raises OSError: as the file system says.

    >>> dump({"weights": [1.5, 2.5]}, "data.bin")
    >>> load("data.bin")
    {'weights': [1.5, 2.5]}
    """
    return _load(file, mmap, types=types, type=type, strict=strict, dec_hook=dec_hook, limits=limits)


def open_file(
    file: _files.Path | _files.Data | _files.Readable | _files.ReadableInto,
    *,
    types: Mapping[str, type[Any]] | None = None,
    mmap: bool | Literal["copy"] = False,
    type: Any = Any,
    strict: bool = True,
    dec_hook: Callable[[type[Any], Any], Any] | None = None,
    limits: _core.Limits | None = None,
) -> _core.Document:
    """A value that is built where it is touched: `doc[key]` builds one member, `doc.get(key, type=T)` as what it must be.

    Parameters are those of `load`. The file is walked over once, without building anything: it says nowhere where its values are.
    Lists, simple-vectors, hash tables and objects (by the names of their slots) come as documents of their own, read where they are
    touched in turn; `doc.load()` builds all of it. What several members share is one object. It closes at the end of `with`, or
    when nobody uses it any more.

    Raises DecodeError: malformed bytes, or not exactly one value. Raises OSError: as the file system says.

    >>> dump({"layers": [[1, 2], [3]], "epoch": 12}, "data.bin")
    >>> with holdall.lisp.open("data.bin") as doc:
    ...     doc["layers"][1][0], list(doc)
    (3, ['layers', 'epoch'])
    """
    options: dict[str, Any] = {
        "types": types, "type": type, "strict": strict, "dec_hook": dec_hook, "limits": limits
    }  # fmt: skip
    return _files.opened(file, mmap, partial(_core.lisp_open, **options))


def parse(
    file: _files.Path | _files.Data | _files.Readable | _files.ReadableInto,
    *,
    limits: _core.Limits | None = None,
) -> Any:
    """The value of a file as it stands in it: structures and objects are `LispObject`s, whatever `struct` has mapped.

    file: as for `load`.

    Raises DecodeError: malformed bytes. Raises OSError: as the file system says.

    >>> parse(dumps(LispObject(Type("SHOP::ITEM", ["ID"]), [7]))).id
    7
    """
    return _load(file, False, types=_registry.UNMAPPED, limits=limits)


def load_all(
    file: _files.Path | _files.Data | _files.Readable | _files.ReadableInto,
    *,
    types: Mapping[str, type[Any]] | None = None,
    mmap: bool | Literal["copy"] = False,
    limits: _core.Limits | None = None,
) -> list[Any]:
    """Restore all values of a file, as `store` writes several of them, up to its end or an end marker.

    Parameters are those of `load`. What the values share is shared in the list.

    >>> dump(["one", 2], "data.bin", all=True)
    >>> load_all("data.bin")
    ['one', 2]
    """
    found: list[Any] = _load(file, mmap, types=types, limits=limits, all=True)
    return found


def loads_all(
    data: Any, /, *, types: Mapping[str, type[Any]] | None = None, limits: _core.Limits | None = None
) -> list[Any]:
    """All values that `data` holds: as `load_all` for bytes.

    >>> loads_all(dumps([1, "two"], all=True))
    [1, 'two']
    """
    found: list[Any] = _core.lisp_loads(data, types=types, limits=limits, all=True)
    return found


def dump(
    obj: Any,
    file: _files.Path | _files.Writable,
    *,
    refs: bool = True,
    version: bool = False,
    all: bool = False,
    shared_lists: bool = False,
    enc_hook: Callable[[Any], Any] | None = None,
) -> None:
    """Store a value for `(cl-binary-store:restore ...)` in Lisp.

    file: a path, which is replaced atomically, as by `holdall.dump`; or a binary file object with `write`.
    refs, version, all, shared_lists, enc_hook: as for `dumps`.

    Raises EncodeError: as `dumps`, before anything is written. Raises OSError: as the file system says.

    >>> dump(keyword("HELLO"), "data.bin")
    >>> load("data.bin")
    keyword('HELLO')
    """

    def written() -> bytes:
        return _core.lisp_dumps(
            obj, refs=refs, version=version, all=all, shared_lists=shared_lists, enc_hook=enc_hook
        )

    _files.store(file, written)


def _load(file: Any, mmap: bool | Literal["copy"], **options: Any) -> Any:
    return _files.loaded(file, mmap, partial(_core.lisp_loads, **options))
