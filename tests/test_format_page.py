"""docs/format.md says enough: a reader written from it alone finds in the bytes what holdall finds in them."""

from __future__ import annotations

from typing import Any

import pytest

import holdall
from tests.support import wire_reader
from tests.support.kinds import KINDS, Kind
from tests.support.neutral import describe, show


def compare(data: bytes, **options: Any) -> None:
    read = show(wire_reader.Reader(data).message())
    loaded = show(describe(holdall.loads(data, types=holdall.Record, **options)))
    assert read == loaded


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
@pytest.mark.parametrize("options", [{}, {"canonical": True}, {"refs": False}, {"intern": True}], ids=str)
def test_the_page_reads_every_kind(kind: Kind, options: dict[str, bool]) -> None:
    obj = kind.make()
    try:
        data = holdall.dumps(obj, **options)
    except holdall.EncodeError:
        assert (options == {"refs": False} and "cyclic" in kind.name) or kind.name == "exception chain", (
            kind.name
        )
        return
    compare(data)


class Reduced:
    def __reduce__(self) -> Any:
        return list, ((1, 2),), None, iter([3])


class Counted(Reduced):
    def __reduce__(self) -> Any:
        return Counted, (), {"count": 5}


def trusted(obj: object) -> Any:
    data = holdall.dumps(obj, trust=True)
    with pytest.raises(wire_reader.Malformed, match="trusted"):
        wire_reader.Reader(data)
    return show(wire_reader.Reader(data, trust=True).message())


def test_the_page_reads_trusted_messages() -> None:
    assert trusted(len) == {"global": ["builtins", "len"]}
    made = {
        "reduce": 4,
        "values": [{"global": ["builtins", "list"]}, {"tuple": [{"tuple": [1, 2]}]}, {"list": [3]}],
    }
    assert trusted(Reduced()) == made
    name = {"global": [__name__, "Counted"]}
    state = {"dict": [["count", 5]]}
    assert trusted(Counted()) == {"reduce": 16, "values": [name, {"tuple": []}, state]}


class Bound:
    """Holds itself among the arguments it is made of."""

    def __init__(self, box: list[Any]) -> None:
        self.box = box

    def __reduce__(self) -> Any:
        return Bound, (self.box,)


def test_the_page_reads_an_object_made_within_its_own_arguments() -> None:
    bound = Bound([])
    bound.box.append(bound)
    shown = trusted(bound)
    assert shown["reduce"] == 0
    assert "'reduce': 64" in str(shown["values"][1])


@pytest.mark.parametrize("cut", range(40))
def test_the_page_refuses_what_ends_early(cut: int) -> None:
    data = holdall.dumps(
        [{"a": [1.5, "text"], "b": "é"}, {"a": (1, 2, 3, 4), "b": {5}}, b"bytes", 1 << 70, range(3)]
    )
    with pytest.raises(wire_reader.Malformed):
        wire_reader.Reader(data[: len(data) * cut // 40]).message()
