"""`register`: the name of a class in stored data, and how its older versions are loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, overload

from . import _core

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import TypeAlias

    Rename: TypeAlias = str | Mapping[str, str] | Callable[[str], str | None] | None

_C = TypeVar("_C", bound="type[Any]")

_STYLES = ("lower", "upper", "camel", "pascal", "kebab")


class Settings(NamedTuple):
    """The arguments of `register` for typed loading and schemaless formats; `_annotations` reads them."""

    rename: Rename
    array_like: bool
    forbid_unknown: bool
    tag: str | int | None
    tag_field: str
    subclasses: tuple[type[Any], ...]
    omit_defaults: bool


@overload
def register(
    cls: _C,
    /,
    *,
    name: str | None = None,
    aliases: Iterable[str] = (),
    version: int = 1,
    renames: Mapping[str, str] | None = None,
    upgrade: Callable[[dict[str, Any], int], Mapping[str, Any]] | None = None,
    encode: Callable[[Any], Any] | None = None,
    decode: Callable[[Any], Any] | None = None,
    rename: Rename = None,
    array_like: bool = False,
    forbid_unknown: bool = False,
    tag: str | int | bool | None = None,
    tag_field: str = "type",
    subclasses: Iterable[type[Any]] = (),
    omit_defaults: bool = False,
) -> _C: ...
@overload
def register(
    cls: None = None,
    /,
    *,
    name: str | None = None,
    aliases: Iterable[str] = (),
    version: int = 1,
    renames: Mapping[str, str] | None = None,
    upgrade: Callable[[dict[str, Any], int], Mapping[str, Any]] | None = None,
    encode: Callable[[Any], Any] | None = None,
    decode: Callable[[Any], Any] | None = None,
    rename: Rename = None,
    array_like: bool = False,
    forbid_unknown: bool = False,
    tag: str | int | bool | None = None,
    tag_field: str = "type",
    subclasses: Iterable[type[Any]] = (),
    omit_defaults: bool = False,
) -> Callable[[_C], _C]: ...
def register(
    cls: _C | None = None,
    /,
    *,
    name: str | None = None,
    aliases: Iterable[str] = (),
    version: int = 1,
    renames: Mapping[str, str] | None = None,
    upgrade: Callable[[dict[str, Any], int], Mapping[str, Any]] | None = None,
    encode: Callable[[Any], Any] | None = None,
    decode: Callable[[Any], Any] | None = None,
    rename: Rename = None,
    array_like: bool = False,
    forbid_unknown: bool = False,
    tag: str | int | bool | None = None,
    tag_field: str = "type",
    subclasses: Iterable[type[Any]] = (),
    omit_defaults: bool = False,
) -> _C | Callable[[_C], _C]:
    """Permit `cls` in every `loads` of this process, and say how it is stored. Works as a call and as a decorator.

    name: what the data calls the class; "module.qualname" unless given. A name of your own outlives a move of the class.
    aliases: other names under which older data may hold it.
    version: of the class's fields, from 1; stored with the class.
    renames: {old field: new field}, applied to what was stored under an old name.
    upgrade: called as `upgrade(fields, version)` with the stored fields (renamed already) and the stored version where that
        version isn't the class's own; returns the fields to fill in. The dict is the callee's to change.
    encode, decode: store the one value `encode(obj)` in place of the fields, and build the object by `decode(value)`.
        They come together. An object that takes part in a cycle through its own stored value can't be built this way.
    rename: what plain formats (MessagePack, BSON) call the fields: "lower", "upper", "camel" (userId), "pascal" (UserId), "kebab"
        (user-id), {field: key} for some, as {"id": "_id"}, or a function of the field's name that gives the key or None to keep it.
    array_like: plain formats store the fields in order, without their names.
    omit_defaults: plain formats leave out fields that have their defaults: the default itself, its equal among numbers and text, or an
        empty list, dict or set where the factory makes one.
    forbid_unknown: typed loading refuses stored fields that the class has not; else they are passed over.
    tag, tag_field: key and value that tell the class from others of a union in plain formats; True is the class's name.
    subclasses: classes that may stand where `cls` is annotated. Registered ones always may.

    Registering a class anew replaces what was said before. Returns `cls`, unchanged. The registry keeps the class alive.

    Raises TypeError: an argument of the wrong kind, or one of `encode` and `decode` without the other.
    Raises HoldallError: the name or an alias belongs to another class already, or has a lone surrogate, or `version` is below 1.

    >>> from dataclasses import dataclass
    >>> @register(name="shop.Item", version=2, renames={"label": "title"})
    ... @dataclass
    ... class Item:
    ...     title: str
    ...     price: float
    >>> loads(dumps(Item("tea", 4.5)))
    Item(title='tea', price=4.5)
    """
    if cls is None:

        def decorator(cls: _C) -> _C:
            return register(
                cls,
                name=name,
                aliases=aliases,
                version=version,
                renames=renames,
                upgrade=upgrade,
                encode=encode,
                decode=decode,
                rename=rename,
                array_like=array_like,
                forbid_unknown=forbid_unknown,
                tag=tag,
                tag_field=tag_field,
                subclasses=subclasses,
                omit_defaults=omit_defaults,
            )

        return decorator

    if not isinstance(cls, type):
        raise TypeError(f"register: expected a class, got {_kind(cls)}")
    if name is not None and not isinstance(name, str):
        raise TypeError(f"register: name: expected str, got {_kind(name)}")
    if isinstance(aliases, str):
        raise TypeError("register: aliases: expected an iterable of str, got str")
    aliases = tuple(aliases)
    if isinstance(version, bool) or not isinstance(version, int):
        raise TypeError(f"register: version: expected int, got {_kind(version)}")
    if version < 1:
        raise _core.HoldallError(f"register: version: expected 1 or more, got {version}")
    renames = dict(renames or {})
    for option, texts in (("aliases", aliases), ("renames", (*renames, *renames.values()))):
        for text in texts:
            if not isinstance(text, str):
                raise TypeError(f"register: {option}: expected str, got {_kind(text)}")
    for option, texts in (("name", (name or "",)), ("aliases", aliases)):
        if any("\ud800" <= char <= "\udfff" for text in texts for char in text):
            raise _core.HoldallError(f"register: {option}: expected text without lone surrogates")
    for option, hook in (("upgrade", upgrade), ("encode", encode), ("decode", decode)):
        if hook is not None and not callable(hook):
            raise TypeError(f"register: {option}: expected a callable, got {_kind(hook)}")
    if (encode is None) != (decode is None):
        raise TypeError("register: encode and decode come together")

    if isinstance(rename, str) and rename not in _STYLES:
        raise TypeError(f"register: rename: expected one of {', '.join(_STYLES)}, a mapping or a callable")
    if isinstance(tag, bool):
        tag = cls.__qualname__ if tag else None
    if tag is not None and not isinstance(tag, (str, int)):
        raise TypeError(f"register: tag: expected str, int or bool, got {_kind(tag)}")
    subclasses = tuple(subclasses)
    for subclass in subclasses:
        if not issubclass(subclass, cls):
            raise TypeError(f"register: subclasses: expected subclasses of {cls.__qualname__}")
    settings = Settings(
        rename, bool(array_like), bool(forbid_unknown), tag, tag_field, subclasses, bool(omit_defaults)
    )
    _core.register_class(cls, name, aliases, version, renames, upgrade, encode, decode, settings)
    return cls


def _kind(value: object) -> str:
    return type(value).__name__
