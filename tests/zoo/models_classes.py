"""The classes of `models.py`: at module level, where pickle finds them."""

from __future__ import annotations

import dataclasses  # noqa: F401
from typing import Any, Generic, List, TypeVar

try:
    import attr
    import attrs

    @attrs.define
    class Defined:
        a: int
        b: List[int] = attrs.field(factory=list)

    @attrs.frozen
    class Frozen:
        a: int

    @attrs.define(slots=False)
    class WithDict:
        a: int
        b: int = 5

    @attr.s(frozen=True, cache_hash=True, auto_attribs=True)
    class Cached:
        a: str

    @attrs.define(auto_exc=True)
    class Failed(Exception):
        code: int

    @attrs.define(weakref_slot=True)
    class WeakSlots:
        a: int

    @attr.s(slots=True, getstate_setstate=False, auto_attribs=True)
    class NoState:
        a: int

    @attrs.define(on_setattr=attrs.setters.validate)
    class OnSet:
        a: int = attrs.field(validator=attrs.validators.instance_of(int))
except ImportError:
    pass

T = TypeVar("T")
try:
    import pydantic
    import pydantic.dataclasses

    class User(pydantic.BaseModel):
        model_config = pydantic.ConfigDict(extra="allow")
        name: str
        tags: List[str] = []
        _secret: int = pydantic.PrivateAttr(default=1)

    class Team(pydantic.BaseModel):
        users: List[User]

    class Box(pydantic.BaseModel, Generic[T]):
        value: T

    class Root(pydantic.RootModel[List[int]]):
        pass

    @pydantic.dataclasses.dataclass
    class Data:
        a: int
        b: str = "x"
except ImportError:
    pass

try:
    import msgspec

    class Point(msgspec.Struct):
        x: int
        y: List[int] = []

    class FrozenPoint(msgspec.Struct, frozen=True):
        x: int

    class WeakPoint(msgspec.Struct, weakref=True):
        x: int

    class DictPoint(msgspec.Struct, dict=True):
        x: int
except ImportError:
    pass

try:
    import marshmallow

    class UserSchema(marshmallow.Schema):
        name = marshmallow.fields.String()
except ImportError:
    pass

try:
    import traitlets

    class Traits(traitlets.HasTraits):
        number = traitlets.Int(1)
        words: Any = traitlets.List(["a"])
except ImportError:
    pass
