"""What is read and made where CPython and the standard library keep it, without their code: paths, networks, attributes of which a `__dict__`
was asked for, the content of exceptions. The result is what that code would have given, in the same bytes."""

from __future__ import annotations

import dataclasses
import ipaddress
import pathlib
from random import Random
from typing import Any

import pytest

import holdall
from tests.support.isomorphic import isomorphic

TEXTS = [
    *(
        "",
        ".",
        "..",
        "a",
        "a/b",
        "a/../b",
        "../a",
        "a/./b/",
        "a//b",
        "/",
        "//",
        "///",
        "/a",
        "//a/b",
        "///a",
        "/.",
        "a b",
        "a.",
    ),
    *(
        "a\\b",
        "\\",
        "\\a",
        "\\\\server\\share\\a",
        "\\\\?\\C:\\a",
        "c:",
        "c:\\",
        "c:\\a\\b.txt",
        "c:a",
        "c:\\.\\a",
        "1:\\a",
        "x:y",
    ),
    *(
        "a/x:y",
        "\\x:y",
        "c:\\x:y",
        "\u00e9",
        "/\u4e00/\U0001f600",
        "\u00e9:\\a",
        "c:\\\u4e00",
        "a\0b",
        "CON",
        "/".join("abcdefghijklmnopqrstuvwxyz"),
    ),
    *("aa/" * 40, "\ud800/a"),
]


@pytest.mark.parametrize(
    "cls", [pathlib.PurePosixPath, pathlib.PureWindowsPath, pathlib.Path], ids=lambda cls: cls.__name__
)
@pytest.mark.parametrize("text", TEXTS, ids=ascii)
def test_paths_are_those_of_their_class(cls: type[pathlib.PurePath], text: str) -> None:
    path = cls(text)
    # Before and after somebody asked for its text, which it then keeps.
    messages = [holdall.dumps(path) for _ in range(2)]
    str(path)
    assert {holdall.dumps(path), *messages} == {messages[0]}
    loaded = holdall.loads(messages[0])
    twin = cls(str(path))
    assert type(loaded) is type(path)
    assert (loaded, hash(loaded), str(loaded), repr(loaded)) == (path, hash(path), str(path), repr(path))
    for name in ("parts", "drive", "root", "anchor", "name", "suffixes", "stem"):
        assert getattr(loaded, name) == getattr(twin, name)
    assert (loaded / "x", loaded.parent) == (twin / "x", twin.parent)
    together = holdall.loads(holdall.dumps([path, path, {path: 1}]))
    assert together == [path, path, {path: 1}] and together[0] is together[1]


NETWORKS = [
    *("0.0.0.0/0", "10.0.0.0/8", "10.1.2.0/30", "10.1.2.2/31", "10.1.2.3/32"),
    *("::/0", "fe80::/10", "2001:db8::/126", "::2/127", "::1/128", "::ffff:1.2.3.0/120", "fe80::%1/128"),
]


@pytest.mark.parametrize("text", NETWORKS)
def test_networks_are_those_of_their_class(text: str) -> None:
    network = ipaddress.ip_network(text)
    loaded = holdall.loads(holdall.dumps(network))
    assert type(loaded) is type(network) and loaded == network and hash(loaded) == hash(network)
    assert list(vars(loaded)) == list(vars(network))
    assert loaded.netmask == network.netmask and loaded.prefixlen == network.prefixlen
    assert next(iter(loaded.hosts())) == next(iter(network.hosts()))


WRONG = ["10.0.0.1/8", "fe80::0/10", "10.0.0.0/99", "10.0.0.0/+8", "10.0.0.0/x8", "10.0.0.256/", "10.0.0/8"]


@pytest.mark.parametrize("text", WRONG)
def test_the_class_refuses_other_networks(text: str) -> None:
    good = "1" * len(text)
    named = holdall.dumps(ipaddress.ip_network("10.0.0.0/8")).replace(b"10.0.0.0/8", b"{}", 1)
    head, _, tail = named.partition(b"{}")
    message = holdall.dumps([good])
    # The text with its length, as a message of its own has it.
    form = message[message.index(good.encode()) - 1 :][: 1 + len(good)].replace(good.encode(), text.encode())
    with pytest.raises(ValueError):
        ipaddress.IPv4Network(text)
    with pytest.raises(holdall.DecodeError, match="IPv4Network"):
        holdall.loads(head[:-1] + form + tail)


class Attributes:
    pass


@dataclasses.dataclass
class Record:
    ident: int
    name: str
    more: Any = None


@dataclasses.dataclass(frozen=True)
class Frozen:
    ident: int
    name: str


CLASSES = [Attributes, Record, Frozen]


def some(r: Random) -> Any:
    kind = r.randrange(4)
    if kind == 0:
        return Record(
            r.randrange(100),
            str(r.random()),
            r.choice((None, [1, [2, {}]], Frozen(1, "x"), {"a": Record(2, "y")})),
        )
    if kind == 1:
        return Frozen(r.randrange(2**60), "same")
    made = Attributes()
    for name in r.sample("abcdef", r.randint(0, 6)):
        setattr(made, name, r.choice((1, "text", 2.5, [Frozen(3, "z")], (1, (2,)), b"", b"bytes")))
    return made


def ask(value: Any, r: Random) -> None:
    """Asks for the `__dict__` of half of the instances in a list, and of what their attributes are."""
    for one in value:
        if r.random() < 0.5:
            for found in list(vars(one).values()):
                if isinstance(found, (Record, Frozen)):
                    vars(found)


@pytest.mark.parametrize("seed", range(20))
def test_it_does_not_matter_who_asked_for_a_dict(seed: int) -> None:
    values = [some(Random(f"{seed} {at}")) for at in range(60)]
    values.append(values[7])
    before = holdall.Encoder().encode(values)
    one_by_one = [holdall.Encoder().encode(value) for value in values]
    ask(values, Random(seed))
    assert holdall.Encoder().encode(values) == before
    assert [holdall.Encoder().encode(value) for value in values] == one_by_one
    loaded = holdall.loads(before, types=CLASSES)
    isomorphic(loaded, values)
    # What was loaded has a `__dict__` of another kind.
    assert holdall.Encoder().encode(loaded) == before


def test_attributes_that_went_and_came_again() -> None:
    values = [Attributes() for _ in range(30)]
    for at, value in enumerate(values):
        value.a, value.b, value.c = at, [at], "c"
        vars(value)
        if at % 3 == 0:
            del value.a
        if at % 5 == 0:
            value.a = {"again": value}
        if at % 7 == 0:
            value.__dict__ = {"b": 1, "d": (at,)}
    loaded = holdall.loads(holdall.dumps(values), types=CLASSES)
    isomorphic(loaded, values)
    assert [list(vars(one)) for one in loaded] == [list(vars(one)) for one in values]


def test_a_dict_that_is_shared_with_its_instance() -> None:
    first, second = Attributes(), Attributes()
    first.own, first.number = vars(first), 1
    second.number, second.other = 2, first
    loaded = holdall.loads(holdall.dumps([second, first, second]), types=CLASSES)
    assert loaded[0] is loaded[2] and loaded[0].other is loaded[1]
    assert loaded[1].number == 1 and loaded[1].own["number"] == 1


EXCEPTIONS = [
    *(
        ValueError(),
        ValueError("a"),
        KeyError("a", 1, 2.5, None, True, 2**80, b"", b"bytes"),
        Exception(("a",), ["b"]),
    ),
    *(
        OSError(),
        OSError("a"),
        OSError(2, "gone"),
        OSError(2, "gone", "a", None, "b"),
        FileNotFoundError(2, "gone", b"a"),
    ),
    *(
        OSError(2, "gone", pathlib.Path("a")),
        BlockingIOError(11, "full", 3),
        StopIteration(1),
        SystemExit("a"),
        ZeroDivisionError("z"),
    ),
]


@pytest.mark.parametrize("error", EXCEPTIONS, ids=repr)
def test_exceptions_with_what_c_code_keeps(error: Exception) -> None:
    twin = holdall.loads(holdall.dumps(error))
    many = holdall.loads(holdall.dumps([error, [error], error.args]))
    assert many[0] is many[1][0]
    for loaded in (twin, many[0]):
        assert (
            type(loaded) is type(error)
            and repr(loaded.args) == repr(error.args)
            and str(loaded) == str(error)
        )
        for name in ("errno", "strerror", "filename", "filename2", "characters_written", "value", "code"):
            assert getattr(loaded, name, "none") == getattr(error, name, "none")
        assert loaded.__cause__ is None and loaded.__context__ is None


def test_the_arguments_of_an_exception_may_be_shared() -> None:
    text = "".join(["sh", "ared"])
    error = ValueError(text, text)
    loaded = holdall.loads(holdall.dumps([text, error, error.args]))
    assert loaded[1].args == (text, text) and loaded[1].args[0] is loaded[0] and loaded[1].args is loaded[2]
    error.__cause__ = KeyError(text)
    error.note = [error]
    loaded = holdall.loads(holdall.dumps(error))
    assert loaded.note[0] is loaded and loaded.__cause__.args == (text,)


def test_the_shortest_bytes_are_not_told_apart() -> None:
    assert holdall.dumps([b"", b""]) == holdall.Encoder(refs=False).encode([b"", b""])
    loaded = holdall.loads(holdall.dumps({"a": b"", "b": [b"", b"x"], "c": (b"x",)}))
    assert loaded == {"a": b"", "b": [b"", b"x"], "c": (b"x",)}
    assert loaded["a"] is loaded["b"][0]
