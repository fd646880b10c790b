"""The data sets of cl-binary-store's benchmark, by its description: the same kinds and counts, numbers of our own."""

from __future__ import annotations

import random
import sys
from functools import partial
from typing import Any

from ..data import SEED, Data
from . import adder
from .models import Address, Person, Plain, Sample

MILLION = 1_000_000


def tiny_ints(count: int = MILLION) -> list[int]:
    return random.Random(SEED).choices(range(-16, 17), k=count)


def ints(count: int = MILLION) -> list[int]:
    """One byte each, but not the smallest."""
    return random.Random(SEED).choices(range(256), k=count)


def fixnums(count: int = MILLION) -> list[int]:
    """61 bits each."""
    rng = random.Random(SEED)
    return [(1 << 60) | rng.getrandbits(60) for _ in range(count)]


def floats(count: int = MILLION) -> list[float]:
    rng = random.Random(SEED)
    return [rng.random() for _ in range(count)]


def keywords(count: int = 100_000) -> list[str]:
    """Texts that are one object wherever they are equal."""
    rng = random.Random(SEED)
    return [sys.intern(str(rng.randrange(count))) for _ in range(count)]


def samples(count: int = 100_000) -> list[Sample]:
    rng = random.Random(SEED)
    return [Sample(rng.random(), str(rng.randrange(100))) for _ in range(count)]


def plain_objects(count: int = 100_000) -> list[Plain]:
    rng = random.Random(SEED)
    return [Plain(rng.randrange(256), "hello") for _ in range(count)]


def ascii_strings(count: int = 100_000) -> list[str]:
    rng = random.Random(SEED)
    return [str(rng.randrange(MILLION)) for _ in range(count)]


def unicode_strings(count: int = 100_000) -> list[str]:
    rng = random.Random(SEED)
    return [f"{rng.randrange(MILLION)}α" for _ in range(count)]


def mixed(count: int = MILLION) -> list[Any]:
    """Half one float, a quarter one text, then pairs, one complex number and the empty tuple."""
    rng = random.Random(SEED)
    number, greeting, point = 3.1415, "hi", complex(1.0, 1.0)

    def one() -> Any:
        if rng.random() < 0.5:
            return number
        if rng.random() < 0.5:
            return greeting
        if rng.random() < 0.5:
            return (rng.randrange(30), 2)
        return point if rng.random() < 0.5 else ()

    return [one() for _ in range(count)]


def matrices(count: int = 100) -> list[Any]:
    import numpy as np

    rng = np.random.default_rng(SEED)
    return [rng.random((100, 100)) for _ in range(count)]


def specialised_arrays(length: int = 100_000) -> list[Any]:
    """One for each element type, each of one number."""
    import numpy as np

    numbers: list[tuple[float, type]] = [
        (1, np.bool_), (2, np.uint8), (15, np.uint8), (65535, np.uint16), (2**32 - 1, np.uint32), (2**50, np.int64),
        (2**64 - 1, np.uint64), (-1, np.int8), (-128, np.int16), (-32768, np.int32), (-100000, np.int64),
        (1.0, np.float32), (-1.0, np.float64),
    ]  # fmt: skip
    return [b"\xff" * length, *[np.full(length, number, dtype) for number, dtype in numbers]]


def one_string(count: int = MILLION) -> list[str]:
    text = "".join(["as", "df"])
    return [text] * count


def people(count: int = 10_000) -> list[Person]:
    """Each with one address, which another may have, too."""
    rng = random.Random(SEED)

    def digits(limit: int) -> str:
        return str(rng.randrange(limit))

    addresses = [Address(digits(MILLION), digits(100), digits(100_000)) for _ in range(count)]
    return [
        Person(
            digits(10 * MILLION),
            digits(10 * MILLION),
            rng.randrange(100),
            [rng.choice(addresses)],
            digits(MILLION),
            digits(100 * MILLION),
        )
        for _ in range(count)
    ]


def tangled_pairs(count: int = 20_000) -> list[list[Any]]:
    """Pairs whose two places were set, ten times each, to any of the pairs."""
    rng = random.Random(SEED)
    pairs: list[list[Any]] = [[None, None] for _ in range(count)]
    for _ in range(10 * count):
        pairs[rng.randrange(count)][0] = pairs[rng.randrange(count)]
        pairs[rng.randrange(count)][1] = pairs[rng.randrange(count)]
    return pairs


def data_sets(full: bool) -> list[Data]:
    add = adder("structures")
    count = MILLION if full else 200_000
    tangled = 100_000 if full else 20_000
    return [
        add(name="tiny_ints", title=f"{count:,} ints, -16..16", make=partial(tiny_ints, count)),
        add(name="ints", title=f"{count:,} ints, 0..255", make=partial(ints, count)),
        add(name="fixnums", title=f"{count:,} ints of 61 bits", make=partial(fixnums, count)),
        add(name="floats", title=f"{count:,} floats", make=partial(floats, count)),
        add(name="keywords", title="100,000 interned texts of 63,000 kinds", make=keywords),
        add(
            name="samples",
            title="100,000 slotted dataclasses (float, str)",
            make=samples,
            annotation=list[Sample],
        ),
        add(name="plain_objects", title="100,000 plain instances (int, shared str)", make=plain_objects),
        add(name="ascii_strings", title="100,000 texts of digits", make=ascii_strings),
        add(name="unicode_strings", title="100,000 short texts with a Greek letter", make=unicode_strings),
        add(name="mixed", title=f"{count:,} mixed values", make=partial(mixed, count)),
        add(name="matrices", title="100 matrices 100x100 float64", make=matrices),
        add(
            name="specialised_arrays", title="arrays of 100,000 of 13 element types", make=specialised_arrays
        ),
        add(name="one_string", title=f"{count:,} times one text", make=partial(one_string, count)),
        add(
            name="people",
            title="10,000 people with shared addresses",
            make=people,
            identity=True,
            annotation=list[Person],
        ),
        add(
            name="tangled_pairs",
            title=f"{tangled:,} tangled pairs",
            make=partial(tangled_pairs, tangled),
            identity=True,
            deep=True,
        ),
    ]
