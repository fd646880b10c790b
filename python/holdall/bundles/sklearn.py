"""scikit-learn: its own estimators by the state that they document for pickling; what their C code takes for granted is checked in
`_sklearn_models.py`.
"""

from __future__ import annotations

import contextlib
import importlib
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np
import sklearn
from sklearn.base import BaseEstimator
from sklearn.utils import Bunch, all_estimators

from .._bundles import Known, register_known
from .._core import EncodeError
from . import _sklearn_models
from ._checks import exact, parts

if TYPE_CHECKING:
    from collections.abc import Iterator

# Classes that are values of parameters: which dtype an encoder gives, for example.
_TYPES: dict[str, Any] = {
    **{cls.__name__: cls for cls in (bool, int, float, complex, str, bytes, object)},
    **{f"numpy.{cls.__name__}": cls for cls in set(np.sctypeDict.values())},
}
_TYPE_NAMES = {cls: name for name, cls in _TYPES.items()}
# Modules whose classes have nothing but fields: kernels, optimizers, what losses are made of.
_MODULES = (
    "sklearn._loss.link",
    "sklearn._loss.loss",
    "sklearn.cluster._birch",
    "sklearn.cluster._bisect_k_means",
    "sklearn.ensemble._gb_losses",
    "sklearn.gaussian_process.kernels",
    "sklearn.model_selection._split",
    "sklearn.utils._metadata_requests",
    "sklearn.neural_network._stochastic_optimizers",
    "sklearn.calibration",
    "sklearn.metrics._scorer",
)
# Functions of scikit-learn's and NumPy's that only compute, which are values of parameters: a scorer's, a selector's.
_FUNCTIONS: dict[str, Any] = {}
_FUNCTION_NAMES: dict[int, str] = {}


def known() -> Iterator[Known]:
    if tuple(int(part) for part in sklearn.__version__.split(".")[:2]) < (1, 3):
        raise ImportError(f"scikit-learn 1.3 or newer, and this is {sklearn.__version__}")
    register_known("numpy", "scipy")
    all_estimators()  # imports all modules that have some
    with contextlib.suppress(ImportError):
        importlib.import_module("sklearn.experimental.enable_halving_search_cv")
    _find_functions()
    for cls in _own_subclasses(BaseEstimator):
        yield Known(cls, _name(cls), _estimator, _fill_estimator, fills=True)
    yield Known(Bunch, "sklearn.utils.Bunch", dict, lambda stored: Bunch(**exact(stored, dict)))
    for cls in _plain_classes():
        yield Known(cls, _name(cls), _fields, _fill_fields, fills=True)
    yield from _sklearn_models.known()


def _name(cls: type[Any]) -> str:
    """The stored name: without the modules that are nobody's concern but scikit-learn's, which it moves."""
    public = ".".join(part for part in cls.__module__.split(".") if not part.startswith("_"))
    return f"{public}.{cls.__qualname__}"


def _own_subclasses(base: type[Any]) -> list[type[Any]]:
    """scikit-learn's own classes below one, each once."""
    found: dict[str, type[Any]] = {}
    todo = [base]
    while todo:
        for cls in todo.pop().__subclasses__():
            todo.append(cls)
            if cls.__module__.startswith("sklearn.") and ".tests." not in cls.__module__:
                found.setdefault(_name(cls), cls)
    return list(found.values())


def _plain_classes() -> Iterator[type[Any]]:
    """Classes without a way of their own of being stored."""
    for name in _MODULES:
        try:
            module = importlib.import_module(name)
        except ImportError:
            continue  # another version
        for cls in vars(module).values():
            is_own = (
                isinstance(cls, type)
                and cls.__module__ == name
                and not issubclass(cls, (BaseEstimator, tuple))
            )
            if is_own and not any(
                method in vars(one) for one in cls.__mro__[:-1] for method in ("__setstate__", "__reduce__")
            ):
                yield cls


def _find_functions() -> None:
    import sklearn.cluster._kmeans as kmeans
    import sklearn.feature_selection as selection
    import sklearn.metrics as metrics

    for module in (metrics, selection):
        for name in module.__all__:
            if isinstance(getattr(module, name), FunctionType):
                _FUNCTIONS[f"{module.__name__}.{name}"] = getattr(module, name)
    for name in ("_kmeans_single_lloyd", "_kmeans_single_elkan"):
        _FUNCTIONS[f"sklearn.cluster.{name}"] = getattr(kmeans, name)
    for name in dir(np):
        if isinstance(getattr(np, name), np.ufunc) or name in (
            "mean",
            "median",
            "max",
            "min",
            "sum",
            "average",
            "std",
            "var",
        ):
            _FUNCTIONS[f"numpy.{name}"] = getattr(np, name)
    _FUNCTION_NAMES.update((id(function), name) for name, function in _FUNCTIONS.items())


def _lowered(fields: dict[str, Any]) -> Any:
    """Fields, and the names of those values among them that are classes or functions."""
    named = {}
    for name, value in fields.items():
        if isinstance(value, type):
            if value not in _TYPE_NAMES:
                raise EncodeError(
                    f"can't store the class that is the `{name}`: builtin types and NumPy's can be"
                )
            named[name] = _TYPE_NAMES[value]
        elif callable(value) and id(value) in _FUNCTION_NAMES:
            named[name] = _FUNCTION_NAMES[id(value)]
    if not named:
        return fields, None
    return {name: None if name in named else value for name, value in fields.items()}, named


def _raised(state: Any) -> dict[str, Any]:
    fields, named = parts(state, 2)
    # Raises TypeError: not only names.
    "".join(exact(fields, dict))
    if named is not None:
        for name, value in exact(named, dict).items():
            if name not in fields:
                raise ValueError("a name of no field")
            fields[name] = _TYPES[value] if value in _TYPES else _FUNCTIONS[value]
    return fields


def _estimator(estimator: Any) -> Any:
    return _lowered(estimator.__getstate__())


def _fill_estimator(estimator: Any, state: Any) -> None:
    fields = _raised(state)
    _sklearn_models.check(type(estimator), fields)
    # Warns of another version, as scikit-learn does for pickles.
    estimator.__setstate__(fields)


def _fields(value: Any) -> Any:
    return _lowered(dict(vars(value)))


def _fill_fields(value: Any, state: Any) -> None:
    value.__dict__.update(_raised(state))
