"""Values of each bundle's library, made anew for each seed, and what a program may do with them once they are loaded."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

SAMPLES: dict[str, Callable[[Any], list[Any]]] = {}
Samples = Callable[[Any], list[Any]]


def require(name: str) -> None:
    """PyTorch takes gigabytes, and has an environment of its own: `make test-torch`."""
    if name == "torch":
        pytest.importorskip("torch")


def bundle(name: str) -> Callable[[Samples], Samples]:
    def decorator(make: Samples) -> Samples:
        SAMPLES[name] = make
        return make

    return decorator


@bundle("pandas")
def pandas(rng: Any) -> list[Any]:
    import pandas as pd

    from tests.bundles import made_pandas as made

    size = int(rng.choice([0, 1, 3, 30]))
    some = [made.frame(rng), made.square(rng), made.series(rng, size), made.index(rng, size)]
    dtypes = [
        pd.CategoricalDtype(["a"], ordered=True),
        pd.DatetimeTZDtype("ns", "UTC"),
        pd.Int8Dtype(),
        pd.SparseDtype(float),
    ]
    return [
        *some,
        dtypes[rng.integers(len(dtypes))],
        pd.Timestamp(int(rng.integers(1 << 60)), tz=made.ZONES[rng.integers(len(made.ZONES))]),
        pd.Timestamp("2026-01-02").as_unit(str(rng.choice(made.UNITS))),
        pd.Timedelta(int(rng.integers(1 << 50))),
        pd.Period(ordinal=int(rng.integers(1000)), freq=str(rng.choice(["D", "M", "Q", "h"]))),
        pd.Interval(1, 2.5, closed=str(rng.choice(["left", "both"]))),
        [pd.NA, pd.NaT],
        pd.offsets.CustomBusinessDay(2, holidays=["2026-01-01"], weekmask="Mon Wed"),
        pd.DateOffset(months=3, day=2),
        pd.offsets.BusinessHour(start="09:30"),
    ]


@bundle("numpy")
def numpy(rng: Any) -> list[Any]:
    values = [
        rng.random((2, 3)),
        np.asfortranarray(rng.integers(0, 9, (2, 3))),
        np.array(["a", "b"]),
        np.zeros(3, [("x", ">f4"), ("y", "S3")]),
        np.array([{}, None, [1]], object),
        np.array(3.5),
    ][rng.integers(6)]
    masked = np.ma.array(values, hard_mask=bool(rng.integers(2)))
    if values.ndim and rng.integers(2):
        masked[..., 0] = np.ma.masked
    bits = [np.random.PCG64, np.random.PCG64DXSM, np.random.MT19937, np.random.Philox, np.random.SFC64][
        rng.integers(5)
    ]
    generator = np.random.Generator(bits(int(rng.integers(99))))
    generator.integers(0, 5, int(rng.integers(9)), dtype=np.int32)
    legacy = np.random.RandomState(int(rng.integers(99)))
    legacy.normal(size=int(rng.integers(4)))
    return [
        masked,
        np.ma.array([1, 2], mask=[1, 0], fill_value=77),
        np.ma.masked,
        np.matrix([[1, 2]]),
        np.rec.array([(1, 2.0), (3, 4.0)], dtype=[("a", "i4"), ("b", "f8")]),
        generator,
        [generator, generator.bit_generator],
        legacy,
        np.random.SeedSequence([1, 2], spawn_key=(3,)),
    ]


def arrow_arrays(rng: Any) -> list[Any]:
    import datetime
    import decimal

    import pyarrow as pa

    size = int(rng.choice([0, 1, 5, 100]))
    nulls = rng.random(size) < 0.3
    texts = ["", "a", "ß", "日本", "x" * 40]
    kind = [pa.int8(), pa.uint64(), pa.float32(), pa.float64(), pa.int32()][rng.integers(5)]
    return [
        pa.array(rng.integers(0, 99, size), mask=nulls).cast(kind),
        pa.array([texts[at] for at in rng.integers(0, 5, size)], mask=nulls),
        pa.array([texts[at] for at in rng.integers(0, 5, size)], pa.large_string()),
        pa.array([texts[at] for at in rng.integers(0, 5, size)], pa.string_view()),
        pa.array(["text"] * 100)[int(rng.integers(90)) :],
        pa.array([[1], None, [2, 3]] * 30)[int(rng.integers(40)) :],
        pa.array([{"a": 1, "b": [None, "x"]}, None]),
        pa.array(["a", "b", "a", None]).dictionary_encode(),
        pa.array([[("k", 1)], [], None], pa.map_(pa.string(), pa.int64())),
        pa.nulls(size),
        pa.array([True, None, False]),
        pa.array([decimal.Decimal("1.5"), None]),
        pa.UnionArray.from_sparse(pa.array([0, 1], pa.int8()), [pa.array([1, 2]), pa.array(["a", "b"])]),
        pa.UnionArray.from_dense(
            pa.array([0, 1], pa.int8()), pa.array([0, 0], pa.int32()), [pa.array([1]), pa.array(["b"])]
        ),
        pa.RunEndEncodedArray.from_arrays([3, 5], [1.5, None]),
        pa.array([[1, 2], [3, 4]], pa.list_(pa.int8(), 2)),
        pa.array([[1, 2], [3, 4]], pa.list_view(pa.int8())),
        pa.array([datetime.datetime(2026, 1, 1)], pa.timestamp("us", "Europe/Oslo")),
        pa.array([b"abc"], pa.binary(3)),
        pa.array([b"abc", None], pa.binary()),
        pa.array(range(100_000))[5:50],
        pa.array([datetime.time(1, 2)]),
        *(
            pa.ExtensionArray.from_storage(uuid(), pa.array([b"0" * 16, None], pa.binary(16)))
            for uuid in [getattr(pa, "uuid", None)]
            if uuid is not None
        ),
    ]


@bundle("pyarrow")
def pyarrow(rng: Any) -> list[Any]:
    import pyarrow as pa

    arrays = arrow_arrays(rng)
    some = [arrays[at] for at in rng.choice(len(arrays), 4, replace=False)]
    one = some[0]
    short = [array[:1] for array in some if len(array)]
    table = pa.table({f"column {at}": array for at, array in enumerate(short)})
    return [
        *some,
        pa.chunked_array([one, one[:1], one[:0]]),
        table.replace_schema_metadata({"k": "v"}),
        pa.table({}),
        pa.record_batch({f"column {at}": array for at, array in enumerate(short)})
        if short
        else pa.record_batch({"a": [1]}),
        table.schema,
        pa.field("name", one.type, nullable=False, metadata={"k": "v"})
        if one.type != pa.null()
        else pa.field("n", pa.null()),
        one.type,
        list(one)[:3],
        pa.py_buffer(b"abc"),
    ]


@bundle("polars")
def polars(rng: Any) -> list[Any]:
    import datetime as dt
    import decimal

    import polars as pl

    size = 3
    columns = [
        pl.Series("a", [1, None, 3], pl.Int8),
        pl.Series("b", ["x", None, "y" * 40]),
        pl.Series("c", ["u", "v", "u"], pl.Categorical),
        pl.Series("d", ["p", "q", None], pl.Enum(["p", "q", "r"])),
        pl.Series("e", [dt.datetime(2026, 1, 1)] * 3, pl.Datetime("ms", "Europe/Oslo")),
        pl.Series("f", [[1], [], None]),
        pl.Series("g", [{"a": 1, "b": ["x"]}] * 3),
        pl.Series("h", [decimal.Decimal("1.50"), None, decimal.Decimal("2")]),
        pl.Series("i", [dt.timedelta(1)] * 3, pl.Duration("ns")),
        pl.Series("j", [dt.time(1), None, dt.time(2)]),
        pl.Series("k", [b"1", None, b"2"]),
        pl.Series("l", [None] * 3),
        pl.Series("m", [[1, 2]] * 3, pl.Array(pl.Int32, 2)),
        pl.Series("n", rng.random(size), pl.Float32),
        pl.Series("o", [True, None, False]),
        pl.Series("p", [dt.date(2026, 1, 1)] * 3),
        pl.Series("q", [["p"], ["q"], None], pl.List(pl.Enum(["p", "q"]))),
        pl.Series("r", [1, 2, 1 << 100], pl.Int128) if hasattr(pl, "Int128") else pl.Series("r", [1, 2, 3]),
        pl.Series("s", [["p"], ["q"], None], pl.List(pl.Categorical)),
    ]
    some = [columns[at] for at in rng.choice(len(columns), 5, replace=False)]
    frame = pl.DataFrame(some)
    return [
        frame,
        frame[int(rng.integers(3)) :],
        pl.DataFrame(),
        *some,
        some[0][1:],
        some[0].clear(),
        *(one.dtype for one in some if not isinstance(one.dtype, type)),
        pl.Series("object", [{1}, 3, None], dtype=pl.Object),
    ]


@bundle("scipy")
def scipy(rng: Any) -> list[Any]:
    import scipy.sparse as sparse

    shape = [(0, 0), (1, 1), (3, 0), (5, 4), (40, 30)][rng.integers(5)]
    values = ((rng.random(shape) < 0.3) * rng.integers(1, 9, shape)).astype(
        rng.choice(["f8", "f4", "i8", "c16", "?", "u1"])
    )
    form = str(rng.choice(["array", "matrix"]))
    made = [getattr(sparse, f"{kind}_{form}")(values) for kind in ("csr", "csc", "coo", "lil", "dok")]
    if 0 not in shape:
        made += [getattr(sparse, f"{kind}_{form}")(values) for kind in ("dia", "bsr")]
    wide = sparse.csr_array(rng.random((2, 3)))
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    made.append(wide)
    for kind, shape in (("coo", (3,)), ("coo", (2, 3, 2)), ("csr", (3,))):
        try:
            made.append(getattr(sparse, f"{kind}_array")(np.ones(shape)))
        except (TypeError, ValueError):
            continue  # before 1.13 there were two dimensions
    return made


@bundle("shapely")
def shapely(rng: Any) -> list[Any]:
    import shapely

    geometries = [
        shapely.from_wkt(text)
        for text in (
            "POINT (1 2)", "POINT EMPTY", "POINT Z (1 2 3)", "LINESTRING (0 0, 1 1)", "LINESTRING EMPTY", "POLYGON ((0 0, 1 0, 1 1, 0 0))",
            "POLYGON EMPTY", "POLYGON Z ((0 0 1, 1 0 1, 1 1 1, 0 0 1))", "MULTIPOINT (0 0, 1 1)", "MULTILINESTRING ((0 0, 1 1), (2 2, 3 3))",
            "MULTIPOLYGON (((0 0, 1 0, 1 1, 0 0)))", "GEOMETRYCOLLECTION (POINT (1 2), GEOMETRYCOLLECTION (POINT (1 2)))",
            "GEOMETRYCOLLECTION EMPTY", "LINEARRING (0 0, 1 0, 1 1, 0 0)", "LINEARRING EMPTY", "MULTIPOINT EMPTY",
            "LINEARRING Z (0 0 1, 1 0 1, 1 1 1, 0 0 1)",
        )
    ]  # fmt: skip
    many = shapely.GeometryCollection([shapely.MultiPoint(rng.random((2, 2))) for _ in range(150)])
    return [*geometries, *(shapely.set_srid(one, 4326) for one in geometries), many]


@bundle("pillow")
def pillow(rng: Any) -> list[Any]:
    from PIL import Image, PngImagePlugin

    made = []
    for mode in (
        "1",
        "L",
        "LA",
        "La",
        "I;16",
        "I;16B",
        "RGB",
        "YCbCr",
        "LAB",
        "HSV",
        "RGBA",
        "RGBX",
        "RGBa",
        "CMYK",
        "I",
        "F",
        "PA",
    ):
        size = (int(rng.integers(0, 20)), int(rng.integers(0, 5)))
        image = Image.new(mode, size)
        if 0 not in size and mode != "PA":
            image.frombytes(rng.integers(0, 256, len(image.tobytes()), np.uint8).tobytes())
        made.append(image)
    for colors, mode in ((30, "RGB"), (40, "RGBA")):
        image = Image.new("P", (4, 3))
        image.putpalette(bytes(range(colors)), mode)
        made.append(image)
    notes = PngImagePlugin.PngInfo()
    notes.add_itxt("key", "value", "en", "word")
    file = io.BytesIO()
    Image.new("RGB", (4, 4), (1, 2, 3)).save(file, "PNG", pnginfo=notes, dpi=(72, 72))
    return [*made, Image.open(file)]


@bundle("networkx")
def networkx(rng: Any) -> list[Any]:
    import networkx as nx

    made = []
    for cls in (nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph):
        graph = cls(name="x", me=[1])
        graph.add_node(5, color=["r"])
        graph.add_edge("a", (1, 2), weight=float(rng.random()))
        graph.add_edges_from(rng.integers(0, 9, (6, 2)).tolist())
        graph.nodes[5]["me"] = graph
        made.append(graph)
    return [*made, nx.Graph()]


@bundle("sqlalchemy")
def sqlalchemy(rng: Any) -> list[Any]:
    import sqlalchemy as sa

    with sa.create_engine("sqlite://").connect() as connection:
        rows = connection.execute(sa.text("select 1 as a, 'x' as b union all select 2, null")).all()
    return [rows, rows[0], rows[0]._mapping]


@bundle("pydantic")
def pydantic(rng: Any) -> list[Any]:
    import pydantic

    return [
        pydantic.SecretStr("secret"),
        pydantic.SecretBytes(b"secret"),
        pydantic.ByteSize(5),
        pydantic.HttpUrl("https://a.b/c?d=1"),
        pydantic.AnyUrl("x://y"),
        pydantic.PostgresDsn("postgres://u:p@h:1/d"),
        pydantic.MongoDsn("mongodb://a:1,b:2/x"),
    ]


@bundle("torch")
def torch(rng: Any) -> list[Any]:
    from collections import OrderedDict

    import torch

    torch.manual_seed(int(rng.integers(1 << 30)))
    numbers = torch.from_numpy(rng.random((3, 4, 5)))
    dtypes = [
        torch.bool,
        torch.uint8,
        torch.int64,
        torch.float16,
        torch.bfloat16,
        torch.float32,
        torch.complex64,
    ]
    some = [(numbers * 9).to(dtypes[at]) for at in rng.choice(len(dtypes), 3, replace=False)]
    model = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.BatchNorm1d(2))
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.ones(4, 3)).sum().backward()
    optimizer.step()
    noted = torch.ones(2)
    noted.note = ["a"]
    sparse = torch.from_numpy((rng.random((4, 6)) < 0.4) * rng.random((4, 6)))
    places = torch.tensor([[0, 1, 1], [2, 0, 0]])
    return [
        *some,
        [numbers, numbers[1:], numbers.T, numbers[0].expand(2, 4, 5), numbers[5:]],
        torch.tensor(5),
        torch.empty(0, 3),
        torch.nn.Parameter(torch.ones(2, 2)),
        torch.nn.Parameter(torch.ones(2), requires_grad=False),
        torch.ones(2, requires_grad=True),
        noted,
        torch.tensor([1 + 2j, 3]).conj(),
        torch.tensor([1 + 2j, 3]).conj().imag,
        sparse.to_sparse(),
        torch.sparse_coo_tensor(places, [1.0, 2.0, 3.0], (2, 3), check_invariants=True),
        sparse.to_sparse_csr(),
        sparse.to_sparse_csc(),
        sparse.to_sparse_bsr((2, 3)),
        model.state_dict(),
        optimizer.state_dict(),
        OrderedDict(
            a=numbers, b=[numbers.size(), numbers.dtype, numbers.device, numbers.layout, torch.channels_last]
        ),
        numbers.untyped_storage(),
    ]


def use(value: Any) -> None:
    """What a program may do with a loaded value. It may raise; it must not end the process."""
    if (hasattr(value, "__len__") and len(value) > 100_000) or (
        getattr(value, "size", 0) is not None and np.prod(getattr(value, "size", 0)) > 10**6
    ):
        return  # large by itself: a range, for example
    for name, arguments in (
        ("__repr__", ()), ("describe", ()), ("sort_index", ()), ("isna", ()), ("reset_index", ()), ("to_dict", ()), ("unique", ()), ("sort_values", ()),
        ("to_list", ()), ("to_pylist", ()), ("value_counts", ()), ("toarray", ()), ("tocsc", ()), ("sum", ()), ("random", (3,)), ("spawn", (1,)),
        ("buffer", (1,)), ("tobytes", ()), ("resize", ((2, 2),)), ("cast", ("string",)), ("filled", ()), ("equals", (value,)),
        ("tolist", ()), ("to_dense", ()), ("coalesce", ()), ("clone", ()),
    ):  # fmt: skip
        method = getattr(type(value), name, None)
        if method is not None:
            try:
                method(value, *arguments)
            except Exception:
                pass
            except BaseException as error:
                # polars's own, for what it can't hash, and for points in time that no calendar has.
                if type(error).__name__ != "PanicException":
                    raise
