"""What newer versions of Python have besides: each is kept, or refused by name; a test skips where its Python has none of it."""

from __future__ import annotations

import array
import builtins
import importlib.util
import pathlib
import pickle
import shelve
import sys
import textwrap
import types
import uuid
from typing import Any

import pytest

import holdall
from holdall import msgpack, safe_pickle
from tests.support import wire
from tests.support.isomorphic import isomorphic

since = {
    version: pytest.mark.skipif(sys.version_info < version, reason=f"since {version[0]}.{version[1]}")
    for version in ((3, 12), (3, 13), (3, 14), (3, 15))
}


def program(tmp_path: pathlib.Path, name: str, source: str) -> Any:
    """A module of this text, which may be of a newer Python than these tests."""
    path = tmp_path / f"{name}.py"
    path.write_text(textwrap.dedent(source))
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    finally:
        del sys.modules[name]
    return module


def ways(obj: Any) -> list[Any]:
    return [
        holdall.loads(holdall.dumps(obj)),
        holdall.loads(holdall.dumps(obj, canonical=True)),
        holdall.loads(holdall.dumps(obj, trust=True), trust=True),
        holdall.deepcopy(obj),
        holdall.pickle.loads(holdall.pickle.dumps(obj)),
        safe_pickle.loads(safe_pickle.dumps(obj)),
    ]


@since[3, 14]
def test_template_strings() -> None:
    from string.templatelib import Interpolation, Template  # type: ignore[import-not-found]

    shared = [1, {"a": 2}]
    one = Interpolation(shared, "shared", "r", ">5")
    cases = [
        Template(),
        Template("text"),
        Template(one),
        Template("a", one, one, "b", Interpolation(shared, "shared"), ""),
        Template("ü", Interpolation(Template("inner", one), "t"), "\ud800"),
    ]
    for case in cases:
        for copy in ways(case):
            assert type(copy) is Template and copy.strings == case.strings
            assert len(copy.interpolations) == len(case.interpolations)
            for found, kept in zip(copy.interpolations, case.interpolations, strict=True):
                assert type(found) is Interpolation
                assert (found.expression, found.conversion, found.format_spec) == (
                    kept.expression,
                    kept.conversion,
                    kept.format_spec,
                )
    for copy in ways(cases[3]):
        first, second, third = copy.interpolations
        assert first is second and first.value is third.value and first.value == shared
    for copy in ways(one):
        assert (copy.value, copy.expression, copy.conversion, copy.format_spec) == (
            shared,
            "shared",
            "r",
            ">5",
        )
    # A template that holds itself by a list.
    cycle: list[Any] = []
    cycle.append(Template("a", Interpolation(cycle, "cycle")))
    for copy in ways(cycle):
        assert copy[0].interpolations[0].value is copy


def stored_as(name: str, content: bytes) -> bytes:
    """A message that says this of an instance of the class."""
    return wire.message(wire.layout("custom", name, [], content))


TEMPLATE, INTERPOLATION = "string.templatelib.Template", "string.templatelib.Interpolation"
LIES: dict[str, list[Any]] = {
    TEMPLATE: [
        None,
        (),
        ((), ()),
        (("a",), (1,)),
        (("a", 1), (2,)),
        (("a", "b"), (2,)),
        (("a", "b"), ("c",)),
        (("a", "b", "c"), (2,)),
        ((1,), ()),
        ("ab", "c"),
        5,
    ],
    INTERPOLATION: [None, (), (1, 2, 3, 4), (1, "x", "q", ""), (1, "x", None, "", 5), 5],
    "builtins.frozendict": [None, (), [("a", 1)], 5, "ab"],
}


@since[3, 14]
@pytest.mark.parametrize("name", LIES)
def test_messages_that_lie_about_them(name: str) -> None:
    import string.templatelib

    for content in LIES[name]:
        with pytest.raises(holdall.DecodeError):
            holdall.loads(stored_as(name, holdall.dumps(content)[1:]))
    # And what those messages would be otherwise.
    one = holdall.loads(stored_as(INTERPOLATION, holdall.dumps((1, "x", None, ""))[1:]))
    assert type(one) is string.templatelib.Interpolation and (one.value, one.expression) == (1, "x")
    two = holdall.loads(stored_as(TEMPLATE, holdall.dumps((("a",), ()))[1:]))
    assert type(two) is string.templatelib.Template and two.strings == ("a",)


@since[3, 15]
def test_frozendict() -> None:
    frozendict: Any = builtins.frozendict  # type: ignore[attr-defined]
    inner = [1]
    cases = [
        frozendict(),
        frozendict(a=1),
        frozendict({1: inner, "b": inner, (2,): frozendict(x=None)}),
        frozendict({None: {1, 2}}),
    ]
    for case in cases:
        for copy in ways(case):
            assert type(copy) is frozendict and copy == case and list(copy) == list(case)
    for copy in ways(cases[2]):
        assert copy[1] is copy["b"]
    for copy in ways([cases[1], cases[1]]):
        assert copy[0] is copy[1]
    # It can be a key, and a member of a set.
    for copy in ways({cases[1]: {cases[1], cases[0]}}):
        assert copy == {cases[1]: {cases[1], cases[0]}}
    assert msgpack.loads(msgpack.dumps(cases[1])) == {"a": 1}
    assert dict(holdall.loads(holdall.dumps(cases[1]), types=holdall.Record)) == {"a": 1}
    cycle: list[Any] = []
    cycle.append(frozendict(a=cycle))
    for copy in ways(cycle):
        assert type(copy[0]) is frozendict and copy[0]["a"] is copy


@since[3, 15]
def test_sentinels_go_by_name() -> None:
    made: Any = builtins.sentinel("MADE")  # type: ignore[attr-defined]
    assert holdall.deepcopy([made])[0] is made
    with pytest.raises(holdall.EncodeError, match="can't store a `sentinel`"):
        holdall.dumps(made)


def test_arrays_of_every_type_code() -> None:
    for code in array.typecodes:
        items: Any = "ab" if code in ("u", "w") else [1, 2]
        one = array.array(code, items)
        for copy in (holdall.loads(holdall.dumps(one)), holdall.deepcopy(one)):
            assert type(copy) is array.array and copy.typecode == code and copy == one
        # Formats without complex numbers have both parts.
        plain = [[part.real, part.imag] if type(part) is complex else part for part in one.tolist()]
        assert msgpack.loads(msgpack.dumps(one)) == plain


@since[3, 14]
def test_uuid_of_every_version() -> None:
    for make in (uuid.uuid6, uuid.uuid7, uuid.uuid8):  # type: ignore[attr-defined]
        one = make()
        for copy in ways(one):
            isomorphic(copy, one)
            assert copy.version == one.version
        assert holdall.loads(holdall.dumps(one), type=uuid.UUID) == one


@since[3, 12]
def test_type_aliases_and_parameters(tmp_path: pathlib.Path) -> None:
    module = program(
        tmp_path,
        "parameters",
        """
        from dataclasses import dataclass
        type Pairs[T] = list[tuple[str, T]]
        @dataclass
        class Box[T]:
            pairs: Pairs[T]
        """,
    )
    found = holdall.loads(holdall.dumps({"pairs": [["a", 1]]}), type=module.Box[int], strict=False)
    assert found == module.Box([("a", 1)])


DEFERRED = """
    import dataclasses
    from typing import TYPE_CHECKING, NamedTuple, TypedDict
    if TYPE_CHECKING:
        from nowhere import Missing

    @dataclasses.dataclass
    class Node:
        value: int
        next: Node | None = None
        others: list[Later] = dataclasses.field(default_factory=list)

    class Plain:
        first: Later
        second: int | None

    class Pair(NamedTuple):
        one: Later
        other: int

    class Table(TypedDict):
        rows: list[Later]

    @dataclasses.dataclass
    class Half:
        known: int
        unknown: Missing | None = None

    @dataclasses.dataclass
    class Later:
        at: int

    def local():
        @dataclasses.dataclass
        class Outer:
            inner: Inner
        @dataclasses.dataclass
        class Inner:
            x: int
        return Outer, Inner
    """


@since[3, 14]
def test_annotations_that_are_evaluated_later(tmp_path: pathlib.Path) -> None:
    """Without `from __future__ import annotations`, names that come later in the module, and names that are never there."""
    module = program(tmp_path, "deferred", DEFERRED)
    sys.modules["deferred"] = module
    try:
        tree = {"value": 1, "next": {"value": 2, "next": None, "others": [{"at": 3}]}, "others": []}
        assert holdall.loads(holdall.dumps(tree), type=module.Node) == module.Node(
            1, module.Node(2, None, [module.Later(3)])
        )
        holdall.register(module.Plain, name="deferred.Plain")
        found = holdall.loads(holdall.dumps({"first": {"at": 1}, "second": None}), type=module.Plain)
        assert found.first == module.Later(1) and found.second is None
        packed = msgpack.dumps(found)
        assert msgpack.loads(packed) == {"first": {"at": 1}, "second": None}
        assert holdall.loads(holdall.dumps([{"at": 1}, 2]), type=module.Pair) == (module.Later(1), 2)
        assert holdall.loads(holdall.dumps({"rows": [{"at": 1}]}), type=module.Table) == {
            "rows": [module.Later(1)]
        }
        # Only who compiles the class by its annotations needs all of them.
        half = module.Half(1, [2])
        assert holdall.loads(holdall.dumps(half), types=[module.Half]) == half
        with pytest.raises(TypeError, match="the name `Missing` can't be resolved"):
            holdall.loads(holdall.dumps({"known": 1}), type=module.Half)
        outer, inner = module.local()
        assert holdall.loads(holdall.dumps({"inner": {"x": 1}}), type=outer) == outer(inner(1))
    finally:
        del sys.modules["deferred"]


@since[3, 15]
def test_lazy_imports(tmp_path: pathlib.Path) -> None:
    """Names that a module imports lazily: annotations that use one import it, a module that is searched for classes does not."""
    module = program(
        tmp_path,
        "idle",
        """
        lazy from wave import Wave_read
        lazy from colorsys import rgb_to_hls
        lazy from fractions import Fraction
        lazy from decimal import Decimal
        lazy import datetime
        class Held:
            x: "Decimal"
            y: "datetime.date | None"
            z: Fraction
        """,
    )
    kind = types.LazyImportType  # type: ignore[attr-defined]
    sys.modules["idle"] = module
    try:
        holdall.register(module.Held, name="idle.Held")
        here = "wave" in sys.modules
        held = module.Held()
        held.x = 1
        assert holdall.loads(holdall.dumps(held), types=module).x == 1
        assert isinstance(vars(module)["Wave_read"], kind) and ("wave" in sys.modules) == here
        import datetime
        import decimal
        import fractions

        stored = {"x": decimal.Decimal(1), "y": datetime.date(2026, 1, 2), "z": fractions.Fraction(1, 2)}
        assert vars(holdall.loads(holdall.dumps(stored), type=module.Held)) == stored
        with pytest.raises(holdall.EncodeError, match="can't store a `(lazy_import|function)`"):
            holdall.dumps(vars(module)["rgb_to_hls"])
    finally:
        del sys.modules["idle"]


@since[3, 15]
def test_shelve_by_our_functions(tmp_path: pathlib.Path) -> None:
    held = {"a": [1, (2, 3)], "b": {4}}
    for module in (holdall.pickle, safe_pickle):
        path = str(tmp_path / module.__name__)
        with shelve.open(path, serializer=module.dumps, deserializer=module.loads) as shelf:  # type: ignore[call-arg]
            shelf["key"] = held
        with shelve.open(path, serializer=module.dumps, deserializer=module.loads) as shelf:  # type: ignore[call-arg]
            assert shelf["key"] == held and list(shelf.items()) == [("key", held)]


@since[3, 14]
def test_zstd_of_the_standard_library() -> None:
    """Its file objects are files like any other; its compressors are refused by name, as pickle refuses them."""
    import io

    from compression import zstd  # type: ignore[import-not-found]

    held = [{"a": at, "b": "text"} for at in range(1000)]
    raw = io.BytesIO()
    with zstd.open(raw, "wb") as file:
        holdall.dump(held, file)
    raw.seek(0)
    with zstd.open(raw, "rb") as file:
        assert holdall.load(file) == held
    for one in (
        zstd.ZstdCompressor(),
        zstd.ZstdDecompressor(),
        zstd.ZstdDict(zstd.train_dict([b"abcdefgh" * 20 + bytes([n]) for n in range(100)], 500).dict_content),
    ):
        with pytest.raises(Exception):  # noqa: B017
            pickle.dumps(one)
        with pytest.raises(holdall.EncodeError, match=type(one).__name__):
            holdall.dumps(one)
    for member in (zstd.CompressionParameter.compression_level, zstd.Strategy.fast):
        assert holdall.loads(holdall.dumps(member), types=[type(member)]) is member
