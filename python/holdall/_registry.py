"""`register`: the name of a class in stored data, and how its older versions are loaded."""

from __future__ import annotations

import types
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, overload

from . import _core
from ._evolution import check_unknown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Literal, TypeAlias

    from .resolve import Resolver

    Rename: TypeAlias = str | Mapping[str, str] | Callable[[str], str | None] | None

    Unknown: TypeAlias = Literal["keep", "drop", "refuse"] | None
    Missing: TypeAlias = Literal["refuse", "leave"]
    Upgrade: TypeAlias = (
        Callable[[dict[str, Any], int], Mapping[str, Any]]
        | Callable[[dict[str, Any], int, str | None], Mapping[str, Any]]
    )
    Decode: TypeAlias = Callable[[Any], Any] | Callable[[Any, int | None], Any]

_C = TypeVar("_C", bound="Callable[..., Any]")

_STYLES = ("lower", "upper", "camel", "pascal", "kebab")


class Settings(NamedTuple):
    """The arguments of `register` that the native side reads by name, or not at all: `_annotations` and `_schemas` do."""

    rename: Rename
    array_like: bool
    forbid_unknown: bool
    tag: str | int | None
    tag_field: str
    subclasses: tuple[type[Any], ...]
    omit_defaults: bool
    aliases: tuple[str, ...]
    version: int
    renames: Mapping[str, str]
    version_field: str | None
    unknown: str | None
    missing: str
    resolver: Resolver | None
    # Whether there is an `upgrade`, whether it takes the stored name, and whether `decode` takes the version.
    upgrades: bool
    upgrade_takes_name: bool
    decode_takes_version: bool
    # `decode` for formats that store no version, if it takes one.
    decode_of_plain: Callable[[Any], Any] | None


@overload
def register(
    cls: _C,
    /,
    *,
    name: str | None = None,
    aliases: Iterable[str] = (),
    version: int = 1,
    renames: Mapping[str, str] | None = None,
    upgrade: Upgrade | None = None,
    encode: Callable[[Any], Any] | None = None,
    decode: Decode | None = None,
    rename: Rename = None,
    array_like: bool = False,
    forbid_unknown: bool = False,
    tag: str | int | bool | None = None,
    tag_field: str = "type",
    subclasses: Iterable[type[Any]] = (),
    omit_defaults: bool = False,
    version_field: str | None = None,
    unknown: Unknown = None,
    missing: Missing = "refuse",
    resolver: Resolver | None = None,
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
    upgrade: Upgrade | None = None,
    encode: Callable[[Any], Any] | None = None,
    decode: Decode | None = None,
    rename: Rename = None,
    array_like: bool = False,
    forbid_unknown: bool = False,
    tag: str | int | bool | None = None,
    tag_field: str = "type",
    subclasses: Iterable[type[Any]] = (),
    omit_defaults: bool = False,
    version_field: str | None = None,
    unknown: Unknown = None,
    missing: Missing = "refuse",
    resolver: Resolver | None = None,
) -> Callable[[_C], _C]: ...
def register(
    cls: _C | None = None,
    /,
    *,
    name: str | None = None,
    aliases: Iterable[str] = (),
    version: int = 1,
    renames: Mapping[str, str] | None = None,
    upgrade: Upgrade | None = None,
    encode: Callable[[Any], Any] | None = None,
    decode: Decode | None = None,
    rename: Rename = None,
    array_like: bool = False,
    forbid_unknown: bool = False,
    tag: str | int | bool | None = None,
    tag_field: str = "type",
    subclasses: Iterable[type[Any]] = (),
    omit_defaults: bool = False,
    version_field: str | None = None,
    unknown: Unknown = None,
    missing: Missing = "refuse",
    resolver: Resolver | None = None,
) -> _C | Callable[[_C], _C]:
    """Permit `cls` in every `loads` of this process, and say how it is stored. Works as a call and as a decorator.

    name: what the data calls the class; "module.qualname" unless given. A name of your own outlives a move of the class.
    aliases: other names under which older data may hold it. Trusted messages name functions too: `register(function, aliases=[...])`
        has one found under names that it had.
    version: of the class's fields, from 1; stored with the class.
    renames: {old field: new field}, applied to what was stored under an old name. In data of this very version a name of one of the
        class's fields means that field.
    upgrade: called as `upgrade(fields, version)` with the stored fields (renamed already) and the stored version where that
        version isn't the class's own; returns the fields to fill in. The dict is the callee's to change. A function that
        requires a third argument is given the stored name (in plain formats the tag, or None).
    encode, decode: store the one value `encode(obj)` in place of the fields, and build the object by `decode(value)`, or
        by `decode(value, version)` if it requires two arguments (plain formats store no version for it: None).
        They come together. An object that takes part in a cycle through its own stored value can't be built this way.
    rename: what plain formats (MessagePack, BSON) call the fields: "lower", "upper", "camel" (userId), "pascal" (UserId), "kebab"
        (user-id), {field: key} for some, as {"id": "_id"}, or a function of the field's name that gives the key or None to keep it.
    array_like: plain formats store the fields in order, without their names.
    omit_defaults: plain formats leave out fields that have their defaults: the default itself, its equal among numbers and text, or an
        empty list, dict or set where the factory makes one.
    forbid_unknown: typed loading refuses stored fields that the class has not; else they are passed over.
    unknown: what becomes of stored fields that the class has not. "keep": the instance keeps them in its `__dict__`, and plain
        formats write them again; "drop": they are dropped; "refuse": they are an error. None: loading by type drops them;
        without a type they are kept where instances have a `__dict__`, as attributes that a program has added, and dropped elsewhere.
    missing: whether a stored instance that lacks a field without a default is refused ("refuse"), or loaded without a type
        as it was stored, with that field unset ("leave").
    resolver: called as `resolver(stored)` with a `holdall.resolve.Stored` for each layout that was stored under the name or an alias, and
        in plain formats for the keys of dicts where `type=` wants the class. It says what becomes of it: a class, a value, a
        record, nothing, an error; None means as without it. See `docs/evolution.md`.
    tag, tag_field: key and value that tell the class from others of a union in plain formats; True is the class's name.
        Loading takes the `aliases` for it as well, each whole or from any of its dots on.
    version_field: the key under which plain formats store the version. Loading by type takes a dict without it for one of
        version 1. Without this option a dict is taken for one of version 1 if it lacks a field that has no default.
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
    # Long: each option is said here and passed on.
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
                version_field=version_field,
                unknown=unknown,
                missing=missing,
                resolver=resolver,
            )

        return decorator

    if isinstance(cls, (types.FunctionType, types.BuiltinFunctionType)):
        given = (name, version, renames, upgrade, encode, decode, resolver)
        if given != (None, 1, None, None, None, None, None):
            raise TypeError("register: a function takes `aliases` only")
        if isinstance(aliases, str):
            raise TypeError("register: aliases: expected an iterable of str, got str")
        _core.register_function(cls, list(aliases))
        return cls
    # Before 3.11 `isinstance(list[int], type)` is true.
    if not issubclass(type(cls), type):
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
    for option, hook in (
        ("upgrade", upgrade),
        ("encode", encode),
        ("decode", decode),
        ("resolver", resolver),
    ):
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
    _check_evolution(cls, version_field, array_like, unknown, missing)
    settings = Settings(
        rename=rename,
        array_like=bool(array_like),
        forbid_unknown=bool(forbid_unknown),
        tag=tag,
        tag_field=tag_field,
        subclasses=subclasses,
        omit_defaults=bool(omit_defaults),
        aliases=aliases,
        version=version,
        renames=renames,
        version_field=version_field,
        unknown=unknown,
        missing=missing,
        resolver=resolver,
        upgrades=upgrade is not None,
        upgrade_takes_name=_requires(upgrade, 3),
        decode_takes_version=_requires(decode, 2),
        decode_of_plain=_without_version(decode) if _requires(decode, 2) else None,
    )
    _core.register_class(cls, name, aliases, version, renames, upgrade, encode, decode, settings)
    return cls


def _check_evolution(cls: Any, version_field: Any, array_like: Any, unknown: Any, missing: Any) -> None:
    if version_field is not None and not isinstance(version_field, str):
        raise TypeError(f"register: version_field: expected str, got {_kind(version_field)}")
    if version_field is not None and array_like:
        raise TypeError("register: version_field: `array_like` classes are stored without keys")
    if unknown not in (None, "keep", "drop", "refuse"):
        raise TypeError("register: unknown: expected 'keep', 'drop', 'refuse' or None")
    if missing not in ("refuse", "leave"):
        raise TypeError("register: missing: expected 'refuse' or 'leave'")
    if unknown is not None:
        check_unknown(cls, unknown)


def _requires(hook: Callable[..., Any] | None, count: int) -> bool:
    """Whether a function can't be called with fewer than `count` arguments."""
    if hook is None:
        return False
    import inspect  # takes long, and few programs need it

    try:
        parameters = inspect.signature(hook).parameters.values()
    except (TypeError, ValueError):  # a function in C that doesn't say
        return False
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    required = [one for one in parameters if one.kind in kinds and one.default is one.empty]
    return len(required) >= count


def _without_version(decode: Any) -> Callable[[Any], Any]:
    return lambda value: decode(value, None)


def _kind(value: object) -> str:
    return type(value).__name__
