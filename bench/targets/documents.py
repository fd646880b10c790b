"""What a program may want of two of the JSON documents, as dataclasses: a part of the fields; the rest is skipped.

Fields are called as in the documents, so that no contestant has to rename anything.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class User:
    id: int
    name: str
    screen_name: str
    description: str
    followers_count: int
    verified: bool
    profile_image_url: str


@dataclass(slots=True)
class Mention:
    screen_name: str
    indices: list[int]


@dataclass(slots=True)
class Entities:
    user_mentions: list[Mention]


@dataclass(slots=True)
class Status:
    created_at: str
    id: int
    text: str
    user: User
    entities: Entities
    retweet_count: int
    favorite_count: int
    lang: str
    in_reply_to_status_id: int | None = None
    retweeted_status: Status | None = None


@dataclass(slots=True)
class Search:
    """twitter.json"""

    statuses: list[Status]


@dataclass(slots=True)
class Price:
    amount: int
    seatCategoryId: int


@dataclass(slots=True)
class Area:
    areaId: int


@dataclass(slots=True)
class SeatCategory:
    seatCategoryId: int
    areas: list[Area]


@dataclass(slots=True)
class Performance:
    id: int
    eventId: int
    start: int
    prices: list[Price]
    seatCategories: list[SeatCategory]


@dataclass(slots=True)
class Event:
    id: int
    name: str
    subTopicIds: list[int]


@dataclass(slots=True)
class Catalog:
    """citm_catalog.json"""

    areaNames: dict[str, str]
    events: dict[str, Event]
    performances: list[Performance]
