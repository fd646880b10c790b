"""Types read from text and shown, and attributes whose names Python's parser changes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from holdall import julia
from holdall.julia import Char, JuliaStruct, NamedTuple, Symbol, Type
from tests.support.each import each
from tests.support.julia_registry import fresh

T: Any = Type.parse


@pytest.fixture(autouse=True)
def registry() -> Iterator[None]:
    with fresh():
        yield


# As Julia's `string(T.name.name)` says: of functions, closures, operators, macros.
NAMES = [
    *("#sin", "#+", "#-", "#*", "#/", "#//", "#\\", "#^", "#%", "#!", "#!=", "#==", "#===", "#<:", "#>:", "#<", "#>=", "#<<", "#>>>"),
    *("#&", "#|", "#|>", "#=>", "#~", "#∘", "#⊻", "#÷", "#√", "#≈", "#∈", "#:", "#..", "#@time", "#1#2", "#62#63", "##254", "#sort##kw", "##sort#5"),
    *("Foo", "ϵ", "Δ′", "σ²", "∇f", "x!", "_x", "a b", "a,b", "a.b", "a{b}", 'a"b', "a\\", "1a", "", "#", "'", "(", ":x", "Foo\n"),
]  # fmt: skip


@each("name", NAMES)
@each("path", [("Main",), ("Main", "Base"), ("Core",), ("Main", "Lab", "Inner"), ("Flux",)], within=fresh)
def test_every_name_is_read_as_it_is_shown(path: tuple[str, ...], name: str) -> None:
    of = Type((*path, name), (T("Int64"), 1))
    text = repr(of)
    assert eval(text, {"Type": Type}) == of
    assert eval(text, {"Type": Type}).path == of.path
    assert T(f"Tuple{{{of}, {of}}}") == T("Tuple").__class__(("Core", "Tuple"), (of, of))


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("Base.#+", ("Main", "Base", "#+")),
        ("Core.#===", ("Core", "#===")),
        ("IntervalSets.#..", ("IntervalSets", "#..")),
        ('var"a b"', ("Main", "a b")),
        ('Lab.var"a.b".C', ("Lab", "a.b", "C")),
        ("Val", ("Main", "Base", "Val")),
        ("BoundsError", ("Core", "BoundsError")),
        ("Enum", ("Main", "Base", "Enums", "Enum")),
    ],
)
def test_paths(text: str, path: tuple[str, ...]) -> None:
    assert T(text).path == path


@each(
    ("value", "text"),
    [
        (1, "1"),
        (-1, "-1"),
        (julia.Int32(1), "1"),
        (julia.UInt8(5), "0x05"),
        (julia.UInt16(5), "0x0005"),
        (julia.UInt128(5), "0x00000000000000000000000000000005"),
        (julia.Int16(-5), "Int16(-5)"),
        (1.5, "1.5"),
        (1e20, "1.0e20"),
        (1e-7, "1.0e-7"),
        (float("nan"), "NaN"),
        (float("-inf"), "-Inf"),
        (julia.Float32(0.1), "0.1f0"),
        (julia.Float32(1e20), "1.0f20"),
        (julia.Float32("inf"), "Inf32"),
        (julia.Float16(1.5), "Float16(1.5)"),
        (True, "true"),
        (None, "nothing"),
        (Char("c"), "'c'"),
        (Char("'"), "'\\''"),
        (Symbol("a"), ":a"),
        (Symbol("a b"), 'Symbol("a b")'),
        ((1, julia.UInt8(2)), "(1, 0x02)"),
    ],
    within=fresh,
)
def test_parameters_are_shown_as_julia_reads_them(value: Any, text: str) -> None:
    of = Type(("Main", "V"), (value,))
    assert str(of) == f"V{{{text}}}" and T(str(of)) == of


@pytest.mark.parametrize(
    "text",
    ["V{0x}", "V{-0x5}", "V{1.}", "V{Int8(300)}", "V{Int8()}", "V{Int8(1, 2)}", "V{'ab'}", "V{'}", "V{:}", "V{1f}", "V{0x" + "1" * 33 + "}", 'var"a', "Foo..Bar", "#+ #+"],
)  # fmt: skip
def test_what_is_no_type_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no type of Julia's: expected "):
        T(text)


# In a call by name the parser would change these.
EXACT: dict[str, int] = {"ϵ": 1, "µ": 2}


def test_attributes_that_the_parser_changes() -> None:
    """`x.ϵ` asks for "ε", whichever of the letters was meant."""
    julia.struct("Main.Opt", fields=["ϵ", "ŋ", "n"])
    record = JuliaStruct("Main.Opt", [1, 2, 3])
    assert record.ϵ == 1 and record.ŋ == 2 and record.n == 3 and getattr(record, "ϵ") == 1  # noqa: B009
    record.ϵ = 5
    assert record.values == [5, 2, 3] and record._asdict() == {"ϵ": 5, "ŋ": 2, "n": 3}
    with pytest.raises(AttributeError, match="has no field 'x'"):
        _ = record.x
    named = NamedTuple.of(**EXACT)
    assert named.ϵ == 1 and named.µ == 2 and named.names == ("ϵ", "µ")
    found = julia.loads(julia.dumps({"value": named}))["value"]
    assert found.ϵ == 1 and found.names == ("ϵ", "µ")


def test_of_two_that_look_alike_the_exact_one_is_found() -> None:
    named = NamedTuple((1, 2), ("ϵ", "ε"))
    assert named.ε == 2 and getattr(named, "ϵ") == 1  # noqa: B009
    both = NamedTuple((1, 2, 3, 4), ("ϵ", "𝜀", "ϐ", "β"))
    # Two become the same letter, and neither is it.
    with pytest.raises(AttributeError):
        _ = both.ε
    assert both.β == 4


def test_a_class_has_the_names_that_the_parser_gave() -> None:
    @dataclass
    class Opt:
        ϵ: float
        n: int

    julia.struct("Main.Opt", Opt, fields=["ϵ", "n"])
    data = julia.dumps({"value": Opt(0.5, 1)})
    assert julia.loads(data)["value"] == Opt(0.5, 1)
    assert julia.parse(data)["value"]["data"] == [0.5, 1]
    # A class that was made with the name itself.
    exact: Any = type("Exact", (), {"__slots__": ("ϵ",)})
    julia.struct("Main.Exact", exact, fields=["ϵ"])
    one = exact()
    setattr(one, "ϵ", 3)  # noqa: B010
    found = julia.loads(julia.dumps({"value": one}))["value"]
    assert getattr(found, "ϵ") == 3  # noqa: B009


def test_a_class_is_found_by_the_name_that_the_parser_gave() -> None:
    @dataclass
    class Modelϵ:
        n: int

    data = julia.dumps({"value": JuliaStruct(Type(("Main", "Modelϵ")), [3])})
    assert julia.loads(data, types=Modelϵ)["value"] == Modelϵ(3)
    assert type(julia.loads(data, types=[])["value"]) is JuliaStruct
