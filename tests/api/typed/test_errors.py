"""ValidationErrors: the exact text, path and offset of every kind of failure, and that none shows what was stored."""

from __future__ import annotations

import traceback
from typing import Any

import numpy as np
import numpy.typing as npt
import pydantic
import pytest

import holdall
from tests.support import typed_models as models
from tests.support.each import each
from tests.support.formats import FORMATS, Format
from tests.support.typed_failures import FAILURES, NUMBER, SENTINEL, Failure, text
from tests.support.typed_models import Box

every_failure = each(
    ("fmt", "case"),
    [
        pytest.param(fmt, case, id=f"{fmt.name}-{case.name}")
        for fmt in FORMATS.values()
        for case in FAILURES
        if case.concerns(fmt.name)
    ],
)


def refusal(fmt: Format, data: bytes, case: Failure) -> holdall.ValidationError:
    with pytest.raises(holdall.ValidationError) as caught:
        fmt.loads(data, type=case.annotation, **case.loading)
    assert type(caught.value) is holdall.ValidationError
    return caught.value


@every_failure
def test_text_and_path(fmt: Format, case: Failure) -> None:
    error = refusal(fmt, fmt.dumps(case.value()), case)
    assert str(error) == case.whole_text(fmt.plain)
    assert error.path == case.whole_path(fmt.plain)


def encoded(fmt: Format, value: Any) -> bytes:
    """A value as it stands within a message."""
    data = fmt.dumps(value)
    return data[fmt.head : len(data) - fmt.tail]


@every_failure
def test_offset(fmt: Format, case: Failure) -> None:
    """It counts the bytes before the value that is wrong."""
    value = case.value()
    data = fmt.dumps(value)
    error = refusal(fmt, data, case)
    if case.wrong is None:
        # The whole, or a part of it that has no bytes of its own.
        assert 0 <= error.offset <= len(data)
        return
    is_key = case.name.endswith("key")
    part = case.wrong().encode() + b"\0" if fmt.text_keys and is_key else encoded(fmt, case.wrong())
    assert data.count(part) == 1
    if not fmt.plain and is_key:
        # Hold's keys stand in a layout, apart from the dict that has them: the dict is what can be pointed at.
        assert error.offset == data.index(part) - 3
        return
    assert error.offset == data.index(part)


@every_failure
def test_nothing_stored_is_shown(fmt: Format, case: Failure) -> None:
    error = refusal(fmt, fmt.dumps(case.value()), case)
    shown = "".join(traceback.format_exception_only(error)) + repr(error.args) + repr(error.path)
    if f"{NUMBER + 1}" not in case.said:
        assert str(NUMBER)[:6] not in shown
    assert SENTINEL not in shown
    # An exception behind it may show more: of holdall's own there is none.
    assert error.__cause__ is None and error.__context__ is None


@every_failure
def test_a_failure_within_others(fmt: Format, case: Failure) -> None:
    """One step longer at each level."""
    around: list[tuple[Any, Any, tuple[Any, ...]]] = [
        ([case.value()], list[case.annotation], (0,)),
        ((None, case.value()), tuple[None, case.annotation], (1,)),
        ({"k": case.value()}, dict[str, case.annotation], (...,)),
        (Box(case.value()), Box[case.annotation], ("item",)),
        ([{"k": [Box(case.value())]}], list[dict[str, list[Box[case.annotation]]]], (0, ..., 0, "item")),
    ]
    for value, annotation, path in around:
        outer = Failure(
            "", annotation, case.value, case.said, path + case.path, None, case.said_plain,
            path + case.whole_path(True), case.loading,
        )  # fmt: skip
        error = refusal(fmt, fmt.dumps(value), outer)
        assert str(error) == outer.whole_text(fmt.plain)
        assert error.path == outer.whole_path(fmt.plain)


def test_names_are_said_once() -> None:
    assert len({case.name for case in FAILURES}) == len(FAILURES)


# --- hooks -----------------------------------------------------------------------------------------------------------
def test_a_hook_that_gives_the_wrong_type(fmt: Format) -> None:
    data = fmt.dumps([text()])
    with pytest.raises(holdall.ValidationError) as caught:
        fmt.loads(data, type=list[models.Foreign], dec_hook=lambda annotation, obj: obj)
    assert str(caught.value) == "Expected `Foreign`, got `str` - at `$[0]`"


@pytest.mark.parametrize("error", [ValueError, TypeError])
def test_a_hook_that_refuses_says_so_in_its_words(fmt: Format, error: type[Exception]) -> None:
    def hook(annotation: Any, obj: Any) -> Any:
        raise error("no such code")

    with pytest.raises(holdall.ValidationError) as caught:
        fmt.loads(fmt.dumps(Box("x")), type=Box[models.Foreign], dec_hook=hook)
    assert str(caught.value) == "no such code - at `$.item`"
    assert caught.value.path == ("item",)


def test_a_hook_that_does_not_know_the_type(fmt: Format) -> None:
    with pytest.raises(holdall.ValidationError) as caught:
        fmt.loads(fmt.dumps(5), type=models.Foreign, dec_hook=models.dec_foreign)
    assert str(caught.value) == "Expected `Foreign`, got `int`"


def test_other_errors_of_a_hook_are_its_own(fmt: Format) -> None:
    def hook(annotation: Any, obj: Any) -> Any:
        raise ZeroDivisionError("in the hook")

    with pytest.raises(ZeroDivisionError, match="in the hook"):
        fmt.loads(fmt.dumps(["x"]), type=list[models.Foreign], dec_hook=hook)


# --- keys that are not the class's own -------------------------------------------------------------------------------
def test_the_key_of_an_unknown_field_is_cut(fmt: Format) -> None:
    with pytest.raises(holdall.ValidationError) as caught:
        fmt.loads(fmt.dumps({"a": 1, "k" * 500: 2}), type=models.Closed)
    assert str(caught.value) == f"Object contains unknown field `{'k' * 64}`"


def test_a_key_that_is_no_text(fmt: Format) -> None:
    assert fmt.loads(fmt.dumps({"x": 1, NUMBER: 2}), type=models.Point) == models.Point(1)
    said = f"unknown field `{NUMBER}`" if fmt.text_keys else "key that is no `str`"
    with pytest.raises(holdall.ValidationError, match=said):
        fmt.loads(fmt.dumps({"a": 1, NUMBER: 2}), type=models.Closed)


# --- pydantic's own words --------------------------------------------------------------------------------------------
class Strict(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="forbid")
    counts: dict[str, int] = {}


class Left(pydantic.BaseModel):
    kind: str = pydantic.Field(default="left", pattern="^left$")


class Tagged(pydantic.BaseModel):
    item: models.ModelUser | None = None
    sides: list[Left] = []


@pytest.mark.parametrize(
    ("model", "value", "said"),
    [
        (
            Strict,
            {"counts": {SENTINEL: "x"}},
            "Input should be a valid integer, unable to parse string as an integer",
        ),
        (Tagged, {"sides": [{"kind": SENTINEL}]}, "String should match pattern '^left$'"),
    ],
    ids=["key", "pattern"],
)
def test_pydantic_shows_nothing_stored(fmt: Format, model: Any, value: Any, said: str) -> None:
    with pytest.raises(holdall.ValidationError) as caught:
        fmt.loads(fmt.dumps(value), type=model)
    assert str(caught.value).startswith(said)
    assert SENTINEL not in str(caught.value) and SENTINEL not in repr(caught.value.path)


# --- arrays ----------------------------------------------------------------------------------------------------------
def test_an_array_of_anything_is_no_array_of_objects() -> None:
    with pytest.raises(holdall.ValidationError):
        fmt = FORMATS["msgpack"]
        fmt.loads(fmt.dumps([[{"?": None}]]), type=np.ndarray)


def test_arrays_of_ints_stay_ints() -> None:
    """To NumPy what is beyond 63 bits and what is not have floats in common."""
    fmt = FORMATS["msgpack"]
    for annotation in (np.ndarray, npt.NDArray[np.uint64]):
        found = fmt.loads(fmt.dumps([[1, 2**64 - 1]]), type=annotation)
        assert found.dtype == np.uint64 and found.tolist() == [[1, 2**64 - 1]]
    with pytest.raises(holdall.ValidationError):
        fmt.loads(fmt.dumps([-1, 2**64 - 1]), type=np.ndarray)


@pytest.mark.parametrize("annotation", [Any, list[int]], ids=str)
def test_what_is_too_much_from_the_first_byte_on(annotation: Any) -> None:
    with pytest.raises(holdall.LimitError) as caught:
        FORMATS["msgpack"].loads(b"\x92\1\2", type=annotation, limits=holdall.Limits(objects=1))
    assert caught.value.offset == 0
