"""Messages that were damaged, or changed by someone who knows the format: each gives a value that can be used, or an error of ours."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import holdall

# Numbers that are wrong for indexes, counts and sizes.
WRONG = (
    -1,
    0,
    1,
    7,
    255,
    1 << 31,
    (1 << 31) - 1,
    -(1 << 31),
    1 << 62,
    (1 << 63) - 1,
    -(1 << 63),
    None,
    "a",
    1.5,
    b"",
    b"\xff" * 8,
    [],
    (),
    {},
)


def damaged(data: bytes, seed: int, count: int) -> Iterator[bytes]:
    """Bytes that differ at a few places: flipped, cut out, doubled."""
    draw = random.Random(seed)
    for _ in range(count):
        changed = bytearray(data)
        for _ in range(draw.choice((1, 1, 2, 5))):
            at = draw.randrange(len(changed))
            kind = draw.randrange(6)
            if kind < 4:
                changed[at] = draw.choice(
                    (0, 1, 0x7F, 0x80, 0xFF, changed[at] ^ 1 << draw.randrange(8), draw.randrange(256))
                )
            elif kind == 4:
                del changed[at : at + draw.randrange(1, 9)]
            else:
                changed[at:at] = changed[at : at + draw.randrange(1, 9)]
            if not changed:
                break
        yield bytes(changed)


def changed(state: Any, seed: int) -> Any:
    """A state with one part replaced, somewhere within."""
    draw = random.Random(seed)
    paths = list(_paths(state, ()))
    return _replaced(state, draw.choice(paths), draw)


def _paths(state: Any, path: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    yield path
    if type(state) in (tuple, list):
        for at, one in enumerate(state):
            yield from _paths(one, (*path, at))
    elif type(state) is dict:
        for key, one in state.items():
            yield from _paths(one, (*path, key))


def _replaced(state: Any, path: tuple[Any, ...], draw: random.Random) -> Any:
    if path:
        changed = list(state) if type(state) is tuple else type(state)(state)
        changed[path[0]] = _replaced(state[path[0]], path[1:], draw)
        return tuple(changed) if type(state) is tuple else changed
    if hasattr(state, "dtype") and hasattr(state, "copy") and draw.random() < 0.8:
        return _wrong_array(state, draw)
    if type(state) is int and draw.random() < 0.5:
        return state + draw.choice((-1, 1, 2))
    if type(state) in (list, tuple) and state and draw.random() < 0.5:
        return state[:-1] if draw.random() < 0.5 else type(state)([*state, state[-1]])
    if type(state) is bytes and draw.random() < 0.7 and state:
        return state[:-1] if draw.random() < 0.3 else next(damaged(state, draw.randrange(1 << 30), 1))
    return draw.choice(WRONG)


def _wrong_array(array: Any, draw: random.Random) -> Any:
    import numpy as np

    if type(array) is not np.ndarray:
        return draw.choice(WRONG)
    kind = draw.randrange(6)
    if kind == 0 and array.ndim:
        return array[:-1]
    if kind == 1 and array.ndim:
        return np.concatenate([array, array])
    if kind == 2:
        return array[None]
    if kind == 3 and array.dtype.kind in "iuf":
        return array.astype(draw.choice(["i1", "u8", "f4", ">i8"]))
    array = array.copy()
    if array.size and array.dtype.kind in "iufb":
        with np.errstate(all="ignore"):
            at = draw.randrange(array.size)
            array.reshape(-1)[at] = np.array(draw.choice((-1, 1, 1000, 1 << 30, -(1 << 31)))).astype(
                array.dtype
            )
    return array


def survives(data: bytes, use: Callable[[Any], Any]) -> bool:
    """Whether the bytes are refused. Loads them, and uses what was loaded: that may fail, but not end the process."""
    try:
        made = holdall.loads(data)
    except (holdall.HoldallError, MemoryError):
        return True
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            use(made)
        except Exception:
            return False
    return False
