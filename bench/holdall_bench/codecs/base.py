"""What a codec is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..data import Subject

Function = Callable[[Any], Any]
# In place of a distribution's name: what comes with Python.
PYTHON = "Python"


class Unsuitable(Exception):
    """These data are not what the codec is for: it isn't even tried. The text says why."""


@dataclass(frozen=True)
class Ends:
    """Both ends of a codec, made for one data set.

    dumps: value -> what is stored: bytes, or the path of a file. None: there is nothing to store.
    loads: the way back.
    convert: the same values in the classes that the codec wants; done once, outside of any time. The round trip is
    then compared with these.
    stored: what `loads` takes, where that isn't what `dumps` gives.
    """

    dumps: Function | None
    loads: Function
    convert: Function | None = None
    stored: Function | None = None

    def wrapped(self, wrap: Function, unwrap: Function) -> Ends:
        """For formats whose outermost value has to be of some kind."""
        dumps, loads = self.dumps, self.loads
        assert dumps is not None
        return replace(
            self, dumps=lambda value: dumps(wrap(value)), loads=lambda stored: unwrap(loads(stored))
        )


@dataclass(frozen=True)
class Codec:
    """One way to store and restore.

    package: the distribution, whose version is told. module: what is imported, and given to `make`.
    keeps: what it can keep, in a few words. way: how it is used here.
    bound: no codec, but the lower bound. path: of the user's file that it is in.
    """

    name: str
    package: str
    module: str
    keeps: str
    way: str
    make: Callable[[Any, Subject], Ends]
    bound: bool = False
    path: str = ""


def first_that_works(sample: Any, *ways: Function) -> Function:
    """The first that takes the sample; if none does, the last, so that its error is told."""
    for way in ways[:-1]:
        try:
            way(sample)
        except Exception:  # whatever it is: the next way may do
            continue
        return way
    return ways[-1]


def fields_of(value: Any) -> dict[str, Any]:
    """A hook for values that a format has no form for: dataclasses as dicts."""
    fields = getattr(value, "__dataclass_fields__", None)
    if fields is None:
        raise TypeError(f"no form for {type(value).__qualname__}")
    return {name: getattr(value, name) for name in fields}


def only_arrays(subject: Subject) -> None:
    if not subject.arrays:
        raise Unsuitable("for arrays")
