"""What all bundles ask of stored values, before a library is given them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_PLAIN = frozenset((str, int, float, bool, type(None), bytes))
# How deep tuples may be within a label: libraries hash it, and CPython hashes tuples by recursion in C.
_DEPTH = 100


def exact(value: Any, cls: type[Any]) -> Any:
    """The value, if it is of exactly this class."""
    if type(value) is not cls:
        raise TypeError(f"expected {cls.__name__}")
    return value


def octets(value: Any) -> Any:
    """Bytes, or a view of them in a mapped file or in a buffer that the caller gave."""
    if type(value) is bytes:
        return value
    if not isinstance(value, (memoryview, bytearray)):
        raise TypeError("expected bytes")
    return memoryview(value).cast("B")


def parts(state: Any, count: int) -> Any:
    """The parts of a state: a tuple of that many."""
    if type(state) is not tuple or len(state) != count:
        raise TypeError(f"expected {count} values")
    return state


def label(value: Any) -> Any:
    """A name of an axis or a column: something that can be hashed, at once."""
    if type(value) in _PLAIN:
        return value
    level = [value]
    for _ in range(_DEPTH):
        below: list[Any] = []
        for one in level:
            cls = type(one)
            if cls.__hash__ is None:
                raise TypeError("a name that can't be hashed")
            if isinstance(one, (tuple, frozenset)):
                below += one
        if not below:
            return value
        # What is shared is walked again and again.
        if len(below) > 10_000:
            break
        level = below
    raise ValueError("a name that is too deep")


def constant(value: Any) -> Callable[[Any], Any]:
    """What gives that value, of which nothing is stored."""

    def of_nothing(stored: Any) -> Any:
        if stored is not None:
            raise TypeError("expected None")
        return value

    return of_nothing
