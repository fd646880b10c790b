"""Sizes that are promised."""

from __future__ import annotations

import json
import pathlib
import pickle

import pytest

import holdall
from tests.support import models


def test_one() -> None:
    assert len(holdall.dumps(1)) == 2


def test_short_string() -> None:
    assert len(holdall.dumps("abcd")) <= 6


@pytest.mark.parametrize(
    ("name", "ratio"),
    [("twitter", 0.87), ("citm_catalog", 0.45), ("canada", 0.88), ("github_events", 0.95)],
)
def test_json_documents(shared_json: pathlib.Path, name: str, ratio: float) -> None:
    obj = json.loads((shared_json / f"{name}.json").read_text())
    data = holdall.dumps(obj)
    assert holdall.loads(data) == obj
    assert len(data) <= ratio * len(pickle.dumps(obj, 5))


def test_equal_strings_written_once(shared_json: pathlib.Path) -> None:
    obj = json.loads((shared_json / "twitter.json").read_text())
    assert len(holdall.dumps(obj, intern=True)) <= 0.45 * len(pickle.dumps(obj, 5))


def test_a_million_small_ints() -> None:
    assert len(holdall.dumps([i % 33 - 16 for i in range(1_000_000)])) <= 1_010_000


def test_records() -> None:
    obj = [models.Reading(i * 1.37, f"u{i % 100_000}") for i in range(100_000)]
    assert len(holdall.dumps(obj)) <= 2_000_000


def test_each_field_name_is_written_once() -> None:
    one = len(holdall.dumps([models.DChild(0, 1, 2)]))
    many = len(holdall.dumps([models.DChild(0, 1, 2) for _ in range(1_001)]))
    assert many - one <= 1_000 * 4 + 10


def test_a_few_bytes_for_common_values() -> None:
    for obj, most in (
        (None, 2),
        (True, 2),
        (-16, 2),
        (47, 2),
        (1000, 4),
        (0.5, 10),
        ("", 2),
        ([], 2),
        ({}, 2),
        ((), 2),
        ([[], {}, ()], 5),
        (b"ab", 5),
        ([0.5] * 100, 803),
        ([True] * 100, 103),
    ):
        assert len(holdall.dumps(obj)) <= most, obj
