"""pandas: many frames, series and indexes made anew; what frames share; cycles; what is refused."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import numpy as np
import pytest

import holdall
from tests.bundles.same import same

pytest.importorskip("pandas")
holdall.register_known("pandas", "pyarrow")


def again(value: Any) -> Any:
    return holdall.loads(holdall.dumps(value))


@pytest.mark.parametrize("part", range(4))
def test_frames_of_all_dtypes(part: int) -> None:
    from tests.bundles import made_pandas as made

    count = 0
    for seed in range(100 * part, 100 * part + 100):
        rng = np.random.default_rng(seed)
        for make in (
            made.frame,
            made.square,
            lambda rng: made.series(rng, int(rng.choice([0, 1, 3, 30]))),
            lambda rng: made.index(rng, 9),
        ):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    value = make(rng)
                except TypeError:
                    continue  # labels that can't be hashed
                same(value, again(value))
                count += 1
    assert count > 350


def test_a_frame_within_itself() -> None:
    import pandas as pd

    cell: list[Any] = []
    frame, series = pd.DataFrame({"a": [cell, None]}), pd.Series([cell, None], dtype=object)
    cell += [frame, series]
    frame.attrs["me"] = series.attrs["me"] = [frame]
    for value in (frame, series):
        loaded = again(value)
        within = loaded.to_numpy().reshape(-1)[0]
        assert within[0 if value is frame else 1] is loaded
        assert type(within[0]) is pd.DataFrame and type(within[1]) is pd.Series
        assert loaded._attrs["me"][0] is within[0]


def test_what_frames_share() -> None:
    """Indexes and objects stay one; columns that are views of the same memory become copies, as in pickle."""
    import pandas as pd

    values = np.zeros((1000, 2))
    one, two = pd.DataFrame(values, copy=False), pd.DataFrame(values, copy=False)
    two.index = one.index
    first, second = again([one, two])
    assert first.index is second.index
    assert not np.shares_memory(first.to_numpy(), second.to_numpy())
    frame = pd.DataFrame({"a": [["shared"]]})
    frame["b"] = frame["a"]
    loaded = again(frame)
    assert loaded.loc[0, "a"] is loaded.loc[0, "b"]


def test_columns_in_blocks_that_are_not_all() -> None:
    import pandas as pd

    from holdall.bundles import pandas as bundle

    state = bundle._frame(pd.DataFrame({"a": [1], "b": [1.0], "c": [2]}))
    frame = object.__new__(pd.DataFrame)
    for places in (
        [(0, 3), np.array([1])],
        [(0, 1), np.array([1, 1])],
        [(0, 0), np.array([0, 5])],
        [(0, 1 << 40), np.array([0])],
    ):
        blocks = [(values, place) for (values, _), place in zip(state[0], places, strict=True)]
        with pytest.raises((ValueError, TypeError)):
            bundle._fill_frame(frame, (blocks, *state[1:]))
    # So many columns take no memory before somebody asks for them.
    nothing = [(np.zeros((1 << 40, 0)), (0, 1 << 40))]
    with pytest.raises((ValueError, TypeError)):
        bundle._fill_frame(frame, (nothing, pd.RangeIndex(1 << 39), pd.RangeIndex(0), None, True))


def test_labels_that_are_too_deep() -> None:
    import pandas as pd

    label: Any = ()
    for _ in range(100_000):
        label = (label,)
    from holdall.bundles import pandas as bundle

    with pytest.raises(ValueError, match="too deep"):
        bundle._index_of(pd.Index)((np.arange(2), label))


def test_a_subclass_is_not_covered() -> None:
    import pandas as pd

    class Own(pd.DataFrame):
        pass

    with pytest.raises(holdall.EncodeError):
        holdall.dumps(Own({"a": [1]}))


def test_smaller_than_pickle() -> None:
    import pandas as pd

    frame = pd.DataFrame({"a": range(1000), "b": pd.Categorical(["x", "y"] * 500), "c": ["text"] * 1000})
    assert len(holdall.dumps(frame)) < len(pickle.dumps(frame, 5))


def test_by_a_type() -> None:
    import pandas as pd

    frame = pd.DataFrame({"a": [1]})
    data = holdall.dumps([frame])
    same(frame, holdall.loads(data, type=list[pd.DataFrame])[0])
    same(frame.index, holdall.loads(holdall.dumps(frame.index), type=pd.Index))
    assert holdall.loads(holdall.dumps({"at": pd.Timestamp(0)}), type=dict[str, pd.Timestamp])[
        "at"
    ] == pd.Timestamp(0)
    with pytest.raises(holdall.ValidationError, match="Expected `Series`"):
        holdall.loads(data, type=list[pd.Series])
