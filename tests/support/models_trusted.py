"""Objects that only a trusted message can hold: they say by code how they are made."""

from __future__ import annotations

import copyreg
from typing import Any


def build(*args: Any) -> Built:
    return Built(*args)


def plain_function(x: int) -> int:
    return x + 1


class Built:
    """The parent of the shapes: keeps whatever it was made of."""

    def __init__(self, *args: Any) -> None:
        self.args = args

    def method(self) -> Any:
        return self.args

    @classmethod
    def make(cls, *args: Any) -> Built:
        return cls(*args)

    @staticmethod
    def static(*args: Any) -> int:
        return len(args)


class Reduce2(Built):
    def __reduce__(self) -> Any:
        return (type(self), self.args)


class Reduce3(Built):
    """Callable, arguments, state without `__setstate__`."""

    def __reduce_ex__(self, protocol: int) -> Any:
        return (type(self), self.args, {"extra": list(self.args), "protocol": protocol})


class Reduce3Slots(Built):
    """State as (dict, slots)."""

    __slots__ = ("slot",)

    def __reduce__(self) -> Any:
        return (type(self), self.args, ({"extra": 1}, {"slot": 2}))


class Reduce4(list[Any]):
    """List items by iterator."""

    def __reduce__(self) -> Any:
        return (type(self), (), None, iter(list(self)))


class Reduce5(dict[Any, Any]):
    """Dict items by iterator."""

    def __reduce__(self) -> Any:
        return (type(self), (), None, None, iter(list(self.items())))


def set_extra(obj: Any, state: Any) -> None:
    obj.set_by_function = state


class Reduce6(Built):
    """A state setter."""

    def __reduce__(self) -> Any:
        return (type(self), self.args, {"state": 1}, None, None, set_extra)


class ReduceAppend:
    """Items through `extend`/`append` of a class that is no list."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def append(self, item: Any) -> None:
        self.seen.append(item)

    def extend(self, items: Any) -> None:
        self.seen.extend(items)

    def __reduce__(self) -> Any:
        return (type(self), (), None, iter(list(self.seen)))


class ReduceGlobal:
    """A string: the name of a global."""

    def __reduce__(self) -> str:
        return "THE_ONE"


THE_ONE = ReduceGlobal()


class GetState:
    def __init__(self, value: Any) -> None:
        self.value = value
        self.cache = object()

    def __getstate__(self) -> Any:
        return {"value": self.value}

    def __setstate__(self, state: Any) -> None:
        self.value = state["value"]
        self.cache = "restored"


class FalseState:
    """A false state must not reach `__setstate__` when it is None, and must when it is not."""

    def __init__(self, state: Any) -> None:
        self.state = state

    def __getstate__(self) -> Any:
        return self.state

    def __setstate__(self, state: Any) -> None:
        self.state = ("set", state)


class NewArgs:
    def __new__(cls, x: Any) -> NewArgs:
        self = super().__new__(cls)
        self.from_new = x
        return self

    from_new: Any

    def __getnewargs__(self) -> Any:
        return (self.from_new,)


class NewArgsEx:
    from_new: Any

    def __new__(cls, *, x: Any) -> NewArgsEx:
        self = super().__new__(cls)
        self.from_new = x
        return self

    def __getnewargs_ex__(self) -> Any:
        return ((), {"x": self.from_new})


class ByCopyreg:
    def __init__(self, value: Any) -> None:
        self.value = value


def _reduce_by_copyreg(obj: ByCopyreg) -> Any:
    return (ByCopyreg, (obj.value,))


copyreg.pickle(ByCopyreg, _reduce_by_copyreg)


class Meta(type):
    """A class with a metaclass is a class by reference all the same."""


class WithMeta(metaclass=Meta):
    pass


class Raises:
    """Fails while it is written."""

    def __reduce__(self) -> Any:
        raise ZeroDivisionError("from __reduce__")


class RaisesOnLoad:
    """Fails while it is made."""

    def __reduce__(self) -> Any:
        return (int, ("not a number",))
