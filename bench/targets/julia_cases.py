"""Julia's data sets: serbench's document as BSONqs writes it, and the weights of a network.

serbench's document has texts of its own here, not those of `data.serbench`: random ones, as long as the original's, so that
the file has the original's size to the byte.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

from holdall_bench.data import SEED
from holdall_bench.suites.models import Bar, Baz, Foo

from . import files_peers, julia_peers
from .data import Case, row, scratch_folder

BARS = 2_000  # in each Foo of the original
KEYS = ("Foo", "Foo2", "Foo3")
LETTERS = [chr(code) for code in range(ord("0"), ord("z") + 1)]
LONGEST = 20


def julia_serbench(bars: int = BARS // 10) -> dict[str, list[Foo]]:
    """3 keys x 3 Foo x `bars` Bar x 50 Baz. Each text has the length of its field; they begin like one of 1,000 random ones."""
    rng = random.Random(SEED)
    # One letter is always cut off, so that each text is an object of its own: nothing here is shared.
    texts = ["".join(rng.choices(LETTERS, k=LONGEST + 1)) for _ in range(1000)]
    counts_type = julia_peers.loaded_counts_type()

    def text(length: int) -> str:
        return rng.choice(texts)[:length]

    def bar() -> Bar:
        from holdall import julia

        counts = {text(length): rng.getrandbits(64) for length in range(10, 14)}
        return Bar(
            rng.getrandbits(64) - (1 << 63),
            [Baz(text(LONGEST), text(1)) for _ in range(50)],
            julia.Dict(counts, type=counts_type),
        )

    def foo() -> Foo:
        return Foo(text(5), text(7), text(17), text(11), text(13), [bar() for _ in range(bars)])

    return {key: [foo() for _ in range(3)] for key in KEYS}


def serbench_file(bars: int = BARS) -> Path:
    from holdall import julia

    julia_peers.map_classes()
    path = Path(scratch_folder().name) / "serbench.bson"
    julia.dump(julia_serbench(bars), path)
    return path


def text_in_serbench(bars: int = BARS) -> Any:
    return julia_peers.nested_text(julia_serbench(bars))


def weight_shapes(narrower: int = 1) -> dict[str, tuple[int, ...]]:
    """VGG19's, of 548 MiB as Float32.

    narrower: by how much each layer is, and the picture that the network sees.
    """
    widths = [64] * 2 + [128] * 2 + [256] * 4 + [512] * 8
    channels = [3, *(width // narrower for width in widths)]
    shapes: list[tuple[int, ...]] = [(3, 3, *pair) for pair in pairwise(channels)]
    dense = [7 * 7 * channels[-1], 4096 // narrower, 4096 // narrower, 1000]
    shapes += [(outputs, inputs) for inputs, outputs in pairwise(dense)]
    named: dict[str, tuple[int, ...]] = {}
    for number, shape in enumerate(shapes, 1):
        outputs = shape[0] if len(shape) == 2 else shape[-1]
        named |= {f"W{number:02}": shape, f"b{number:02}": (outputs,)}
    return named


def weights(narrower: int = 1) -> dict[str, Any]:
    """38 arrays of Float32, 548 MiB in all, each in Julia's order."""
    import numpy as np

    rng = np.random.default_rng(SEED)
    return {
        name: rng.random(shape[::-1], dtype=np.float32).T for name, shape in weight_shapes(narrower).items()
    }


def weights_file(narrower: int = 1) -> Path:
    from holdall import julia

    path = Path(scratch_folder().name) / "weights.bson"
    julia.dump(weights(narrower), path)
    return path


def julia_cases(quick: bool = False) -> list[Case]:
    """quick: the large ones are made small, which their titles say, and no target speaks of them."""
    bars, narrower = (BARS // 10, 8) if quick else (BARS, 1)

    def large(
        name: str,
        title: str,
        make: Callable[[], Any],
        contestants: Callable[[Case], list[Any]],
        expected: Callable[[], Any] | None = None,
        heavy: bool = False,
    ) -> Case:
        return row(
            f"julia_{name}",
            f"Julia: {title}" + " (made small)" * quick,
            make,
            stand_in=quick,
            heavy=heavy,
            contestants=contestants,
            expected=expected,
        )

    return [
        row(
            "julia_serbench",
            "Julia: serbench at 1/10 as slotted dataclasses",
            julia_serbench,
            contestants=julia_peers.document_peers,
        ),
        large(
            "serbench_full",
            "serbench in full: 900,000 Baz, 146 MB",
            partial(julia_serbench, bars),
            julia_peers.full_peers,
            heavy=True,
        ),
        large(
            "arrays",
            "38 arrays of Float32, 548 MiB",
            partial(weights_file, narrower),
            julia_peers.array_peers,
            partial(files_peers.summary_of, partial(weights, narrower)),
        ),
        large(
            "lazy",
            "one text deep in serbench's file of 146 MB",
            partial(serbench_file, bars),
            julia_peers.lazy_peers,
            partial(text_in_serbench, bars),
        ),
    ]
