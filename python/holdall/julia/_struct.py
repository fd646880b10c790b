"""Instances of Julia types for which there is no class."""

from __future__ import annotations

import reprlib
import threading
from typing import TYPE_CHECKING, Any, ClassVar, final

from ._known import names
from ._types import Type, shown
from ._values import Bits, place_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# How deep records are shown: each may contain others repeatedly.
_MOST_DEPTH = 12
_MOST_ITEMS = 50
_MOST_RECORDS = 500


class _Showing(threading.local):
    """The records that are being shown, so that showing one that contains itself ends."""

    def __init__(self) -> None:
        self.open: list[int] = []
        self.left = 0


_showing = _Showing()


@final
class JuliaStruct:
    """An instance of one of Julia's types that no class is mapped to: its values, by position and by name.

    type: a `Type`, or text that `Type.parse` reads; of a closure, an `Anonymous`.
    values: of its fields, in Julia's order; the list is the record's own, and can be changed.

    A file has no names of fields. `struct(name, fields=[...])` declares them; those of Julia's own types are known.
    A field called `type` or `values` is found by its index. Equal are records of the same type with equal values.

    Raises AttributeError: no such field, or nobody has said the names. Raises IndexError: no such index.

    >>> pair = JuliaStruct("Expr", [Symbol("call"), []])
    >>> pair
    Core.Expr(head=Symbol('call'), args=[])
    >>> pair[0], pair.args, len(pair)
    (Symbol('call'), [], 2)
    """

    # Loading fills both by offset, without a call.
    __slots__ = ("type", "values")
    type: Any
    values: list[Any]

    def __init__(self, type: Any, values: Iterable[Any]) -> None:
        object.__setattr__(self, "type", Type.parse(type) if isinstance(type, str) else type)
        object.__setattr__(self, "values", list(values))

    @staticmethod
    def of_bytes(type: Any, data: bytes) -> Bits:
        """A value of a primitive type, which has bytes in place of fields.

        >>> JuliaStruct.of_bytes(Type.parse("Main.Word24"), b"abc")
        Bits(Type.parse('Word24'), b'abc')
        """
        return Bits(type, data)

    def __getitem__(self, index: int) -> Any:
        return self.values[index]

    def __setitem__(self, index: int, value: Any) -> None:
        self.values[index] = value

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.values)

    # A record without values is true as well.
    def __bool__(self) -> bool:
        return True

    def __getattr__(self, name: str) -> Any:
        if name in JuliaStruct.__slots__:
            # Not filled yet: looking up names would ask for this attribute again.
            raise AttributeError(name)
        return self.values[self._place(name)]

    def __setattr__(self, name: str, value: Any) -> None:
        if name in JuliaStruct.__slots__:
            object.__setattr__(self, name, value)
        else:
            self.values[self._place(name)] = value

    def _names(self) -> tuple[str, ...]:
        """() if they are unknown, or belong to another version of the type."""
        known = names(self.type)
        return known if len(known) == len(self.values) else ()

    def _place(self, name: str) -> int:
        known = self._names()
        place = place_of(name, known)
        if place is not None:
            return place
        if name.startswith("__"):
            raise AttributeError(name)
        label = shown(self.type, label=True)
        declared = names(self.type)
        if known:
            raise AttributeError(f"{label} has no field {name!r}{_alike(name, known)}")
        if declared:
            raise AttributeError(
                f"{label} is known to have {len(declared)} fields, and this one has {len(self.values)}:"
                " find them by index, or declare the names with `holdall.julia.struct`"
            )
        bare = self.type.name if isinstance(self.type, Type) else label
        raise AttributeError(
            f"the names of the fields of {label} are not known: find them by index,"
            f" or declare the names with `holdall.julia.struct({bare!r}, fields=[...])`"
        )

    def _asdict(self) -> dict[str, Any]:
        """The values by their names; AttributeError where the names aren't known."""
        known = self._names()
        if len(known) != len(self.values):
            self._place("*")
        return dict(zip(known, self.values, strict=True))

    def __dir__(self) -> list[str]:
        return sorted({*object.__dir__(self), *self._names()})

    def __eq__(self, other: object) -> bool:
        return same_values(self, other) if isinstance(other, JuliaStruct) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        values = getattr(self, "values", None)
        of_type = getattr(self, "type", None)
        label = "None" if of_type is None else shown(of_type, label=True)
        if values is None:
            return f"{label}(...)"
        if not _showing.open:
            _showing.left = _MOST_RECORDS
        _showing.left -= 1
        if id(self) in _showing.open or len(_showing.open) > _MOST_DEPTH or _showing.left < 0:
            return f"{label}(...)" if values else f"{label}()"
        _showing.open.append(id(self))
        try:
            texts = [repr(value) for value in values[:_MOST_ITEMS]]
        except RecursionError:
            texts = ["..."]
        finally:
            _showing.open.pop()
        known = self._names()
        if known and len(texts) == len(known):
            texts = [f"{name}={text}" for name, text in zip(known, texts, strict=True)]
        if len(values) > _MOST_ITEMS:
            texts.append("...")
        return f"{label}({', '.join(texts)})"

    def __reduce__(self) -> tuple[Any, ...]:
        # The values come later, because they may contain the record itself.
        return _empty, (), (None, {"type": self.type, "values": self.values})


def _empty() -> JuliaStruct:
    return object.__new__(JuliaStruct)


def record(type: Any, values: list[Any]) -> JuliaStruct:
    """A record of values that were made for it."""
    self = object.__new__(JuliaStruct)
    object.__setattr__(self, "type", type)
    object.__setattr__(self, "values", values)
    return self


class Wrapper:
    """The base of classes that are mapped from the start: each is filled field by field, like a program's
    own.
    """

    # The type of a loaded instance; None if it is inferred when it is written.
    __slots__ = ("__julia_type__",)
    _NAMES: ClassVar[tuple[str, ...]] = ()

    def _fill(self, *values: Any, type: Any = None) -> None:
        for name, value in zip(self._NAMES, values, strict=True):
            object.__setattr__(self, name, value)
        object.__setattr__(self, "__julia_type__", type)

    def _parts(self) -> list[Any]:
        return [getattr(self, name) for name in self._NAMES]

    def __eq__(self, other: object) -> bool:
        return same_values(self, other) if type(self) is type(other) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    @reprlib.recursive_repr()
    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self._parts()))})"

    def __reduce__(self) -> tuple[Any, ...]:
        state = dict(zip(self._NAMES, self._parts(), strict=True))
        return _unfilled, (type(self),), {**state, "__julia_type__": getattr(self, "__julia_type__", None)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            object.__setattr__(self, name, value)


def _unfilled(cls: type[Wrapper]) -> Wrapper:
    return object.__new__(cls)


def _alike(name: str, known: tuple[str, ...]) -> str:
    import difflib

    close = difflib.get_close_matches(name, known, 1)
    return f": did you mean {close[0]!r}?" if close else f": it has {', '.join(known)}"


def same_values(a: Any, b: Any) -> bool:
    """Whether records have the same content at every level. Cycles and long chains are walked once."""
    todo = [(a, b)]
    seen: set[tuple[int, int]] = set()
    while todo:
        a, b = todo.pop()
        if a is b or (id(a), id(b)) in seen:
            continue
        if isinstance(a, JuliaStruct) and isinstance(b, JuliaStruct):
            if a.type != b.type:
                return False
            seen.add((id(a), id(b)))
            a, b = a.values, b.values
        if type(a) is type(b) and isinstance(a, (list, tuple)):
            if len(a) != len(b):
                return False
            seen.add((id(a), id(b)))
            todo.extend(zip(a, b, strict=True))
        elif type(a) is type(b) and isinstance(a, dict):
            if len(a) != len(b) or any(key not in b for key in a):
                return False
            seen.add((id(a), id(b)))
            todo.extend((value, b[key]) for key, value in a.items())
        elif type(a) is type(b) and isinstance(a, Wrapper):
            seen.add((id(a), id(b)))
            todo.extend(zip(a._parts(), b._parts(), strict=True))
        elif hasattr(a, "dtype") or hasattr(b, "dtype"):
            if getattr(a, "dtype", None) != getattr(b, "dtype", None) or getattr(a, "shape", 0) != getattr(
                b, "shape", 0
            ):
                return False
            if not (a == b).all():
                return False
        elif a != b:
            return False
    return True
