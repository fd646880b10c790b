"""What is read and made where CPython and the standard library keep it, without their code: paths, networks, attributes of which a `__dict__`
was asked for, the content of exceptions. The result is what that code would have given, in the same bytes."""

from __future__ import annotations

import abc
import collections
import dataclasses
import gc
import ipaddress
import pathlib
import sys
import tracemalloc
import weakref
from collections.abc import Callable
from random import Random
from typing import Any

import pytest

import holdall
from tests.support.each import each
from tests.support.isomorphic import isomorphic


def ordered(*keys: Any) -> Any:
    """By way of another order of the table: each key's own order is asked for."""
    made = collections.OrderedDict((key, [key]) for key in reversed(keys))
    for key in keys:
        made.move_to_end(key)
    return made


@each("keys", [(), ("a",), ("a", "bc"), (1, "é", frozenset([2]), "d" * 50, None), tuple(range(40))], ids=str)
def test_the_order_of_an_ordered_dict_is_its_own(keys: tuple[Any, ...]) -> None:
    in_table = collections.OrderedDict((key, [key]) for key in keys)
    moved = ordered(*keys)
    assert holdall.dumps(in_table) == holdall.dumps(moved)
    assert list(holdall.loads(holdall.dumps(moved)).items()) == list(in_table.items())
    for one in (in_table, moved):
        again = type("Ordered", (collections.OrderedDict,), {})(one)
        assert list(holdall.deepcopy(again)) == list(keys)


def test_an_ordered_dict_after_removals_and_with_shared_keys() -> None:
    key = "a key, " * 3
    case: Any = collections.OrderedDict([(key, 1), ("b", key), ("c", [key]), ("d", {key: 2})])
    del case["b"]
    case["b"] = [key]
    isomorphic([case, key, case], holdall.loads(holdall.dumps([case, key, case])))
    # Who goes past the class leaves items that have no place in the order.
    dict.__setitem__(case, "beyond", 1)
    assert list(holdall.loads(holdall.dumps(case))) == [key, "c", "d", "b"]
    dict.__delitem__(case, "beyond")
    dict.__delitem__(case, "d")
    with pytest.raises(KeyError):
        list(case.items())
    with pytest.raises(KeyError):
        holdall.dumps(case)


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


class TestAttributesAreSetWhereTheyStand:
    """A loaded instance keeps its attributes as one that its class made: in the order of the message, whatever the class's keys are."""

    @pytest.mark.parametrize("number", [0, 1, 2, 7, 29, 30, 31, 40])
    def test_in_any_order(self, number: int) -> None:
        r = Random(number)
        Many = type("Many", (), {"__module__": __name__})
        names = [f"name{at}" for at in range(number)]
        values = []
        for _ in range(20):
            made = Many()
            for name in r.sample(names, r.randint(number // 2, number)):
                setattr(made, name, r.choice((1, [2], "text")))
            values.append(made)
        for loaded in (
            holdall.loads(holdall.dumps(values), types=Many),
            [holdall.Decoder(types=Many).decode(holdall.dumps(value)) for value in values],
        ):
            for one, other in zip(loaded, values, strict=True):
                assert list(vars(one).items()) == list(vars(other).items())

    def test_before_the_class_has_made_one(self) -> None:
        One = type("One", (), {"__module__": __name__})
        made = One()
        made.a, made.b = 1, [2]  # type: ignore[attr-defined]
        message = holdall.dumps([made, made])
        Other = type("One", (), {"__module__": __name__})
        for _ in range(3):
            loaded = holdall.loads(message, types=Other)[0]
            assert vars(loaded) == {"a": 1, "b": [2]}
            loaded.c = 3
            del loaded.a
            assert list(vars(loaded).items()) == [("b", [2]), ("c", 3)]

    def test_what_is_set_again_and_let_go(self) -> None:
        loaded = [holdall.loads(holdall.dumps(Record(at, "a", [at])), types=CLASSES) for at in range(50)]
        held = [one.more for one in loaded]
        before = [sys.getrefcount(more) for more in held]
        for one in loaded:
            one.more = None
        assert [sys.getrefcount(more) for more in held] == [count - 1 for count in before]
        watch = weakref.ref(loaded[0])
        del one, loaded
        assert watch() is None

    def test_a_cycle_through_them_is_collected(self) -> None:
        made = Attributes()
        made.own = [made]
        loaded = holdall.loads(holdall.dumps(made), types=CLASSES)
        assert loaded.own[0] is loaded
        watch = weakref.ref(loaded)
        del loaded
        gc.collect()
        assert watch() is None

    def test_a_property_that_has_a_fields_name_now(self) -> None:
        Changing = type("Changing", (), {"__module__": __name__})
        made = Changing()
        made.a = 1  # type: ignore[attr-defined]
        decoder, message = holdall.Decoder(types=Changing), holdall.dumps(made)
        for _ in range(20):
            assert vars(decoder.decode(message)) == {"a": 1}
        Changing.a = property(lambda _: 5)  # type: ignore[attr-defined]
        assert vars(decoder.decode(message)) == {"a": 1}
        assert decoder.decode(message).a == 5

    def test_an_abstract_class(self) -> None:
        class Abstract(abc.ABC):
            a: int

            @abc.abstractmethod
            def work(self) -> None: ...

        Abstract.__abstractmethods__ = frozenset()
        made = Abstract()  # type: ignore[abstract]
        made.a = 1
        message = holdall.dumps(made)
        Abstract.__abstractmethods__ = frozenset({"work"})
        assert vars(holdall.loads(message, types=Abstract)) == {"a": 1}

    @pytest.mark.skipif(sys.version_info < (3, 11), reason="3.10 has a dict for each instance")
    def test_no_dict_is_made_for_it(self) -> None:
        """The bytes of an instance whose `__dict__` nobody asked for, of one that was loaded, and of one with a dict."""

        def size(make: Callable[[], Any]) -> int:
            made = [make() for _ in range(100)]
            tracemalloc.start()
            made = [make() for _ in range(1000)]
            used = tracemalloc.get_traced_memory()[0]
            tracemalloc.stop()
            assert len(made) == 1000
            return used

        decoder, message = holdall.Decoder(types=CLASSES), holdall.dumps(Record(1, "a", None))

        def asked() -> Any:
            made = Record(1, "a", None)
            vars(made)
            return made

        name = decoder.decode(message).name
        natural = size(lambda: Record(1, name, None))
        loaded = size(lambda: decoder.decode(message))
        # Each has a text of its own besides, of 56 bytes with what the allocator adds.
        assert loaded < natural + 1000 * 64 < size(asked) + 1000 * 64


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
