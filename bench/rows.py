"""The dataclasses of `models.py` as msgspec Structs: other classes than the users', and msgspec at its best."""

from __future__ import annotations

from typing import Any

import msgspec

from bench.models import Bar, Foo, Sample


class SampleRow(msgspec.Struct, array_like=True):
    value: float
    label: str


class BazRow(msgspec.Struct, array_like=True):
    first: str
    second: str


class BarRow(msgspec.Struct, array_like=True):
    number: int
    bazs: list[BazRow]
    counts: dict[str, int]


class FooRow(msgspec.Struct, array_like=True):
    agency: str
    software: str
    management: str
    consultant: str
    remark: str
    bars: list[BarRow]


def sample_rows(data: list[Sample]) -> list[SampleRow]:
    return [SampleRow(sample.value, sample.label) for sample in data]


def serbench_rows(data: dict[str, list[Foo]]) -> dict[str, list[FooRow]]:
    def bar(x: Bar) -> BarRow:
        return BarRow(x.number, [BazRow(baz.first, baz.second) for baz in x.bazs], x.counts)

    def foo(x: Foo) -> FooRow:
        return FooRow(x.agency, x.software, x.management, x.consultant, x.remark, [bar(b) for b in x.bars])

    return {key: [foo(x) for x in foos] for key, foos in data.items()}


# data set -> its annotation, the annotation of its rows, how they are made
TYPED: dict[str, tuple[Any, Any, Any]] = {
    "samples": (list[Sample], list[SampleRow], sample_rows),
    "serbench": (dict[str, list[Foo]], dict[str, list[FooRow]], serbench_rows),
}
