"""The native checks of stored parts, beside what NumPy, pyarrow and plain Python say of the same."""

from __future__ import annotations

import contextlib
import itertools
import random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from sklearn.tree import DecisionTreeClassifier

import holdall
from holdall._core import all_within, are_dicts, sound_arrow, sound_rows, tree_levels
from holdall.bundles import _arrow, _sklearn_models
from tests.bundles.damage import changed
from tests.bundles.samples import arrow_arrays

INTS = [np.dtype(code) for code in "bhilqBHILQ"]


@pytest.mark.parametrize("dtype", INTS, ids=str)
def test_all_within(dtype: Any) -> None:
    rng = np.random.default_rng(1)
    limits = np.iinfo(dtype)
    for size in (0, 1, 7, 64, 1001):
        for array in (
            rng.integers(0, 100, size).astype(dtype),
            rng.integers(limits.min, limits.max, size, dtype, endpoint=True),
            np.full(size, limits.max, dtype),
            np.full(size, limits.min, dtype),
        ):
            for low, high in ((0, 100), (-1, 50), (0, 0), (0, 1 << 62), (-1, (1 << 63) - 1), (0, 256)):
                expected = all(low <= int(number) < high for number in array.tolist())
                assert all_within(array, dtype.char, low, high) is expected, (array, low, high)
    assert all_within(np.zeros((3, 4), dtype, order="F"), dtype.char, 0, 1)
    with pytest.raises((BufferError, ValueError)):
        all_within(np.zeros((6, 6), dtype)[::2, ::2], dtype.char, 0, 1)


def test_all_within_of_other_dtypes() -> None:
    for dtype in ("f8", "c16", "O", "?", "S3", ">i4"):
        array = np.zeros(3, dtype)
        if array.dtype.char not in "bhilqBHILQ":
            with pytest.raises(TypeError, match="expected an array of ints"):
                all_within(array, array.dtype.char, 0, 1)


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_sound_rows(dtype: Any) -> None:
    draw = random.Random(1)
    seen = set()
    for _ in range(3000):
        ends = sorted(draw.choices(range(6), k=draw.randrange(1, 6)))
        if draw.random() < 0.5:
            ends[0] = 0
        if draw.random() < 0.3:
            ends[draw.randrange(len(ends))] = draw.choice((-1, 0, 3, 1 << 30, -(1 << 31)))
        places = draw.choices(range(4), k=draw.randrange(6))
        if places and draw.random() < 0.3:
            places[draw.randrange(len(places))] = draw.choice((-1, 4, 1 << 30))
        expected = (
            ends[0] == 0
            and all(one <= next for one, next in itertools.pairwise(ends))
            and ends[-1] <= len(places)
            and all(0 <= place < 4 for place in places)
        )
        arrays = np.array(ends, dtype), np.array(places, dtype)
        assert sound_rows(*arrays, arrays[0].dtype.char, 4) is expected
        seen.add(expected)
    assert seen == {True, False}
    assert not sound_rows(np.zeros(0, dtype), np.zeros(0, dtype), np.dtype(dtype).char, 4)


def test_are_dicts() -> None:
    inner: dict[Any, Any] = {"x": 1}
    for table, levels in (
        ({}, 0),
        ({1: 2}, 0),
        ({}, 3),
        ({1: inner, 2: inner}, 1),
        ({1: {2: inner}, 3: {}}, 2),
        ({1: {2: {3: inner}}}, 3),
    ):
        assert are_dicts(table, levels)
    for wrong, levels in (
        ([], 0),
        (None, 2),
        ({1: 2}, 1),
        ({1: inner}, 2),
        ({1: {2: inner}, 3: {4: []}}, 2),
        ({1: type("D", (dict,), {})()}, 1),
    ):
        assert not are_dicts(wrong, levels)
    # What is shared is looked at once: this would be 10 ** 10 steps.
    shared: Any = {key: {} for key in range(100_000)}
    assert are_dicts(dict.fromkeys(range(100_000), shared), 2)


def nodes_of(*children: tuple[int, int], feature: int = 0) -> Any:
    nodes = np.zeros(len(children), _sklearn_models.NODE_DTYPE)
    nodes["left_child"], nodes["right_child"] = np.array(children).T
    nodes["feature"] = feature
    return nodes


def test_tree_levels() -> None:
    layout = _sklearn_models._NODE
    leaf = (-1, -1)
    assert tree_levels(nodes_of(leaf), layout, 0) == 0
    assert tree_levels(nodes_of((1, 2), leaf, leaf), layout, 1) == 1
    assert tree_levels(nodes_of((1, 4), (2, 3), leaf, leaf, leaf), layout, 1) == 2
    assert tree_levels(nodes_of((4, 1), (2, 3), leaf, leaf, leaf), layout, 1) == 2
    for wrong in (
        nodes_of((0, 1), leaf),  # its own child
        nodes_of((1, 1), leaf, leaf),  # one child twice, and one that no node has
        nodes_of((1, 3), leaf, leaf),
        nodes_of((1, -1), leaf, leaf),
        nodes_of((-1, 1), leaf),
        nodes_of((1, 1 << 62), leaf, leaf),
        nodes_of((1, -(1 << 63)), leaf, leaf),
        nodes_of((2, 3), (1, 4), leaf, leaf, leaf),  # a circle
        nodes_of(leaf, leaf),
        nodes_of((1, 2), leaf, leaf, feature=1),
        nodes_of((1, 2), leaf, leaf, feature=-1),
        np.zeros(0, _sklearn_models.NODE_DTYPE),
    ):
        with pytest.raises(ValueError, match="^nodes that make no tree$"):
            tree_levels(wrong, layout, 1)
    # A layout that lies reads nothing outside of a record.
    with pytest.raises(ValueError, match="no tree"):
        tree_levels(nodes_of((1, 2), leaf, leaf), (64, 60, 1 << 40, 8, None, 0), 1)
    rng = np.random.default_rng(1)
    for depth in (1, 5, None):
        tree = (
            DecisionTreeClassifier(max_depth=depth).fit(rng.random((300, 5)), rng.integers(0, 2, 300)).tree_
        )
        assert tree_levels(tree.__getstate__()["nodes"], layout, 5) == tree.max_depth


def arrays() -> list[Any]:
    found = []
    for seed in range(6):
        found += arrow_arrays(np.random.default_rng(seed))
    texts = ["ß" * 20, "", None, "a", "日本" * 10]
    return [
        *(one for one in found if isinstance(one, pa.Array)),
        *(pa.array(texts, kind) for kind in (pa.string(), pa.large_string(), pa.string_view())),
        pa.array(texts, pa.string_view())[1:],
        pa.array([["a"], None, [None, "ß"]], pa.large_list(pa.string_view())),
        pa.array(texts).dictionary_encode(),
        pa.array([[["deep"]], []], pa.list_(pa.list_(pa.string()))),
    ]


def test_sound_arrow_takes_what_is_sound_and_nothing_else() -> None:
    """What it takes, Arrow's own full validation takes as well, and of what is sound it takes nearly all."""
    planned = taken = refused = 0
    for array in arrays():
        plan = _arrow.plan_of(array.type)
        if not plan.letters:
            continue
        planned += 1
        stored = holdall.loads(holdall.dumps(_arrow.array_parts(array)))
        taken += sound_arrow(plan.letters, stored)
        for seed in range(300):
            bad = changed(stored, seed)
            try:
                is_sound = sound_arrow(plan.letters, bad)
            except (TypeError, BufferError):
                refused += 1
                continue
            if is_sound:
                made = pa.lib._restore_array(_arrow._bare(plan, bad))
                made.validate(full=True)
                # Times may be none that Python has.
                with contextlib.suppress(OverflowError, ValueError):
                    made.to_pylist()
            refused += not is_sound
    assert planned > 50 and taken > 0.8 * planned and refused > 60 * planned


def test_text_that_is_cut_within_a_character() -> None:
    """All bytes are UTF-8, and the offsets are not those of characters."""
    for kind, width in ((pa.string(), np.int32), (pa.large_string(), np.int64)):
        plan = _arrow.plan_of(kind)
        data = "aßb".encode()
        for places, fine in (([0, 1, 3, 4], True), ([0, 2, 3, 4], False), ([1, 3], True), ([0, 2], False)):
            stored = len(places) - 1, 0, [None, np.array(places, width).tobytes(), data], (), None
            assert sound_arrow(plan.letters, stored) is fine
            if not fine:
                with pytest.raises(ValueError, match="UTF"):
                    _arrow.array_of(plan, stored)


def test_numbers_that_are_no_lengths() -> None:
    plan = _arrow.plan_of(pa.int64())
    for length, offset in (
        (-1, 0),
        (0, -1),
        (1 << 56, 0),
        (1 << 64, 0),
        (1 << 300, 0),
        (2, 0),
        (1, 1),
        (True, 0),
    ):
        assert not sound_arrow(plan.letters, (length, offset, [None, bytes(8)], (), None))
    assert sound_arrow(plan.letters, (1, 0, [None, bytes(8)], (), None))
    for other in (None, (), (1, 0, [None, bytes(8)], ()), [1, 0, [None, bytes(8)], (), None]):
        assert not sound_arrow(plan.letters, other)
    assert not sound_arrow(b"", (0, 0, [], (), None)) and not sound_arrow(b"?", (0, 0, [], (), None))
