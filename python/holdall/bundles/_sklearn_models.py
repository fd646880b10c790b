"""What scikit-learn's C code takes for granted: trees, boosted trees, trees of neighbours, losses, the attributes of estimators."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.cluster import KMeans, MiniBatchKMeans
from sklearn.ensemble import BaseEnsemble
from sklearn.ensemble._hist_gradient_boosting.common import PREDICTOR_RECORD_DTYPE
from sklearn.ensemble._hist_gradient_boosting.gradient_boosting import BaseHistGradientBoosting
from sklearn.ensemble._hist_gradient_boosting.predictor import TreePredictor
from sklearn.metrics import DistanceMetric
from sklearn.neighbors import BallTree, KDTree
from sklearn.svm._base import BaseLibSVM
from sklearn.tree import BaseDecisionTree
from sklearn.tree._tree import NODE_DTYPE, Tree

from .._bundles import Known
from .._core import EncodeError, tree_levels
from ._checks import exact, parts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def _layout(dtype: Any, left: str, right: str, leaf: str | None, feature: str) -> tuple[Any, ...]:
    """Where a record has what, for the native side."""
    at = {name: field[1] for name, field in dtype.fields.items()}
    width = dtype.fields[left][0].itemsize
    return dtype.itemsize, at[left], at[right], width, None if leaf is None else at[leaf], at[feature]


_NODE = _layout(NODE_DTYPE, "left_child", "right_child", None, "feature")
_PREDICTOR_NODE = _layout(PREDICTOR_RECORD_DTYPE, "left", "right", "is_leaf", "feature_idx")
_METRICS = ("euclidean", "manhattan", "chebyshev", "minkowski")


def known() -> Iterator[Known]:
    yield Known(Tree, "sklearn.tree.Tree", _tree, _tree_of)
    yield Known(TreePredictor, "sklearn.ensemble.TreePredictor", _predictor, _predictor_of)
    for cls in (KDTree, BallTree):
        yield Known(cls, f"sklearn.neighbors.{cls.__name__}", _neighbours, _neighbours_of(cls))
    yield from _by_arguments()


def _by_arguments() -> Iterator[Known]:
    """Classes in C that are made of a few numbers: losses."""
    import importlib

    for name in ("sklearn._loss._loss", "sklearn.linear_model._sgd_fast"):
        try:
            module = importlib.import_module(name)
        except ImportError:
            continue  # another version
        for cls in vars(module).values():
            if isinstance(cls, type) and cls.__module__ == name and cls.__name__ != "CyLossFunction":
                try:
                    made: Any = cls()
                except TypeError:
                    made = None
                # What takes no arguments has no state.
                yield Known(
                    cls,
                    f"sklearn.losses.{cls.__name__}",
                    _arguments if made is None or made.__reduce__()[0] is cls else lambda value: (),
                    _of_arguments(cls),
                )


def _arguments(value: Any) -> Any:
    made = value.__reduce__()
    if made[0] is not type(value) or not all(type(one) in (int, float) for one in made[1]):
        raise EncodeError(f"can't store a `{type(value).__name__}`")
    return made[1]


def _of_arguments(cls: Any) -> Callable[[Any], Any]:
    def of_arguments(stored: Any) -> Any:
        if not all(type(one) in (int, float) for one in exact(stored, tuple)):
            raise TypeError("expected numbers")
        return cls(*stored)

    return of_arguments


def _array(value: Any, dtype: Any, ndim: int) -> Any:
    if exact(value, np.ndarray).dtype != dtype or value.ndim != ndim or not value.flags.c_contiguous:
        raise ValueError("an array of another dtype or shape")
    return value


def _tree(tree: Any) -> Any:
    _, (features, classes, outputs), state = tree.__reduce__()
    return features, classes, outputs, state["max_depth"], state["nodes"], state["values"]


def _tree_of(stored: Any) -> Any:
    features, classes, outputs, depth, nodes, values = parts(stored, 6)
    if not (type(features) is type(outputs) is type(depth) is int and type(nodes) is np.ndarray):
        raise TypeError("expected numbers and nodes")
    if not 0 <= features < 1 << 31 or not 1 <= outputs < 1 << 31:
        raise ValueError("a number out of range")
    each = _array(classes, np.intp, 1).tolist()
    if len(each) != outputs or min(each) < 1:
        raise ValueError("another number of classes")
    count = len(nodes)
    if count < 1 or _array(values, np.float64, 3).shape != (count, outputs, max(each)):
        raise ValueError("another number of values")
    if not _is_of_nodes(nodes.dtype) or tree_levels(nodes, _NODE, features) > depth:
        raise ValueError("nodes of another dtype, or a tree that is deeper than it says")
    made = Tree(features, classes, outputs)
    # Compares the dtypes.
    made.__setstate__({"max_depth": depth, "node_count": count, "nodes": nodes, "values": values})
    return made


_last_dtype = NODE_DTYPE


def _is_of_nodes(dtype: Any) -> bool:
    """Whether it is that of nodes. The trees of a forest have one, and looking at its fields takes longer than all else that is asked."""
    global _last_dtype
    if dtype is _last_dtype:
        return True
    if dtype != NODE_DTYPE:
        return False
    _last_dtype = dtype
    return True


def _predictor(value: Any) -> Any:
    return value.nodes, value.binned_left_cat_bitsets, value.raw_left_cat_bitsets


def _predictor_of(stored: Any) -> Any:
    nodes, *sets = parts(stored, 3)
    _array(nodes, PREDICTOR_RECORD_DTYPE, 1)
    # How many features there are is the ensemble's knowledge.
    tree_levels(nodes, _PREDICTOR_NODE, (1 << 63) - 1)
    by_set = (nodes["is_leaf"] == 0) & (nodes["is_categorical"] != 0)
    for one in sets:
        if _array(one, np.uint32, 2).shape[1] != 8 or (
            by_set.any() and nodes["bitset_idx"][by_set].max() >= len(one)
        ):
            raise ValueError("sets of another number")
    return TreePredictor(nodes, *sets)


def _neighbours(tree: Any) -> Any:
    state = tree.__getstate__()
    metric = state[11]
    name = next((one for one in _METRICS if type(metric) is type(DistanceMetric.get_metric(one))), None)
    if name is None:
        raise EncodeError(f"can't store a `{type(tree).__name__}` of the metric `{type(metric).__name__}`")
    return *state[:11], (name, getattr(metric, "p", None) if name == "minkowski" else None), state[12]


def _neighbours_of(cls: Any) -> Callable[[Any], Any]:
    sides = 2 if cls is KDTree else 1
    record = cls(np.zeros((1, 1))).__getstate__()[2].dtype

    def neighbours_of(stored: Any) -> Any:
        data, places, nodes, bounds, leaf_size, levels, count, *counters, metric, weights = parts(stored, 13)
        rows, wide = _array(data, np.float64, 2).shape
        if len(_array(places, np.intp, 1)) != rows or not (np.bincount(places, minlength=rows) == 1).all():
            raise ValueError("places that are not all, each once")
        if (
            not 1 <= exact(levels, int) < 60
            or exact(count, int) != (1 << levels) - 1
            or len(_array(nodes, record, 1)) != count
        ):
            raise ValueError("another number of nodes")
        if _array(bounds, np.float64, 3).shape != (sides, count, wide) or exact(leaf_size, int) < 1:
            raise ValueError("bounds of another number")
        start, end = nodes["idx_start"], nodes["idx_end"]
        if (
            start.min() < 0
            or (start > end).any()
            or end.max() > rows
            or not (nodes["is_leaf"][count // 2 :] == 1).all()
        ):
            raise ValueError("nodes out of range")
        if not all(type(one) is int for one in counters):
            raise TypeError("expected counts")
        name, power = parts(metric, 2)
        if name not in _METRICS:
            raise ValueError("an unknown metric")
        if weights is not None and len(_array(weights, np.float64, 1)) != rows:
            raise ValueError("weights of another number")
        measure = DistanceMetric.get_metric(name, **({} if power is None else {"p": exact(power, float)}))
        made = cls.__new__(cls, np.zeros((1, 1)))
        made.__setstate__(
            (data, places, nodes, bounds, leaf_size, levels, count, *counters, measure, weights)
        )
        return made

    return neighbours_of


def check(cls: Any, fields: dict[str, Any]) -> None:
    """Raises ValueError, TypeError: attributes of an estimator that don't fit each other, where its C code takes that for granted."""
    asked = _check_of(cls)
    if asked is not None:
        asked(fields)


# scikit-learn's bases ask code of their own what is derived from them.
@functools.cache
def _check_of(cls: Any) -> Callable[[dict[str, Any]], None] | None:
    for base, asked in (
        (BaseDecisionTree, _check_tree),
        (BaseHistGradientBoosting, _check_boosting),
        (BaseEnsemble, _check_ensemble),
        (BaseLibSVM, _check_svm),
        ((KMeans, MiniBatchKMeans), _check_centers),
    ):
        if issubclass(cls, base):
            return asked
    return None


def _check_tree(fields: dict[str, Any]) -> None:
    if "tree_" in fields and exact(fields["tree_"], Tree).n_features != fields["n_features_in_"]:
        raise ValueError("a tree of other features")


def _check_centers(fields: dict[str, Any]) -> None:
    if "cluster_centers_" in fields:
        _check_wide(fields["cluster_centers_"], fields["n_features_in_"])


def _check_wide(array: Any, wide: Any) -> Any:
    if exact(array, np.ndarray).ndim != 2 or array.shape[1] != wide or array.dtype.kind != "f":
        raise ValueError("an array of other features")
    return array


def _check_boosting(fields: dict[str, Any]) -> None:
    predictors = fields.get("_predictors")
    if predictors is None:
        return
    wide = fields.get("_n_features", fields.get("n_features_in_"))
    for one in (one for group in exact(predictors, list) for one in exact(group, list)):
        inner = exact(one, TreePredictor).nodes["is_leaf"] == 0
        if inner.any() and one.nodes["feature_idx"][inner].max() >= exact(wide, int):
            raise ValueError("a tree of other features")


def _check_ensemble(fields: dict[str, Any]) -> None:
    members = fields.get("estimators_")
    if members is None:
        return
    subsets = fields.get("estimators_features_")
    members = list(members.ravel()) if isinstance(members, np.ndarray) else exact(members, list)
    for at, member in enumerate(members):
        if isinstance(member, BaseDecisionTree):
            wide = fields["n_features_in_"] if subsets is None else len(subsets[at])
            if vars(member)["n_features_in_"] != wide:
                raise ValueError("a tree of other features")


def _check_svm(fields: dict[str, Any]) -> None:
    """Machines of libsvm, which reads as many numbers as others say that there are."""
    if "support_" not in fields:
        return
    vectors, wide = fields["support_vectors_"], fields["n_features_in_"]
    count = len(_array(fields["support_"], np.int32, 1))
    each = _array(fields["_n_support"], np.int32, 1)
    coefficients, free = fields["_dual_coef_"], fields["_intercept_"]
    if exact(fields["_sparse"], bool):
        # A sparse matrix that was checked when it was made.
        if type(vectors).__module__.partition(".")[0] != "scipy" or coefficients.shape[1] != count:
            raise TypeError("expected sparse vectors")
    else:
        _array(coefficients, np.float64, 2)
        _array(vectors, np.float64, 2)
    has_classes = "classes_" in fields
    classes = len(fields["classes_"]) if has_classes else 2
    pairs = classes * (classes - 1) // 2
    if has_classes and (each.min(initial=0) < 0 or each.sum(dtype=np.int64) != count or len(each) != classes):
        raise ValueError("vectors of another number")
    places = fields["support_"]
    if count and not (places.min() >= 0 and places.max() < exact(fields["shape_fit_"], tuple)[0]):
        raise ValueError("vectors of other rows")
    if fields.get("kernel") != "precomputed" and vectors.shape != (count, wide):
        raise ValueError("vectors of another size")
    if coefficients.shape != (classes - 1, count) or _array(free, np.float64, 1).shape != (pairs,):
        raise ValueError("coefficients of another number")
    for name in ("_probA", "_probB"):
        if len(_array(fields[name], np.float64, 1)) not in (0, pairs, 1):
            raise ValueError("probabilities of another number")
