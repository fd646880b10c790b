"""`register_known`: classes of well-known libraries, permitted with safe encodings of their own."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _core

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

# The bundles, by the first part of the name of their library's modules.
_LIBRARIES = {
    "PIL": "pillow",
    "django": "django",
    "networkx": "networkx",
    "numpy": "numpy",
    "pandas": "pandas",
    "polars": "polars",
    "pyarrow": "pyarrow",
    "pydantic": "pydantic",
    "pydantic_core": "pydantic",
    "scipy": "scipy",
    "shapely": "shapely",
    "sklearn": "sklearn",
    "sqlalchemy": "sqlalchemy",
    "torch": "torch",
}
_NEEDS = {"pillow": "pillow", "sklearn": "scikit-learn"}
_registered: set[str] = set()
classes: set[type[Any]] = set()
"""The classes of the bundles that were asked for."""


class Known(NamedTuple):
    """How a class of a library is stored: under which name, and by which functions.

    fills: `decode` is given an empty instance and what was stored, so the instance may be within its own content. Else it gives
        the instance.
    constructor: a function of the library's that makes the instance of several arguments and takes nothing for granted, and for each the
        classes of which it may be. A state that is a tuple of such goes to it, without a function of ours between; others to `decode`.
    remaining: only those instances are stored so that the format has no form for, and are refused else.
    """

    cls: type[Any]
    name: str
    encode: Callable[[Any], Any]
    decode: Callable[..., Any]
    fills: bool = False
    constructor: tuple[Callable[..., Any], list[list[type[Any]]]] | None = None
    remaining: bool = False


def register_known(*names: str) -> None:
    """Permit the classes of well-known libraries in every `loads` of this process, and say how they are stored.

    names: "django", "networkx", "numpy" (its masked arrays and random generators: arrays need no bundle), "pandas", "pillow", "polars",
        "pyarrow", "pydantic" (its own values: models need `register`), "scipy" (sparse arrays), "shapely", "sklearn", "sqlalchemy", "torch". Each library is imported.

    What a library's class is stored as is data: loading imports nothing and calls nothing that the data name, and checks what the
    library's own code takes for granted. Subclasses are not covered, and a class that the program has registered itself stays as it
    is. Bundles have forms in the hold format alone. docs/bundles.md says what each keeps.

    Raises ImportError: a library is not there. ValueError: there is no such bundle.

    >>> register_known("numpy")
    >>> import numpy as np
    >>> loads(dumps(np.ma.masked_array([1, 2, 3], mask=[False, True, False]))).tolist()
    [1, None, 3]
    """
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"register_known: expected str, got {type(name).__name__}")
        if name not in _LIBRARIES.values():
            raise ValueError(
                f"register_known: expected one of {', '.join(sorted(_LIBRARIES.values()))}, got {name!r}"
            )
    for name in names:
        if name not in _registered:
            _register(name)
            _registered.add(name)


def _register(bundle: str) -> None:
    try:
        module = import_module(f"holdall.bundles.{bundle}")
    except ImportError as error:
        package = _NEEDS.get(bundle, bundle)
        raise ImportError(
            f'holdall.register_known("{bundle}") needs {package}: {error}', name=error.name
        ) from None
    known: Iterable[Known] = module.known()
    for cls, name, encode, decode, fills, constructor, remaining in known:
        classes.add(cls)
        _core.register_class(
            *(cls, name, (), 1, {}, None, encode, decode, None),
            bundled=True,
            fills=fills,
            remaining=remaining,
            constructor=constructor,
        )


def bundle_of(name: str) -> str | None:
    """The bundle that would permit a class, by its full name, if it has not been asked for. The native side's errors name it."""
    library = name.partition(".")[0]
    # Those with attributes are the state dicts of PyTorch's modules.
    if name == "collections.OrderedDict" and "torch" in sys.modules:
        library = "torch"
    bundle = _LIBRARIES.get(library)
    if bundle is None or bundle in _registered:
        return None
    if library in sys.modules:
        try:
            known = import_module(f"holdall.bundles.{bundle}").known()
            # Graphs keep views, and types their categories: these are refused first.
            is_part = any(name in (one.name, _full_name(one.cls)) for one in known)
            return bundle if is_part or name.startswith(("networkx.classes.", "polars.datatypes.")) else None
        except Exception:
            return None  # an older version, or one that is being imported
    return bundle


def _full_name(cls: type[Any]) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"
