"""`tests.support.each`: every case runs, and a failure says which."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.support import each as module
from tests.support.each import each


def test_every_case_runs_and_those_that_failed_are_named() -> None:
    seen = []

    @each("number", [1, 2, 3, 4], ids=lambda number: f"n{number}")
    def body(number: int) -> None:
        seen.append(number)
        assert number % 2, "even"

    with pytest.raises(AssertionError, match="2 of 4 cases failed") as caught:
        body()
    assert seen == [1, 2, 3, 4]
    assert "\n  n2: AssertionError: even" in str(caught.value) and "\n  n4: " in str(caught.value)
    # The first is shown with its traceback.
    assert isinstance(caught.value.__cause__, AssertionError) and "even" in str(caught.value.__cause__)


def test_every_combination_is_one_case() -> None:
    seen = []

    @each(("first", "second"), [(1, "x"), (2, "y")])
    @each("third", [True, None])
    def body(first: int, second: str, third: bool | None) -> None:
        seen.append((first, second, third))
        raise ValueError

    with pytest.raises(AssertionError) as caught:
        body()
    assert sorted(seen, key=repr) == [(1, "x", None), (1, "x", True), (2, "y", None), (2, "y", True)]
    for name in ("True-1-x", "None-1-x", "True-2-y", "None-2-y"):
        assert f"\n  {name}: ValueError" in str(caught.value)


def test_other_arguments_are_fixtures() -> None:
    @each("number", [1, 2])
    def body(tmp_path: str, number: int) -> None:
        assert tmp_path == "somewhere"

    assert list(inspect.signature(body).parameters) == ["tmp_path"]
    body(tmp_path="somewhere")


@each("unit", [1, 2])
def test_pytest_gives_fixtures_to_it(unit: int, fmt: object, request: pytest.FixtureRequest) -> None:
    assert request.node.callspec.params == {"fmt": fmt.name}  # type: ignore[attr-defined]


def test_each_case_has_its_own_context() -> None:
    seen = []

    @contextmanager
    def entered() -> Iterator[None]:
        seen.append("in")
        yield
        seen.append("out")

    @each("number", [1, 2], within=entered)
    @each("other", [3])
    def body(number: int, other: int) -> None:
        seen.append(str(number + other))

    body()
    assert seen == ["in", "4", "out", "in", "5", "out"]


def test_names_are_different() -> None:
    @each("value", ["a", "b", "a", b"\xff", int, object(), pytest.param(5, id="five")])
    def body(value: object) -> None:
        raise ValueError

    with pytest.raises(AssertionError) as caught:
        body()
    names = [line.split(":")[0].strip() for line in str(caught.value).split("\n")[1:]]
    assert names == ["a#0", "b", "a#2", "\\xff", "int", "value5", "five"]


def test_a_part_can_be_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    @each("word", ["one", "two", "twofold"])
    def body(word: str) -> None:
        seen.append(word)

    monkeypatch.setattr(module, "chosen", "two")
    body()
    assert seen == ["two", "twofold"]
    monkeypatch.setattr(module, "chosen", "three")
    with pytest.raises(pytest.skip.Exception, match="no case is named 'three'"):
        body()


def test_skipped_cases_are_told() -> None:
    @each("number", [1, pytest.param(2, marks=pytest.mark.skip("for a reason")), 3])
    def body(number: int) -> None:
        if number == 3:
            pytest.skip("as well")

    with pytest.raises(
        pytest.skip.Exception, match="2 of 3 cases, the first 2: for a reason; the others passed"
    ):
        body()


def test_whatever_is_raised_is_a_failure_of_its_case() -> None:
    @each(
        "error", [SystemExit(3), pytest.fail.Exception("no"), GeneratorExit()], ids=["exit", "fail", "other"]
    )
    def body(error: BaseException) -> None:
        raise error

    with pytest.raises(AssertionError, match="3 of 3 cases failed"):
        body()

    @each("error", [KeyboardInterrupt])
    def stopped(error: type[BaseException]) -> None:
        raise error

    with pytest.raises(KeyboardInterrupt):
        stopped()


def test_what_can_not_be_a_case() -> None:
    with pytest.raises(AssertionError, match="no case"):
        each("a", [])
    with pytest.raises(AssertionError, match="2 values"):
        each(("a",), [(1, 2)])
    with pytest.raises(AssertionError, match="can't have the mark 'xfail'"):
        each("a", [pytest.param(1, marks=pytest.mark.xfail)])
    with pytest.raises(AssertionError, match="no arguments"):
        each("b", [1])(lambda a: None)
