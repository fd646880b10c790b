"""NumPy beside its arrays, which need no bundle: masked arrays, matrices and record arrays, random generators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._bundles import Known
from .._core import EncodeError
from ._checks import constant, exact, parts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_ma: Any = np.ma
_random: Any = np.random
# Since NumPy 2 generators say of what they were seeded.
_KEEPS_SEEDS = int(np.__version__.partition(".")[0]) >= 2
# What a seed may be: NumPy takes time by the square of its size.
_MOST_BITS, _MOST_NUMBERS, _MOST_POOL = 4096, 1024, 64


def known() -> Iterator[Known]:
    yield Known(_ma.MaskedArray, "numpy.ma.MaskedArray", _masked, _masked_of)
    yield Known(type(_ma.masked), "numpy.ma.masked", lambda value: None, constant(_ma.masked))
    yield Known(np.matrix, "numpy.matrix", _plain, _matrix_of)
    yield Known(np.recarray, "numpy.recarray", _records, _records_of)
    for name, check in _STATES.items():
        cls = getattr(_random, name)
        yield Known(cls, f"numpy.random.{name}", _bits, _bits_of(cls, check))
    yield Known(_random.SeedSequence, "numpy.random.SeedSequence", _seeds, _seeds_of)
    yield Known(_random.Generator, "numpy.random.Generator", lambda value: value.bit_generator, _generator_of)
    yield Known(_random.RandomState, "numpy.random.RandomState", _legacy, _legacy_of)


def _plain(array: Any) -> Any:
    return array.view(np.ndarray)


def _array(value: Any) -> Any:
    return exact(value, np.ndarray)


def _masked(array: Any) -> Any:
    if array._baseclass is not np.ndarray:
        raise EncodeError("can't store a `MaskedArray` over a subclass of ndarray")
    mask = array._mask
    fill = array._fill_value
    return array._data, None if mask is _ma.nomask else mask, fill, array._hardmask


def _masked_of(stored: Any) -> Any:
    data, mask, fill, hard = parts(stored, 4)
    made = _array(data).view(_ma.MaskedArray)
    if mask is not None:
        if _array(mask).shape != data.shape or mask.dtype != _ma.make_mask_descr(data.dtype):
            raise ValueError("a mask of another shape")
        made._mask = mask
    if fill is not None:
        if _array(fill).shape != () or fill.dtype != data.dtype:
            raise ValueError("a fill value of another dtype")
        made._fill_value = fill
    made._hardmask = exact(hard, bool)
    return made


def _matrix_of(stored: Any) -> Any:
    if _array(stored).ndim != 2:
        raise ValueError("expected two dimensions")
    return stored.view(np.matrix)


def _records(array: Any) -> Any:
    # The items' class, which NumPy's arrays have no form for, is always the same.
    kind = array.dtype
    if kind.type is np.record:
        return array.view(np.ndarray).view(np.dtype((np.void, kind)))
    return array.view(np.ndarray)


def _records_of(stored: Any) -> Any:
    return _array(stored).view(np.recarray)


def _ints(values: Any, dtype: Any, count: int) -> None:
    if _array(values).dtype != dtype or values.shape != (count,):
        raise ValueError("a state of another size")


def _of_bits(value: Any, bits: int) -> None:
    if not 0 <= exact(value, int) < 1 << bits:
        raise ValueError("a number out of range")


def _check_pcg(state: Any) -> None:
    _of_bits(state["state"]["state"], 128)
    _of_bits(state["state"]["inc"], 128)


def _check_mt(state: Any) -> None:
    _ints(state["state"]["key"], np.uint32, 624)
    # NumPy's C code takes it for an index.
    if not 0 <= exact(state["state"]["pos"], int) <= 624:
        raise ValueError("a place out of range")


def _check_philox(state: Any) -> None:
    _ints(state["state"]["counter"], np.uint64, 4)
    _ints(state["state"]["key"], np.uint64, 2)
    _ints(state["buffer"], np.uint64, 4)
    if not 0 <= exact(state["buffer_pos"], int) <= 4:
        raise ValueError("a place out of range")


def _check_sfc(state: Any) -> None:
    _ints(state["state"]["state"], np.uint64, 4)


_STATES: dict[str, Callable[[Any], None]] = {
    "PCG64": _check_pcg,
    "PCG64DXSM": _check_pcg,
    "MT19937": _check_mt,
    "Philox": _check_philox,
    "SFC64": _check_sfc,
}


def _bits(value: Any) -> Any:
    seeds = value.seed_seq
    return value.state, seeds if type(seeds) is _random.SeedSequence else None


def _bits_of(cls: Any, check: Callable[[Any], None]) -> Callable[[Any], Any]:
    def bits_of(stored: Any) -> Any:
        state, seeds = parts(stored, 2)
        if seeds is not None:
            exact(seeds, _random.SeedSequence)
        if exact(state, dict)["bit_generator"] != cls.__name__:
            raise ValueError("the state of another generator")
        check(state)
        if "has_uint32" in state:
            _of_bits(state["has_uint32"], 1)
            _of_bits(state["uinteger"], 32)
        made = cls(0 if seeds is None else seeds)
        if seeds is None and _KEEPS_SEEDS:
            made.__setstate__((state, None))
        else:
            made.state = state
        return made

    return bits_of


def _seeds(value: Any) -> Any:
    stored = value.entropy, tuple(value.spawn_key), value.pool_size, value.n_children_spawned
    try:
        _check_seeds(*stored)
    except (TypeError, ValueError) as error:
        raise EncodeError(f"can't store a `SeedSequence`: {error}") from None
    return stored


def _check_seeds(entropy: Any, key: Any, pool: Any, spawned: Any) -> None:
    numbers = list(entropy) if isinstance(entropy, (list, tuple, np.ndarray)) else [entropy]
    if len(numbers) + len(key) > _MOST_NUMBERS or not 4 <= exact(pool, int) <= _MOST_POOL:
        raise ValueError("a seed of more numbers, or a larger pool, than NumPy takes in little time")
    for number in (*numbers, *key):
        if number is not None and not 0 <= int(number) < 1 << _MOST_BITS:
            raise ValueError("a seed out of range")
    _of_bits(spawned, 32)


def _seeds_of(stored: Any) -> Any:
    entropy, key, pool, spawned = parts(stored, 4)
    _check_seeds(entropy, exact(key, tuple), pool, spawned)
    return _random.SeedSequence(entropy, spawn_key=key, pool_size=pool, n_children_spawned=spawned)


def _bit_generator(value: Any) -> Any:
    if type(value).__name__ not in _STATES or not isinstance(value, _random.BitGenerator):
        raise TypeError("expected a bit generator")
    return value


def _generator_of(stored: Any) -> Any:
    return _random.Generator(_bit_generator(stored))


def _legacy(value: Any) -> Any:
    state = value.get_state(legacy=False)
    return value._bit_generator, state["has_gauss"], state["gauss"]


def _legacy_of(stored: Any) -> Any:
    bits, has, gauss = parts(stored, 3)
    state = dict(_bit_generator(bits).state)
    _of_bits(has, 1)
    state.update(has_gauss=has, gauss=exact(gauss, float))
    made = _random.RandomState(bits)
    made.set_state(state)
    return made
