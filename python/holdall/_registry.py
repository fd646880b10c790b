"""`register`: what a class is called in the data, and how its older forms still load."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, overload

from . import _core

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

_C = TypeVar("_C", bound="type[Any]")


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

    Registering a class anew replaces what was said before. Returns `cls`, unchanged. The registry keeps the class alive.

    Raises TypeError: an argument of the wrong kind, or one of `encode` and `decode` without the other.
    Raises HoldallError: the name or an alias belongs to another class already, or `version` is below 1.

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
    for option, hook in (("upgrade", upgrade), ("encode", encode), ("decode", decode)):
        if hook is not None and not callable(hook):
            raise TypeError(f"register: {option}: expected a callable, got {_kind(hook)}")
    if (encode is None) != (decode is None):
        raise TypeError("register: encode and decode come together")

    _core.register_class(cls, name, aliases, version, renames, upgrade, encode, decode)
    return cls


def _kind(value: object) -> str:
    return type(value).__name__
