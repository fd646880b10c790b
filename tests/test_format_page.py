"""docs/format.md says enough: a reader written from it alone finds in the bytes what holdall finds in them."""

from __future__ import annotations

import pathlib
import subprocess
from typing import Any

import pytest

import holdall
from tests.support import wire_reader
from tests.support.kinds import KINDS, Kind
from tests.support.neutral import describe, show

REPO = pathlib.Path(__file__).resolve().parents[1]


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
        assert options == {"refs": False} and kind.name.startswith(("cyclic", "exception chain")), kind.name
        return
    compare(data)
