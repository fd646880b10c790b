"""NumPy arrays and scalars: every dtype, layout and edge, there and back on every way."""

from __future__ import annotations

from typing import Any, Callable

import pytest

import holdall

np = pytest.importorskip("numpy")

from tests.support import numpy_cases as cases  # noqa: E402
from tests.support.isomorphic import isomorphic  # noqa: E402

Way = Callable[[object], Any]
SIMPLE = cases.NUMERIC + cases.SWAPPED + cases.TIMES + cases.TEXTS
NAMED = {**cases.LAYOUTS, **cases.SCALARS, **cases.OBJECTS, **cases.DTYPES}


@pytest.mark.parametrize("dtype", SIMPLE)
def test_dtypes(way: Way, dtype: str) -> None:
    for shape in ((), (0,), (1,), (6,), (2, 3), (0, 3), (2, 1, 3)):
        array = cases.filled(dtype, shape)
        isomorphic(array, way(array))
        isomorphic(np.asfortranarray(array), way(np.asfortranarray(array)))


@pytest.mark.parametrize("name", cases.STRUCTURED)
def test_structured(way: Way, name: str) -> None:
    array = cases.filled(cases.STRUCTURED[name], (2, 2))
    isomorphic(array, way(array))
    back = way(array)
    assert back.dtype == array.dtype and back.dtype.fields == array.dtype.fields


@pytest.mark.parametrize("name", NAMED)
def test_named(way: Way, name: str) -> None:
    obj = NAMED[name]()
    isomorphic(obj, way(obj))
    isomorphic([obj, {"again": obj}], way([obj, {"again": obj}]))


# NumPy names the 64-bit integers twice, "l" and "q"; only the width is stored
@pytest.mark.parametrize("dtype", [dtype for dtype in SIMPLE if dtype not in "qQ"])
def test_scalars_of_every_dtype(way: Way, dtype: str) -> None:
    scalar = cases.filled(dtype)[1]
    isomorphic(scalar, way(scalar))


def test_restored_arrays_are_their_own(way: Way) -> None:
    source = np.arange(1000.0)
    back = way([source, source[::2], source[10:20]])
    back[0][:] = -1
    assert back[1][3] == 6.0 and back[2][0] == 10.0 and source[0] == 0.0
    assert back[0].flags.writeable and back[0].flags.aligned


def test_nan_payloads_and_minus_zero(way: Way) -> None:
    bits = np.array([0x7FF8000000000001, 0xFFF8000000000000, 0x8000000000000000, 0x7FF0000000000001], "u8")
    array = bits.view("f8")
    assert way(array).view("u8").tolist() == bits.tolist()


def test_same_array_twice_stays_one(way: Way) -> None:
    array = np.zeros(3)
    back = way([array, array, array.copy()])
    assert back[0] is back[1] and back[0] is not back[2]


def test_arrays_inside_everything(way: Way) -> None:
    array = np.arange(3)
    graph = {"a": (array, [array]), "b": np.array([array, None], dtype=object), "c": np.float32(1)}
    isomorphic(graph, way(graph))


def test_string_dtype(way: Way) -> None:
    if not hasattr(np.dtypes, "StringDType"):
        pytest.skip("StringDType came with NumPy 2")
    array = np.array(["short", "é" * 100, ""], np.dtypes.StringDType())
    isomorphic(array, way(array))


def test_masked_and_other_subclasses_need_trust() -> None:
    for obj in (np.ma.array([1, 2], mask=[0, 1]), np.rec.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f8")])):
        with pytest.raises(holdall.EncodeError, match="trust=True"):
            holdall.dumps(obj)
        back = holdall.loads(holdall.dumps(obj, trust=True), trust=True)
        assert type(back) is type(obj) and back.tolist() == obj.tolist()


def test_large_arrays(way: Way) -> None:
    arrays = [np.arange(i, i + 300_000, dtype="f8") for i in range(3)]
    isomorphic(arrays, way(arrays))


def test_buffers_out_of_band() -> None:
    arrays = [np.arange(1000.0), np.asfortranarray(np.ones((20, 30))), np.arange(50)[::2]]
    buffers: list[Any] = []
    data = holdall.dumps(arrays, buffers=buffers)
    assert len(data) < 2_000 and len(buffers) >= 2
    isomorphic(arrays, holdall.loads(data, buffers=buffers))
    isomorphic(arrays, holdall.loads(data, buffers=[bytes(buffer) for buffer in buffers]))


def test_out_of_band_arrays_are_views() -> None:
    array = np.arange(1000.0)
    buffers: list[Any] = []
    data = holdall.dumps(array, buffers=buffers)
    back = holdall.loads(data, buffers=buffers)
    assert np.shares_memory(array, back)
    readonly = holdall.loads(data, buffers=[bytes(buffers[0])])
    assert not readonly.flags.writeable


@pytest.mark.parametrize("change", ["missing", "short", "long", "extra"])
def test_wrong_buffers_are_refused(change: str) -> None:
    buffers: list[Any] = []
    data = holdall.dumps(np.arange(1000.0), buffers=buffers)
    whole = bytes(buffers[0])
    wrong = {"missing": [], "short": [whole[:-1]], "long": [whole + b"x"], "extra": None}[change]
    if wrong is None:
        holdall.loads(data, buffers=[whole, b"unused"])
        return
    with pytest.raises(holdall.DecodeError):
        holdall.loads(data, buffers=wrong)
