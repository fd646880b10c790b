"""Typed loading: reference counts and memory stay level, over thousands of loads that succeed and that fail."""

from __future__ import annotations

import contextlib
import gc
import sys
from dataclasses import dataclass, field
from typing import Any

import pytest

import holdall
from tests.support import typed_models as models
from tests.support.formats import Format
from tests.support.level import damaged, stays_level
from tests.support.typed_cases import CASES, Case, NotLoaded, Refused
from tests.support.typed_failures import FAILURES
from tests.support.typed_targets import TARGETS

ROUNDS = 3_000

pytestmark = [pytest.mark.soak, pytest.mark.usefixtures("only_new_objects")]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.group}-{case.name}")
def test_every_type(fmt: Format, case: Case) -> None:
    if isinstance(case.untyped_result(fmt.name), Refused):
        return
    data = fmt.dumps(case.value, **case.dumping)
    decoder = fmt.decoder(type=case.annotation, **case.loading)
    fails = isinstance(case.typed_result(fmt.name), NotLoaded)

    def work() -> None:
        with contextlib.suppress(holdall.DecodeError) if fails else contextlib.nullcontext():
            decoder.decode(data)

    stays_level(work, ROUNDS)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.group}-{case.name}")
def test_every_type_without_a_type(fmt: Format, case: Case) -> None:
    """Stored, or refused; loaded as what the format has, or refused."""
    held, data = [case.value, {"k": case.value}], None
    if not isinstance(case.untyped_result(fmt.name), Refused):
        data = fmt.dumps(held, **case.dumping)

    def work() -> None:
        with contextlib.suppress(holdall.EncodeError) if data is None else contextlib.nullcontext():
            fmt.dumps(held, **case.dumping)
        if data is not None:
            with contextlib.suppress(holdall.DecodeError):
                fmt.loads(data)

    stays_level(work, ROUNDS // 2)


def test_every_failure(fmt: Format) -> None:
    failures = [case for case in FAILURES if case.concerns(fmt.name)]
    attempts = [
        (fmt.decoder(type=case.annotation, **case.loading), fmt.dumps(case.value())) for case in failures
    ]

    def work() -> None:
        for decoder, data in attempts:
            with contextlib.suppress(holdall.DecodeError):
                decoder.decode(data)

    stays_level(work, 400)


@pytest.mark.parametrize(("name", "annotation", "values"), TARGETS, ids=[name for name, _, _ in TARGETS])
def test_damaged_messages(fmt: Format, name: str, annotation: Any, values: list[Any]) -> None:
    """Cut off at every place, and changed."""
    decoder = fmt.decoder(type=annotation)
    hostile = [attempt for value in values for attempt in damaged(fmt.dumps(value), name)]

    def work() -> None:
        for attempt in hostile:
            with contextlib.suppress(holdall.DecodeError):
                decoder.decode(attempt)

    # Enough that what tables of interned names grow by is less than half of it.
    stays_level(work, 400)


def test_cycles_and_what_is_passed_over() -> None:
    @dataclass
    class Wanted:
        item: Any = None
        others: list[models.User] = field(default_factory=list)

    inner = [models.User("a", 1)]
    loop: dict[str, Any] = {"skipped": [inner, {"k": inner}], "item": inner, "others": inner}
    loop["again"] = loop
    decoder, data = holdall.Decoder(type=Wanted, types=[models]), holdall.dumps(loop)
    stays_level(lambda: decoder.decode(data), ROUNDS)


def test_new_classes_and_annotations(fmt: Format) -> None:
    """Plans go with their classes."""
    data = fmt.dumps([{"a": 1, "b": [{"a": 2}]}])

    def work() -> None:
        made: Any = type("Made", (), {"__annotations__": {"a": int, "b": Any}, "b": None})
        assert fmt.loads(data, type=list[made])[0].a == 1
        with contextlib.suppress(holdall.DecodeError):
            fmt.loads(data, type=made)

    stays_level(work, 300)


@dataclass
class Registered:
    """This module's own: what is registered stays so."""

    x: int


def test_registering_anew(fmt: Format) -> None:
    data = fmt.dumps([{"x": 1}])

    def work() -> None:
        holdall.register(Registered)
        assert fmt.loads(data, type=list[Registered]) == [Registered(1)]

    stays_level(work, 300)


def test_hooks_and_user_code_that_fail(fmt: Format) -> None:
    @dataclass
    class Refusing:
        a: int
        b: list[int] = field(default_factory=list)

        def __post_init__(self) -> None:
            raise ZeroDivisionError

    def hook(annotation: Any, obj: Any) -> Any:
        raise ZeroDivisionError

    first = (fmt.decoder(type=list[Refusing]), fmt.dumps([{"a": 1, "b": [1, 2]}]))
    second = (fmt.decoder(type=dict[str, models.Foreign], dec_hook=hook), fmt.dumps({"k": ["x"]}))

    def work() -> None:
        for decoder, data in (first, second):
            try:
                decoder.decode(data)
            except ZeroDivisionError:
                continue
            raise AssertionError("the error was lost")

    stays_level(work, ROUNDS)


def test_reference_counts_of_what_plans_hold(fmt: Format) -> None:
    """Defaults, classes and members: each load takes and gives back as many."""
    default = "".join(["def", "ault"])

    @dataclass
    class Held:
        a: str = default
        b: models.Color = models.Color.RED
        c: Any = None

    held = {"default": default, "class": Held, "member": models.Color.RED, "none": None, "str": str}
    decoder, data = fmt.decoder(type=list[Held]), fmt.dumps([{}, {"b": 1, "c": 2}, {"a": "x", "zz": []}])
    bad = fmt.dumps([{}, {"b": 1}, {"a": 5}])

    def work() -> None:
        decoder.decode(data)
        with contextlib.suppress(holdall.ValidationError):
            decoder.decode(bad)

    def counts() -> dict[str, int]:
        return {name: sys.getrefcount(obj) for name, obj in held.items()}

    for _ in range(10):
        work()
    gc.collect()
    before = counts()
    for _ in range(2_000):
        work()
    gc.collect()
    after = counts()
    for name in held:
        assert abs(after[name] - before[name]) < 100, name
