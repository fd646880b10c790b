"""`load`, `open`, `dump` and `parse`: Julia's files, and their bytes."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from .. import _core, _files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from types import ModuleType

    _Types: TypeAlias = (
        type[Any] | ModuleType | Iterable[type[Any] | ModuleType] | Mapping[str, type[Any]] | None
    )
    _Source: TypeAlias = _files.Path | _files.Data | _files.Readable | _files.ReadableInto


def load(
    file: _Source,
    *,
    types: _Types = None,
    mmap: bool | Literal["copy"] = False,
    type: Any = Any,
    strict: bool = True,
    dec_hook: Callable[[type[Any], Any], Any] | None = None,
    limits: _core.Limits | None = None,
) -> Any:
    """Restore a document of BSON.jl's or BSONqs's: a dict of names and values.

    file: a path; bytes-like data that hold the document; or a binary file object with `read`, which is read to its end.
    types: classes that Julia's structs become, beside those mapped by `struct`: a class or several, found by their names, modules
        that hold them, or a dict of Julia's paths and classes. All others come as `JuliaStruct`.
    mmap: arrays are views of the file (or of the buffer given) instead of copies, and keep it open: nothing of them is read before it is
        touched. `True`: they can't be written to; `"copy"`: what is written stays in memory, and the file as it is (a buffer is
        copied once for it). Views start at any byte, as the format does not align them. A file that is cut short while it is mapped ends the process where the missing part is
        touched, as with any map; this goes for large files also while they are loaded.
    type: what the document must be, and is built as: an annotation, as for `holdall.loads`. Fields of a dataclass (or the like) are taken in
        Julia's order.
    strict, dec_hook, limits: as for `holdall.loads`.

    Nothing that a file names is run or imported. Functions and methods come as records that can be looked at.

    Raises DecodeError: malformed bytes; `.offset` counts from the start of the document. Raises ValidationError: it is not a `type`.
    Raises OSError: as the file system says.

    >>> dump({"weights": [1.5, 2.5], "epoch": 12}, "model.bson")
    >>> load("model.bson")
    {'weights': [1.5, 2.5], 'epoch': 12}
    """
    options: dict[str, Any] = {
        "types": types, "type": type, "strict": strict, "dec_hook": dec_hook, "limits": limits
    }  # fmt: skip
    return _files.loaded(file, mmap, partial(_core.julia_loads, **options))


def open_file(
    file: _Source,
    *,
    types: _Types = None,
    mmap: bool | Literal["copy"] = False,
    type: Any = Any,
    strict: bool = True,
    dec_hook: Callable[[type[Any], Any], Any] | None = None,
    limits: _core.Limits | None = None,
) -> _core.Document:
    """A document that is read where it is touched: `doc[key]` builds one member, `doc.get(key, type=T)` as what it must be.

    Parameters are those of `load`. Members that are plain documents or lists, or instances of a program's own types, come as
    documents of their own, read where they are touched in turn (of an instance by the names of its fields, if they are known, or
    by index); `doc.load()` builds all of it. It closes at the end of `with`, or when nobody uses it any more.

    Raises DecodeError: it does not hold one document from end to end. Raises OSError: as the file system says.

    >>> dump({"layers": [{"W": 1}, {"W": 2}], "epoch": 12}, "model.bson")
    >>> with holdall.julia.open("model.bson") as doc:
    ...     doc["layers"][1]["W"], list(doc)
    (2, ['layers', 'epoch'])
    """
    options: dict[str, Any] = {
        "types": types, "type": type, "strict": strict, "dec_hook": dec_hook, "limits": limits
    }  # fmt: skip
    return _files.opened(file, mmap, partial(_core.julia_open, **options))


def dump(
    obj: dict[str, Any], file: _files.Path | _files.Writable, *, enc_hook: Callable[[Any], Any] | None = None
) -> None:
    """Store a dict of names as BSON.jl would, for `BSON.load` in Julia.

    file: a path, which is replaced atomically, as by `holdall.dump`; or a binary file object with `write`.
    enc_hook: as for `dumps`.

    Raises EncodeError: as `dumps`, before anything is written. Raises OSError: as the file system says.

    >>> dump({"epoch": 12}, "model.bson")
    >>> load("model.bson")
    {'epoch': 12}
    """
    _files.store(file, lambda: _core.julia_dumps(obj, enc_hook=enc_hook))


def parse(file: _Source, *, limits: _core.Limits | None = None) -> dict[str, Any]:
    """The documents of a file as they stand in it, tags and all, as BSON.jl's `parse` gives them.

    file: as for `load`. What is referred to by `backref` is one object, at each of its places; `_backrefs` is no member.

    Raises DecodeError: malformed bytes. Raises OSError: as the file system says.

    >>> parse(dumps({"pair": (1, Symbol("a"))}))
    {'pair': {'tag': 'tuple', 'data': [1, {'tag': 'symbol', 'name': 'a'}]}}
    """
    data, _ = _files.read_source(file, False)
    found: dict[str, Any] = _core.julia_parse(data, limits=limits)
    return found
