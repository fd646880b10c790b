"""The dataclasses of `models.py` and `documents.py` as msgspec Structs: msgspec at its best, with classes of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import partial
from typing import Any

import msgspec

from bench.data import made_of_document
from holdall_bench.suites.instances import build
from holdall_bench.suites.models import Bar, Foo, Message, Sample


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


class PartyRow(msgspec.Struct, array_like=True):
    id: int
    name: str
    address: str
    verified: bool


class ItemRow(msgspec.Struct, array_like=True):
    sku: str
    count: int
    price: float
    note: str


class MessageRow(msgspec.Struct, array_like=True):
    id: str
    sequence: int
    kind: str
    created: datetime
    updated: datetime
    sender: PartyRow
    receiver: PartyRow
    body: str
    amount: float
    rates: list[float]
    tags: list[str]
    items: list[ItemRow]
    retry: int | None
    urgent: bool


# The documents are stored as dicts, so these read maps like the dataclasses do.
class UserStruct(msgspec.Struct):
    id: int
    name: str
    screen_name: str
    description: str
    followers_count: int
    verified: bool
    profile_image_url: str


class MentionStruct(msgspec.Struct):
    screen_name: str
    indices: list[int]


class EntitiesStruct(msgspec.Struct):
    user_mentions: list[MentionStruct]


class StatusStruct(msgspec.Struct):
    created_at: str
    id: int
    text: str
    user: UserStruct
    entities: EntitiesStruct
    retweet_count: int
    favorite_count: int
    lang: str
    in_reply_to_status_id: int | None = None
    retweeted_status: StatusStruct | None = None


class SearchStruct(msgspec.Struct):
    statuses: list[StatusStruct]


class PriceStruct(msgspec.Struct):
    amount: int
    seatCategoryId: int


class AreaStruct(msgspec.Struct):
    areaId: int


class SeatCategoryStruct(msgspec.Struct):
    seatCategoryId: int
    areas: list[AreaStruct]


class PerformanceStruct(msgspec.Struct):
    id: int
    eventId: int
    start: int
    prices: list[PriceStruct]
    seatCategories: list[SeatCategoryStruct]


class EventStruct(msgspec.Struct):
    id: int
    name: str
    subTopicIds: list[int]


class CatalogStruct(msgspec.Struct):
    areaNames: dict[str, str]
    events: dict[str, EventStruct]
    performances: list[PerformanceStruct]


def message_row(message: Message) -> MessageRow:
    row: MessageRow = build(MessageRow, asdict(message))
    return row


@dataclass(frozen=True)
class Structs:
    """A typed row in Structs. convert: makes them of the dataclasses; expected: what loads give, if not those."""

    annotation: Any
    convert: Callable[[Any], Any] | None = None
    expected: Callable[[], Any] | None = None


STRUCTS: dict[str, Structs] = {
    "typed_serbench": Structs(dict[str, list[FooRow]], serbench_rows),
    "typed_samples": Structs(list[SampleRow], sample_rows),
    "typed_messages": Structs(MessageRow, message_row),
    "typed_twitter": Structs(SearchStruct, expected=partial(made_of_document, SearchStruct, "twitter")),
    "typed_citm": Structs(CatalogStruct, expected=partial(made_of_document, CatalogStruct, "citm_catalog")),
}
