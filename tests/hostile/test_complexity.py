"""The harness of `make complexity`, for a moment: it says what is within the bounds, and notices what isn't."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator

import pytest

from tests.complexity import bounds, doors, measure
from tests.complexity.family import FAMILIES, FORMATS, Family, all_families
from tests.support import wire as w

pytestmark = [
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is measured by /proc"),
    pytest.mark.xdist_group("memory"),
]
SMALL = 2_000


@pytest.fixture(autouse=True, scope="module")
def small() -> Iterator[None]:
    bounds.SIZES["smoke"] = SMALL
    yield
    del bounds.SIZES["smoke"]


def test_every_family_has_doors() -> None:
    found = all_families()
    assert len(found) > 150 and {one.format for one in found.values()} == set(FORMATS)
    for one in found.values():
        assert list(doors.doors_of(one)), one.name


@pytest.mark.parametrize(
    "name",
    [
        "hold: side by side: lists",
        "msgpack: nested: arrays",
        "bson: side by side: documents",
        "julia: side by side: symbols",
    ],
)
def test_a_family_through_its_doors(name: str) -> None:
    all_families()
    results = list(measure.run(FAMILIES[name], ["smoke"], ["loads", "small stack", "typed", "document"]))
    assert {one.door for one in results} >= {"loads", "small stack", "document"}
    for one in results:
        assert one.verdict not in ("crash", "error", "timeout") and 0 < one.size < 4 * SMALL, one
        assert one.outcome == "value" or one.door != "loads", one


def measured(
    run: doors.Run, *, honest: bool = False, raises: tuple[type[BaseException], ...] = ()
) -> measure.Result:
    """What is said of a door that does that."""
    door = doors.Door("loads", "hold", lambda path, family: run, raises=raises)
    family = Family("hold: smoke", "hold", lambda n: w.message(w.NONE), honest=honest)
    result = measure.one(door, family, __file__, SMALL, "smoke")
    measure.judge(result, None, family)
    return result


def crash() -> None:
    import os

    os.abort()


def hang() -> None:
    while True:
        pass


def slow() -> None:
    end = time.process_time() + 2 * bounds.seconds(SMALL)
    while time.process_time() < end:
        pass


def refuse() -> None:
    import holdall

    holdall.loads(b"")


@pytest.mark.parametrize(
    ("run", "verdict"),
    [
        (lambda: None, "ok"),
        (crash, "crash"),
        (slow, "time"),
        (lambda: bytearray(8 << 20), "memory"),
        (lambda: [bytearray(1 << 40)], "memory"),
        (lambda: {}["no such key"], "error"),
        (refuse, "ok"),
    ],
    ids=["nothing", "crash", "slow", "large", "larger than is allowed", "another error", "an error of ours"],
)
def test_what_breaks_a_bound(run: doors.Run, verdict: str) -> None:
    assert measured(run).verdict == verdict


def test_what_never_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure, "PATIENCE", 0.0)
    assert measured(hang).verdict == "timeout"


def test_an_honest_message_that_is_refused() -> None:
    assert measured(refuse, honest=True).verdict == "refused"


def test_growth() -> None:
    of = Family("hold: smoke", "hold", lambda n: b"")
    before = measure.Result("", "hold", "loads", "smoke", 100_000, "value", 0.02)
    after = measure.Result(
        "", "hold", "loads", "smoke", 1_000_000, "value", 2.0, bound_memory=1, bound_seconds=5.0
    )
    measure.judge(after, before, of)
    assert after.verdict == "growth"
