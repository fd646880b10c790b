"""Files: the weights of a network written and read, one member of a large file, and a log of small records."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import holdall
from holdall_bench.data import SEED
from holdall_bench.suites.stand_ins import text

from . import files_peers
from .data import Case, row
from .julia_cases import weight_shapes

TOUCHED = "W12"  # of 9 MB
MEMBERS = 1_000_000  # of about a kilobyte
ELEMENTS = 10_000_000
RECORDS = 100_000


def weights(narrower: int = 1) -> dict[str, Any]:
    """38 arrays of float32, 548 MiB in all."""
    import numpy as np

    rng = np.random.default_rng(SEED)
    return {name: rng.random(shape, dtype=np.float32) for name, shape in weight_shapes(narrower).items()}


@cache
def touched_sum(narrower: int) -> float:
    return float(weights(narrower)[TOUCHED].sum())


def member(number: int) -> dict[str, Any]:
    """About a kilobyte, most of it text that nothing else has."""
    rng = random.Random(number)
    return {
        "id": number,
        "score": rng.random(),
        "tags": ["new", "old"] if number % 3 else [],
        "text": rng.randbytes(480).hex(),
    }


def member_key(number: int) -> str:
    return f"member {number}"


def members_file(count: int) -> Path:
    path = files_peers.folder("members") / "members.hold"
    holdall.dump({member_key(number): member(number) for number in range(count)}, path)
    return path


def element(number: int) -> Any:
    """Of three kinds, so that no two of them lie as numbers of one width do."""
    return (number, number / 7, f"item {number % 1000}")[number % 3]


def elements_file(count: int) -> Path:
    path = files_peers.folder("elements") / "elements.hold"
    holdall.dump([element(number) for number in range(count)], path)
    return path


def records(count: int = RECORDS) -> list[dict[str, Any]]:
    """Events as services log them."""
    rng = random.Random(SEED)
    return [
        {
            "id": number,
            "time": 1_767_225_600 + number * 0.25,
            "level": rng.choice(["debug", "info", "warning", "error"]),
            "user": f"user {rng.randrange(1000)}",
            "took": rng.random(),
            "ok": rng.random() < 0.9,
            "text": text(rng, 4),
        }
        for number in range(count)
    ]


def files_cases(quick: bool = False) -> list[Case]:
    """quick: all is made small, which the titles say, and no target speaks of them."""
    narrower, tenth = (3, 10) if quick else (1, 1)
    members, elements, lines = MEMBERS // tenth, ELEMENTS // tenth, RECORDS // tenth
    make = partial(weights, narrower)
    shapes = weight_shapes(narrower)

    def case(name: str, title: str, make: Callable[[], Any], peers: Any, **others: Any) -> Case:
        return row(
            f"files_{name}",
            f"files: {title}" + " (made small)" * quick,
            make,
            stand_in=quick,
            contestants=peers,
            apart=True,
            **others,
        )

    def array_case(name: str, title: str, synced: bool) -> Case:
        peers = partial(files_peers.array_peers, shapes=shapes, synced=synced)
        expected = partial(files_peers.summary_of, make)
        return case(name, title, make, peers, expected=expected)

    def member_case(name: str, title: str, make: Callable[[], Path], key: Any, value: Any) -> Case:
        peers = files_peers.member_peers
        return case(name, title, make, peers, expected=lambda: value, key=key, heavy=True)

    return [
        array_case("arrays", "38 arrays of float32, 548 MiB, on the disk", True),
        array_case("arrays_unsynced", "38 arrays of float32, 548 MiB, not waited for", False),
        case(
            "touch",
            "the sum of one of 38 arrays, 9 of 548 MiB",
            make,
            partial(files_peers.touch_peers, name=TOUCHED),
            expected=partial(touched_sum, narrower),
        ),
        member_case(
            "member",
            "one of 1,000,000 members, a file of 1 GB",
            partial(members_file, members),
            member_key(members * 3 // 4),
            member(members * 3 // 4),
        ),
        member_case(
            "element",
            "the last of 10,000,000 elements",
            partial(elements_file, elements),
            -1,
            element(elements - 1),
        ),
        case(
            "log",
            f"a log of {lines:,} small records",
            partial(records, lines),
            files_peers.log_peers,
            records=lines,
        ),
    ]
