"""Whether two values are the same: types, dtypes, bits, order of memory, names, and what is shared in objects. Asks nothing of `holdall.bundles`."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import numpy as np

# What the arrays of pandas hold, whatever their class.
_INSIDE = ("_ndarray", "_data", "_mask", "_left", "_right", "_dtype", "_pa_array", "sp_values", "sp_index")


class Different(AssertionError):
    pass


def same(a: Any, b: Any, *, writable: bool = True) -> None:
    """Raises Different, with the way to the first difference. writable: arrays that can be written to stay so, and others don't."""
    global _asks_rights
    _asks_rights = writable
    _same(a, b, "it", {})


_asks_rights = True


def _check(fine: Any, path: str, what: str, a: Any, b: Any) -> None:
    if not fine:
        raise Different(f"{path}: {what} {a!r:.300} became {b!r:.300}")


def _same(a: Any, b: Any, path: str, seen: dict[int, Any]) -> None:
    _check(type(a) is type(b), path, "type", type(a), type(b))
    if id(a) in seen:
        _check(seen[id(a)][1] is b, path, "identity", a, b)
        return
    cls = type(a)
    # Libraries make dtypes anew, or keep them, as they like.
    if (cls in (list, tuple, dict, set, frozenset, np.ndarray) or hasattr(a, "__dict__")) and not hasattr(
        a, "itemsize"
    ):
        seen[id(a)] = (a, b)
    module = cls.__module__.partition(".")[0]
    if cls is np.ndarray:
        _same_arrays(a, b, path, seen)
    elif cls in (list, tuple):
        _check(len(a) == len(b), path, "length", a, b)
        for at, (one, other) in enumerate(zip(a, b, strict=True)):
            _same(one, other, f"{path}[{at}]", seen)
    elif cls in (dict, OrderedDict):
        _check(list(a) == list(b), path, "keys", list(a), list(b))
        if cls is OrderedDict:
            _same(vars(a), vars(b), f"{path}.__dict__", seen)
        for key in a:
            _same(a[key], b[key], f"{path}[{key!r}]", seen)
    elif module == "pandas":
        _same_pandas(a, b, path, seen)
    elif module == "pyarrow":
        _same_arrow(a, b, path)
    elif module in _OTHERS:
        _OTHERS[module](a, b, path, seen)
    elif isinstance(a, (float, np.floating)):
        _check(np.array(a).tobytes() == np.array(b).tobytes(), path, "value", a, b)
    else:
        _check(a is b or a == b, path, "value", a, b)


def _same_arrays(a: Any, b: Any, path: str, seen: dict[int, Any]) -> None:
    _check(a.dtype == b.dtype and a.dtype.byteorder == b.dtype.byteorder, path, "dtype", a.dtype, b.dtype)
    _check(a.shape == b.shape, path, "shape", a.shape, b.shape)
    _check(not _asks_rights or a.flags.writeable == b.flags.writeable, path, "writeable", a.flags, b.flags)
    if a.flags.forc and a.ndim > 1:
        _check(a.flags.f_contiguous == b.flags.f_contiguous, path, "order", a.flags, b.flags)
    if a.dtype.kind == "O":
        _same(list(a.ravel()), list(b.ravel()), path, seen)
    else:
        _check(a.tobytes() == b.tobytes(), path, "bytes", a, b)


def _same_arrow(a: Any, b: Any, path: str) -> None:
    if hasattr(a, "validate"):
        b.validate(full=True)
    if hasattr(a, "schema"):
        _check(a.schema.equals(b.schema, check_metadata=True), path, "schema", a.schema, b.schema)
    elif hasattr(a, "type"):
        _check(a.type == b.type, path, "type", a.type, b.type)
    if hasattr(a, "chunks"):
        _check([len(one) for one in a.chunks] == [len(one) for one in b.chunks], path, "chunks", a, b)
    if hasattr(a, "equals"):
        _check(a.equals(b) or str(a) == str(b), path, "value", a, b)
    else:
        _check(a == b or str(a) == str(b), path, "value", a, b)


def _same_pandas(a: Any, b: Any, path: str, seen: dict[int, Any]) -> None:
    import pandas as pd

    if isinstance(a, (pd.DataFrame, pd.Series)):
        _same(a._attrs, b._attrs, f"{path}.attrs", seen)
        _same(a.flags.allows_duplicate_labels, b.flags.allows_duplicate_labels, f"{path}.flags", seen)
        _check(len(a._mgr.blocks) == len(b._mgr.blocks), path, "blocks", a, b)
        for one, other in zip(a._mgr.blocks, b._mgr.blocks, strict=True):
            _check(list(one.mgr_locs) == list(other.mgr_locs), path, "places", one, other)
            _same(one.values, other.values, f"{path}.block", seen)
        for one, other in zip(a._mgr.axes, b._mgr.axes, strict=True):
            _same(one, other, f"{path}.axis", seen)
        if isinstance(a, pd.Series):
            _same(a.name, b.name, f"{path}.name", seen)
        # It works, and says the same.
        _check(a.shape == b.shape, path, "shape", a.shape, b.shape)
    elif isinstance(a, pd.MultiIndex):
        for what in ("levels", "codes", "names"):
            _same(list(getattr(a, what)), list(getattr(b, what)), f"{path}.{what}", seen)
        _check(a.sortorder == b.sortorder, path, "sortorder", a.sortorder, b.sortorder)
    elif isinstance(a, pd.RangeIndex):
        _check(a._range == b._range, path, "range", a, b)
        _same(a.name, b.name, f"{path}.name", seen)
    elif isinstance(a, pd.Index):
        _same(a.name, b.name, f"{path}.name", seen)
        _same(a._data, b._data, f"{path}.data", seen)
        _same(getattr(a, "freq", None), getattr(b, "freq", None), f"{path}.freq", seen)
    elif isinstance(a, pd.api.extensions.ExtensionArray):
        _check(a.dtype == b.dtype, path, "dtype", a.dtype, b.dtype)
        for name in _INSIDE:
            if hasattr(a, name):
                _same(getattr(a, name), getattr(b, name), f"{path}.{name}", seen)
    elif isinstance(a, pd.CategoricalDtype):
        _same(a.categories, b.categories, f"{path}.categories", seen)
        _check(a.ordered is b.ordered, path, "ordered", a.ordered, b.ordered)
    elif isinstance(a, pd.Timestamp):
        for what in ("_value", "unit", "fold", "tzinfo"):
            _check(getattr(a, what) == getattr(b, what), path, what, a, b)
    elif hasattr(a, "to_int_index"):
        _check(a.equals(b), path, "places", a, b)
    else:
        _check(a is b or a == b, path, "value", a, b)
        _check(str(a) == str(b), path, "text", a, b)


def _same_numpy(a: Any, b: Any, path: str, seen: dict[int, Any]) -> None:
    if a is np.ma.masked:
        _check(b is a, path, "value", a, b)
    elif isinstance(a, np.ma.MaskedArray):
        _same(a._data, b._data, f"{path}.data", seen)
        _same(a._mask, b._mask, f"{path}.mask", seen)
        _check((a._hardmask, a.fill_value) == (b._hardmask, b.fill_value), path, "mask", a, b)
    elif isinstance(a, np.ndarray):
        _check(a.dtype == b.dtype and a.tolist() == b.tolist() and a.shape == b.shape, path, "array", a, b)
    elif isinstance(a, np.random.Generator):
        _same(a.bit_generator, b.bit_generator, f"{path}.bits", seen)
    elif isinstance(a, np.random.BitGenerator):
        _same(a.state, b.state, f"{path}.state", seen)
        _same(a.seed_seq, b.seed_seq, f"{path}.seeds", seen)
    elif isinstance(a, np.random.SeedSequence):
        _same(a.state, b.state, f"{path}.seeds", seen)
    elif isinstance(a, np.random.RandomState):
        _same(a.get_state(legacy=False), b.get_state(legacy=False), f"{path}.state", seen)
    elif isinstance(a, np.generic):
        _check(np.array(a).tobytes() == np.array(b).tobytes(), path, "value", a, b)
    else:
        _check(a == b, path, "value", a, b)


def _same_polars(a: Any, b: Any, path: str, seen: dict[int, Any]) -> None:
    import polars as pl

    if isinstance(a, pl.DataFrame):
        _check(a.schema == b.schema and a.shape == b.shape, path, "schema", a.schema, b.schema)
        for one, other in zip(a.get_columns(), b.get_columns(), strict=True):
            _same_polars(one, other, f"{path}.column", seen)
    elif isinstance(a, pl.Series):
        _check(a.name == b.name and a.dtype == b.dtype and a.to_list() == b.to_list(), path, "values", a, b)
    else:
        _check(a == b, path, "value", a, b)


def _same_scipy(a: Any, b: Any, path: str, seen: dict[int, Any]) -> None:
    _check(a.shape == b.shape and a.dtype == b.dtype, path, "shape", a, b)
    if a.format == "dok":
        _check(list(a.items()) == list(b.items()), path, "items", a, b)
    elif a.format == "lil":
        _same(a.rows.tolist(), b.rows.tolist(), path, seen)
    else:
        for name in ("data", "indices", "indptr", "offsets", "coords"):
            if hasattr(a, name):
                _same(getattr(a, name), getattr(b, name), f"{path}.{name}", seen)
    _check(np.array_equal(a.toarray(), b.toarray()), path, "values", a, b)


def _same_shapely(a: Any, b: Any, path: str, seen: dict[int, Any]) -> None:
    import shapely

    _check(shapely.to_wkb(a) == shapely.to_wkb(b) and a.has_z == b.has_z, path, "geometry", a, b)
    _check(shapely.get_srid(a) == shapely.get_srid(b), path, "reference", a, b)


def _same_images(a: Any, b: Any, path: str, seen: dict[int, Any]) -> None:
    if not hasattr(a, "getdata"):
        _check(a == b, path, "value", a, b)
        return
    _check((a.mode, a.size, a.info) == (b.mode, b.size, b.info), path, "head", (a, a.info), (b, b.info))
    _check(a.tobytes() == b.tobytes(), path, "pixels", a, b)
    if a.mode == "P":
        _check(a.convert("RGBA").tobytes() == b.convert("RGBA").tobytes(), path, "palette", a, b)


def _same_graphs(a: Any, b: Any, path: str, seen: dict[int, Any]) -> None:
    for name in ("graph", "_node", "_adj", "_pred"):
        if hasattr(a, name):
            _same(getattr(a, name), getattr(b, name), f"{path}.{name}", seen)
    _check(list(a.edges) == list(b.edges), path, "edges", a, b)


def _same_rows(a: Any, b: Any, path: str, seen: dict[int, Any]) -> None:
    _same(dict(getattr(a, "_mapping", a)), dict(getattr(b, "_mapping", b)), path, seen)


def _same_tensors(a: Any, b: Any, path: str, seen: dict[int, Any]) -> None:
    import torch

    if isinstance(a, torch.UntypedStorage):
        _check(bytes(a) == bytes(b), path, "bytes", a, b)
        return
    if not isinstance(a, torch.Tensor):
        _check(a == b, path, "value", a, b)
        return
    for what in ("dtype", "shape", "layout", "device", "requires_grad"):
        _check(getattr(a, what) == getattr(b, what), path, what, getattr(a, what), getattr(b, what))
    _check((a.is_conj(), a.is_neg()) == (b.is_conj(), b.is_neg()), path, "conjugation", a, b)
    _same(a.__dict__, b.__dict__, f"{path}.__dict__", seen)
    if a.layout is torch.sparse_coo:
        _check(a.is_coalesced() == b.is_coalesced(), path, "coalesced", a, b)
        pairs = [(a._indices(), b._indices()), (a._values(), b._values())]
    elif a.layout is not torch.strided:
        by_rows = a.layout in (torch.sparse_csr, torch.sparse_bsr)
        names = ("crow_indices", "col_indices") if by_rows else ("ccol_indices", "row_indices")
        pairs = [(getattr(a, name)(), getattr(b, name)()) for name in (*names, "values")]
    else:
        _check((a.stride(), a.storage_offset()) == (b.stride(), b.storage_offset()), path, "place", a, b)
        _same(a.untyped_storage(), b.untyped_storage(), f"{path}.storage", seen)
        return
    for one, other in pairs:
        _check(torch.equal(one, other), path, "part", one, other)


def _same_estimators(a: Any, b: Any, path: str, seen: dict[int, Any]) -> None:
    if hasattr(a, "__dict__"):
        _same(vars(a), vars(b), f"{path}.__dict__", seen)
    else:
        # A tree, a loss.
        _same(a.__reduce__()[1:], b.__reduce__()[1:], f"{path}.state", seen)


_OTHERS = {
    "numpy": _same_numpy,
    "polars": _same_polars,
    "scipy": _same_scipy,
    "shapely": _same_shapely,
    "PIL": _same_images,
    "networkx": _same_graphs,
    "sklearn": _same_estimators,
    "sqlalchemy": _same_rows,
    "torch": _same_tensors,
}
