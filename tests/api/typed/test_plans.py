"""What is compiled of an annotation: it lives as long as the class it is about, and follows what is registered."""

from __future__ import annotations

import contextlib
import gc
import itertools
import pickle
import weakref
from dataclasses import dataclass
from typing import Annotated, Any, Protocol, runtime_checkable

import annotated_types
import pytest

import holdall
from holdall import register
from tests.support.formats import Format

_numbers = itertools.count()


def name() -> str:
    """A stored name that no other test uses: registered classes stay."""
    return f"plans.Class{next(_numbers)}"


def make(fmt: Format, fields: Any, annotation: Any) -> Any:
    """What `annotation` makes of a plain value."""
    return fmt.loads(fmt.dumps(fields), type=annotation)


def test_registering_anew_changes_later_loads(fmt: Format) -> None:
    @dataclass
    class Changing:
        a: int

    data = fmt.dumps({"a": 1, "more": 2})
    decoder = fmt.decoder(type=Changing)
    assert fmt.loads(data, type=Changing) == Changing(1)
    known = name()
    register(Changing, name=known, forbid_unknown=True)
    with pytest.raises(holdall.ValidationError, match="unknown field `more`"):
        fmt.loads(data, type=Changing)
    register(Changing, name=known)
    assert fmt.loads(data, type=Changing) == Changing(1) == decoder.decode(data)


@pytest.mark.parametrize("around", ["itself", "list", "optional", "field"])
def test_a_class_goes_after_a_typed_load(fmt: Format, around: str) -> None:
    @dataclass
    class Gone:
        a: int
        b: Any = None

    @dataclass
    class Holder:
        gone: Any

    Holder.__annotations__["gone"] = Gone
    forms = {"itself": Gone, "list": list[Gone], "optional": Gone | None, "field": Holder}
    annotation = forms[around]
    value: Any = {"a": 1}
    value = [value] if around == "list" else {"gone": value} if around == "field" else value
    make(fmt, value, annotation)
    make(fmt, [Gone(1)], list[Gone])
    # Not by `pytest.raises`, which keeps the frames, and they the class.
    with contextlib.suppress(holdall.ValidationError):
        make(fmt, b"?", annotation)
    gone = weakref.ref(Gone)
    del Gone, Holder, annotation, forms
    gc.collect()
    assert gone() is None


def test_a_decoder_keeps_its_classes(fmt: Format) -> None:
    @dataclass
    class Kept:
        a: int

    decoder, data = fmt.decoder(type=list[Kept]), fmt.dumps([{"a": 1}])
    kept = weakref.ref(Kept)
    del Kept
    gc.collect()
    assert decoder.decode(data)[0].a == 1
    del decoder
    gc.collect()
    assert kept() is None


def test_thousands_of_annotations_are_not_kept(fmt: Format) -> None:
    data = fmt.dumps([1])
    for bound in range(600):
        assert fmt.loads(data, type=list[Annotated[int, annotated_types.Lt(bound + 2)]]) == [1]


@runtime_checkable
class Closable(Protocol):
    def close(self) -> None: ...


def test_a_protocol_asks_for_no_more_than_before(fmt: Format) -> None:
    """What a plan is kept by is an attribute: on a protocol it would be one that all classes must have."""

    class Door:
        def close(self) -> None: ...

    with contextlib.suppress(holdall.ValidationError):
        make(fmt, 1, Closable)
    assert isinstance(Door(), Closable) and not isinstance(1, Closable)


def test_plans_do_not_go_along_with_a_copy_of_the_class(fmt: Format) -> None:
    """Some picklers store a class with all that it has."""

    @dataclass
    class Sent:
        a: int

    make(fmt, {"a": 1}, Sent)
    kept = [value for key, value in vars(Sent).items() if "holdall" in key]
    assert len(kept) == 1 and len(kept[0]) == 1
    assert pickle.loads(pickle.dumps(kept[0])) == {}
