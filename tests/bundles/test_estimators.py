"""scikit-learn: each of its estimators, fitted, says the same after a round trip; and what lies about trees is refused."""

from __future__ import annotations

import inspect
import pickle
import warnings
from typing import Any

import numpy as np
import pytest

import holdall

sklearn = pytest.importorskip("sklearn")
METHODS = ("predict", "transform", "predict_proba", "decision_function", "score_samples", "kneighbors")
# What is drawn anew with each call.
RANDOM = {"BernoulliRBM", "DummyClassifier"}
# Which functions of others' they hold, which only a trusted message can.
REFUSED = {"SplineTransformer"} | ({"TweedieRegressor"} if sklearn.__version__ < "1.4" else set())
RNG = np.random.default_rng(0)
X = RNG.random((60, 4))
Y = (X[:, 0] + X[:, 1] * 0.3 > 0.6).astype(int)


def fitted() -> Any:
    from sklearn.utils import all_estimators

    holdall.register_known("sklearn")
    for name, cls in all_estimators():
        parameters: dict[str, Any] = {}
        if "estimator" in inspect.signature(cls).parameters:
            from sklearn.linear_model import LogisticRegression

            parameters["estimator"] = LogisticRegression()
        for arguments in ((X, Y), (X, X[:, :2]), (X[:, 0], Y), (X,)):
            try:
                yield name, cls(**parameters).fit(*arguments)
                break
            except Exception:
                continue


def same_outcome(one: Any, other: Any) -> None:
    pairs = zip(one, other, strict=True) if isinstance(one, (tuple, list)) else [(one, other)]
    for a, b in pairs:
        a, b = (value.toarray() if hasattr(value, "toarray") else np.asarray(value) for value in (a, b))
        assert np.array_equal(a, b, equal_nan=a.dtype.kind == "f")


def test_all_estimators() -> None:
    failed, count = [], 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, estimator in fitted():
            count += 1
            try:
                again = holdall.loads(holdall.dumps(estimator))
                assert type(again) is type(estimator) and list(vars(again)) == list(vars(estimator))
                for method in METHODS:
                    if hasattr(estimator, method) and name not in RANDOM:
                        try:
                            told = getattr(pickle.loads(pickle.dumps(estimator)), method)(X)
                        except Exception:
                            continue
                        same_outcome(told, getattr(again, method)(X))
            except Exception as error:
                failed.append((name, repr(error)[:200]))
    assert count > 150
    assert [one for one in failed if one[0] not in REFUSED] == []


def test_trees_that_lie() -> None:
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.neighbors import BallTree, KDTree
    from sklearn.tree import DecisionTreeRegressor

    from holdall.bundles import _sklearn_models as models

    tree = DecisionTreeRegressor().fit(X, RNG.random(60)).tree_
    state = models._tree(tree)
    assert models._tree_of(state).max_depth == tree.max_depth
    for field, value in (
        ("left_child", 10**6),
        ("left_child", 0),
        ("right_child", -7),
        ("feature", 4),
        ("feature", -3),
    ):
        nodes = state[4].copy()
        nodes[field][0] = value
        with pytest.raises((ValueError, TypeError)):
            models._tree_of((*state[:4], nodes, state[5]))
    for at, value in ((0, 1), (1, np.array([2])), (2, 2), (3, tree.max_depth - 1), (5, state[5][:-1])):
        with pytest.raises((ValueError, TypeError)):
            models._tree_of((*state[:at], value, *state[at + 1 :]))
    predictor = HistGradientBoostingClassifier(max_iter=1).fit(X, Y)._predictors[0][0]
    for field, value in (("left", 10**6), ("right", 0), ("feature_idx", -1)):
        nodes = predictor.nodes.copy()
        nodes[field][0] = value
        with pytest.raises(ValueError):
            models._predictor_of((nodes, predictor.binned_left_cat_bitsets, predictor.raw_left_cat_bitsets))
    for cls in (KDTree, BallTree):
        points = RNG.random((500, 3))
        tree = cls(points, leaf_size=5)
        state = models._neighbours(tree)
        again = models._neighbours_of(cls)(state)
        same_outcome(tree.query(points[:9], 4), again.query(points[:9], 4))
        for at, value in (
            (1, state[1][::-1][:-1].copy()),
            (1, state[1] * 0),
            (3, state[3][:, :-1].copy()),
            (5, 3),
            (6, 3),
        ):
            with pytest.raises((ValueError, TypeError)):
                models._neighbours_of(cls)((*state[:at], value, *state[at + 1 :]))
        nodes = state[2].copy()
        nodes["idx_end"][0] = 501
        with pytest.raises(ValueError):
            models._neighbours_of(cls)((*state[:2], nodes, *state[3:]))


def test_attributes_that_do_not_fit_each_other() -> None:
    from sklearn.cluster import KMeans
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.svm import SVC

    holdall.register_known("sklearn")
    machine, forest, means = SVC().fit(X, Y), RandomForestClassifier(3).fit(X, Y), KMeans(2, n_init=1).fit(X)
    for estimator, name, value in (
        (machine, "support_vectors_", machine.support_vectors_[:, :2].copy()),
        (machine, "_n_support", machine._n_support + 1),
        (machine, "_dual_coef_", machine._dual_coef_[:, 1:].copy()),
        (forest, "n_features_in_", 2),
        (means, "cluster_centers_", means.cluster_centers_[:, :2].copy()),
    ):
        estimator = holdall.loads(holdall.dumps(estimator))
        setattr(estimator, name, value)
        with pytest.raises(holdall.DecodeError, match="can't have"):
            holdall.loads(holdall.dumps(estimator))


def test_another_version_is_told() -> None:
    from sklearn.exceptions import InconsistentVersionWarning
    from sklearn.linear_model import LinearRegression

    holdall.register_known("sklearn")
    import sklearn.base

    before = sklearn.base.__version__
    sklearn.base.__version__ = "1.3.0"
    try:
        data = holdall.dumps(LinearRegression().fit(X, Y))
    finally:
        sklearn.base.__version__ = before
    with pytest.warns(InconsistentVersionWarning, match="1.3.0"):
        holdall.loads(data)
