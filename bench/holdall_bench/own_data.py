"""Where data sets come from: a suite, or a file of the user's."""

from __future__ import annotations

import typing
from functools import partial
from pathlib import Path
from typing import Any

from .data import Data
from .files import module_of
from .suites import find

OWN = "own"


def find_data(source: list[str], full: bool) -> Data:
    """source: ["suite", suite, name] or ["file", what the user gave]."""
    if source[0] == "suite":
        return find(source[1], source[2], full)
    return own_data(source[1])


def own_data(given: str) -> Data:
    """`FILE.py:function`, or a file of values in any format that `holdall` reads without running anything.

    Raises LookupError for a function that isn't there, OSError, or what reading the file raises.
    """
    path, function = split(given)
    if function:
        return made_by(path, function)
    if not Path(path).is_file():
        raise FileNotFoundError(2, "No such file or directory", path)
    from holdall._cli._formats import detect

    format = detect(path, None)
    if format == "pickle":
        raise LookupError(
            f"{path} is a pickle, whose objects are made by code: name a function, FILE.py:FUNCTION"
        )
    name = Path(path).name
    return Data(name, OWN, name, make=partial(read, path, format), identity=format == "hold")


def split(given: str) -> tuple[str, str]:
    """Path and function; the function is empty where a file of data is meant."""
    path, colon, function = given.rpartition(":")
    if colon and path.endswith(".py"):
        return path, function
    if given.endswith(".py"):
        raise LookupError(f"{given} needs the name of a function: {given}:FUNCTION")
    return given, ""


def made_by(path: str, function: str) -> Data:
    """The function makes the value. Its return annotation is what codecs load by type; `each`, `identity`, `deep` and
    `title` may be set on it as attributes."""
    module = module_of(Path(path))
    make = getattr(module, function, None)
    if not callable(make):
        raise LookupError(f"{path} has no function `{function}`")
    each = bool(getattr(make, "each", False))
    annotation = typing.get_type_hints(make).get("return")
    if each and typing.get_origin(annotation) is list:
        (annotation,) = typing.get_args(annotation)
    return Data(
        name=function,
        suite=OWN,
        title=str(getattr(make, "title", f"{Path(path).name}:{function}")),
        make=make,
        each=each,
        identity=bool(getattr(make, "identity", False)),
        deep=bool(getattr(make, "deep", False)),
        annotation=None if annotation is Any else annotation,
    )


def read(path: str, format: str) -> Any:
    """The value in a file; the list of its values if there are several."""
    from holdall._cli._formats import records

    values = list(records(path, format))
    return values[0] if len(values) == 1 else values
