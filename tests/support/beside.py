"""msgpack-python beside `holdall.msgpack.compat`: one call on both, compared."""

from __future__ import annotations

from types import ModuleType

import pytest

from holdall.msgpack import compat

oracle = pytest.importorskip("msgpack")
MODULES: list[ModuleType] = [compat, oracle]


def outcome(act):
    """What comes of a call: its result, or the class and bases of its exception, by name."""
    try:
        return "given", plain(act())
    except Exception as error:
        names = {base.__name__ for base in type(error).__mro__}
        # Ours may be more: a HoldallError is a ValueError as well.
        return "raised", {"ValueError", "TypeError", "OverflowError", "UnpackException", "ExtraData"} & names


def plain(value):
    """Results of both packages as equal objects of one kind."""
    kind = type(value).__name__
    if kind == "Timestamp":
        return kind, value.seconds, value.nanoseconds
    if kind == "ExtType":
        return kind, value.code, value.data
    if isinstance(value, (list, tuple)):
        return kind, [plain(item) for item in value]
    if isinstance(value, dict):
        return kind, [(plain(key), plain(item)) for key, item in value.items()]
    return kind, repr(value)


def agree(act):
    """Calls `act` with each module; both must come to the same, which is returned."""
    ours, theirs = (outcome(lambda module=module: act(module)) for module in MODULES)
    assert ours == theirs
    return ours
