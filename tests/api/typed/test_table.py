"""Every cell of the table in docs/types.md."""

from __future__ import annotations

from typing import Any

import pytest

import holdall
from tests.support import typed_models, types_page
from tests.support.each import each
from tests.support.formats import Format
from tests.support.isomorphic import isomorphic
from tests.support.typed_cases import CASES, PERMITTED, Case, NotLoaded, Refused

every_case = each("case", CASES, ids=lambda case: f"{case.group}-{case.name}")


def stored(fmt: Format, case: Case) -> bytes | None:
    """The case's value as bytes; None where that is an EncodeError, as the table says."""
    said = case.said(fmt.name)
    if isinstance(said, Refused):
        with pytest.raises(holdall.EncodeError, match=said):
            fmt.dumps(case.value, **case.dumping)
        return None
    return fmt.dumps(case.value, **case.dumping)


def check(load: Any, wanted: Any) -> None:
    if isinstance(wanted, NotLoaded):
        with pytest.raises(holdall.DecodeError, match=wanted):
            load()
    else:
        # By type, bits and order, which `==` alone does not tell.
        isomorphic(wanted, load(), identity=False)


@every_case
def test_untyped(fmt: Format, case: Case) -> None:
    data = stored(fmt, case)
    if data is None:
        return
    options: dict[str, Any] = {}
    if not fmt.plain and case.hold is PERMITTED:
        with pytest.raises(holdall.UnknownTypeError):
            fmt.loads(data)
        options["types"] = [typed_models, type(case.value)]
    check(lambda: fmt.loads(data, **options), case.untyped_result(fmt.name))


@every_case
def test_typed(fmt: Format, case: Case) -> None:
    data = stored(fmt, case)
    if data is None:
        return
    wanted = case.typed_result(fmt.name)
    check(lambda: fmt.loads(data, type=case.annotation, **case.loading), wanted)
    check(lambda: fmt.decoder(type=case.annotation, **case.loading).decode(data), wanted)


@every_case
def test_typed_inside_of_others(fmt: Format, case: Case) -> None:
    """The same where the value is no root: in a list, a tuple, a dict and a field."""
    if stored(fmt, case) is None:
        return
    wanted = case.typed_result(fmt.name)
    box = typed_models.Box
    around = [
        ([case.value] * 3, list[case.annotation], [wanted] * 3),
        ((1, case.value), tuple[int, case.annotation], (1, wanted)),
        ({"k": case.value}, dict[str, case.annotation], {"k": wanted}),
        (box(case.value), box[case.annotation], box(wanted)),
    ]
    for value, annotation, made in around:
        data = fmt.dumps(value, **case.dumping)
        made = wanted if isinstance(wanted, NotLoaded) else made
        check(lambda data=data, annotation=annotation: fmt.loads(data, type=annotation, **case.loading), made)


@every_case
def test_not_everything_fits(fmt: Format, case: Case) -> None:
    """No case takes just anything, but for those that are Any."""
    odd = [{"?": [[{"?": None}]]}, [[{"?": None}]]]
    if case.name in ("Any", "object", "TypeVar, free"):
        for value in odd:
            assert fmt.loads(fmt.dumps(value), type=case.annotation) == value
        return
    # A list of anything and a dict of anything take one of the two.
    loose = {"list": 1, "tuple": 1, "dict": 0}.get(case.name)
    for at, value in enumerate(odd):
        if at != loose:
            with pytest.raises(holdall.ValidationError):
                fmt.loads(fmt.dumps(value), type=case.annotation)


def test_the_page_is_up_to_date() -> None:
    assert types_page.page() == types_page.PAGE.read_text(encoding="utf-8"), "run `make docs`"


def test_names_are_said_once() -> None:
    names = [(case.group, case.name) for case in CASES]
    assert len(set(names)) == len(names)
