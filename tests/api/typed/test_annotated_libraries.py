"""What `describe` says of other libraries' classes: attrs, msgspec, pydantic, NumPy."""

# Old spellings are cases of their own.
# ruff: noqa: UP007, UP045
from __future__ import annotations

import typing
from dataclasses import dataclass
from typing import Annotated, Any, Generic, Optional, TypeVar, Union

import pytest

from tests.support.describing import Described, Settings, refusal

T = TypeVar("T")


@dataclass
class Base:
    a: int
    b: str = "b"


# --- attrs -----------------------------------------------------------------------------------------------------------
def test_attrs():
    attr = pytest.importorskip("attr")
    attrs = pytest.importorskip("attrs")

    @attrs.define
    class First:
        a: int = attrs.field(validator=attrs.validators.instance_of(int))
        _b: "list[str]" = attrs.field(factory=list)  # noqa: UP037
        c: int = attrs.field(default=attrs.Factory(lambda self: self.a, takes_self=True))
        d: str = attrs.field(default="1", converter=str)
        e: int = attrs.field(init=False)
        f: Any = attrs.field(default=None)

        def __attrs_pre_init__(self) -> None: ...
        def __attrs_post_init__(self) -> None: ...

    found = Described(First)
    entry = found.class_()
    assert [{key: value for key, value in field.items() if key not in ("node", "factory")} for field in entry["fields"]] == [
        {"name": "a", "key": "a", "required": True},
        {"name": "_b", "key": "_b", "required": False},
        {"name": "c", "key": "c", "required": False, "factory_self": True},
        {"name": "d", "key": "d", "required": False, "default": "1"},
        {"name": "e", "key": "e", "required": False, "absent_ok": True},
        {"name": "f", "key": "f", "required": False, "default": None},
    ]  # fmt: skip
    assert found.field("_b")["factory"] is list
    assert (entry["kind"], entry["post_init"], entry["pre_init"]) == (
        "fields",
        "__attrs_post_init__",
        "__attrs_pre_init__",
    )
    assert (entry["validate"], entry["converters"]) == (attr.validate, {"d": str})
    assert found.fields() == {"a": "int", "_b": "list", "c": "int", "d": "str", "e": "int", "f": "Any"}

    @attr.s
    class Old:
        a = attr.ib(type=int)
        b = attr.ib()

    found = Described(Old)
    assert found.fields() == {"a": "int", "b": "Any"}
    assert (found.class_()["validate"], found.class_()["post_init"]) == (None, None)


def test_converters_of_attrs_that_ask_for_more():
    attrs = pytest.importorskip("attrs")
    if not hasattr(attrs, "Converter"):
        pytest.skip("attrs.Converter came with attrs 24.1")

    @attrs.define
    class First:
        a: int = attrs.field(
            converter=attrs.Converter(lambda value, field: (value, field.name), takes_field=True)
        )
        b: int = attrs.field(converter=attrs.Converter(lambda value, self: (value, self), takes_self=True))
        c: int = attrs.field(converter=attrs.Converter(int))

    converters = Described(First).class_()["converters"]
    assert [converters[name]("1") for name in "abc"] == [("1", "a"), ("1", None), 1]


def test_generic_attrs():
    attrs = pytest.importorskip("attrs")

    @attrs.define
    class First(Generic[T]):
        a: T

    @attrs.define
    class Second(First[int]):
        b: str

    assert Described(First[str]).fields() == {"a": "str"}
    assert Described(Second).fields() == {"a": "int", "b": "str"}


# --- msgspec ---------------------------------------------------------------------------------------------------------
def test_msgspec():
    msgspec = pytest.importorskip("msgspec")

    class First(
        msgspec.Struct,
        rename="camel",
        tag="first",
        tag_field="kind",
        array_like=True,
        forbid_unknown_fields=True,
    ):
        user_id: int
        items: list[int] = []
        by_name: dict[str, int] = msgspec.field(default_factory=dict)
        other: Optional[int] = msgspec.field(default=None, name="OTHER")

        def __post_init__(self) -> None: ...

    found = Described(First)
    entry = found.class_()
    assert [{key: value for key, value in field.items() if key != "node"} for field in entry["fields"]] == [
        {"name": "user_id", "key": "userId", "required": True},
        {"name": "items", "key": "items", "required": False, "factory": list},
        {"name": "by_name", "key": "byName", "required": False, "factory": dict},
        {"name": "other", "key": "OTHER", "required": False, "default": None},
    ]
    assert (entry["kind"], entry["post_init"], entry["tag"]) == ("fields", "__post_init__", ("kind", "first"))
    assert entry["array_like"] and entry["forbid_unknown"]
    assert found.fields() == {"user_id": "int", "items": "list", "by_name": "dict", "other": "int | None"}

    class Keywords(msgspec.Struct, Generic[T], kw_only=True):
        a: int = 1
        b: T

    found = Described(Keywords[str])
    assert found.field("a") == {"name": "a", "key": "a", "required": False, "default": 1}
    assert found.field("b") == {"name": "b", "key": "b", "required": True}
    assert found.fields() == {"a": "int", "b": "str"}
    entry = found.class_()
    assert (entry["post_init"], entry["tag"], entry["array_like"], entry["forbid_unknown"]) == (
        None,
        None,
        False,
        False,
    )


def test_tagged_structs():
    msgspec = pytest.importorskip("msgspec")

    class First(msgspec.Struct, tag="a"):
        x: int

    class Second(msgspec.Struct, tag=2):
        x: int

    class Third(msgspec.Struct, tag="a"):
        x: int

    class Elsewhere(msgspec.Struct, tag="e", tag_field="kind"):
        x: int

    class Array(msgspec.Struct, tag="l", array_like=True):
        x: int

    class Untagged(msgspec.Struct, array_like=True):
        x: int

    assert Described(First).node() == {"classes": [0], "tag_field": "type", "tags": {"a": 0}}
    assert Described(Union[First, Second, None]).node() == {
        "scalars": [("none",)], "classes": [0, 1], "tag_field": "type", "tags": {"a": 0, 2: 1},
    }  # fmt: skip
    assert Described(Union[First, Elsewhere]).node() == {
        "classes": [0, 1],
        "distinct": {"type": 0, "kind": 1},
    }
    assert Described(Union[First, Array]).node()["tags"] == {"a": 0, "l": 1}
    found = Described(Union[Array, Untagged]).node()
    assert found["tags"] == {"l": 0} and "more than one array-like class" in found["ambiguous"]
    assert Described(Union[Elsewhere, Untagged]).node() == {
        "classes": [0, 1],
        "tag_field": "kind",
        "tags": {"e": 0},
    }
    found = Described(Union[First, dict[str, int]])
    assert found.node()["tags"] == {"a": 0} and "ambiguous" not in found.node()
    local = "test_tagged_structs.<locals>."
    assert refusal(Union[First, Third]) == f"`{local}First | {local}Third`: two classes have the tag `a`"
    assert refusal(Union[Array, list[int]]) == (
        f"`{local}Array | list[int]`: more than one array-like type in a union"
    )


def test_settings_win_over_a_structs_own():
    msgspec = pytest.importorskip("msgspec")

    class First(msgspec.Struct, rename="upper", tag="a"):
        user_id: int

    found = Described(First, settings={First: Settings(rename="camel", tag="b")})
    assert (found.field("user_id")["key"], found.class_()["tag"]) == ("userId", ("type", "b"))


# --- pydantic --------------------------------------------------------------------------------------------------------
def test_pydantic():
    pydantic = pytest.importorskip("pydantic")

    class Model(pydantic.BaseModel):
        a: int
        b: str = pydantic.Field(alias="bee")

    class Generally(pydantic.BaseModel, Generic[T]):
        item: T

    @dataclass
    class Plain:
        b: int
        c: int

    found = Described(Model)
    entry = found.class_()
    assert (entry["kind"], entry["fields"], entry["cls"]) == ("pydantic", [], Model)
    assert found.node() == {"classes": [0]}
    assert Described(Generally[int]).class_()["cls"] is Generally[int]
    assert Described(Union[Model, Plain]).node()["distinct"] == {"a": 0, "c": 1}


def test_a_dataclass_of_pydantic():
    pydantic = pytest.importorskip("pydantic")
    from pydantic import dataclasses as pydantic_dataclasses

    @pydantic_dataclasses.dataclass
    class Data:
        a: int = pydantic.Field(gt=0)
        b: int = pydantic.Field(default=5, le=9)
        c: list[int] = pydantic.Field(default_factory=list)
        d: str = "d"

    found = Described(Data)
    assert [found.field(name) for name in "abcd"] == [
        {"name": "a", "key": "a", "required": True},
        {"name": "b", "key": "b", "required": False, "default": 5},
        {"name": "c", "key": "c", "required": False, "factory": list},
        {"name": "d", "key": "d", "required": False, "default": "d"},
    ]
    assert found.field_node("a") == {"scalars": [("int", {"gt": 0})]}
    assert found.field_node("b") == {"scalars": [("int", {"le": 9})]}


# --- NumPy -----------------------------------------------------------------------------------------------------------
def test_numpy():
    np = pytest.importorskip("numpy")
    npt = pytest.importorskip("numpy.typing")
    single = np.dtype("f4")
    cases: list[tuple[Any, str, list[Any]]] = [
        (np.ndarray, "ndarray", [("numpy", None, None)]),
        (npt.NDArray[Any], "ndarray", [("numpy", None, None)]),
        (npt.NDArray, "ndarray", [("numpy", None, None)]),
        (npt.NDArray[np.generic], "ndarray", [("numpy", None, None)]),
        (npt.NDArray[np.float32], "NDArray[float32]", [("numpy", single, None)]),
        (npt.NDArray[float], "NDArray[float]", [("numpy", np.dtype("f8"), None)]),
        (npt.NDArray[np.str_], "NDArray[str_]", [("numpy", np.dtype("U"), None)]),
        (np.ndarray[Any, np.dtype[np.float32]], "NDArray[float32]", [("numpy", single, None)]),
        (np.ndarray[Any, np.dtype], "ndarray", [("numpy", None, None)]),
        (np.ndarray[tuple[int, int], np.dtype[np.float32]], "NDArray[float32]", [("numpy", single, (None, None))]),
        (np.ndarray[tuple[typing.Literal[3], int], np.dtype[Any]], "ndarray", [("numpy", None, (3, None))]),
        (np.ndarray[tuple[int, ...], np.dtype[Any]], "ndarray", [("numpy", None, None)]),
        (np.ndarray[tuple[()], np.dtype[Any]], "ndarray", [("numpy", None, ())]),
        (Annotated[npt.NDArray[np.float32], (3, None)], "NDArray[float32]", [("numpy", single, (3, None))]),
        (Annotated[npt.NDArray[np.float32], (..., 2)], "NDArray[float32]", [("numpy", single, (None, 2))]),
        (Optional[npt.NDArray[np.float32]], "NDArray[float32] | None", [("numpy", single, None), ("none",)]),
        (np.float32, "float32", [("value", np.float32, None)]),
        (np.floating, "floating", [("value", np.floating, None)]),
        (np.dtype, "dtype", [("value", np.dtype, None)]),
        (np.dtype[np.float32], "dtype", [("value", np.dtype, None)]),
    ]  # fmt: skip
    for annotation, name, scalars in cases:
        found = Described(annotation)
        assert (found.name, found.scalars) == (name, scalars), annotation
    assert Described(npt.NDArray[np.floating]).name == "NDArray[floating]"
    dtypes = {dtype for _, dtype, _ in Described(npt.NDArray[np.floating]).scalars}
    assert dtypes == {np.dtype(char) for char in "efdg"}
    either = Described(npt.NDArray[Union[np.int8, np.float32]])
    assert either.name == "NDArray[int8 | float32]"
    assert either.scalars == [("numpy", np.dtype("i1"), None), ("numpy", single, None)]
    both = Described(Union[npt.NDArray[np.float32], np.ndarray[Any, np.dtype[np.float32]]])
    assert both.scalars == [("numpy", single, None)]


def test_numpy_in_generic_classes():
    np = pytest.importorskip("numpy")
    npt = pytest.importorskip("numpy.typing")

    class Holder(Generic[T]):
        data: npt.NDArray[T]  # type: ignore[type-var]

    Holder.__annotations__ = {"data": npt.NDArray[T]}  # type: ignore[type-var]
    assert Described(Holder[np.int16]).fields() == {"data": "NDArray[int16]"}


def test_what_is_no_dtype():
    np = pytest.importorskip("numpy")
    for item, shown in ((Optional[int], "int | None"), (Base, "Base"), (list[int], "list[int]")):
        text = refusal(np.ndarray[Any, np.dtype[item]])
        assert text == f"`ndarray[Any, dtype[{shown}]]`: `{shown}` is no dtype"
