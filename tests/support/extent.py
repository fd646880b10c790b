"""How much of what could go on for long `make test` does, and how much the campaigns do.

`make fuzz` (`pytest --full -m damage`) walks over every byte of whole files, `make properties` tries new examples each time: many. `make
test` takes a sample of the bytes, and few examples, which are the same each time.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any, TypeVar

# Set from the command line: see `tests/conftest.py`.
full = False

T = TypeVar("T")


def sample(places: Sequence[T], most: int) -> Sequence[T]:
    """At most so many of them, in order: the first, the last, and others that are the same each time. With `--full` all."""
    if full or len(places) <= most:
        return places
    chosen = random.Random(len(places)).sample(range(1, len(places) - 1), most - 2)
    return [places[at] for at in (0, *sorted(chosen), len(places) - 1)]


# By profile of Hypothesis: examples of a property that says no number.
EXAMPLES = {"random": 200, "same": 50}
# However few others have.
FEWEST = 20


def examples(most: int, **more: Any) -> Any:
    """Hypothesis's settings for a property with so many examples in `make properties`, and a quarter of them in `make test`."""
    from hypothesis import settings

    share = settings().max_examples / EXAMPLES["random"]
    return settings(max_examples=max(round(most * share), min(most, FEWEST)), **more)
