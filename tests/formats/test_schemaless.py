"""What MessagePack and BSON share: cycles and what else is refused, odd dicts, hooks, depth; counts and memory that stay level."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import sys
import types
from dataclasses import dataclass
from typing import Any, Callable

import pytest

import holdall
from tests.host.test_deep import LESS_DEEP, dicts, in_small_thread, int_keys, linked, lists, tuples, unchain
from tests.support import models
from tests.support.each import each
from tests.support.formats import FORMATS, Format
from tests.support.kinds import KINDS, Kind, build
from tests.support.level import damaged, stays_level

PLAIN = [fmt for fmt in FORMATS.values() if fmt.plain]


@pytest.fixture(params=PLAIN, ids=[fmt.name for fmt in PLAIN])
def plain(request: pytest.FixtureRequest) -> Format:
    return request.param


def refused(plain: Format, value: Any, **options: Any) -> str:
    """Why a value is not stored; as one item of a list, which stands before what BSON has around it."""
    with pytest.raises(holdall.EncodeError) as caught:
        plain.dumps([value], **options)
    return str(caught.value)


# --- cycles ----------------------------------------------------------------------------------------------------------
@dataclass
class Loose:
    before: Any = None
    inner: Any = None


@dataclass(slots=True)
class Slotted:
    before: Any = None
    inner: Any = None


class Undeclared:
    inner: Any


class Encoded:
    """Its `encode` gives a new list each time."""

    def __init__(self) -> None:
        self.inner: Any = None


holdall.register(Encoded, encode=lambda obj: [1, obj.inner], decode=lambda value: None)


def through_list() -> Any:
    found: list[Any] = [1]
    found.append([found])
    return found


def through_dict() -> Any:
    found: dict[str, Any] = {"secret": 1}
    found["own"] = [{"k": found}]
    return found


def through_odd_dict() -> Any:
    found: dict[Any, Any] = {"a": 1}
    found[2] = found
    return found


def through(make: Callable[[], Any], **more: Any) -> Callable[[], Any]:
    def cyclic() -> Any:
        found = make()
        found.inner = [found]
        return found

    return cyclic


def through_ordered_dict() -> Any:
    found: Any = collections.OrderedDict(secret=1)
    found["own"] = found
    return found


def through_mapping() -> Any:
    found: Any = collections.UserDict(secret=1)
    found["own"] = found
    return found


def through_proxy() -> Any:
    shown: dict[str, Any] = {}
    found = types.MappingProxyType(shown)
    shown["own"] = found
    return found


def through_deque() -> Any:
    found: Any = collections.deque([1])
    found.append(found)
    return found


def through_tuple() -> Any:
    found: tuple[Any, ...] = (1, [])
    found[1].append(found)
    return found


CYCLES: dict[str, tuple[Callable[[], Any], str]] = {
    "list": (through_list, "$[0][1][0]"),
    "tuple": (through_tuple, "$[0][1][0]"),
    "dict": (through_dict, "$[0][...][0][...]"),
    "dict with other keys": (through_odd_dict, "$[0][...]"),
    "OrderedDict": (through_ordered_dict, "$[0][...]"),
    "Mapping": (through_mapping, "$[0][...]"),
    "mappingproxy": (through_proxy, "$[0][...]"),
    "deque": (through_deque, "$[0][...]"),
    "dataclass": (through(Loose), "$[0].inner[0]"),
    "dataclass, slots": (through(Slotted), "$[0].inner[0]"),
    "undeclared": (through(Undeclared), "$[0].inner[0]"),
    "registered": (through(Encoded), "$[0][1][0]"),
}


@each("name", CYCLES)
def test_a_cycle_is_refused_with_its_path(plain: Format, name: str) -> None:
    make, way = CYCLES[name]
    said = refused(plain, make())
    around = "[...]" if plain.text_keys else ""
    assert said == f"a container holds itself, which the format can't hold - at `${around}{way[1:]}`"


def test_what_is_shared_is_no_cycle(plain: Format) -> None:
    inner: list[Any] = [1, {"a": (2,)}]
    deep: Any = inner
    for _ in range(20):
        deep = [deep, deep] if _ < 4 else {"k": deep}
    back = plain.loads(plain.dumps([inner, inner, {"k": inner}, deep]))
    assert back[0] == back[1] == back[2]["k"] == [1, {"a": [2]}]


# --- dicts of every kind ---------------------------------------------------------------------------------------------
class Shy(dict):  # type: ignore[type-arg]
    """What a subclass overrides is not asked."""

    def __iter__(self) -> Any:
        raise AssertionError("asked")

    items = keys = values = __len__ = __getitem__ = __iter__  # type: ignore[assignment]


def split_table() -> Any:
    """Instances of a class share their keys."""
    first, second = Loose(1, 2), Loose(3, [4])
    assert list(vars(first)) == list(vars(second))
    return vars(second)


def with_gaps() -> Any:
    found = {f"k{at}": [at] for at in range(9)}
    for at in (0, 4, 8):
        del found[f"k{at}"]
    return found


def once_general() -> Any:
    found: dict[Any, Any] = {"a": 1, "b": [2]}
    found[3] = 4
    del found[3]
    return found


def moved() -> Any:
    found = collections.OrderedDict(a=1, b=[2], c=3)
    found.move_to_end("a")
    return found


DICTS: dict[str, tuple[Callable[[], Any], dict[str, Any]]] = {
    "split table": (split_table, {**split_table()}),
    "gaps": (with_gaps, {f"k{at}": [at] for at in (1, 2, 3, 5, 6, 7)}),
    "once general": (once_general, {"a": 1, "b": [2]}),
    "subclass": (lambda: Shy(a=1, b=[2]), {"a": 1, "b": [2]}),
    "moved": (moved, {"b": [2], "c": 3, "a": 1}),
    "subclass of a str as key": (lambda: {models.MyStr("a"): [1], "b": 2}, {"a": [1], "b": 2}),
    "wide": (lambda: {f"k{at}": at for at in range(200)}, {f"k{at}": at for at in range(200)}),
    "keys of every width": (
        lambda: {"a": 1, "é": [2], "語": 3, "😀": {"ä": 4}},
        {"a": 1, "é": [2], "語": 3, "😀": {"ä": 4}},
    ),
    "empty": (dict, {}),
    "empty key": (lambda: {"": {"": []}}, {"": {"": []}}),
    "what looks like an index": (lambda: {"0": [1], "1": 2}, {"0": [1], "1": 2}),
}


@each("name", DICTS)
def test_dicts(plain: Format, name: str) -> None:
    make, wanted = DICTS[name]
    for around in (lambda value: value, lambda value: [value, value], lambda value: {"k": value, "l": 1}):
        back = plain.loads(plain.dumps(around(make())))
        assert back == around(wanted)
    assert list(plain.loads(plain.dumps(make()))) == list(wanted)
    assert plain.loads(plain.dumps(make()), type=dict[str, Any]) == wanted


class Unknown:
    """Stored by hooks alone."""

    def __reduce__(self) -> Any:
        raise AssertionError("asked")


@pytest.mark.parametrize("key", ["k", 2])
@pytest.mark.parametrize("by", ["adding", "removing", "clearing"])
def test_a_dict_that_changes_under_a_hook(plain: Format, key: Any, by: str) -> None:
    held: dict[Any, Any] = {key: Unknown(), "z": [1], "y": 2}

    def hook(obj: Any) -> Any:
        if by == "adding":
            held["more"] = 1
        elif by == "removing":
            del held["z"]
        else:
            held.clear()
        return 5

    assert "changed its size" in refused(plain, held, enc_hook=hook)


def test_a_list_that_changes_under_a_hook(plain: Format) -> None:
    held = [Unknown(), 1, 2]
    assert "changed its size" in refused(plain, held, enc_hook=lambda obj: held.clear())


@pytest.mark.parametrize("value", [5, "text", None, b"x", [1, {"a": 2}], {"k": (1,)}, Loose(1, [2]), 2.5])
def test_what_a_hook_gives_stands_in_the_place(plain: Format, value: Any) -> None:
    """Under a key, in a list, in a field: the value that follows is the next one's."""
    stored = {
        "a": Unknown(),
        "b": [Unknown(), 7],
        "c": Loose(Unknown(), 8),
        "d": (Unknown(),),
        5: Unknown(),
        "e": 9,
    }
    as_given = {"a": value, "b": [value, 7], "c": Loose(value, 8), "d": (value,), 5: value, "e": 9}
    assert plain.dumps(stored, enc_hook=lambda obj: value) == plain.dumps(as_given)


def test_a_hook_that_never_ends(plain: Format) -> None:
    assert "1000 times over" in refused(plain, Unknown(), enc_hook=lambda obj: Unknown())
    assert "1000 times over" in refused(plain, Unknown(), enc_hook=lambda obj: [Unknown()])


REFUSED: dict[str, tuple[Any, str]] = {
    "range": (range(3), "`range`: the format has no form for it"),
    "function": (lambda: 1, "`function`: it holds state that only its own code can read"),
    "class": (int, "`type`: a class is stored by reference only"),
    "exception": (ValueError("s3ntinel"), "`ValueError`: an exception is no plain data"),
    "int": (2**64, "an int beyond 64 bits"),
    "surrogate": ("s3ntinel\ud800", "text with a lone surrogate"),
    "surrogate in a key": ({"s3ntinel\ud800": 1}, "text with a lone surrogate"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(plain: Format, name: str) -> None:
    """Anywhere; and what is stored next is sound."""
    value, said = REFUSED[name]
    places = [
        value,
        [value],
        {"k": value},
        {"k": 1, "l": [value, 1], "m": 2},
        Loose(value),
        Slotted(1, value),
        {5: value},
    ]
    for place in places:
        text = refused(plain, place)
        assert said in text and "s3ntinel" not in text
        assert plain.loads(plain.dumps({"k": [1]})) == {"k": [1]}


# --- depth -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("make", [lists, dicts, linked, tuples, int_keys], ids=lambda make: make.__name__)
@pytest.mark.xdist_group("memory")
def test_deeper_than_any_stack(plain: Format, make: Callable[[int], Any]) -> None:
    assert sys.getrecursionlimit() <= 1_000
    obj = make(LESS_DEEP)
    data = in_small_thread(lambda: plain.dumps(obj))
    back = in_small_thread(lambda: plain.loads(data))
    assert plain.dumps(back) == data
    unchain(obj)


@pytest.mark.xdist_group("memory")
def test_deeper_than_any_stack_by_type(plain: Format) -> None:
    # Taken apart here: 3.12 and 3.13 free what is deep by recursion that such a stack has no room for.
    obj = linked(LESS_DEEP)
    data = in_small_thread(lambda: plain.dumps(obj))
    unchain(obj)
    # Its annotations are evaluated before: since 3.14 the parser refuses to begin on so small a stack.
    assert plain.loads(plain.dumps(Chain(1)), type=Chain) == Chain(1)
    back = in_small_thread(lambda: plain.loads(data, type=Chain))
    length = 0
    while back is not None:
        back, length = back.right, length + 1
    assert length == LESS_DEEP


@dataclass(slots=True)
class Chain:
    value: int
    right: Chain | None = None


@pytest.mark.parametrize(
    "wrap",
    [lambda node: [node], lambda node: {"a": node}, lambda node: {"a": 1, "b": node, "c": 2}, Loose],
    ids=["list", "dict", "guessed dict", "instance"],
)
def test_limit_of_depth(plain: Format, wrap: Callable[[Any], Any]) -> None:
    """As many containers as it says pass, one more does not."""
    for depth in (1, 2, 50):
        node: Any = 1
        for _ in range(depth):
            node = wrap(node)
        data = plain.dumps(node)
        # The document around the value is a container too.
        depth += plain.text_keys
        plain.loads(data, limits=holdall.Limits(depth=depth))
        with pytest.raises(holdall.LimitError, match=rf"limits\.depth={depth - 1}\b"):
            plain.loads(data, limits=holdall.Limits(depth=depth - 1))


# --- counts and memory -----------------------------------------------------------------------------------------------
ROUNDS = 1_000


@pytest.mark.soak
@pytest.mark.usefixtures("only_new_objects")
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_every_kind_stays_level(plain: Format, kind: Kind) -> None:
    """What is stored comes back as something else, or is refused: neither leaves anything behind."""
    obj = [kind.make(), {"k": kind.make()}]

    def work() -> None:
        with contextlib.suppress(holdall.HoldallError):
            plain.loads(plain.dumps(obj))

    stays_level(work, ROUNDS)


@pytest.mark.soak
@pytest.mark.usefixtures("only_new_objects")
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_damaged_messages_stay_level(plain: Format, kind: Kind) -> None:
    try:
        data = plain.dumps([kind.make()])
    except holdall.EncodeError:
        pytest.skip("is not stored")
    hostile = damaged(data, kind.name)

    def work() -> None:
        for attempt in hostile:
            with contextlib.suppress(holdall.DecodeError, KeyError):
                plain.loads(attempt)

    stays_level(work, 100)


@pytest.mark.soak
@pytest.mark.usefixtures("only_new_objects")
@pytest.mark.parametrize("name", [*CYCLES, *REFUSED])
def test_refusals_stay_level(plain: Format, name: str) -> None:
    value = CYCLES[name][0]() if name in CYCLES else REFUSED[name][0]
    held = {"before": ["x" * 50], "k": [Loose(1), value], 5: "after"}

    def work() -> None:
        with contextlib.suppress(holdall.EncodeError):
            plain.dumps(held)

    stays_level(work, ROUNDS // 2)


@pytest.mark.soak
@pytest.mark.usefixtures("only_new_objects")
def test_hooks_stay_level(plain: Format) -> None:
    stored = {"a": Unknown(), "b": [Unknown(), 7], "c": Loose(Unknown(), 8), 5: Unknown()}

    def fails(obj: Any) -> Any:
        raise ZeroDivisionError

    def work() -> None:
        plain.loads(plain.dumps(stored, enc_hook=lambda obj: [1, {"k": "v"}]))
        with contextlib.suppress(ZeroDivisionError):
            plain.dumps(stored, enc_hook=fails)
        with contextlib.suppress(holdall.EncodeError):
            plain.dumps(stored, enc_hook=lambda obj: [obj])

    stays_level(work, ROUNDS // 4)


def test_counts_of_what_everyone_shares(plain: Format) -> None:
    shared = {
        "none": None,
        "true": True,
        "small": 7,
        "empty": "",
        "class": Loose,
        "text": "".join(["a ", "text"]),
    }
    node = build(models.PlainSlots, left=shared["text"], right=None)
    obj = {
        "a": [*[value for value in shared.values() if not isinstance(value, type)], node],
        5: Loose(True, ""),
    }
    data = plain.dumps(obj)

    def counts() -> dict[str, int]:
        return {name: sys.getrefcount(value) for name, value in shared.items()}

    def work() -> None:
        plain.loads(plain.dumps(obj))
        plain.loads(data, type=dict[str | int, Any])
        for end in range(len(data)):
            with contextlib.suppress(holdall.DecodeError):
                plain.loads(data[:end])

    for _ in range(10):
        work()
    before = counts()
    for _ in range(500):
        work()
    after = counts()
    for name in shared:
        assert abs(after[name] - before[name]) < 50, name


def test_fields_that_are_not_set(plain: Format) -> None:
    made = build(Slotted, inner=[1])
    assert plain.loads(plain.dumps(made)) == {"inner": [1]}
    made = dataclasses.replace(Slotted(), inner=5)
    del made.before
    assert plain.loads(plain.dumps([made, 1])) == [{"inner": 5}, 1]


@pytest.mark.parametrize(
    "make", [dict, collections.defaultdict, collections.Counter], ids=lambda make: make.__name__
)
def test_two_keys_of_the_same_text(make: Any) -> None:
    """Where keys are text, one of them would be lost."""
    for fmt in PLAIN:
        held = make()
        held.update({1: 2, "1": 3})
        if fmt.text_keys:
            assert "two keys of the same text" in refused(fmt, held)
        else:
            assert fmt.loads(fmt.dumps(held)) == held
