"""Tables and arrays."""

from __future__ import annotations

from typing import Any, Iterator

from tests.zoo.specimens import zoo


@zoo("numpy")
def numpy_objects() -> Iterator[Any]:
    import numpy as np

    base = np.arange(12.0).reshape(3, 4)
    yield "C order", base, lambda a: (a.flags.c_contiguous, a.strides, a.sum())
    yield "Fortran order", np.asfortranarray(base), lambda a: (a.flags.f_contiguous, a.strides)
    yield "transposed", base.T, lambda a: (a.flags.f_contiguous, a.strides)
    yield "a slice", base[::2, 1:], lambda a: a.tolist()
    frozen = base.copy()
    frozen.flags.writeable = False
    yield "read-only", frozen, lambda a: a.flags.writeable
    for text in (
        "?",
        "i1",
        "u2",
        "<i4",
        ">i4",
        "<f2",
        ">f8",
        "c8",
        "c16",
        "U3",
        "S3",
        "V4",
        "M8[ns]",
        "m8[D]",
        "O",
        "g",
        "G",
    ):
        kind = np.dtype(text)
        yield f"dtype {text}", kind, lambda d: (d.str, d.isnative, d is np.dtype(d.str))
        array = np.zeros(3, kind)
        yield (
            f"array of {text}",
            array,
            lambda a: (a.dtype.str, a.dtype.isnative, a.dtype is np.dtype(a.dtype.str)),
        )
        if text != "O":
            yield f"scalar of {text}", array[0], lambda a: type(a).__name__
    yield "no dimensions", np.array(5), lambda a: a.shape
    yield "no items", np.zeros((0, 3)), lambda a: a.shape
    yield "objects that hold the array", holding(np), lambda a: a[0] is a
    fields = np.array([(1, 2.5, "x")], dtype=[("a", "i4"), ("b", "f8"), ("c", "U2")])
    yield "fields", fields, lambda a: (a["b"].tolist(), a.dtype.names)
    yield "a row", fields[0], lambda a: a["a"]
    yield "record array", fields.view(np.recarray), lambda a: a.b.tolist()
    yield (
        "aligned dtype",
        np.dtype([("a", "i1"), ("b", "f8")], align=True),
        lambda d: (d.isalignedstruct, d.itemsize),
    )
    yield "dtype with titles", np.dtype([(("title", "a"), "i4")]), lambda d: d.fields["title"]
    yield "dtype with metadata", np.dtype("i4", metadata={"a": 1}), lambda d: None
    yield "subarray dtype", np.dtype(("i4", (2, 3))), lambda d: d.shape
    yield "string dtype", np.dtypes.StringDType(), repr
    yield (
        "texts of any length",
        np.array(["a", "bc" * 20], dtype=np.dtypes.StringDType(na_object=None)),
        lambda a: a.tolist(),
    )
    yield (
        "masked array",
        np.ma.array([1, 2, 3], mask=[0, 1, 0], fill_value=9),
        lambda a: (a.sum(), a.fill_value),
    )
    yield "masked", np.ma.masked, lambda a: a is np.ma.masked
    yield "matrix", np.matrix([[1, 2]]), lambda a: (a * a.T).tolist()
    yield "memmap-like char array", np.char.array(["a", "b"]), lambda a: a.upper().tolist()
    yield "Generator", np.random.default_rng(5), lambda g: g.bit_generator.state["state"]["state"]
    yield "RandomState", np.random.RandomState(5), lambda g: g.get_state()[1][:3].tolist()
    yield "SeedSequence", np.random.SeedSequence(5), lambda s: s.generate_state(2).tolist()
    yield (
        "bit generators",
        [
            np.random.PCG64(1),
            np.random.MT19937(1),
            np.random.Philox(1),
            np.random.SFC64(1),
            np.random.PCG64DXSM(1),
        ],
        lambda g: [type(x).__name__ for x in g],
    )
    yield "ufunc", [np.add, np.sin], lambda u: u[0] is np.add
    yield "functions", [np.sum, np.linalg.norm, np.fft.fft], lambda f: f[0] is np.sum
    yield "Polynomial", np.polynomial.Polynomial([1, 2, 3]), lambda p: p(2)
    yield "poly1d", np.poly1d([1, 2]), lambda p: p(3)
    yield "finfo", [np.finfo("f4"), np.iinfo("i2")], lambda f: f[1].max
    yield "types", [np.float64, np.int8, np.ndarray, np.dtype("f8").type], None
    yield "errors", [np.linalg.LinAlgError("x"), np.exceptions.AxisError(3, 2)], lambda e: str(e[1])
    yield "sub class", SubArray(base), lambda a: (a.note, type(a).__name__)


def SubArray(base: Any) -> Any:
    from tests.zoo.frames_classes import Annotated

    return Annotated.of(base, "n")


def holding(np: Any) -> Any:
    array = np.empty(2, object)
    array[0], array[1] = array, [1]
    return array


@zoo("pandas")
def pandas_objects() -> Iterator[Any]:
    import numpy as np
    import pandas as pd

    yield "NA", pd.NA, lambda x: (x is pd.NA, pd.isna(x))
    yield "NaT", pd.NaT, lambda x: (x is pd.NaT, pd.isna(x))
    stamp = pd.Timestamp("2024-02-29 12:00:00.123456789", tz="Europe/Paris")
    yield "Timestamp", stamp, lambda x: (x.nanosecond, str(x.tz), x.value, x.unit)
    yield "Timestamp in seconds", pd.Timestamp("2024-01-01").as_unit("s"), lambda x: x.unit
    yield "Timedelta", pd.Timedelta("1d 3ns"), lambda x: x.value
    yield "Period", pd.Period("2024-03", "M"), lambda x: (x + 1, x.freqstr)
    yield "Interval", pd.Interval(1, 2, closed="left"), lambda x: 1 in x
    yield (
        "offsets",
        [
            pd.offsets.BDay(3),
            pd.offsets.MonthEnd(),
            pd.DateOffset(months=2),
            pd.offsets.Week(weekday=2),
            pd.offsets.CustomBusinessDay(holidays=["2024-01-01"]),
        ],
        lambda x: str(x[0] + pd.Timestamp("2024-01-01")),
    )
    yield (
        "Categorical",
        pd.Categorical(["a", "b", "a"], ordered=True),
        lambda x: (x.codes.tolist(), x.ordered),
    )
    columns = {
        "i": pd.Series([1, 2, 3]),
        "f": pd.Series([1.5, np.nan, 3]),
        "s": pd.Series(["a", None, "c"]),
        "string": pd.Series(["a", pd.NA, "c"], dtype="string"),
        "Int64": pd.Series([1, None, 3], dtype="Int64"),
        "boolean": pd.Series([True, None, False], dtype="boolean"),
        "category": pd.Series(["x", "y", "x"], dtype="category"),
        "time": pd.Series(pd.date_range("2024-01-01", periods=3, tz="UTC")),
        "delta": pd.Series(pd.to_timedelta([1, 2, None], unit="h")),
        "period": pd.Series(pd.period_range("2024-01", periods=3, freq="M")),
        "interval": pd.Series(pd.interval_range(0, 3)),
        "sparse": pd.Series(pd.arrays.SparseArray([0, 0, 1])),
        "objects": pd.Series([[1], {"a": 1}, (2,)]),
        "arrow": pd.Series([1, 2, None], dtype="int64[pyarrow]"),
        "arrow text": pd.Series(["a", None, "c"], dtype="string[pyarrow]"),
    }
    for name, series in columns.items():
        yield f"Series {name}", series, lambda s: (s.isna().tolist(), str(s.dtype), s.astype(str).tolist())
        yield f"dtype {name}", series.dtype, lambda d: str(d)
        yield f"array {name}", series.array, lambda a: (len(a), str(a.dtype))
    frame = pd.DataFrame(columns)
    frame.attrs["source"] = "zoo"
    yield (
        "DataFrame",
        frame,
        lambda f: (f.shape, f.attrs, f.isna().sum().tolist(), f.describe().shape, f["i"].sum()),
    )
    yield "groups", frame.groupby("category", observed=True)["i"].sum(), lambda s: s.to_dict()
    for index in (
        pd.Index([1, 2]),
        pd.Index(["a", "b"], name="n"),
        pd.RangeIndex(5),
        pd.date_range("2024", periods=3, freq="D"),
        pd.period_range("2024", periods=2, freq="Y"),
        pd.timedelta_range("1h", periods=2),
        pd.interval_range(0, 2),
        pd.CategoricalIndex(["a", "b"]),
        pd.MultiIndex.from_product([[1, 2], ["a", "b"]], names=["x", "y"]),
    ):
        yield (
            f"{type(index).__name__}",
            index,
            lambda i: (len(i), i.get_loc(i[0]), i.names, getattr(i, "freqstr", None)),
        )
    multi = pd.DataFrame(
        np.arange(8.0).reshape(2, 4), columns=pd.MultiIndex.from_product([["a", "b"], [1, 2]])
    )
    yield "MultiIndex columns", multi, lambda f: f.loc[:, ("a", 2)].tolist()
    yield (
        "flags",
        pd.DataFrame([1]).set_flags(allows_duplicate_labels=False),
        lambda f: f.flags.allows_duplicate_labels,
    )
    yield "rolling", pd.Series([1.0, 2, 3]).rolling(2), lambda r: r.sum().tolist()[1:]
    yield "Grouper", pd.Grouper(freq="D"), repr
    yield "errors", [pd.errors.EmptyDataError("x"), pd.errors.ParserError("y")], lambda e: str(e[0])
    yield "NamedAgg", pd.NamedAgg("a", "sum")
    yield (
        "types",
        [
            pd.Int64Dtype(),
            pd.StringDtype(),
            pd.CategoricalDtype(["a"]),
            pd.DatetimeTZDtype(tz="UTC"),
            pd.PeriodDtype("M"),
            pd.IntervalDtype("int64"),
            pd.SparseDtype(float),
            pd.BooleanDtype(),
        ],
        lambda d: [str(x) for x in d],
    )


@zoo("polars")
def polars_objects() -> Iterator[Any]:
    import datetime

    import polars as pl

    frame = pl.DataFrame(
        {
            "a": [1, None, 3],
            "s": ["x", "y", None],
            "l": [[1], [2, 3], []],
            "d": [datetime.date(2024, 1, 1)] * 3,
        }
    )
    yield "DataFrame", frame, lambda f: (f.shape, f["a"].sum(), f.rows())
    yield "empty", pl.DataFrame(), lambda f: f.shape
    yield (
        "Series",
        [pl.Series("n", [1.5, None]), pl.Series(["a"], dtype=pl.Categorical), pl.Series([{"x": 1}])],
        lambda s: [x.to_list() for x in s],
    )
    yield "LazyFrame", frame.lazy().filter(pl.col("a") > 1), lambda f: f.collect().height
    yield "Expr", pl.col("a").sum().over("s") + 1, str
    yield (
        "dtypes",
        [
            pl.Int64,
            pl.Int64(),
            pl.List(pl.Utf8),
            pl.Datetime("us", "UTC"),
            pl.Struct({"a": pl.Int8}),
            pl.Enum(["a", "b"]),
            pl.Decimal(10, 2),
        ],
        lambda d: [str(x) for x in d],
    )
    yield "Schema", frame.schema, lambda s: s.names()
    yield "Config and errors", [pl.exceptions.ColumnNotFoundError("x")], lambda e: str(e[0])


@zoo("pyarrow", "pyarrow", "pyarrow.compute", "pyarrow.dataset", "pyarrow.fs", "pyarrow.parquet")
def pyarrow_objects() -> Iterator[Any]:
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.dataset as ds
    import pyarrow.fs as fs

    table = pa.table({"a": [1, None, 3], "s": ["x", "y", None], "l": [[1], [], None]})
    yield "Table", table, lambda t: (t.num_rows, t.to_pydict())
    yield "RecordBatch", table.to_batches()[0], lambda t: t.to_pydict()
    yield "ChunkedArray", table["a"], lambda t: t.to_pylist()
    yield (
        "arrays",
        [
            pa.array([1, 2]),
            pa.array(["a", None]),
            pa.array([{"x": 1}]),
            pa.array(["a", "b"]).dictionary_encode(),
            pa.nulls(2),
        ],
        lambda a: [x.to_pylist() for x in a],
    )
    yield "a slice", pa.array(range(10)).slice(3, 4), lambda a: (a.to_pylist(), a.offset)
    yield (
        "types",
        [
            pa.int8(),
            pa.list_(pa.string()),
            pa.struct([("a", pa.int32())]),
            pa.timestamp("ns", "UTC"),
            pa.decimal128(5, 2),
            pa.dictionary(pa.int8(), pa.utf8()),
            pa.map_(pa.utf8(), pa.int8()),
        ],
        lambda d: [str(x) for x in d],
    )
    yield "Schema", table.schema.with_metadata({"k": "v"}), lambda s: (s.names, s.metadata)
    yield (
        "Field",
        pa.field("a", pa.int8(), nullable=False, metadata={"k": "v"}),
        lambda f: (f.nullable, f.metadata),
    )
    yield (
        "scalars",
        [pa.scalar(5), pa.scalar("x"), pa.scalar([1, 2]), pa.NULL],
        lambda s: [x.as_py() for x in s],
    )
    yield "Buffer", pa.py_buffer(b"abc"), lambda b: b.to_pybytes()
    yield "expressions", pc.field("a") > 5, str
    yield "options", [pc.CountOptions(mode="all"), pc.SortOptions([("a", "descending")])], repr
    yield (
        "Tensor",
        pa.Tensor.from_numpy(__import__("numpy").arange(6.0).reshape(2, 3)),
        lambda t: t.to_numpy().tolist(),
    )
    yield (
        "file systems",
        [fs.LocalFileSystem(), fs.SubTreeFileSystem("/", fs.LocalFileSystem())],
        lambda f: f[0].type_name,
    )
    yield (
        "formats",
        [ds.ParquetFileFormat(), ds.IpcFileFormat(), ds.CsvFileFormat()],
        lambda f: [x.default_extname for x in f],
    )
    yield "MonthDayNano", pa.MonthDayNano([1, 2, 3]), lambda m: m.days


@zoo("xarray")
def xarray_objects() -> Iterator[Any]:
    import numpy as np
    import pandas as pd
    import xarray as xr

    array = xr.DataArray(
        np.arange(6.0).reshape(2, 3),
        dims=("x", "t"),
        coords={"t": pd.date_range("2024", periods=3), "x": [10, 20]},
        name="n",
        attrs={"units": "m"},
    )
    yield "DataArray", array, lambda a: (float(a.sel(x=20).sum()), a.attrs, a.dims)
    data = xr.Dataset({"a": array, "b": ("x", [1, 2])})
    yield "Dataset", data, lambda d: (list(d), float(d.a.mean()), dict(d.sizes))
    yield "Variable", xr.Variable("x", [1, 2], {"k": 1}), lambda v: v.values.tolist()
    yield "a lazy one", array.chunk({"x": 1}) if has("dask") else array, lambda a: float(a.sum())
    yield "groups", array.groupby("x"), lambda g: sorted(g.groups)


def has(name: str) -> bool:
    import importlib.util

    return importlib.util.find_spec(name) is not None


@zoo("geopandas", "geopandas", "shapely")
def geopandas_objects() -> Iterator[Any]:
    import geopandas as gpd
    from shapely.geometry import Point

    series = gpd.GeoSeries([Point(1, 2), Point(3, 4), None], crs="EPSG:4326")
    yield "GeoSeries", series, lambda s: (s.x.tolist()[:2], str(s.crs))
    yield (
        "GeoDataFrame",
        gpd.GeoDataFrame({"a": [1, 2, 3]}, geometry=series),
        lambda f: (f.geometry.name, f.total_bounds.tolist()),
    )


@zoo("shapely", "shapely", "shapely.geometry", "shapely.prepared")
def shapely_objects() -> Iterator[Any]:
    import shapely
    from shapely import geometry as g

    square = g.Polygon([(0, 0), (2, 0), (2, 2), (0, 2)], [[(0.5, 0.5), (1, 0.5), (1, 1)]])
    for shape in (
        g.Point(1, 2),
        g.Point(1, 2, 3),
        g.LineString([(0, 0), (1, 1)]),
        square,
        g.MultiPoint([(0, 0), (1, 1)]),
        g.GeometryCollection([g.Point(0, 0)]),
        g.LinearRing([(0, 0), (1, 0), (1, 1)]),
        g.Point(),
    ):
        yield shape.geom_type, shape, lambda s: (s.wkt, s.area, s.is_empty)
    yield "with an SRID", shapely.set_srid(g.Point(1, 2), 4326), lambda s: shapely.get_srid(s)
    yield (
        "STRtree",
        shapely.STRtree([g.Point(i, i) for i in range(5)]),
        lambda t: t.query(g.box(1, 1, 3, 3)).tolist(),
    )
    yield "an array", shapely.points([[1, 2], [3, 4]]), lambda a: shapely.get_x(a).tolist()


@zoo("awkward")
def awkward_objects() -> Iterator[Any]:
    import awkward as ak

    yield "Array", ak.Array([[1, 2], [], [3.5]]), lambda a: a.to_list()
    yield "records", ak.Array([{"x": 1, "y": [1]}, {"x": 2, "y": []}]), lambda a: a.x.to_list()
    yield "Record", ak.Record({"x": 1}), lambda r: r.to_list()


@zoo("dask", "dask", "dask.array", "dask.delayed")
def dask_objects() -> Iterator[Any]:
    import dask
    import dask.array as da

    yield "array", da.arange(10, chunks=3), lambda a: int(a.sum().compute(scheduler="sync"))
    yield "delayed", dask.delayed(sum)([1, 2]), lambda d: d.compute(scheduler="sync")


@zoo("sparse")
def sparse_objects() -> Iterator[Any]:
    import sparse

    yield "COO", sparse.COO([[0, 1], [1, 0]], [1.5, 2], shape=(2, 2)), lambda a: a.todense().tolist()
    yield "DOK", sparse.DOK((2, 2), {(0, 1): 1}), lambda a: a.todense().tolist()


@zoo("zarr", "zarr", "numcodecs")
def zarr_objects() -> Iterator[Any]:
    import numcodecs

    yield (
        "codecs",
        [numcodecs.Zlib(3), numcodecs.Blosc("lz4"), numcodecs.Delta("i4")],
        lambda c: [x.get_config() for x in c],
    )


@zoo("h5py")
def h5py_objects() -> Iterator[Any]:
    import h5py

    yield (
        "dtypes",
        [h5py.string_dtype(), h5py.enum_dtype({"a": 1}), h5py.vlen_dtype(int)],
        lambda d: [str(x) for x in d],
    )


@zoo("numba")
def numba_objects() -> Iterator[Any]:
    from numba import types

    yield (
        "types",
        [types.int64, types.float64[:], types.Tuple((types.int8, types.int8)), types.unicode_type],
        lambda t: (t[0] is types.int64, [str(x) for x in t]),
    )
    yield "signature", types.int64(types.int64, types.float32), str
