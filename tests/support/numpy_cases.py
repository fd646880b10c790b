"""NumPy arrays and scalars by name; `SMALL` are those worth running everywhere."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

NUMERIC = ["?", "b", "B", "h", "H", "i", "I", "l", "L", "q", "Q", "e", "f", "d", "g", "F", "D", "G"]
SWAPPED = [">i2", ">u4", ">f8", ">c16", ">U3", ">M8[s]"]
TIMES = ["M8[Y]", "M8[D]", "M8[s]", "M8[ns]", "M8[25s]", "M8", "m8[h]", "m8[us]", "m8"]
TEXTS = ["S5", "U5", "S0", "U0", "V7"]

STRUCTURED: dict[str, Any] = {
    "simple": [("a", "i4"), ("b", "f8")],
    "nested": [("p", [("x", "f4"), ("y", "f4")]), ("tag", "S3")],
    "subarray": [("m", "i2", (2, 3)), ("n", "?")],
    "offsets": {"names": ["a", "b"], "formats": ["i1", "f8"], "offsets": [3, 8], "itemsize": 24},
    "titles": {"names": ["a"], "formats": ["i4"], "titles": ["the title"]},
    "swapped": [("a", ">i4"), ("b", ">f8")],
    "object": [("o", "O"), ("n", "i4")],
    "unicode name": [("naïve", "i4")],
}


def filled(dtype: Any, shape: Any = (6,)) -> Any:
    """An array with recognisable bytes in it."""
    dtype = np.dtype(dtype)
    array = np.zeros(shape, dtype)
    if dtype.hasobject:
        return array
    raw = array.reshape(-1).view(np.uint8) if dtype.itemsize and array.size else None
    if raw is not None:
        step = 3 if dtype.kind != "b" else 0
        raw[:] = (np.arange(raw.size) * step + (dtype.kind == "b")) % 100
        if dtype.kind == "U":
            array[...] = "añ語"[: dtype.itemsize // 4]
        if dtype.char in "gG":
            array[...] = 1.25
    return array


def locked(array: Any) -> Any:
    array.flags.writeable = False
    return array


def object_array() -> Any:
    shared = ["shared"]
    array = np.empty((2, 2), object)
    array[0, 0], array[0, 1], array[1, 0], array[1, 1] = shared, None, 2.5, shared
    return array


def cyclic_object_array() -> Any:
    array = np.empty(1, object)
    array[0] = [array]
    return array


def structured_object() -> Any:
    array = np.zeros(2, STRUCTURED["object"])
    array["o"] = [["x"], None]
    array["n"] = [1, 2]
    return array


LAYOUTS: dict[str, Callable[[], Any]] = {
    "C": lambda: np.arange(12.0).reshape(3, 4),
    "F": lambda: np.asfortranarray(np.arange(12.0).reshape(3, 4)),
    "axes": lambda: np.arange(24).reshape(2, 3, 4).transpose(1, 0, 2),
    "axes of objects": lambda: (
        np.array([{at} for at in range(12)], object).reshape(2, 3, 2).transpose(1, 2, 0)
    ),
    "read-only": lambda: locked(np.arange(6.0).reshape(2, 3)),
    "read-only F": lambda: locked(np.asfortranarray(np.arange(6.0).reshape(2, 3))),
    "read-only axes": lambda: locked(np.arange(24).reshape(2, 3, 4).transpose(2, 0, 1)),
    "read-only objects": lambda: locked(np.array([[1], None], object)),
    "F 3d": lambda: np.asfortranarray(np.arange(24).reshape(2, 3, 4)),
    "strided": lambda: np.arange(24).reshape(4, 6)[::2, 1::3],
    "reversed": lambda: np.arange(5)[::-1],
    "broadcast": lambda: np.broadcast_to(np.arange(3), (4, 3)),
    "transposed": lambda: np.arange(24).reshape(2, 3, 4).transpose(1, 0, 2),
    "0-d": lambda: np.array(2.5),
    "0-d object": lambda: np.array(None),
    "empty": lambda: np.zeros((0,)),
    "empty 2-d": lambda: np.zeros((3, 0, 2), "i2"),
    "1-d of one": lambda: np.array([7], "u1"),
    "32 dimensions": lambda: np.zeros((1,) * 32),
    "read only": lambda: np.frombuffer(b"\x01\x02\x03\x04", "u2"),
    "large": lambda: np.arange(100_000, dtype="f8"),
}

SCALARS: dict[str, Callable[[], Any]] = {
    "float64": lambda: np.float64("-0.0"),
    "float32": lambda: np.float32(0.1),
    "float16": lambda: np.float16(1.5),
    "longdouble": lambda: np.longdouble("1.1"),
    "int8": lambda: np.int8(-5),
    "uint64": lambda: np.uint64(2**64 - 1),
    "bool": lambda: np.bool_(True),
    "complex64": lambda: np.complex64(1 - 2j),
    "str": lambda: np.str_("text"),
    "bytes": lambda: np.bytes_(b"data"),
    "void": lambda: np.void(b"abc"),
    "datetime64": lambda: np.datetime64("2024-02-29T12", "ms"),
    "datetime64 nat": lambda: np.datetime64("NaT"),
    "timedelta64": lambda: np.timedelta64(5, "D"),
    "record": lambda: filled(STRUCTURED["nested"])[1],
}

OBJECTS: dict[str, Callable[[], Any]] = {
    "object array": object_array,
    "object cyclic": cyclic_object_array,
    "object fields": structured_object,
    "object F": lambda: np.asfortranarray(object_array()),
    "object of arrays": lambda: np.array([np.arange(3), None, {"a": np.zeros(2)}], object),
}

DTYPES: dict[str, Callable[[], Any]] = {
    "dtype": lambda: np.dtype("f4"),
    "dtype swapped": lambda: np.dtype(">i8"),
    "dtype structured": lambda: np.dtype(STRUCTURED["nested"]),
    "dtype aligned": lambda: np.dtype([("a", "i1"), ("b", "f8")], align=True),
}

SMALL: dict[str, Callable[[], Any]] = {
    "array f8": lambda: np.arange(5.0),
    "array 2-d F": LAYOUTS["F"],
    "array strided": LAYOUTS["strided"],
    "array 0-d": LAYOUTS["0-d"],
    "array bool": lambda: np.array([True, False]),
    "array text": lambda: np.array(["a", "bcd"]),
    "array time": lambda: np.array(["2024-01-01", "NaT"], "M8[D]"),
    "array fields": lambda: filled(STRUCTURED["nested"], (2,)),
    "array objects": object_array,
    "array cyclic": cyclic_object_array,
    "scalar": SCALARS["float32"],
    "scalar time": SCALARS["datetime64"],
    "scalar record": SCALARS["record"],
    "dtype plain": DTYPES["dtype"],
    "dtype fields": DTYPES["dtype structured"],
}
