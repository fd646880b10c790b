"""A message bus: 100,000 records of about 1.6 kB, each stored by itself."""

from __future__ import annotations

import random
import uuid
from datetime import datetime, timedelta, timezone
from functools import partial
from typing import Any

from ..data import SEED, Data
from . import adder
from .instances import build
from .models import Message
from .stand_ins import WORDS, text

COUNT, FULL_COUNT = 2_000, 100_000


def messages(count: int = COUNT) -> list[dict[str, Any]]:
    """Queue messages of about 1.6 kB: ids, text, floats, zoned datetimes, nested lists and dicts."""
    rng = random.Random(SEED)
    start = datetime(2026, 1, 1, tzinfo=timezone.utc)  # most peers keep no other zone

    def moment() -> datetime:
        return start + timedelta(microseconds=rng.randrange(10**13))

    def ident() -> str:
        return str(uuid.UUID(int=rng.getrandbits(128), version=4))

    def party() -> dict[str, Any]:
        return {
            "id": rng.getrandbits(31),
            "name": text(rng, 2),
            "address": text(rng, 6),
            "verified": rng.random() < 0.5,
        }

    def item() -> dict[str, Any]:
        return {
            "sku": ident(),
            "count": rng.randrange(1, 300),
            "price": rng.random() * 100,
            "note": text(rng, 4),
        }

    return [
        {
            "id": ident(),
            "sequence": rng.getrandbits(48),
            "kind": rng.choice(["order", "refund", "shipment", "note"]),
            "created": moment(),
            "updated": moment(),
            "sender": party(),
            "receiver": party(),
            "body": text(rng, rng.randrange(110, 160)),
            "amount": rng.random() * 1000,
            "rates": [rng.random() for _ in range(8)],
            "tags": rng.choices(WORDS, k=6),
            "items": [item() for _ in range(4)],
            "retry": None,
            "urgent": rng.random() < 0.1,
        }
        for _ in range(count)
    ]


def typed_messages(count: int = COUNT) -> list[Message]:
    made: list[Message] = build(list[Message], messages(count))
    return made


def data_sets(full: bool) -> list[Data]:
    add = adder("bakeoff")
    count = FULL_COUNT if full else COUNT
    return [
        add(
            name="messages",
            title=f"{count:,} messages of 1.6 kB as dicts, one by one",
            make=partial(messages, count),
            each=True,
        ),
        add(
            name="typed_messages",
            title=f"{count:,} messages of 1.6 kB as dataclasses, one by one",
            make=partial(typed_messages, count),
            each=True,
            annotation=Message,
        ),
    ]
