"""What the table says of pickle, tried: bytes of version 1's classes, read with today's classes in their places."""

from __future__ import annotations

import datetime
import io
import pickle
from typing import Any

import pytest

from holdall import _core
from tests.support.each import each
from tests.support.evolution_names import registered
from tests.support.evolution_program import id_of, of_before, of_today
from tests.support.evolution_table import TABLE

NOT_FOUND = (ImportError, AttributeError)
ERRORS = (*NOT_FOUND, TypeError, ValueError, pickle.UnpicklingError)

# What `__setstate__` has to make of the state of version 1.
STATES: dict[str, Any] = {
    "filled_in": lambda state: {**state, "b": 2 * state["a"]},
    "renamed": lambda state: {"title": state["label"]},
    "dropped": lambda state: {"a": state["a"]},
    "in_cents": lambda state: {"price": round(state["price"] * 100)},
    "two_versions": lambda state: {"price": round(state["price"] * 100)},
    "to_datetime": lambda state: {"at": datetime.datetime.fromtimestamp(state["at"], datetime.timezone.utc)},
    "split": lambda state: dict(zip(("first", "last"), state["name"].split(), strict=True)),
    "merged": lambda state: {"name": f"{state['first']} {state['last']}"},
    "retyped_keys": lambda state: {"by_id": {int(key): value for key, value in state["by_id"].items()}},
    "slots_and_removed": lambda state: {"a": state["a"]},
    "to_class_var": lambda state: {"a": state["a"]},
    "to_property": lambda state: {"_a": state["a"]},
    "no_more_none": lambda state: {"a": state["a"] or 0},
    "converted": lambda state: {"a": int(state["a"])},
    "merged_classes": lambda state: {"name": state["name"], "kind": "cat" if "lives" in state else "dog"},
    "of_version": lambda state: {"cents": round(state["euros"] * 100)},
}


class Finding(pickle.Unpickler):
    """Finds the classes that were registered for a name, and else one that stands in."""

    def __init__(self, data: bytes, stands_in: Any = None) -> None:
        super().__init__(io.BytesIO(data))
        self.stands_in = stands_in

    def find_class(self, module: str, name: str) -> Any:
        if not module.startswith("app."):
            return super().find_class(module, name)
        for _, cls in registered(".".join(module.split(".")[:2])):
            if f"{module}.{name}" in (_core.class_registration(cls) or ("", ()))[1]:
                return cls
        return self.stands_in


def old_bytes(case: Any) -> bytes:
    with of_before(case) as before:
        return pickle.dumps(before.value)


def state_of(found: Any) -> Any:
    return getattr(found, "__dict__", None)


def works(data: bytes, today: Any, load: Any = pickle.loads) -> bool:
    """Whether it loads as the table's first columns want it."""
    wanted = today.wanted[0] if isinstance(today.wanted, list) else today.wanted
    try:
        found = load(data)
        return type(found) is type(wanted) and found == wanted
    except ERRORS:
        return False


def has_all_fields(found: Any, wanted: Any) -> bool:
    return all(hasattr(found, name) for name in vars(wanted))


def with_method(name: str, method: Any, data: bytes, today: Any, load: Any = pickle.loads) -> bool:
    """Whether it works with a method that the class has not yet."""
    cls = type(today.wanted[0] if isinstance(today.wanted, list) else today.wanted)
    before = cls.__dict__.get(name)
    setattr(cls, name, method)
    try:
        return works(data, today, load)
    finally:
        if before is None:
            delattr(cls, name)
        else:
            setattr(cls, name, before)


def with_state(case: Any, data: bytes, today: Any, load: Any = pickle.loads) -> bool:
    """Whether it works with a `__setstate__`."""

    def set_state(self: Any, state: Any) -> None:
        for name, value in STATES.get(id_of(case), dict)(state).items():
            object.__setattr__(self, name, value)

    return with_method("__setstate__", set_state, data, today, load)


def check_by_class(case: Any, data: bytes, today: Any) -> None:
    with pytest.raises(NOT_FOUND):
        pickle.loads(data)
    assert Finding(data).load() == today.wanted


def check_class_and_state(case: Any, data: bytes, today: Any) -> None:
    def load(data: bytes) -> Any:
        return Finding(data).load()

    with pytest.raises(NOT_FOUND):
        pickle.loads(data)
    assert not works(data, today, load)
    assert with_state(case, data, today, load)


def check_items(case: Any, data: bytes, today: Any) -> None:
    assert not works(data, today)
    assert with_method("__setitem__", lambda self, key, value: setattr(self, key, value), data, today)


def check_asked(case: Any, data: bytes, today: Any) -> None:
    if not works(data, today):
        assert with_method("_missing_", classmethod(lambda cls, value: today.wanted), data, today)


def check_stand_in(case: Any, data: bytes, today: Any) -> None:
    with pytest.raises(NOT_FOUND):
        pickle.loads(data)
    stands_in = type("StandsIn", (), {})
    assert vars(Finding(data, stands_in).load()) == today.wanted.fields


def check_missing(case: Any, data: bytes, today: Any) -> None:
    found = pickle.loads(data)
    assert not has_all_fields(found, today.wanted)


def check_stays(case: Any, data: bytes, today: Any) -> None:
    found = pickle.loads(data)
    assert vars(found).keys() - type(found).__annotations__.keys()


def check_lost(case: Any, data: bytes, today: Any) -> None:
    assert vars(pickle.loads(data)) == {}


def check_code(case: Any, data: bytes, today: Any) -> None:
    assert not works(data, today) or state_of(pickle.loads(data)) != state_of(today.wanted)
    assert with_state(case, data, today)


def check_wrong(case: Any, data: bytes, today: Any) -> None:
    assert type(pickle.loads(data)) is type(today.wanted)
    check_code(case, data, today)


def check_error(case: Any, data: bytes, today: Any) -> None:
    with pytest.raises(ERRORS):
        pickle.loads(data)


def check_works(case: Any, data: bytes, today: Any) -> None:
    assert works(data, today)


def check_fails(case: Any, data: bytes, today: Any) -> None:
    assert not works(data, today)


CLAIMS = {
    "nothing": check_works,
    "nothing: it is a class attribute": check_works,
    "`_missing_`": check_asked,
    "`__setitem__`": check_items,
    "`find_class`": check_by_class,
    "`find_class`, `__setstate__`": check_class_and_state,
    "`find_class`, a class that stands in": check_stand_in,
    "an import error": check_error,
    "an error": check_error,
    "the attribute is missing, later": check_missing,
    "it stays": check_stays,
    "fields are lost": check_lost,
    "`__setstate__`": check_code,
    "a wrong value, or `__setstate__`": check_wrong,
    "impossible": check_fails,
}


@each("case", [case for case in TABLE if case.pickle != "–"], ids=id_of)
def test_what_pickle_needs(case):
    data = old_bytes(case)
    with of_today(case) as today:
        CLAIMS[case.pickle](case, data, today)
