"""Classes made by attrs."""

from __future__ import annotations

from typing import Any

import attr
import attrs


@attrs.define
class AttrsSlots:
    x: Any
    y: Any = 0


@attrs.frozen
class AttrsFrozen:
    x: Any
    y: Any = 0


@attr.s(auto_attribs=True)
class AttrsDict:
    x: Any
    y: Any = 0


@attrs.define
class AttrsPrivate:
    """The parameter is `secret`, the attribute `_secret`."""

    _secret: Any
    derived: Any = attrs.field(init=False, default=None)


@attrs.define
class AttrsChild(AttrsSlots):
    z: Any = None


@attrs.define
class AttrsConverter:
    """The converter and the validator must not run on load."""

    x: Any = attrs.field(converter=lambda value: [value])
