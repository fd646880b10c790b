"""A value as a member of a document, stored and loaded by type: what the tests of BSON's types share."""

from __future__ import annotations

from typing import Any

import pytest

import holdall
from tests.support.bson_beside import bson, oracle
from tests.support.typed_failures import SENTINEL

ID = oracle.ObjectId("0123456789abcdef01234567")


def again(value: Any, annotation: Any, **options: Any) -> Any:
    return bson.loads(bson.dumps({"v": value}), type=dict[str, annotation], **options)["v"]


def refusal(value: Any, annotation: Any, **options: Any) -> str:
    """What is wrong with the value, without the step to it."""
    with pytest.raises(holdall.ValidationError) as caught:
        again(value, annotation, **options)
    assert SENTINEL not in str(caught.value)
    return str(caught.value).removesuffix(" - at `$[...]`")
