"""Classes made by pydantic."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

import pydantic
import pydantic.dataclasses

T = TypeVar("T")


class Model(pydantic.BaseModel):
    x: Any
    y: Any = 0


class ModelPrivate(pydantic.BaseModel):
    x: Any
    _hidden: Any = pydantic.PrivateAttr(default=None)


class ModelExtra(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="allow")

    x: Any


class ModelFrozen(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(frozen=True)

    x: Any


class ModelChild(Model):
    z: Any = None


class ModelGeneric(pydantic.BaseModel, Generic[T]):
    item: T


class ModelRoot(pydantic.RootModel[list[Any]]):
    pass


class ModelChecked(pydantic.BaseModel):
    """The validator must not run on load."""

    x: int

    @pydantic.field_validator("x")
    @classmethod
    def count(cls, value: int) -> int:
        return value + 1


@pydantic.dataclasses.dataclass
class PydanticDataclass:
    x: Any
    y: int = 0
