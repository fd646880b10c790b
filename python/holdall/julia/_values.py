"""Values that Python has no type for: what they are beside their value is kept, so that they can be written again."""

from __future__ import annotations

import unicodedata
from datetime import timedelta
from fractions import Fraction
from typing import TYPE_CHECKING, Any, final

from ._names import Symbol as Symbol  # stored data name it by this module
from ._types import Type

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


@final
class SubString(str):
    """A part of a string, which is kept whole beside it.

    string: the whole. offset, ncodeunits: where the part begins, and its length, in bytes of UTF-8.

    Raises ValueError: no such part, or one that begins or ends within a character.

    >>> part = SubString("hello", 1, 3)
    >>> part, part == "ell", part.string
    (SubString('hello', 1, 3), True, 'hello')
    """

    __slots__ = ("ncodeunits", "offset", "string")
    string: str
    offset: int
    ncodeunits: int

    def __new__(cls, string: str, offset: int, ncodeunits: int) -> SubString:
        data = string.encode("utf-8", "surrogateescape")
        if not 0 <= offset <= offset + ncodeunits <= len(data):
            raise ValueError("SubString: expected a part of the string")
        # Strict: a part that begins within a character is not text.
        self = str.__new__(cls, data[offset : offset + ncodeunits].decode())
        self.string, self.offset, self.ncodeunits = string, offset, ncodeunits
        return self

    def __repr__(self) -> str:
        return f"SubString({self.string!r}, {self.offset}, {self.ncodeunits})"

    def __reduce__(self) -> tuple[Any, ...]:
        return SubString, (self.string, self.offset, self.ncodeunits)


@final
class Missing:
    """The class of `missing`, Julia's value for what isn't known. There is one; it counts as false.

    >>> Missing() is missing, bool(missing)
    (True, False)
    """

    __slots__ = ()

    def __new__(cls) -> Missing:
        return missing

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "missing"

    def __reduce__(self) -> str:
        return "missing"


missing: Missing = object.__new__(Missing)


@final
class SimpleVector(tuple[Any, ...]):
    """Julia's own list of what a type consists of, `Core.svec(...)`: a tuple.

    >>> SimpleVector((1, 2))
    SimpleVector((1, 2))
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return f"SimpleVector({tuple.__repr__(self)})"


@final
class Bits:
    """A value of a primitive type that isn't mapped to a class, or of another one that is stored as its bytes alone.

    type: of what it is. data: its bytes, the lowest first.

    >>> word = Bits(Type.parse("Main.Word24"), b"\\1\\2\\3")
    >>> word, int(word)
    (Bits(Type.parse('Word24'), b'\\x01\\x02\\x03'), 197121)
    """

    # For an element of an array it is unknown whether its type is primitive.
    __slots__ = ("_of_array", "data", "type")

    def __init__(self, type: Any, data: bytes) -> None:
        self.type = type
        self.data = bytes(data)
        self._of_array = False

    def __int__(self) -> int:
        return int.from_bytes(self.data, "little")

    __index__ = __int__

    def __eq__(self, other: object) -> bool:
        return (
            (self.type, self.data) == (other.type, other.data) if isinstance(other, Bits) else NotImplemented
        )

    def __hash__(self) -> int:
        return hash(self.data)

    def __repr__(self) -> str:
        return f"Bits({self.type!r}, {self.data!r})"


def element(type: Any, data: bytes) -> Bits:
    """An element of an array of a type with an unknown layout."""
    self = Bits(type, data)
    self._of_array = True
    return self


@final
class Dict(dict[Any, Any]):
    """Julia's Dict, of any keys. A plain dict of text keys is written as a Dict{Symbol,Any}.

    type: its type in Julia. None, for one made by hand, is what its keys and values have in common.

    >>> Dict({"a": 1}, type=Type.parse("Dict{String,Int64}"))
    Dict({'a': 1})
    """

    # `_set`: the set that is made from the table.
    __slots__ = ("_set", "type")
    _set: Set

    def __init__(self, items: Any = (), *, type: Type | None = None) -> None:
        super().__init__(items)
        self.type = type

    def __repr__(self) -> str:
        return f"Dict({dict.__repr__(self)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Dict, (), (None, {"type": self.type}), None, iter(self.items())


@final
class IdDict(dict[Any, Any]):
    """Julia's IdDict. Its keys are compared by what they are in Julia; here, as in every dict, by their value.

    type: its type in Julia; None, for one made by hand, is IdDict{Any,Any}.

    >>> IdDict({2: "b"})
    IdDict({2: 'b'})
    """

    __slots__ = ("type",)

    def __init__(self, items: Any = (), *, type: Type | None = None) -> None:
        super().__init__(items)
        self.type = type

    def __repr__(self) -> str:
        return f"IdDict({dict.__repr__(self)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return IdDict, (), (None, {"type": self.type}), None, iter(self.items())


@final
class Pairs(list[Any]):
    """A Dict of Julia's whose keys can't be hashed here, or are equal: pairs of key and value.

    type: its type in Julia, Dict or IdDict.

    >>> Pairs([([1, 2], "a")], type=Type.parse("Dict{Any,Any}"))
    Pairs([([1, 2], 'a')])
    """

    __slots__ = ("type",)

    def __init__(self, items: Iterable[tuple[Any, Any]] = (), *, type: Type | None = None) -> None:
        super().__init__(items)
        self.type = type

    def __repr__(self) -> str:
        return f"Pairs({list.__repr__(self)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Pairs, (), (None, {"type": self.type}), iter(self)


@final
class Set(set[Any]):
    """Julia's Set: a set that knows its type, and the order in which its items were stored.

    type: its type in Julia; None, for one made by hand, is what its items have in common.

    >>> Set(["b", "a"]).in_order()
    ['b', 'a']
    """

    __slots__ = ("_order", "type")

    def __init__(self, items: Iterable[Any] = (), *, type: Type | None = None) -> None:
        self._order: Iterable[Any] = tuple(items)
        super().__init__(self._order)
        self.type = type

    def in_order(self) -> list[Any]:
        """The items in their stored order, followed by those that came later."""
        known = dict.fromkeys(self._order)
        return [*(item for item in known if item in self), *(item for item in self if item not in known)]

    def __repr__(self) -> str:
        return f"Set({self.in_order()!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Set, (self.in_order(),), (None, {"type": self.type})


def place_of(name: str, names: Sequence[str]) -> int | None:
    """The position of a name among others; None if it isn't there.

    Python's parser replaces letters by others that look alike (NFKC), so `x.ϵ` asks for "ε". If no other name
    matches, the name that becomes this one in the same way is found.
    """
    if name in names:
        return names.index(name)
    if name.isascii() and all(map(str.isascii, names)):
        return None
    alike = [at for at, known in enumerate(names) if unicodedata.normalize("NFKC", known) == name]
    return alike[0] if len(alike) == 1 else None


class NamedTuple(tuple[Any, ...]):
    """Julia's NamedTuple: a tuple whose items have names, given by its type.

    type: its type in Julia. names: of the items. Where an item has one of these names, or a tuple's, it is found by
        index.

    >>> point = NamedTuple.of(a=1, b="x")
    >>> point, point.b, point._asdict()
    (NamedTuple(a=1, b='x'), 'x', {'a': 1, 'b': 'x'})
    """

    type: Type | None
    names: tuple[str, ...]

    def __new__(cls, values: Iterable[Any], names: Sequence[str], type: Type | None = None) -> NamedTuple:
        self = tuple.__new__(cls, values)
        if len(self) != len(names):
            raise ValueError("NamedTuple: expected as many names as values")
        self.names = tuple(names)
        self.type = type
        return self

    @classmethod
    def of(cls, **values: Any) -> NamedTuple:
        """One whose type is found when it is written.

        Names that Python's parser would change, as it makes ε of ϵ, are given as text: `of(**{"ϵ": 1})`.
        """
        return cls(values.values(), tuple(values))

    def __getattr__(self, name: str) -> Any:
        # Looked up by name, as pickle does before there are names.
        names = self.__dict__.get("names", ())
        place = place_of(name, names)
        if place is not None:
            return self[place]
        raise AttributeError(f"a NamedTuple of {', '.join(names) or 'nothing'} has no {name!r}")

    def _asdict(self) -> dict[str, Any]:
        """The items by their names."""
        return {str(name): value for name, value in zip(self.names, self, strict=True)}

    def __repr__(self) -> str:
        inside = ", ".join(f"{name}={value!r}" for name, value in zip(self.names, self, strict=True))
        return f"NamedTuple({inside})"

    def __reduce__(self) -> tuple[Any, ...]:
        return NamedTuple, (tuple(self), self.names, self.type)


@final
class Complex(complex):
    """A complex number of Julia's whose parts are no Float64; those are plain `complex`.

    re, im: the parts as they are: ints of any size stay exact, which `complex` can't hold. type: None is found of
        the parts.

    >>> Complex(1, 2), Complex(1, 2) == 1 + 2j
    (Complex(1, 2), True)
    """

    __slots__ = ("im", "re", "type")
    re: Any
    im: Any
    type: Type | None

    def __new__(cls, re: Any, im: Any = 0, type: Type | None = None) -> Complex:
        self = complex.__new__(cls, re, im)
        self.re, self.im, self.type = re, im, type
        return self

    def conjugate(self) -> Complex:
        """The same number with the other sign of `im`, whose parts stay what they are."""
        return Complex(self.re, _negated(self.im), self.type)

    def __repr__(self) -> str:
        return f"Complex({self.re!r}, {self.im!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Complex, (self.re, self.im, self.type)


def _negated(value: Any) -> Any:
    """Negates within the number's width: as in Julia, the smallest int stays the same and unsigned ints wrap
    around.
    """
    bits = 8 * getattr(value, "_SIZE", 0)
    if not bits:
        return type(value)(-value) if isinstance(value, float) else -value
    least = value._LEAST
    return type(value)((-value - least) % (1 << bits) + least)


@final
class Rational(Fraction):
    """A rational number of Julia's whose parts are no Int64; those are plain `Fraction`s.

    type: its type in Julia.

    >>> Rational(3, 4, Type.parse("Rational{Int8}"))
    Rational(3, 4)
    """

    __slots__ = ("type",)
    type: Type | None

    def __new__(cls, numerator: Any = 0, denominator: Any = None, type: Type | None = None) -> Rational:
        self = super().__new__(cls, numerator, denominator)
        self.type = type
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return Rational, (self.numerator, self.denominator, self.type)

    # Fraction's own method would lose the type.
    def __copy__(self) -> Rational:
        return self

    def __deepcopy__(self, memo: Any) -> Rational:
        return self


# In microseconds.
_UNITS = {
    "Microsecond": 1,
    "Millisecond": 1_000,
    "Second": 1_000_000,
    "Minute": 60_000_000,
    "Hour": 3_600_000_000,
    "Day": 86_400_000_000,
    "Week": 604_800_000_000,
}


@final
class Period(timedelta):
    """A period of Julia's Dates in one unit, Nanosecond to Week; a timedelta.

    count, unit: as in Julia. Month, Year and Quarter have no fixed length, and stay records.

    Raises ValueError: another unit, or Nanoseconds that are no whole microseconds. Raises OverflowError: beyond a
        timedelta.

    >>> from datetime import timedelta
    >>> Period(3, "Day")
    Period(3, 'Day')
    >>> Period(3, "Day") + timedelta(hours=1)
    datetime.timedelta(days=3, seconds=3600)
    """

    __slots__ = ("count", "unit")
    count: int
    unit: str

    def __new__(cls, count: int, unit: str) -> Period:
        if unit == "Nanosecond":
            micros, rest = divmod(count, 1000)
        else:
            micros, rest = count * _UNITS.get(unit, 0), unit not in _UNITS
        if rest:
            raise ValueError("Period: expected a unit of fixed length, and whole microseconds")
        self = super().__new__(cls, microseconds=micros)
        self.count, self.unit = count, unit
        return self

    @property
    def type(self) -> Type:
        """Its type in Julia."""
        return Type(("Dates", self.unit))

    def __repr__(self) -> str:
        return f"Period({self.count}, {self.unit!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Period, (self.count, self.unit)


def iterate_pairs(table: dict[Any, Any] | Pairs) -> Iterator[tuple[Any, Any]]:
    """The key and value of each item, whichever form the table has."""
    return iter(table.items() if isinstance(table, dict) else table)
