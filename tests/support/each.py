"""Many cases in one test: `each` stands where `pytest.mark.parametrize` would make an item of every case.

An item costs pytest a few milliseconds in the worker and as much in the process that hands them out, which for cases that take
microseconds was a third of the suite's time. All cases run, whatever fails before them, and the failure names each that
did. `pytest --case TEXT` runs those whose name contains TEXT.

Fixtures are set up once for all cases: a case that changes something others see undoes that itself.
"""

from __future__ import annotations

import functools
import inspect
import itertools
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

import pytest

# Set from the command line: see `tests/conftest.py`.
chosen = ""
# How many failures are told with their message.
SHOWN = 20
# The class of what `pytest.param` gives, which pytest does not export.
PARAM = type(pytest.param())


class Case(NamedTuple):
    name: str
    values: tuple[Any, ...]
    # Why it does not run, if it doesn't.
    skipped: str | None


class Axis(NamedTuple):
    """What one `each` says: the arguments' names, and the cases."""

    names: tuple[str, ...]
    cases: list[Case]


def name_of(value: Any, argument: str, index: int) -> str:
    """As pytest names a value that has no name given."""
    if isinstance(value, (str, int, float, complex, bool, type(None))):
        return str(value)
    if isinstance(value, bytes):
        return value.decode("ascii", "backslashreplace")
    found = getattr(value, "__name__", None)
    return found if isinstance(found, str) else f"{argument}{index}"


def reason_to_skip(marks: Collection[Any]) -> str | None:
    """What `pytest.param(..., marks=pytest.mark.skip(reason))` says. Other marks belong to a test, not to a case."""
    for mark in marks:
        assert mark.name == "skip", f"a case can't have the mark {mark.name!r}"
        return str(mark.kwargs.get("reason") or " ".join(mark.args))
    return None


def axis(
    names: str | Sequence[str], values: Iterable[Any], ids: Callable[[Any], Any] | Iterable[Any] | None
) -> Axis:
    several = not isinstance(names, str) or "," in names
    split = tuple(name.strip() for name in names.split(",")) if isinstance(names, str) else tuple(names)
    given = None if ids is None or callable(ids) else list(ids)
    cases: list[Case] = []
    for index, value in enumerate(values):
        own, skipped = None, None
        if isinstance(value, PARAM):
            own, skipped = value.id, reason_to_skip(value.marks)
            parts = tuple(value.values)
        else:
            parts = tuple(value) if several else (value,)
        assert len(parts) == len(split), f"case {index} has {len(parts)} values for {split}"
        if own is not None:
            name = str(own)
        elif given is not None:
            name = str(given[index])
        else:
            said = [ids(part) if callable(ids) else None for part in parts]
            name = "-".join(
                name_of(part, argument, index) if word is None else str(word)
                for word, part, argument in zip(said, parts, split, strict=True)
            )
        cases.append(Case(name, parts, skipped))
    assert cases, f"there is no case of {split}"
    assert given is None or len(given) == len(cases)
    often = {name for name, number in Counter(case.name for case in cases).items() if number > 1}
    return Axis(split, [
        case._replace(name=f"{case.name}#{index}") if case.name in often else case
        for index, case in enumerate(cases)
    ])  # fmt: skip


class Failures:
    """What went wrong in which case. Only the first keeps its traceback: others may hold much in their frames."""

    def __init__(self) -> None:
        self.first: BaseException | None = None
        self.said: list[str] = []
        self.skipped: list[str] = []

    def run(self, name: str, call: Callable[[], object]) -> None:
        __tracebackhide__ = True
        try:
            call()
        except pytest.skip.Exception as why:
            self.skipped.append(f"{name}: {why}")
        except (KeyboardInterrupt, pytest.exit.Exception):
            raise
        except BaseException as error:  # a panic of Rust's, a SystemExit: pytest takes these as failures too
            self.first = self.first or error
            words = " ".join(str(error).split())
            self.said.append(f"{name}: {type(error).__name__}: {words[:200]}")

    def finish(self, number: int) -> None:
        __tracebackhide__ = True
        if self.said:
            more = len(self.said) - SHOWN
            told = "\n  ".join(self.said[:SHOWN]) + (f"\n  and {more} more" if more > 0 else "")
            raise AssertionError(
                f"{len(self.said)} of {number} cases failed, the first with the traceback above:\n  {told}"
            ) from self.first
        if self.skipped:
            others = "" if len(self.skipped) == number else "; the others passed"
            pytest.skip(f"{len(self.skipped)} of {number} cases, the first {self.skipped[0]}{others}")


def within_its_own(
    within: Callable[[], AbstractContextManager[Any]], test: Callable[..., None]
) -> Callable[..., None]:
    @functools.wraps(test)
    def run(*arguments: Any, **named: Any) -> None:
        __tracebackhide__ = True
        with within():
            test(*arguments, **named)

    return run


def each(
    names: str | Sequence[str],
    values: Iterable[Any],
    *,
    ids: Callable[[Any], Any] | Iterable[Any] | None = None,
    within: Callable[[], AbstractContextManager[Any]] | None = None,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """The arguments of `pytest.mark.parametrize`. Several of them give every combination.

    within: makes a context that is entered anew for every case.
    """
    made = axis(names, values, ids)

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        # Another `each` below: its loop is replaced by one over both.
        below: list[Axis] = getattr(test, "axes", [])
        whole = (
            getattr(test, "of_one", test)
            if within is None
            else within_its_own(within, getattr(test, "of_one", test))
        )
        axes = [*below, made]
        taken = {name for one in axes for name in one.names}
        signature = inspect.signature(whole)
        assert taken <= signature.parameters.keys(), f"{taken - signature.parameters.keys()} are no arguments"

        # As for pytest, what stands last changes first, and is named first.
        turns = axes[::-1]

        @functools.wraps(whole)
        def run(*test_class: Any, **fixtures: Any) -> None:
            __tracebackhide__ = True
            failures, number = Failures(), 0
            for cases in itertools.product(*(one.cases for one in turns)):
                name = "-".join(case.name for case in reversed(cases))
                if chosen not in name:
                    continue
                number += 1
                arguments = dict(fixtures)
                for one, case in zip(turns, cases, strict=True):
                    arguments.update(zip(one.names, case.values, strict=True))
                why = next((case.skipped for case in cases if case.skipped is not None), None)
                call = functools.partial(whole, *test_class, **arguments)
                failures.run(name, call if why is None else functools.partial(pytest.skip, why))
            if not number:
                pytest.skip(f"no case is named {chosen!r}")
            failures.finish(number)

        left = [parameter for name, parameter in signature.parameters.items() if name not in taken]
        run.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
        run.axes, run.of_one = axes, whole  # type: ignore[attr-defined]
        del run.__wrapped__  # whose parameters pytest would ask fixtures for
        return run

    return decorate
