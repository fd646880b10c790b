"""Values of Lisp that Python has no type for."""

from __future__ import annotations

import reprlib
import sys
from fractions import Fraction
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, ClassVar, final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import numpy as np


@final
class Symbol:
    """A symbol of Lisp: a name in a package.

    package: the package's name, "KEYWORD" for keywords; None for a symbol without a package, which equals only itself.

    A load gives one object for all occurrences of a symbol.

    >>> Symbol("CAR", "COMMON-LISP"), Symbol.parse(":name") == keyword("NAME")
    (Symbol('CAR', 'COMMON-LISP'), True)
    """

    # A load fills both by offset, without a call.
    __slots__ = ("name", "package")
    name: str
    package: str | None

    def __init__(self, name: str, package: str | None = "COMMON-LISP-USER") -> None:
        self.name = name
        self.package = package

    @staticmethod
    def parse(text: str) -> Symbol:
        """The symbol that Lisp's reader makes of a text such as `FOO::BAR` or `:name`: upper case, unless within bars.

        Raises ValueError: no symbol.
        """
        package, colons, name = text.rpartition(":")
        package = package.removesuffix(":")
        if not name:
            raise ValueError("Symbol: expected a name, with or without its package")
        if not colons:
            return Symbol(_read(name))
        return Symbol(_read(name), _read(package) if package else "KEYWORD")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Symbol):
            return NotImplemented
        if self.package is None or other.package is None:
            return self is other
        return self.name == other.name and self.package == other.package

    def __hash__(self) -> int:
        return hash((self.name, self.package))

    def __str__(self) -> str:
        if self.package is None:
            return f"#:{self.name}"
        return f":{self.name}" if self.package == "KEYWORD" else f"{self.package}::{self.name}"

    def __repr__(self) -> str:
        return (
            f"keyword({self.name!r})"
            if self.package == "KEYWORD"
            else f"Symbol({self.name!r}, {self.package!r})"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return Symbol, (self.name, self.package)


def _read(name: str) -> str:
    return name[1:-1] if len(name) > 1 and name[0] == name[-1] == "|" else name.upper()


def keyword(name: str) -> Symbol:
    """The keyword of that name, as it stands: Lisp's own are in upper case.

    >>> str(keyword("NAME"))
    ':NAME'
    """
    return Symbol(name, "KEYWORD")


@final
class Cons:
    """A cons that is part of no proper list, or of one that shares its tail.

    cdr: another Cons, a list (then this cons is its front), or any other value.

    >>> Cons(1, 2), list(Cons(1, Cons(2, [3])).cars())
    (Cons(1, 2), [1, 2, 3])
    """

    # A load fills both by offset, without a call.
    __slots__ = ("car", "cdr")
    car: Any
    cdr: Any
    _NAMES: ClassVar[tuple[str, ...]] = ("car", "cdr")

    def __init__(self, car: Any, cdr: Any) -> None:
        self.car = car
        self.cdr = cdr

    def cars(self) -> Iterator[Any]:
        """The cars from here on, up to the end of the list or to the first cons that comes again."""
        seen = set()
        rest: Any = self
        while isinstance(rest, Cons) and id(rest) not in seen:
            seen.add(id(rest))
            yield rest.car
            rest = rest.cdr
        if isinstance(rest, list):
            yield from rest

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Cons):
            return NotImplemented
        one: Any = self
        two: Any = other
        seen = set()
        while isinstance(one, Cons) and isinstance(two, Cons):
            if one is two or (id(one), id(two)) in seen:
                return True
            seen.add((id(one), id(two)))
            if one.car != two.car:
                return False
            one, two = one.cdr, two.cdr
        return bool(one == two)

    __hash__ = None  # type: ignore[assignment]

    @reprlib.recursive_repr("Cons(...)")
    def __repr__(self) -> str:
        return f"Cons({self.car!r}, {self.cdr!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _empty, (Cons,), (None, {"car": self.car, "cdr": self.cdr})


def _empty(cls: type[Any]) -> Any:
    return object.__new__(cls)


@final
class SingleFloat(float):
    """A float of 32 bits, `single-float`.

    >>> SingleFloat(1.5)
    SingleFloat(1.5)
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return f"SingleFloat({float.__repr__(self)})"


@final
class ComplexSingle(complex):
    """A complex number of floats of 32 bits.

    >>> ComplexSingle(1, 2)
    ComplexSingle(1.0, 2.0)
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return f"ComplexSingle({self.real!r}, {self.imag!r})"


@final
class Complex:
    """A complex number of integers or ratios.

    >>> Complex(1, Fraction(1, 2))
    Complex(1, Fraction(1, 2))
    """

    __slots__ = ("imag", "real")
    _NAMES: ClassVar[tuple[str, ...]] = ("real", "imag")

    def __init__(self, real: int | Fraction, imag: int | Fraction) -> None:
        self.real = real
        self.imag = imag

    def __complex__(self) -> complex:
        return complex(float(self.real), float(self.imag))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Complex):
            return (self.real, self.imag) == (other.real, other.imag)
        return NotImplemented

    def __hash__(self) -> int:
        return hash((self.real, self.imag))

    def __repr__(self) -> str:
        return f"Complex({self.real!r}, {self.imag!r})"


def _named(name: Any) -> Any:
    """A symbol as such, also where T and NIL stand for themselves."""
    if name is True or name is None:
        return Symbol("T" if name else "NIL", "COMMON-LISP")
    return name


@final
class Type:
    """What describes a structure, a class or a condition in a file: its name and its slots, both symbols.

    >>> Type("SHOP::ORDER", ["ID", "LINES"])
    Type('SHOP::ORDER', ['ID', 'LINES'])
    """

    __slots__ = ("_fields", "name", "slots")

    def __init__(self, name: Symbol | str, slots: Iterable[Symbol | str]) -> None:
        self.name = Symbol.parse(name) if isinstance(name, str) else _named(name)
        package = self.name.package
        self.slots = tuple(
            _named(slot)
            if not isinstance(slot, str)
            else Symbol.parse(slot)
            if ":" in slot
            else Symbol(slot.upper(), package)
            for slot in slots
        )
        self._fields: dict[str, int] | None = None

    @property
    def fields(self) -> dict[str, int]:
        """The slots' positions by their names as Python writes them: `first-name` is `first_name`."""
        if self._fields is None:
            self._fields = {sys.intern(field_name(slot)): at for at, slot in enumerate(self.slots)}
        return self._fields

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Type):
            return (self.name, self.slots) == (other.name, other.slots)
        return NotImplemented

    def __hash__(self) -> int:
        return hash((self.name, self.slots))

    def __str__(self) -> str:
        return str(self.name)

    def __repr__(self) -> str:
        own = self.name.package
        slots = [
            slot.name if slot.package == own else str(slot) for slot in self.slots if isinstance(slot, Symbol)
        ]
        return f"Type({str(self.name)!r}, {slots!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Type, (self.name, self.slots)


def field_name(slot: Symbol | Any) -> str:
    """How Python writes a slot's name."""
    return str(getattr(slot, "name", slot)).lower().replace("-", "_")


@final
class _Unbound:
    """The class of `UNBOUND`."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "UNBOUND"

    def __reduce__(self) -> str:
        return "UNBOUND"


# What a record has in place of the value of a slot that is unbound.
UNBOUND = _Unbound()


@final
class LispObject:
    """A structure, object or condition whose type no class is mapped to: its slots by name and by position.

    type: a `Type`, which describes it. values: of its slots, in the file's order.

    >>> order = LispObject(Type("SHOP::ORDER", ["ID", "FIRST-LINE"]), [7, "tea"])
    >>> order.first_line, order[0], len(order)
    ('tea', 7, 2)
    """

    # A load fills both by offset, without a call.
    __slots__ = ("type", "values")
    type: Type
    values: list[Any]

    def __init__(self, type: Type, values: Iterable[Any]) -> None:
        object.__setattr__(self, "type", type)
        object.__setattr__(self, "values", list(values))
        if len(self.values) != len(type.slots):
            raise ValueError(f"LispObject: expected {len(type.slots)} values, one for each slot")

    def __getattr__(self, name: str) -> Any:
        if name in LispObject.__slots__:
            # Not filled yet: looking up fields would ask for this attribute again.
            raise AttributeError(name)
        at = self.type.fields.get(name)
        if at is None:
            raise AttributeError(f"a {self.type} has no slot {name!r}")
        if self.values[at] is UNBOUND:
            raise AttributeError(f"the slot {name!r} of a {self.type} is unbound")
        return self.values[at]

    def __setattr__(self, name: str, value: Any) -> None:
        if name in LispObject.__slots__:
            object.__setattr__(self, name, value)
            return
        at = self.type.fields.get(name)
        if at is None:
            raise AttributeError(f"a {self.type} has no slot {name!r}")
        self.values[at] = value

    def __getitem__(self, index: int) -> Any:
        return self.values[index]

    def __setitem__(self, index: int, value: Any) -> None:
        self.values[index] = value

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.values)

    # A record without slots is true as well.
    def __bool__(self) -> bool:
        return True

    def _names(self) -> tuple[str, ...]:
        return tuple(self.type.fields)

    def __dir__(self) -> list[str]:
        return sorted({*object.__dir__(self), *self.type.fields})

    def __eq__(self, other: object) -> bool:
        if isinstance(other, LispObject):
            return self is other or (self.type == other.type and self.values == other.values)
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]

    @reprlib.recursive_repr("LispObject(...)")
    def __repr__(self) -> str:
        fields = zip(self.type.fields, self.values, strict=False)
        return f"{self.type}({', '.join(f'{name}={value!r}' for name, value in fields)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _empty, (LispObject,), (None, {"type": self.type, "values": self.values})


@final
class Array:
    """An array of any values: what NumPy's arrays, bytes and text have no place for.

    shape: the lengths of its dimensions. values: the elements, the last index running fastest; of a displaced array None.
    element_type: True (Lisp's T) for any values, a Symbol, or a pair of a Symbol and a number of bits.
    fill_pointer: the active length of a vector, or None. adjustable: whether it can change its size.
    displaced_to, offset: of a displaced array, the array whose elements it shows, and from which one on.

    >>> Array((2, 2), [1, "two", 3.0, None])[1, 0]
    3.0
    """

    __slots__ = ("adjustable", "displaced_to", "element_type", "fill_pointer", "offset", "shape", "values")
    _NAMES: ClassVar[tuple[str, ...]] = (
        "shape",
        "values",
        "element_type",
        "fill_pointer",
        "adjustable",
        "displaced_to",
        "offset",
    )

    def __init__(
        self,
        shape: Iterable[int],
        values: Iterable[Any] | None,
        *,
        element_type: Any = True,
        fill_pointer: int | None = None,
        adjustable: bool = False,
        displaced_to: Any = None,
        offset: int = 0,
    ) -> None:
        self.shape = tuple(shape)
        self.values = None if values is None else list(values)
        self.element_type = element_type
        self.fill_pointer = fill_pointer
        self.adjustable = adjustable
        self.displaced_to = displaced_to
        self.offset = offset
        if self.values is not None and len(self.values) != self.size:
            raise ValueError(f"Array: expected {self.size} values")

    @property
    def size(self) -> int:
        """How many elements there are, past the fill pointer too."""
        size = 1
        for length in self.shape:
            size *= length
        return size

    def flat(self) -> Sequence[Any]:
        """All elements, the last index running fastest; of a displaced array, those of the other that it shows."""
        if self.values is not None:
            return self.values
        of = self.displaced_to
        elements = of.flat() if isinstance(of, Array) else getattr(of, "flat", of)
        return list(elements[self.offset : self.offset + self.size])

    def numpy(self) -> np.ndarray[Any, Any]:
        """A NumPy array of objects with the same elements."""
        import numpy

        made = numpy.empty(self.size, object)
        made[:] = self.flat()
        return made.reshape(self.shape)

    def __getitem__(self, index: int | tuple[int, ...]) -> Any:
        indices = index if isinstance(index, tuple) else (index,)
        if len(indices) != len(self.shape):
            raise IndexError(f"Array: expected {len(self.shape)} indices")
        at = 0
        for one, length in zip(indices, self.shape, strict=True):
            if not 0 <= one < length:
                raise IndexError("Array: index out of range")
            at = at * length + one
        return self.flat()[at]

    def __len__(self) -> int:
        if len(self.shape) != 1:
            raise TypeError("Array: only a vector has a length")
        return self.shape[0] if self.fill_pointer is None else self.fill_pointer

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> Iterator[Any]:
        return iter(self.flat()[: len(self)])

    def _key(self) -> tuple[Any, ...]:
        return self.shape, self.element_type, self.fill_pointer, self.adjustable, self.offset

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Array):
            return NotImplemented
        return self is other or (
            self._key() == other._key()
            and self.values == other.values
            and self.displaced_to == other.displaced_to
        )

    __hash__ = None  # type: ignore[assignment]

    @reprlib.recursive_repr("Array(...)")
    def __repr__(self) -> str:
        more = [
            f"{name}={value!r}"
            for name, value, usual in (
                ("element_type", self.element_type, True),
                ("fill_pointer", self.fill_pointer, None),
                ("adjustable", self.adjustable, False),
                ("displaced_to", self.displaced_to, None),
                ("offset", self.offset, 0),
            )
            if value is not usual and (type(value) is not type(usual) or value != usual)
        ]
        return f"Array({', '.join([repr(self.shape), repr(self.values), *more])})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _empty, (Array,), (None, {name: getattr(self, name) for name in Array.__slots__})


@final
class Pathname:
    """A pathname of Lisp, in its parts. `path` is the file name that it stands for.

    directory: None, or a list that begins with the keyword ABSOLUTE or RELATIVE. The other parts are text, None or a keyword
    such as WILD.

    >>> Pathname.of("/tmp/a.txt").name, Pathname.of("/tmp/a.txt").path
    ('a', PurePosixPath('/tmp/a.txt'))
    """

    __slots__ = ("device", "directory", "host", "name", "type", "version")
    _NAMES: ClassVar[tuple[str, ...]] = ("host", "device", "directory", "name", "type", "version")

    def __init__(
        self,
        host: Any = "",
        device: Any = None,
        directory: Any = None,
        name: Any = None,
        type: Any = None,
        version: Any = None,
    ) -> None:
        self.host = host
        self.device = device
        self.directory = directory
        self.name = name
        self.type = type
        self.version = version

    @staticmethod
    def of(path: str | PurePosixPath) -> Pathname:
        """The pathname of a file name."""
        path = PurePosixPath(path)
        folders = [part for part in path.parts[:-1] if part != "/"]
        absolute = keyword("ABSOLUTE" if path.is_absolute() else "RELATIVE")
        directory = [absolute, *folders] if folders or path.is_absolute() else None
        newest = keyword("NEWEST") if path.name else None
        return Pathname("", None, directory, path.stem or None, path.suffix[1:] or None, newest)

    @property
    def path(self) -> PurePosixPath:
        """The file name. Raises ValueError: a part is no text, as in a pattern of names."""
        if not isinstance(self.directory, list | None):
            raise ValueError("Pathname: its directory is no list")
        start, *folders = self.directory or [None]
        name = self.name or ""
        if self.type is not None:
            name = f"{name}.{self.type}"
        parts = [*folders, *([name] if name else [])]
        if not all(isinstance(part, str) for part in parts) or isinstance(self.type, Symbol):
            raise ValueError("Pathname: a part of it is no text")
        absolute = isinstance(start, Symbol) and start.name == "ABSOLUTE"
        return PurePosixPath("/" if absolute else "", *parts)

    def _parts(self) -> tuple[Any, ...]:
        return self.host, self.device, self.directory, self.name, self.type, self.version

    def __eq__(self, other: object) -> bool:
        return self._parts() == other._parts() if isinstance(other, Pathname) else NotImplemented

    def __hash__(self) -> int:
        return hash((str(self.name), str(self.type)))

    def __repr__(self) -> str:
        try:
            return f"Pathname.of({str(self.path)!r})"
        except ValueError:
            return f"Pathname{self._parts()!r}"

    def __reduce__(self) -> tuple[Any, ...]:
        return Pathname, self._parts()
