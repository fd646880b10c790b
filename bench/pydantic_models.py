"""The dataclasses of `models.py` and `documents.py` as pydantic models: pydantic with classes of its own."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import BaseModel


class BazModel(BaseModel):
    first: str
    second: str


class BarModel(BaseModel):
    number: int
    bazs: list[BazModel]
    counts: dict[str, int]


class FooModel(BaseModel):
    agency: str
    software: str
    management: str
    consultant: str
    remark: str
    bars: list[BarModel]


class PartyModel(BaseModel):
    id: int
    name: str
    address: str
    verified: bool


class ItemModel(BaseModel):
    sku: str
    count: int
    price: float
    note: str


class MessageModel(BaseModel):
    id: str
    sequence: int
    kind: str
    created: datetime
    updated: datetime
    sender: PartyModel
    receiver: PartyModel
    body: str
    amount: float
    rates: list[float]
    tags: list[str]
    items: list[ItemModel]
    retry: int | None
    urgent: bool


class UserModel(BaseModel):
    id: int
    name: str
    screen_name: str
    description: str
    followers_count: int
    verified: bool
    profile_image_url: str


class MentionModel(BaseModel):
    screen_name: str
    indices: list[int]


class EntitiesModel(BaseModel):
    user_mentions: list[MentionModel]


class StatusModel(BaseModel):
    created_at: str
    id: int
    text: str
    user: UserModel
    entities: EntitiesModel
    retweet_count: int
    favorite_count: int
    lang: str
    in_reply_to_status_id: int | None = None
    retweeted_status: StatusModel | None = None


class SearchModel(BaseModel):
    statuses: list[StatusModel]


class PriceModel(BaseModel):
    amount: int
    seatCategoryId: int


class AreaModel(BaseModel):
    areaId: int


class SeatCategoryModel(BaseModel):
    seatCategoryId: int
    areas: list[AreaModel]


class PerformanceModel(BaseModel):
    id: int
    eventId: int
    start: int
    prices: list[PriceModel]
    seatCategories: list[SeatCategoryModel]


class EventModel(BaseModel):
    id: int
    name: str
    subTopicIds: list[int]


class CatalogModel(BaseModel):
    areaNames: dict[str, str]
    events: dict[str, EventModel]
    performances: list[PerformanceModel]


# data set -> the annotation of its models
MODELS: dict[str, Any] = {
    "bson_typed_serbench": dict[str, list[FooModel]],
    "bson_typed_messages": MessageModel,
    "bson_typed_twitter": SearchModel,
    "bson_typed_citm": CatalogModel,
}
