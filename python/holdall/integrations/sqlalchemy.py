"""SQLAlchemy: `Column(HoldType(type=Order))`, and `MutableDict.as_mutable(HoldType())`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._base import Codec, missing

try:
    from sqlalchemy.ext.mutable import MutableDict, MutableList, MutableSet
    from sqlalchemy.types import LargeBinary, TypeDecorator
except ImportError as error:
    raise missing("SQLAlchemy", "sqlalchemy", error) from error

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._base import Options

__all__ = ["HoldType"]


_PLAIN: dict[type[Any], Any] = {MutableDict: dict, MutableList: list, MutableSet: set}


class HoldType(TypeDecorator[Any]):
    """A column of objects, in the place of `PickleType`.

    options: those of `holdall.integrations.Codec`; with `unreadable="miss"` an entry that can't be read is None. None is NULL.
    codec: the same as a Codec, for several columns. Changes within an object are noticed with `sqlalchemy.ext.mutable`, as for PickleType.
    """

    impl = LargeBinary
    # By `codec`, which is one of the arguments that SQLAlchemy looks at.
    cache_ok = True

    def __init__(self, *, codec: Codec | None = None, **options: Unpack[Options]) -> None:
        super().__init__()
        self.codec = Codec(**options) if codec is None else codec

    def process_bind_param(self, value: Any, dialect: Any) -> bytes | None:
        if value is None:
            return None
        # What notices changes is put around a loaded value anew.
        plain = _PLAIN.get(type(value))
        return self.codec.dumps(value if plain is None else plain(value))

    def process_result_value(self, value: Any, dialect: Any) -> Any:
        if value is None:
            return None
        made = self.codec.loads(bytes(value))
        return None if made is self.codec.MISS else made

    def process_literal_param(self, value: Any, dialect: Any) -> str:
        raise NotImplementedError("an object can't be written into the text of a statement")

    @property
    def python_type(self) -> type[Any]:
        return object

    def copy(self, **options: Any) -> HoldType:
        return HoldType(codec=self.codec)
