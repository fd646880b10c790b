"""NumPy arrays and scalars: every dtype, layout and edge, there and back on every way."""

from __future__ import annotations

import subprocess
import sys
from typing import Any, Callable

import pytest

import holdall

np = pytest.importorskip("numpy")

from tests.support import numpy_cases as cases  # noqa: E402
from tests.support import wire  # noqa: E402
from tests.support.each import each  # noqa: E402
from tests.support.isomorphic import isomorphic  # noqa: E402

Way = Callable[[object], Any]
SIMPLE = cases.NUMERIC + cases.SWAPPED + cases.TIMES + cases.TEXTS
NAMED = {**cases.LAYOUTS, **cases.SCALARS, **cases.OBJECTS, **cases.DTYPES}


@each("dtype", SIMPLE)
def test_dtypes(way: Way, dtype: str) -> None:
    for shape in ((), (0,), (1,), (6,), (2, 3), (0, 3), (2, 1, 3)):
        array = cases.filled(dtype, shape)
        isomorphic(array, way(array))
        isomorphic(np.asfortranarray(array), way(np.asfortranarray(array)))


@each("name", cases.STRUCTURED)
def test_structured(way: Way, name: str) -> None:
    array = cases.filled(cases.STRUCTURED[name], (2, 2))
    isomorphic(array, way(array))
    back = way(array)
    assert back.dtype == array.dtype and back.dtype.fields == array.dtype.fields


@each("name", NAMED)
def test_named(way: Way, name: str) -> None:
    obj = NAMED[name]()
    isomorphic(obj, way(obj))
    isomorphic([obj, {"again": obj}], way([obj, {"again": obj}]))


# NumPy names the 64-bit integers twice, "l" and "q"; only the width is stored
@each("dtype", [dtype for dtype in SIMPLE if dtype not in "qQ"])
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


# --- dtypes ----------------------------------------------------------------------------------------------------------
ALONE = ["g", ">G", "M8[25s]", "m8", "S0", "U3", "V5", "O", ("i4", (2, 3)), [("a", [("b", "i2", (2,))])], []]


@each("dtype", [*ALONE, *cases.STRUCTURED.values()], ids=str)
def test_dtypes_on_their_own(way: Way, dtype: Any) -> None:
    dtype = np.dtype(dtype)
    back = way(dtype)
    assert back == dtype and back.fields == dtype.fields and back.isalignedstruct == dtype.isalignedstruct


@pytest.mark.parametrize(
    "options", [{}, {"na_object": None}, {"na_object": float("nan"), "coerce": False}], ids=str
)
def test_string_dtypes_keep_what_is_missing(way: Way, options: dict[str, Any]) -> None:
    if not hasattr(np.dtypes, "StringDType"):
        pytest.skip("StringDType came with NumPy 2")
    dtype = np.dtypes.StringDType(**options)
    array = np.array([["a", "é\0"], ["", "b" * 50]], dtype, order="F")
    if "na_object" in options:
        array[1, 0] = options["na_object"]
    back = way(array)
    assert back.dtype == way(dtype) == dtype and back.flags.f_contiguous
    assert repr(back.tolist()) == repr(array.tolist())


def test_a_shared_dtype_stays_one() -> None:
    dtype = np.dtype([("a", "i4"), ("o", "O")])
    one, other, back = holdall.loads(holdall.dumps([np.zeros(1, dtype), np.zeros(2, dtype), dtype]))
    assert one.dtype is other.dtype is back


def test_records_stay_records(way: Way) -> None:
    array = np.zeros(3, np.dtype((np.record, [("a", "i4")])))
    assert type(way(array)[0]) is type(way(array[0])) is np.record


def test_bytes_between_fields_are_not_stored(way: Way) -> None:
    array = np.zeros(1000, np.dtype([("a", "i1"), ("b", "f8")], align=True))
    array.view("u1")[:] = 255
    array["a"], array["b"] = 1, 2
    assert b"\xff" not in holdall.dumps(array)
    isomorphic(array, way(array))
    extended = np.full(4, 1.25, "g")
    extended.view("u1").reshape(4, -1)[:, 10:] |= np.uint8(255 if extended.itemsize > 10 else 0)
    assert (way(extended) == extended).all()


# --- scalars ---------------------------------------------------------------------------------------------------------
@each("text", ["", "a\0", "\ud800", "é" * 100])
def test_text_scalars_keep_every_character(way: Way, text: str) -> None:
    raw = text.encode("utf-8", "surrogatepass")
    for scalar in (np.str_(text), np.bytes_(raw)):
        assert type(way(scalar)) is type(scalar) and way(scalar) == scalar and len(way(scalar)) == len(scalar)


def test_signalling_nan_scalars_keep_their_bits(way: Way) -> None:
    for bits, dtype in ((0x7FF0000000000001, "8"), (0x7F800001, "4"), (0x7C01, "2")):
        scalar = np.array([bits], "u" + dtype).view("f" + dtype)[0]
        assert way(scalar).tobytes() == scalar.tobytes()


# --- objects ---------------------------------------------------------------------------------------------------------
def test_object_arrays_hold_what_they_held(way: Way) -> None:
    array = np.empty((2, 2), object)
    array[0, 0], array[0, 1], array[1, 0] = np.array(5), [[1, 2], [3]], np.zeros(0)
    back = way(array)
    assert (
        back[0, 0].shape == ()
        and back[0, 1] == [[1, 2], [3]]
        and back[1, 0].shape == (0,)
        and back[1, 1] is None
    )


def test_cycle_through_a_field() -> None:
    array = np.zeros(2, [("o", "O"), ("n", "i4")])
    array["o"][0] = array
    back = holdall.loads(holdall.dumps(array))
    assert back["o"][0] is back and back["o"][1] == 0


def test_items_that_nobody_shares_cost_no_mark() -> None:
    texts = [str(number) for number in range(100, 200)]
    array = np.array(texts, object)
    del texts
    assert len(holdall.dumps(array)) < 100 * 4 + 20


def test_views_of_one_memory_share_its_items() -> None:
    """References to an item don't tell how many arrays show it."""
    owner = np.array([["a"], {1}, None], object)
    pairs = [
        (owner, owner[:]),
        (owner[:], owner),
        (owner[:2], owner[::2]),
        (owner.reshape(1, 3), owner[:, None]),
    ]
    for canonical in (False, True):
        for one, other in pairs:
            first, second = holdall.loads(holdall.dumps([one, 5, {"x": other}], canonical=canonical))[::2]
            assert first.reshape(-1)[0] is second["x"].reshape(-1)[0]
    fields = np.zeros(2, [("a", object), ("b", object)])
    fields["a"][0] = fields["b"][1] = shared = [1]
    del shared
    whole, part = holdall.loads(holdall.dumps([fields, fields["a"]]))
    assert whole["a"][0] is whole["b"][1] is part[0]


# --- what has no form of its own -------------------------------------------------------------------------------------
class Odd(np.ndarray):  # type: ignore[misc]
    pass


class OddScalar(np.float32):  # type: ignore[misc]
    pass


REFUSED: dict[str, Callable[[], Any]] = {
    "matrix": lambda: np.zeros((2, 2)).view(np.matrix),
    "subclass": lambda: np.zeros(2).view(Odd),
    "scalar subclass": lambda: OddScalar(1),
    "metadata": lambda: np.zeros(2, np.dtype("f8", metadata={"unit": "m"})),
    "nested metadata": lambda: np.zeros(2, [("a", np.dtype("f8", metadata={"unit": "m"}))]),
    "fields of an int": lambda: np.zeros(2, np.dtype(("i4", [("low", "i2"), ("high", "i2")]))),
    "object field scalar": lambda: np.zeros(1, [("o", "O")])[0],
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_numpys_own_is_refused(name: str) -> None:
    with pytest.raises(holdall.EncodeError, match=r"register.*\(.*trust=True"):
        holdall.dumps([REFUSED[name]()])


# --- hostile ---------------------------------------------------------------------------------------------------------
def array_of(dtype: bytes, shape: bytes, items: bytes) -> bytes:
    return wire.message(
        wire.tag("KNOWN_TYPE", bytes([wire.TAG.known["NdArray"]])), dtype, shape, wire.tag("FALSE"), items
    )


def shape_of(*dims: int) -> bytes:
    return bytes([wire.TAG.TUPLE_FIX + len(dims)]) + b"".join(map(wire.integer, dims))


def dtype_of(*parts: bytes) -> bytes:
    return wire.tag("KNOWN_TYPE", bytes([wire.TAG.known["NumpyDtype"]])) + wire.sequence(*parts)


EIGHT = wire.blob(b"A" * 8)
POINTER_FIELD = (wire.integer(8), wire.integer(0), wire.text("o"), wire.integer(0), wire.NONE, wire.text("O"))
FIELD_BEYOND = (
    wire.integer(8),
    wire.integer(0),
    wire.text("f"),
    wire.integer(40),
    wire.NONE,
    wire.text("<f8"),
)
HOSTILE = {
    "object from bytes": array_of(wire.text("O"), shape_of(1), EIGHT),
    "object field from bytes": array_of(dtype_of(*POINTER_FIELD), shape_of(1), EIGHT),
    "object spelled otherwise": array_of(wire.text("|O8"), shape_of(1), EIGHT),
    "several dtypes": array_of(wire.text("<i4,<i4"), shape_of(1), EIGHT),
    "strings from bytes": array_of(wire.text("T"), shape_of(1), EIGHT),
    "field beyond the item": array_of(dtype_of(*FIELD_BEYOND), shape_of(1), EIGHT),
    "another value as dtype": array_of(wire.integer(1), shape_of(1), EIGHT),
    "too few bytes": array_of(wire.text("<f8"), shape_of(2), EIGHT),
    "too many bytes": array_of(wire.text("<f4"), shape_of(1), EIGHT),
    "overflow": array_of(wire.text("<f8"), shape_of(1 << 62), EIGHT),
    "overflow of dims": array_of(wire.text("<f8"), shape_of(1 << 33, 1 << 33), EIGHT),
    "overflow with zero": array_of(wire.text("<f8"), shape_of(1 << 62, 0, 8), wire.blob(b"")),
    "negative": array_of(wire.text("<f8"), shape_of(-1), EIGHT),
    "many items of no bytes": array_of(wire.text("|S0"), shape_of(1 << 50), wire.blob(b"")),
    "many objects": array_of(wire.text("O"), shape_of(1 << 40), wire.EMPTY_LIST),
    "many objects in fields": array_of(dtype_of(*POINTER_FIELD), shape_of(1 << 30), wire.sequence(wire.NONE)),
    "no array for a field": array_of(dtype_of(*POINTER_FIELD), shape_of(1), wire.sequence(wire.NONE)),
    "nested without end": wire.message(dtype_of()[:2], bytes([wire.TAG.TUPLE_FIX + 2]) * 100_000),
}


@each("name", HOSTILE)
def test_hostile_arrays_are_refused(name: str) -> None:
    with pytest.raises(holdall.DecodeError):
        holdall.loads(HOSTILE[name])


def test_numpy_is_imported_for_arrays_only() -> None:
    code = """
import sys, holdall
class Own: pass
holdall.loads(holdall.dumps([Own(), 1]), types=Own)
assert "numpy" not in sys.modules
sys.modules["numpy"] = None
try:
    holdall.loads(bytes.fromhex(sys.argv[1]))
except holdall.DecodeError as error:
    assert "numpy" in str(error)
del sys.modules["numpy"]
assert holdall.loads(bytes.fromhex(sys.argv[1])).tolist() == [0, 1, 2]
"""
    subprocess.run([sys.executable, "-c", code, holdall.dumps(np.arange(3)).hex()], check=True)


@pytest.mark.parametrize("depth, taken", [(190, True), (10_000, False)])
def test_arrays_in_arrays(depth: int, taken: bool) -> None:
    """NumPy frees nested arrays by recursion: what is too deep for that is not built, by references either."""
    message = wire.message(wire.sequence(wire.tag("MARK", _holding(wire.NONE)), *_chain(depth)))
    if taken:
        nested = holdall.loads(message)[-1]
        for _ in range(depth):
            nested = nested[0]
        assert nested.tolist() == [None]
    else:
        with pytest.raises(holdall.DecodeError, match="nested too deep in a type"):
            holdall.loads(message)


def _holding(item: bytes) -> bytes:
    return array_of(wire.text("O"), shape_of(1), wire.sequence(item))[1:]


def _chain(depth: int) -> list[bytes]:
    """Each array holds the one before."""
    numbers = range(1, depth + 1)
    return [
        wire.tag("MARK", _holding(wire.tag("REF_16", number.to_bytes(2, "little")))) for number in numbers
    ]
