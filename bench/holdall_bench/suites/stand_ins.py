"""Generated documents of the structure of the JSON benchmarks' four, for when those are missing."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

WORDS = (
    "the of and to in is you that it he was for on are as with his they at be this have from or one had by word but "
    "not what all were we when your can said there use an each which she do how their if will up other about out many "
    "then them these so some her would make like him into time has look two more write go see number no way could "
    "people my than first water been call who oil its now find long down day did get come made may part"
).split()


def text(rng: random.Random, words: int) -> str:
    return " ".join(rng.choices(WORDS, k=words))


def stand_in_twitter(rng: random.Random) -> Any:
    def user() -> dict[str, Any]:
        return {
            "id": rng.getrandbits(31), "id_str": str(rng.getrandbits(31)), "name": text(rng, 2), "screen_name": text(rng, 1),
            "location": "", "description": "日本語 " + text(rng, 12), "protected": False, "followers_count": rng.randrange(5000),
            "friends_count": rng.randrange(2000), "utc_offset": None, "verified": False, "lang": "ja",
            "profile_image_url": f"http://pbs.twimg.com/profile_images/{rng.getrandbits(60)}/a_normal.jpeg",
            "profile_background_image_url": "http://abs.twimg.com/images/themes/theme1/bg.png", "default_profile": True,
            "following": False, "notifications": False, "entities": {"description": {"urls": []}},
        }  # fmt: skip

    def status() -> dict[str, Any]:
        return {
            "metadata": {"result_type": "recent", "iso_language_code": "ja"}, "created_at": "Sun Aug 31 00:29:15 +0000 2014",
            "id": rng.getrandbits(59), "id_str": str(rng.getrandbits(59)), "text": "名前 " + text(rng, 15), "truncated": False,
            "source": '<a href="http://twitter.com" rel="nofollow">Twitter</a>', "user": user(), "geo": None, "coordinates": None,
            "retweet_count": rng.randrange(100), "favorite_count": 0, "favorited": False, "retweeted": False, "lang": "ja",
            "entities": {"hashtags": [], "symbols": [], "urls": [], "user_mentions": [{"screen_name": text(rng, 1), "indices": [3, 14]}]},
        }  # fmt: skip

    statuses = [status() | {"retweeted_status": status()} if i % 4 else status() for i in range(100)]
    return {"statuses": statuses, "search_metadata": {"count": 100, "query": "一"}}


def stand_in_catalog(rng: random.Random) -> Any:
    def performance(ident: int) -> dict[str, Any]:
        return {
            "eventId": rng.getrandbits(27), "id": ident, "logo": None, "name": None, "start": rng.getrandbits(40),
            "prices": [{"amount": 90250, "audienceSubCategoryId": 337100890, "seatCategoryId": rng.getrandbits(28)} for _ in range(5)],
            "seatCategories": [
                {"areas": [{"areaId": rng.getrandbits(28), "blockIds": []} for _ in range(12)], "seatCategoryId": rng.getrandbits(28)}
                for _ in range(5)
            ],
            "seatMapImage": None, "venueCode": "PLEYEL_PLEYEL",
        }  # fmt: skip

    events = {
        str(i): {"id": i, "name": text(rng, 4), "subTopicIds": [rng.getrandbits(28) for _ in range(4)]}
        for i in range(184)
    }
    return {
        "areaNames": {str(i): text(rng, 3) for i in range(17)},
        "events": events,
        "performances": [performance(i) for i in range(243)],
    }


def stand_in_canada(rng: random.Random) -> Any:
    rings = [[[-60 - 80 * rng.random(), 42 + 40 * rng.random()] for _ in range(116)] for _ in range(480)]
    geometry = {"type": "Polygon", "coordinates": rings}
    return {
        "type": "FeatureCollection",
        "features": [{"type": "Feature", "properties": {"name": "Canada"}, "geometry": geometry}],
    }


def stand_in_events(rng: random.Random) -> Any:
    return [
        {
            "type": "PushEvent", "created_at": "2013-01-10T07:58:30Z", "public": True, "id": str(rng.getrandbits(31)),
            "actor": {"login": text(rng, 1), "id": rng.getrandbits(22), "url": "https://api.github.com/users/" + text(rng, 1)},
            "repo": {"id": rng.getrandbits(23), "name": text(rng, 1), "url": "https://api.github.com/repos/" + text(rng, 1)},
            "payload": {
                "commits": [{"author": {"email": "a@b.c", "name": text(rng, 2)}, "message": text(rng, 40), "sha": rng.randbytes(20).hex()}],
                "push_id": rng.getrandbits(27), "size": 1, "description": text(rng, 90), "ref": "refs/heads/master",
            },
        }
        for _ in range(30)
    ]  # fmt: skip


STAND_INS: dict[str, Callable[[random.Random], Any]] = {
    "twitter": stand_in_twitter,
    "citm_catalog": stand_in_catalog,
    "canada": stand_in_canada,
    "github_events": stand_in_events,
}
