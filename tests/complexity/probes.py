"""Ints that are slow to put into a dict though no two of them have one hash.

CPython looks for a free entry of a table of 2**k at i = hash, then i = 5 i + perturb + 1, where perturb is the hash shifted down by
another five bits each time (`Objects/dictobject.c`). Once that is 0, all go along one cycle, which has every entry in it. So the
first keys fill the beginning of the cycle, an entry each; all others are found by trying: those whose first places are all
filled, and whose way then enters the cycle near its beginning, have to go to its end.
"""

from __future__ import annotations

import functools

import numpy as np

# CPython presizes no dict beyond that, and a larger one would take long to find keys for.
MOST_BITS = 17
TRIES = 1 << 18
# Bits above the table's: after so many the perturbation is 0, and they leave enough keys to choose from.
SPARE = 15


@functools.cache
def cycle_ints(count: int) -> tuple[int, ...]:
    """Up to `count` ints, as many as fill a table; all below 2**32."""
    bits = 3
    while bits < MOST_BITS and (2 << bits + 1) // 3 <= count:
        bits += 1
    size = 1 << bits
    mask, total = size - 1, (2 << bits) // 3
    fill = total * 2 // 3
    cycle = np.empty(size, np.int64)
    entry = 0
    for at in range(size):
        cycle[at] = entry
        entry = (5 * entry + 1) & mask
    place = np.empty(size, np.int64)
    place[cycle] = np.arange(size)
    taken = place < fill
    rng = np.random.default_rng(1)
    slow: dict[int, None] = {}
    while len(slow) < total - fill:
        keys = rng.integers(size, size << SPARE, TRIES)
        entries, perturb = keys & mask, keys.copy()
        while True:
            good = taken[entries]
            keys, entries, perturb = keys[good], entries[good], perturb[good]
            if not perturb.any():
                break
            perturb >>= 5
            entries = (5 * entries + perturb + 1) & mask
        slow.update(dict.fromkeys(keys[place[entries] < fill // 4].tolist()))
    return (*cycle[:fill].tolist(), *list(slow)[: total - fill])
