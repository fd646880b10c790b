"""Classes made by msgspec."""

from __future__ import annotations

from typing import Any

import msgspec


class Struct(msgspec.Struct):
    x: Any
    y: Any = 0


class StructFrozen(msgspec.Struct, frozen=True):
    x: Any
    y: Any = 0


class StructFrozenIdentity(msgspec.Struct, frozen=True, eq=False):
    x: Any
    y: Any = 0


class StructNoGc(msgspec.Struct, gc=False):
    x: float
    y: str = ""


class StructTagged(msgspec.Struct, tag="t", array_like=True, kw_only=True):
    x: Any
    y: Any = 0


class StructChild(Struct):
    z: Any = None


class StructDict(msgspec.Struct, dict=True, weakref=True):
    x: Any


class StructRenamed(msgspec.Struct, rename="camel"):
    long_name: Any
