"""Hash tables that are more than a dict: of another test, synchronized, weak, or with keys that Python can't tell apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

from ._values import SingleFloat, Symbol

if TYPE_CHECKING:
    from collections.abc import Iterable

EQUAL = Symbol("EQUAL", "COMMON-LISP")
# What `(make-hash-table :test 'equal)` has in SBCL.
USUAL = (EQUAL, SingleFloat(1.0), SingleFloat(1.5), None, None)


@final
class HashTable(dict[Any, Any]):
    """A hash table of Lisp. One of the test EQUAL, with nothing special, is a plain dict.

    test: a Symbol, EQL if none is given. weakness: None, or a keyword. synchronized: for several threads.
    Keys are compared by their values here, whatever the test.

    >>> HashTable({1: "a"}, test="EQL").test
    Symbol('EQL', 'COMMON-LISP')
    """

    __slots__ = ("rehash_size", "rehash_threshold", "synchronized", "test", "weakness")
    rehash_size: float
    rehash_threshold: float
    synchronized: bool
    test: Symbol
    weakness: Symbol | None

    def __init__(
        self,
        items: Any = (),
        *,
        test: Symbol | str = "EQL",
        rehash_threshold: float = USUAL[1],
        rehash_size: float = USUAL[2],
        synchronized: bool = False,
        weakness: Symbol | None = None,
    ) -> None:
        super().__init__(items)
        _describe(self, test, rehash_threshold, rehash_size, synchronized, weakness)

    def __repr__(self) -> str:
        return f"HashTable({dict.__repr__(self)}, test={self.test.name!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return HashTable, (), (None, _state(self)), None, iter(self.items())


@final
class Pairs(list[Any]):
    """A hash table whose keys can't be hashed in Python, or are equal here and not in Lisp: pairs of key and value.

    >>> Pairs([([1, 2], "a")], test="EQUALP")
    Pairs([([1, 2], 'a')], test='EQUALP')
    """

    __slots__ = ("rehash_size", "rehash_threshold", "synchronized", "test", "weakness")
    rehash_size: float
    rehash_threshold: float
    synchronized: bool
    test: Symbol
    weakness: Symbol | None

    def __init__(
        self,
        items: Iterable[tuple[Any, Any]] = (),
        *,
        test: Symbol | str = "EQUAL",
        rehash_threshold: float = USUAL[1],
        rehash_size: float = USUAL[2],
        synchronized: bool = False,
        weakness: Symbol | None = None,
    ) -> None:
        super().__init__(items)
        _describe(self, test, rehash_threshold, rehash_size, synchronized, weakness)

    def __repr__(self) -> str:
        return f"Pairs({list.__repr__(self)}, test={self.test.name!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Pairs, (), (None, _state(self)), iter(self)


def _describe(
    made: Any,
    test: Symbol | str,
    threshold: float,
    rehash_size: float,
    synchronized: bool,
    weakness: Symbol | None,
) -> None:
    made.test = Symbol(test, "COMMON-LISP") if isinstance(test, str) else test
    made.rehash_threshold = threshold
    made.rehash_size = rehash_size
    made.synchronized = bool(synchronized)
    made.weakness = weakness


def _state(made: Any) -> dict[str, Any]:
    return {name: getattr(made, name) for name in HashTable.__slots__}


def table(header: tuple[Any, ...]) -> dict[Any, Any]:
    """An empty dict for a table with that header."""
    if header == USUAL:
        return {}
    made = HashTable()
    _describe(made, *header)
    return made


def pairs(header: tuple[Any, ...]) -> Pairs:
    made = Pairs()
    _describe(made, *header)
    return made


def header_of(made: HashTable | Pairs) -> list[Any]:
    return [made.test, made.rehash_threshold, made.rehash_size, made.synchronized, made.weakness]
