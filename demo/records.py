"""The classes of the demo: what a user would write for ISO records and for the modules of a program."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Country:
    alpha_2: str
    alpha_3: str
    name: str
    numeric: str
    flag: str = ""
    official_name: str | None = None
    common_name: str | None = None


@dataclass(slots=True)
class Subdivision:
    code: str
    name: str
    type: str
    parent: str | None = None


@dataclass(slots=True)
class Language:
    alpha_3: str
    name: str
    scope: str
    type: str
    alpha_2: str | None = None
    bibliographic: str | None = None
    common_name: str | None = None
    inverted_name: str | None = None


@dataclass(slots=True)
class Currency:
    alpha_3: str
    name: str
    numeric: str


@dataclass(slots=True)
class Registry:
    """The ISO databases as objects."""

    countries: list[Country]
    subdivisions: list[Subdivision]
    languages: list[Language]
    currencies: list[Currency]


@dataclass(slots=True, eq=False)
class Module:
    """A module of the standard library, linked with what it imports and what imports it."""

    name: str
    path: str
    package: Module | None
    submodules: list[Module]
    imports: list[Import]
    imported_by: list[Import]


@dataclass(slots=True, eq=False)
class Import:
    """One import statement: an edge that knows both of its ends."""

    source: Module
    target: Module
    line: int
    names: tuple[str, ...]
