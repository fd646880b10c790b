"""What changed about an array of NumPy. NumPy is only used where the data has arrays, so it is there already."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from .values import NAN_PAYLOAD, ROUNDED

# Elements compared at once, so that arrays larger than memory (memory maps) can be.
CHUNK = 1 << 20


def array_changes(a: Any, b: Any) -> Iterator[tuple[str, bool]]:
    """Each change, and whether it matters."""
    if a.flags.writeable and not b.flags.writeable:
        yield "array read-only", False
    if a.dtype != b.dtype:
        yield _dtype_change(a.dtype, b.dtype), True
    if a.shape != b.shape:
        yield "array shape changed", True
    elif _order(a) != _order(b):
        yield "array order changed", True
    if a.size != b.size:
        yield "array items lost" if a.size > b.size else "array items added", True
    elif not a.dtype.hasobject and not b.dtype.hasobject:
        changed = _values(a, b)
        if changed:
            yield changed, changed != NAN_PAYLOAD


def _dtype_change(a: Any, b: Any) -> str:
    if a.newbyteorder("=") == b.newbyteorder("="):
        return "array byte order changed"
    return f"{_told(a)} → {_told(b)} array"


def _told(dtype: Any) -> str:
    return "structured" if dtype.names else str(dtype.name)


def _order(a: Any) -> str:
    """A view with gaps counts as C: no format stores the gaps, and no values are in them."""
    return "F" if a.flags.f_contiguous and not a.flags.c_contiguous else "C"


def _values(a: Any, b: Any) -> str:
    np = sys.modules["numpy"]
    if a.dtype.names:
        if a.dtype.names != b.dtype.names:
            return "array fields changed"
        # the bytes between fields mean nothing
        return next((told for name in a.dtype.names if (told := _values(a[name], b[name]))), "")
    told = f"{_told(a.dtype)} array"
    # an array of one class: subclasses give other things where they are indexed
    ours, theirs = np.asarray(a).reshape(-1), np.asarray(b).reshape(-1)
    if np.asarray(a).shape == np.asarray(b).shape and _order(a) == _order(b) == "F":
        ours, theirs = np.asarray(a).T.reshape(-1), np.asarray(b).T.reshape(-1)
    changed = ""
    for begin in range(0, len(ours), CHUNK):
        x, y = ours[begin : begin + CHUNK], theirs[begin : begin + CHUNK]
        if x.dtype != y.dtype:
            try:
                with np.errstate(all="ignore"):
                    x = x.astype(y.dtype)
            except (TypeError, ValueError):
                return ""
        if x.tobytes() == y.tobytes():
            continue
        if x.dtype.kind not in "fc":
            return f"value changed: {told}"
        equal = (x == y) | ((x != x) & (y != y))
        if equal.all():
            parts = [(x.real, y.real), (x.imag, y.imag)] if x.dtype.kind == "c" else [(x, y)]
            if all((np.signbit(p) == np.signbit(q))[p == 0].all() for p, q in parts):
                changed = changed or NAN_PAYLOAD
            else:
                changed = "sign of zero changed" if changed in ("", NAN_PAYLOAD) else changed
        elif np.isclose(x, y, rtol=ROUNDED, atol=0, equal_nan=True).all():
            changed = f"{told} rounded"
        else:
            return f"value changed: {told}"
    return changed
