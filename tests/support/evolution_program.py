"""The program that stored the data of a change, and the one of today: each is there for the length of a `with`.

Version 1 of a class is remade from what `Today.stored` says, or stands in `BEFORE`.
"""

from __future__ import annotations

import contextlib
import dataclasses
import enum
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

import holdall
from tests.support.evolution_cases import Case, Today
from tests.support.evolution_more_cases import BEFORE as MORE_BEFORE
from tests.support.evolution_names import Before, at, registered, release
from tests.support.evolution_resolver_cases import BEFORE as RESOLVED_BEFORE


def id_of(case: Case) -> str:
    return case.today.__name__


def package_of(case: Case) -> str:
    """The package of its classes, which no other case has."""
    return f"app.{id_of(case)}"


def name_of(case: Case) -> str:
    return f"{package_of(case)}.Item"


@contextlib.contextmanager
def of_today(case: Case) -> Iterator[Today]:
    """Today's program: its registrations, and its modules with the classes in them."""
    package = package_of(case)
    try:
        today = case.today(name_of(case))
        classes = dict(registered(package))
        if getattr(today.type, "__module__", None) == package:
            classes[f"{package}.{today.type.__qualname__}"] = today.type
        with installed(classes):
            yield today
    finally:
        release(package)


@contextlib.contextmanager
def of_before(case: Case) -> Iterator[Before]:
    """The program of version 1. Its classes are importable where data says that they are."""
    package = package_of(case)
    try:
        today = case.today(name_of(case))
        release(package)
        made = BEFORE.get(id_of(case))
        before = made(name_of(case)) if made is not None else remade(today.stored)
        with installed({f"{cls.__module__}.{cls.__qualname__}": cls for cls in before.classes}):
            yield before
    finally:
        release(package)


@contextlib.contextmanager
def installed(classes: dict[str, Any]) -> Iterator[None]:
    """Modules with these classes in them, by their whole names."""
    before = {name: sys.modules.get(name) for whole in classes for name in parents_of(whole)}
    try:
        for whole, cls in classes.items():
            for name in parents_of(whole):
                if sys.modules.get(name) is before[name]:
                    sys.modules[name] = types.ModuleType(name)
            home, _, last = whole.rpartition(".")
            setattr(sys.modules[home], last, cls)
        yield
    finally:
        for name, module in before.items():
            if module is None:
                sys.modules.pop(name, None)
            else:
                sys.modules[name] = module


def parents_of(whole: str) -> list[str]:
    parts = whole.split(".")[:-1]
    return [".".join(parts[:count]) for count in range(1, len(parts) + 1)]


# --- version 1 -----------------------------------------------------------------------------------------------------------
def remade(stored: Any) -> Before:
    """Classes that store what the records say. Classes of dicts and lists are looked for within."""
    classes: dict[str, Any] = {}
    value = _remade(stored, classes)
    return Before((*classes.values(),), value)


def _remade(stored: Any, classes: dict[str, Any]) -> Any:
    if isinstance(stored, (list, tuple)):
        return type(stored)(_remade(one, classes) for one in stored)
    if isinstance(stored, dict):
        return {key: _remade(one, classes) for key, one in stored.items()}
    if not isinstance(stored, holdall.Record):
        return stored
    name = stored.type_name
    if stored.kind == "enum":
        # Its value is that of the plain formats, which a record does not have: see BEFORE.
        raise LookupError(f"BEFORE has no `{name}`")
    fields = {key: _remade(one, classes) for key, one in stored.fields.items()}
    if name not in classes:
        listed = [(key, annotation_of(one)) for key, one in fields.items()]
        classes[name] = at(name, dataclasses.make_dataclass("Item", listed))
        if stored.version != 1:
            holdall.register(classes[name], name=name, version=stored.version)
    return classes[name](**fields)


def annotation_of(value: Any) -> Any:
    """The type that a program would say for a field with this value."""
    if isinstance(value, dict) and value:
        key, inner = next(iter(value.items()))
        return dict[annotation_of(key), annotation_of(inner)]  # type: ignore[misc]
    if isinstance(value, list) and value:
        return list[annotation_of(value[0])]  # type: ignore[misc]
    return None if value is None else type(value)


def enumeration(member: str, value: Any) -> Callable[[str], Before]:
    def before(name: str) -> Before:
        cls: Any = at(name, enum.Enum("Item", {member: value}))
        return Before((cls,), cls[member])

    return before


def with_a_tag(name: str) -> Before:
    cls = at(name, dataclasses.make_dataclass("Item", [("a", int)]))
    holdall.register(cls, name=name, tag=True)
    return Before((cls,), cls(1))


def in_euros(name: str) -> Before:
    cls = at(name, dataclasses.make_dataclass("Item", [("price", float)]))
    holdall.register(cls, name=name, version_field="v")
    return Before((cls,), cls(2.5))


def encoded(name: str) -> Before:
    class Amount:
        def __init__(self, euros: float) -> None:
            self.euros = euros

    cls = at(name, Amount)
    holdall.register(cls, name=name, encode=lambda amount: amount.euros, decode=cls)
    return Before((cls,), cls(2.5))


BEFORE: dict[str, Callable[[str], Before]] = {
    "tagged": with_a_tag,
    "two_versions": in_euros,
    "of_version": encoded,
    **dict.fromkeys(
        ["renamed_member", "removed_member", "lost_member", "moved_enum"], enumeration("RED", "r")
    ),
    **MORE_BEFORE,
    **RESOLVED_BEFORE,
}
