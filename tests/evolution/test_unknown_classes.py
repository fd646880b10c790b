"""Classes that are not there, where the type says what may stand in for them: a record, or what `dec_hook` makes of it."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

import holdall


@dataclasses.dataclass
class Known:
    a: int


class Foreign:
    def __init__(self, fields: dict[str, Any]) -> None:
        self.fields = fields

    def __len__(self) -> int:
        return len(self.fields)


STORED = holdall.dumps([Known(1), holdall.Record("gone.Item", {"b": 2}), Known(3)])


def test_a_type_that_names_record():
    first, second, third = holdall.loads(STORED, type=list[Known | holdall.Record])
    assert (first, third) == (Known(1), Known(3))
    assert (type(second), second.type_name, second.fields) == (holdall.Record, "gone.Item", {"b": 2})
    with pytest.raises(holdall.ValidationError, match="Expected `Known`, got `gone.Item`"):
        holdall.loads(STORED, type=list[Known])


def test_the_type_permits_records_in_its_place_alone():
    inner = holdall.Record("gone.Item", {"b": holdall.Record("gone.Other", {})})
    with pytest.raises(holdall.UnknownTypeError) as caught:
        holdall.loads(holdall.dumps([inner]), type=list[holdall.Record])
    assert caught.value.type_name == "gone.Other"
    [made] = holdall.loads(holdall.dumps([inner]), type=list[holdall.Record], types=holdall.Record)
    assert made.fields["b"].type_name == "gone.Other"


def test_a_record_that_is_met_again():
    record = holdall.Record("gone.Item", {})
    record.fields["self"] = record
    one, other = holdall.loads(holdall.dumps([record, record]), type=list[Known | holdall.Record])
    assert one is other
    assert one.fields["self"] is one


def test_dec_hook_is_given_a_record():
    asked = []

    def dec_hook(annotation, value):
        asked.append((annotation, type(value)))
        return Foreign(value.fields)

    _, made, _ = holdall.loads(STORED, type=list[Known | Foreign], dec_hook=dec_hook)
    assert made.fields == {"b": 2}
    assert asked == [(Foreign, holdall.Record)]

    def declines(annotation, value):
        raise NotImplementedError

    with pytest.raises(holdall.ValidationError, match=r"Expected `Known \| Foreign`, got `Record`"):
        holdall.loads(STORED, type=list[Known | Foreign], dec_hook=declines)
    with pytest.raises(holdall.ValidationError, match=r"Expected `Known \| Foreign`, got `gone.Item`"):
        holdall.loads(STORED, type=list[Known | Foreign])
