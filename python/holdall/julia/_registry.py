"""`struct`: which Python class stands for which Julia type, and how the types in a file are resolved."""

from __future__ import annotations

import enum
import inspect
import unicodedata
from collections.abc import Iterable, Mapping
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, overload

from .. import _core
from .._annotations.scopes import annotations_of
from . import _known, _make, _numbers, _types
from ._names import canonical, declare_mutable
from ._struct import JuliaStruct, Wrapper, record
from ._types import Type, shown
from ._values import Bits
from ._wrappers import MAPPED

if TYPE_CHECKING:
    from collections.abc import Callable

_C = TypeVar("_C", bound="type[Any]")

# How the native side makes an instance: the first item of the result of `resolve`, which describes the
# others.
RECORD, FIELDS, MAKE, NUMBER, BITS, TABLE = range(6)

_ATTRIBUTE = "__julia_type__"


class Mapped(NamedTuple):
    """A class that stands for a type."""

    cls: type[Any]
    # With parameters for that specialization alone, without for all.
    type: Type
    # The attributes in the order of Julia's fields; () for a class with hooks and for an enumeration.
    names: tuple[str, ...]
    decode: Callable[[Type, list[Any]], Any] | None
    encode: Callable[[Any], Iterable[Any]] | None


# By type; and by class, the latest registration last.
_BY_TYPE: dict[Type, Mapped] = {}
_BY_CLASS: dict[type[Any], list[Mapped]] = {}


@overload
def struct(
    name: str,
    cls: _C,
    /,
    *,
    fields: Iterable[str] | None = None,
    mutable: bool = False,
    decode: Callable[[Type, list[Any]], Any] | None = None,
    encode: Callable[[Any], Iterable[Any]] | None = None,
) -> _C: ...
@overload
def struct(
    name: str,
    cls: None = None,
    /,
    *,
    fields: Iterable[str] | None = None,
    mutable: bool = False,
    decode: Callable[[Type, list[Any]], Any] | None = None,
    encode: Callable[[Any], Iterable[Any]] | None = None,
) -> Callable[[_C], _C]: ...
def struct(
    name: str,
    cls: _C | None = None,
    /,
    *,
    fields: Iterable[str] | None = None,
    mutable: bool = False,
    decode: Callable[[Type, list[Any]], Any] | None = None,
    encode: Callable[[Any], Iterable[Any]] | None = None,
) -> _C | Callable[[_C], _C]:
    """Map a type of Julia's to a Python class, in every load and dump of this process.

    Works as a call and as a decorator.

    name: the type as `Type.parse` reads it: "Main.Foo", "Foo" (the same), "Flux.Dense", or with parameters for just
        one of them: "Main.Wrapper{Int64}". Without parameters all of them are meant.
    cls: filled field by field, without `__init__`; an enumeration stands for an `@enum` (of Int32, or of the Int8
        ... UInt128 that it is based on: `class Size(Int64, Enum)`). An instance of a type with parameters keeps its type as `__julia_type__`, if
        the class has a `__dict__` or a slot of that name.
    fields: the attributes in the order of Julia's fields. Unless given they are the class's own: of a dataclass,
        attrs, msgspec or pydantic class, a NamedTuple, `__slots__`, or annotations. Given without a class (and not
        used as a decorator) they are the names of the fields of records.
    mutable: the type is a `mutable struct`: its instances have an identity, which is kept.
    decode: called as `decode(type, values)` in place of filling; returns the object. It can't be part of a cycle then.
    encode: called as `encode(obj)` in place of reading attributes; returns the values in the order of Julia's fields.

    Mapping a type anew replaces what was said before. The registry keeps the class alive. Returns `cls`, unchanged.

    Raises TypeError: an argument of the wrong kind, a class without known fields, an enumeration whose members are
        no ints.
    Raises ValueError: `name` is no type of Julia's.

    >>> from dataclasses import dataclass
    >>> @struct("Geometry.Spot")
    ... @dataclass
    ... class Spot:
    ...     x: float
    ...     y: float
    >>> _ = struct("Geometry.Tally", fields=["n"], mutable=True)
    >>> JuliaStruct("Geometry.Tally", [3]).n
    3
    """
    if not isinstance(name, str):
        raise TypeError(f"struct: name: expected str, got {_kind(name)}: the class comes second")
    type_ = Type.parse(name)
    if not isinstance(type_, Type):
        raise ValueError("struct: name: expected the name of one type, found a union")
    if cls is None and fields is not None:
        fields = _checked_names(fields)
        _known.DECLARED[type_.name] = fields
        if mutable:
            declare_mutable(type_.name)
    if cls is None:

        def decorator(cls: _C) -> _C:
            return struct(name, cls, fields=fields, mutable=mutable, decode=decode, encode=encode)

        return decorator

    for option, hook in (("decode", decode), ("encode", encode)):
        if hook is not None and not callable(hook):
            raise TypeError(f"struct: {option}: expected a callable, got {_kind(hook)}")
    mapped = _mapped(cls, type_, fields, decode, encode)
    if mapped.names:
        _known.DECLARED[type_.name] = mapped.names
    if mutable:
        declare_mutable(type_.name)
    _forget(type_)
    _BY_TYPE[type_] = mapped
    _BY_CLASS.setdefault(cls, []).append(mapped)
    return cls


def _mapped(
    cls: Any,
    type_: Type,
    fields: Iterable[str] | None = None,
    decode: Callable[[Type, list[Any]], Any] | None = None,
    encode: Callable[[Any], Iterable[Any]] | None = None,
) -> Mapped:
    if not isinstance(cls, type):
        raise TypeError(f"struct: expected a class, got {_kind(cls)}")
    if issubclass(cls, enum.Enum):
        check_members(cls)
        names: tuple[str, ...] = ()
    elif fields is not None:
        names = _attributes(cls, _checked_names(fields))
    else:
        found = fields_of(cls)
        if found is None and (decode is None or encode is None):
            raise TypeError(
                f"struct: {cls.__qualname__}: expected a class whose fields are known, or `fields=[...]`"
            )
        names = found or ()
    return Mapped(cls, type_, names, decode, encode)


def _attributes(cls: type[Any], names: tuple[str, ...]) -> tuple[str, ...]:
    """The attributes of these fields: Python's parser normalizes some letters of names in a class's source."""
    own = fields_of(cls) or ()
    changed = [unicodedata.normalize("NFKC", name) for name in names]
    return tuple(
        name if name in own or new not in own else new for name, new in zip(names, changed, strict=True)
    )


def _forget(type_: Type) -> None:
    old = _BY_TYPE.get(type_)
    if old is not None:
        of_class = _BY_CLASS[old.cls]
        of_class.remove(old)
        if not of_class:
            del _BY_CLASS[old.cls]


def _checked_names(fields: Iterable[str]) -> tuple[str, ...]:
    if isinstance(fields, str):
        raise TypeError("struct: fields: expected an iterable of names, got str")
    names = tuple(fields)
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"struct: fields: expected names, got {_kind(name)}")
    if len(set(names)) < len(names):
        raise TypeError("struct: fields: expected each name once")
    return names


def fields_of(cls: type[Any]) -> tuple[str, ...] | None:
    """The attributes of a class that hold its state, in order; None if it doesn't say."""
    if "__dataclass_fields__" in vars(cls) or hasattr(cls, "__dataclass_fields__"):
        import dataclasses

        return tuple(field.name for field in dataclasses.fields(cls))
    for attribute, name_of in (
        ("__attrs_attrs__", lambda field: field.name),
        ("__struct_fields__", str),
        ("__pydantic_fields__", str),
        ("_fields", str),
    ):
        found = getattr(cls, attribute, None)
        if isinstance(found, (tuple, list, dict)) and (attribute != "_fields" or issubclass(cls, tuple)):
            return tuple(map(name_of, found))
    slots: list[str] = []
    annotated: list[str] = []
    said = False
    for base in reversed(cls.__mro__[:-1]):
        own = vars(base).get("__slots__")
        if own is not None:
            said = True
            slots += [own] if isinstance(own, str) else own
        for name, annotation in annotations_of(base).items():
            said = True
            if "ClassVar" not in str(annotation) and name not in annotated:
                annotated.append(name)
    if not said:
        return None
    hidden = ("__dict__", "__weakref__", _ATTRIBUTE)
    # Annotations if there are both, because they are in the author's order.
    return tuple(name for name in (annotated or slots) if name not in hidden)


def check_members(cls: type[enum.Enum]) -> None:
    """Raises TypeError: an enumeration whose members are not ints of its width."""
    if any(isinstance(member.value, bool) or not isinstance(member.value, int) for member in cls):
        raise TypeError(f"struct: {cls.__qualname__}: expected an enumeration of ints, as Julia's are")
    width = enum_width(cls)
    if not all(width._LEAST <= member.value <= width._MOST for member in cls):
        raise TypeError(
            f"struct: {cls.__qualname__}: expected members within {width.__name__}:"
            " base it on another width, as in `class E(Int64, Enum)`"
        )


def enum_width(cls: type[enum.Enum]) -> type[_numbers._Int]:
    """The type on which Julia's `@enum` is based."""
    return next(
        (
            base
            for base in cls.__mro__
            if issubclass(base, _numbers._Int) and base._SIZE and base.__module__ == _numbers.__name__
        ),
        _numbers.Int32,
    )


class Permitted:
    """The classes that the caller of a load permits besides the registered ones, looked up once."""

    def __init__(self, types: Any) -> None:
        self.by_type: dict[Type, Mapped] = {}
        self.by_name: dict[str, type[Any]] = {}
        if isinstance(types, Mapping):
            for name, cls in types.items():
                type_ = Type.parse(name)
                if not isinstance(type_, Type):
                    raise ValueError("types: expected the names of types, found a union")
                self.by_type[type_] = _mapped(cls, type_)
            return
        for item in (types,) if isinstance(types, (type, ModuleType)) else types or ():
            if isinstance(item, ModuleType):
                for cls in vars(item).values():
                    # A class that a module has imported belongs to another module.
                    if isinstance(cls, type) and cls.__module__ == item.__name__:
                        self.by_name[cls.__name__] = cls
            elif isinstance(item, type):
                self.by_name[item.__name__] = item
            else:
                raise TypeError(
                    "types: expected classes, modules, an iterable of them, or a mapping of names to classes"
                )

    def find(self, type_: Type) -> Mapped | None:
        bare = Type(type_.path) if type_.params else type_
        found = self.by_type.get(type_) or self.by_type.get(bare) or _BY_TYPE.get(type_) or _BY_TYPE.get(bare)
        if found is not None or is_own(type_):
            return found
        last = type_.path[-1]
        cls = self.by_name.get(last)
        if cls is None and self.by_name and not last.isascii():
            # Normalized, as Python's parser does with the class's name.
            cls = self.by_name.get(unicodedata.normalize("NFKC", last))
        # A registered class stands only for the type for which it is registered.
        if cls is None or cls in _BY_CLASS:
            return None
        return _mapped(cls, bare)


_NONE = Permitted(None)


def permitted(types: Any) -> Permitted:
    """The classes in `load(types=...)`, looked up once for all types of a load.

    types: None, a class, a module, an iterable of those, or a mapping from Julia's names to classes. A class
        stands for the type of its own name in any Julia module, unless it is registered for another.
    """
    return types if isinstance(types, Permitted) else _NONE if types is None else Permitted(types)


def is_own(type_: Type) -> bool:
    """Whether a type comes with Julia, so that a class of the same name means another one."""
    return type_.path[0] in ("Core", "Base", "Dates", "LinearAlgebra") or canonical(type_.path) != ".".join(
        type_.path
    )


def resolve(type_: Any, types: Any = None) -> tuple[Any, ...]:
    """How to make instances of a type; asked once in a load for each type. `types`: an argument or a result
    of `permitted`.

    (RECORD,): a JuliaStruct; for a primitive type, `bits(type, data)`.
    (FIELDS, cls, names, attribute, ours): an instance that is made without `__init__` and filled by position;
    `attribute` is the one that holds its type, or None. Another number of values is an error, or a record if
    the class is `ours`.
    (MAKE, make): `make(type, values)`, when all values are there.
    (NUMBER, cls, kind): `cls(number)`, or the number itself if `cls` is None. kind: "i", "u" or "f", of as
    many bytes as there are.
    (BITS, make): `make(type, data)`, with a primitive type's bytes.
    (TABLE, empty): `empty(type)` is the dict to fill; `pairs(type, keys, values)` replaces it if a key can't
    be hashed, or if two are equal in Python.
    """
    if not isinstance(type_, Type):
        if not isinstance(
            type_, (_types.Anonymous, _types.UnionAll, _types.Union, _types.TypeVar, _types._Bottom)
        ):
            raise TypeError(f"expected a type, found {_kind(type_)}")
        return (RECORD,)
    mapped = permitted(types).find(type_)
    if mapped is not None:
        return _answer(mapped, type_)
    if type_.name in MAPPED:
        cls = MAPPED[type_.name]
        return FIELDS, cls, cls._NAMES, _ATTRIBUTE, True
    if type_.name in NUMBERS:
        return NUMBER, *NUMBERS[type_.name]
    if type_.name in _make.BITS:
        return BITS, _make.BITS[type_.name]
    if type_.name in _make.TABLES:
        return TABLE, _make.TABLES[type_.name]
    if type_.name in _make.MAKERS:
        return MAKE, _make.MAKERS[type_.name]
    return (RECORD,)


def _answer(mapped: Mapped, type_: Type) -> tuple[Any, ...]:
    cls = mapped.cls
    if mapped.decode is not None:
        return MAKE, mapped.decode
    if issubclass(cls, enum.Enum):
        return BITS, lambda type_, data: read_member(cls, type_, data)
    if issubclass(cls, tuple) or hasattr(cls, "__pydantic_fields__"):
        return MAKE, lambda type_, values: _constructed(mapped, type_, values)
    slot = _has_slot(cls)
    keeps = slot or (bool(type_.params) and cls.__dictoffset__ != 0)
    return FIELDS, cls, mapped.names, _ATTRIBUTE if keeps else None, False


def _constructed(mapped: Mapped, type_: Type, values: list[Any]) -> Any:
    """An instance of a class that can't be filled field by field."""
    cls, names = mapped.cls, mapped.names
    if len(values) != len(names):
        raise _core.DecodeError(
            f"{shown(type_)}: expected {len(names)} values, as `{cls.__qualname__}` has fields, found {len(values)}"
        )
    if issubclass(cls, tuple):
        return tuple.__new__(cls, values)
    # pydantic records which fields were set.
    return cls.model_construct(**dict(zip(names, values, strict=True)))


def _has_slot(cls: type[Any]) -> bool:
    return inspect.ismemberdescriptor(inspect.getattr_static(cls, _ATTRIBUTE, None))


def read_member(cls: type[enum.Enum], type_: Type, data: bytes) -> Any:
    """A member of an enumeration; `Bits` if there is no such member.

    Raises DecodeError: it was stored with another size than the class has, with which it would be written
    again.
    """
    width = enum_width(cls)
    if len(data) != width._SIZE:
        other = f"{'U' if width._LEAST == 0 else ''}Int{8 * len(data)}"
        raise _core.DecodeError(
            f"{shown(type_)} was stored in {len(data)} bytes, and `{cls.__qualname__}` has {width._SIZE}: base it on another width, as"
            f" in `class {cls.__name__}({other}, Enum)`"
        )
    try:
        return cls(int.from_bytes(data, "little", signed=width._LEAST < 0))
    except ValueError:
        return Bits(type_, data)


def class_of(cls: type[Any]) -> tuple[Type | None, tuple[str, ...], bool] | None:
    """How to write instances of a mapped class; asked once in a dump for each class.

    (type, names, own): a struct of the attributes' values. If `own`, an instance's own `__julia_type__` comes
    first. Without that and without a type, `lower(obj)` decides. None: no such class, or written in another
    way, which `lower` knows.

    Raises EncodeError: the class stands for several types, or for one with parameters, and instances can't
    say theirs.
    """
    if issubclass(cls, Wrapper):
        return None, cls._NAMES, True
    mapped = _BY_CLASS.get(cls)
    if mapped is None or mapped[-1].encode is not None or issubclass(cls, (enum.Enum, tuple)):
        return None
    own = _has_slot(cls) or cls.__dictoffset__ != 0
    try:
        default = only_type(cls)
    except _core.EncodeError:
        if not own:
            raise
        default = None
    return default, mapped[-1].names, own


def fields_of_type(type_: Any, types: Any = None) -> list[str] | None:
    """The names of the fields of a program's own type, [] if they are unknown; None for Julia's own types.

    For Documents, in which instances of such types are read field by field.
    """
    if not isinstance(type_, Type) or is_own(type_):
        return None
    answer = resolve(type_, types)
    if answer[0] == FIELDS:
        return list(answer[2])
    return list(_known.names(type_)) if answer[0] == RECORD else None


def is_made(cls: type[Any]) -> bool:
    """Whether instances of a class are made once all their values are there, so that none can contain itself."""
    mapped = _BY_CLASS.get(cls)
    if mapped is not None:
        return mapped[-1].decode is not None or issubclass(cls, tuple) or hasattr(cls, "__pydantic_fields__")
    return issubclass(cls, tuple) and cls is not tuple


def only_type(cls: type[Any]) -> Type:
    """The type of an instance that doesn't know its own. Raises EncodeError like `class_of`."""
    mapped = _BY_CLASS[cls]
    type_ = mapped[-1].type
    if len(mapped) > 1:
        raise _core.EncodeError(
            f"`{cls.__qualname__}` stands for several of Julia's types: say which one in `__julia_type__` of the"
            " object, for which the class needs a slot or a `__dict__`"
        )
    if not type_.params and getattr(cls, "__parameters__", None):
        raise _core.EncodeError(
            f"`{cls.__qualname__}` stands for {shown(type_)} with any parameters: map one of them,"
            f" as in `struct('{shown(type_)}{{Int64}}', ...)`, or set `__julia_type__` of the object"
        )
    return type_


def registered(cls: type[Any]) -> Mapped | None:
    """The latest registration of a class."""
    mapped = _BY_CLASS.get(cls)
    return mapped[-1] if mapped else None


NUMBERS: dict[str, tuple[type[Any] | None, str]] = {
    "Core.Int64": (None, "i"),
    "Core.Float64": (None, "f"),
    **{
        f"Core.{cls.__name__}": (cls, "u" if cls._LEAST == 0 else "i")
        for cls in (
            _numbers.Int8,
            _numbers.Int16,
            _numbers.Int32,
            _numbers.Int128,
            _numbers.UInt8,
            _numbers.UInt16,
            _numbers.UInt32,
            _numbers.UInt64,
            _numbers.UInt128,
        )
    },
    "Core.Float16": (_numbers.Float16, "f"),
    "Core.Float32": (_numbers.Float32, "f"),
}


def enums() -> list[type[enum.Enum]]:
    """The registered enumerations."""
    return [cls for cls in _BY_CLASS if issubclass(cls, enum.Enum)]


def bits(type_: Any, data: bytes) -> Bits:
    """A value of a primitive type for which there is no class."""
    return Bits(type_, data)


def _kind(value: object) -> str:
    return type(value).__name__


__all__ = ["BITS", "FIELDS", "MAKE", "NUMBER", "RECORD", "TABLE", "JuliaStruct", "record", "struct"]
