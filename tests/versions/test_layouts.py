"""Which objects are read in place on which version: a check that turned a fast path off would pass every other test."""

from __future__ import annotations

import gc
import random
import sys
import sysconfig

import pytest

import holdall
from holdall import _core

HAS_GIL = not sysconfig.get_config_var("Py_GIL_DISABLED")
VERSION = sys.version_info[:2]

# By the first version: dicts, values that share their keys with a class, sets, the order of an OrderedDict.
ON = [
    ((3, 16), (False, False, True, False)),
    ((3, 11), (True, True, True, True)),
    ((3, 10), (True, False, True, True)),
]


@pytest.mark.skipif(not HAS_GIL or sys.maxsize < 2**32, reason="layouts of 64 bits, with a GIL")
def test_what_is_read_in_place() -> None:
    expected = next(on for since, on in ON if since <= VERSION)
    assert _core.layouts_known() == expected


class Plain:
    pass


def plain(names: str) -> Plain:
    made = Plain()
    for at, name in enumerate(names):
        setattr(made, name, [at])
    return made


def has_dict(instance: object) -> bool:
    """Whether there is a `__dict__` object for the instance: it is what holds the values, then."""
    return any(type(held) is dict for held in gc.get_referents(instance))


@pytest.mark.skipif(not _core.layouts_known()[1], reason="attributes are read through `__dict__` here")
def test_attributes_are_read_without_a_dict() -> None:
    """It would stay with the instance, and take four times its memory."""
    for names in ("a", "abc", "cab", "abcdefgh"):
        instance = plain(names)
        copy = holdall.loads(holdall.dumps(instance), types=[Plain])
        assert not has_dict(instance)
        assert list(vars(copy)) == list(names) and vars(copy) == vars(instance)


def test_attributes_in_every_state() -> None:
    """Set in any order, deleted, set again, more than share their keys, with a `__dict__` that was asked for, replaced or cleared."""
    chosen = random.Random(5)
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOP"
    for round_ in range(300):
        names = chosen.sample(letters, chosen.randint(0, 8 if round_ % 3 else 40))
        instance = plain("".join(names))
        for name in names[:: chosen.randint(1, 4)]:
            delattr(instance, name)
            if chosen.random() < 0.5:
                setattr(instance, name, {name})
        step = chosen.randint(0, 5)
        if step == 1:
            assert vars(instance) is not None
        elif step == 2:
            instance.__dict__ = dict(vars(instance))
        elif step == 3:
            vars(instance).clear()
        elif step == 4:
            vars(instance)["late"] = 1
        copies = [
            holdall.loads(holdall.dumps(instance), types=[Plain]),
            holdall.loads(holdall.dumps([instance, instance]), types=[Plain])[1],
            holdall.deepcopy(instance),
            holdall.loads(holdall.dumps(instance, trust=True), trust=True),
        ]
        for copy in copies:
            assert list(vars(copy).items()) == list(vars(instance).items())
            copy.later = 1
            assert copy.later == 1 and vars(copy)["later"] == 1
            del copy.later
            assert list(vars(copy)) == list(vars(instance))


def test_an_instance_that_was_loaded_is_like_any_other() -> None:
    """Its `__dict__` was given to it by hand where that is known to be right."""
    copy = holdall.loads(holdall.dumps(plain("abc")), types=[Plain])
    assert copy.a == [0] and not hasattr(copy, "d")
    held = vars(copy)
    copy.d = copy
    assert held["d"] is copy and vars(copy) is held
    copy.__dict__ = {"a": 5}
    assert copy.a == 5 and not hasattr(copy, "b") and held["b"] == [1]
    del copy.__dict__
    assert not vars(copy)
    del held["d"], copy
    assert gc.collect() >= 0


def test_references_are_told_whoever_passes_the_object() -> None:
    """Since 3.14 an argument may have fewer references than places that hold it: roots are looked up whatever their count is."""

    def made() -> list[object]:
        root: list[object] = []
        root.append(root)
        return root

    for loaded in (holdall.loads(holdall.dumps(made())), holdall.deepcopy(made())):
        assert loaded[0] is loaded
    kept = made()
    for loaded in (
        holdall.loads(holdall.dumps(kept)),
        holdall.Decoder().decode(holdall.Encoder().encode(kept)),
    ):
        assert loaded[0] is loaded

    inner = [1]
    for pair in ([inner, inner], (inner, inner), {"a": inner, "b": inner}.values()):
        one, other = holdall.loads(holdall.dumps(list(pair)))
        assert one is other
    text = "".join(["shared ", "text"])
    one, other = holdall.loads(holdall.dumps([text, text]))
    assert one is other

    def pairs() -> object:
        part = [5]
        yield part
        yield part

    one, other = holdall.loads(holdall.dumps(list(pairs())))
    assert one is other
    # A constant of the code has no reference but that of the code object.
    assert holdall.loads(holdall.dumps(((1, 2), (1, 2)))) == ((1, 2), (1, 2))


class Lending:
    """Its state is a list that only the caller's frame and the state hold."""

    def __init__(self, part: list[int]) -> None:
        self.part = part

    def __getstate__(self) -> object:
        part = self.part
        return {"part": part, "again": part}


def test_references_that_only_a_state_gives_out() -> None:
    copy = holdall.loads(holdall.dumps(Lending([1]), trust=True), trust=True)
    assert copy.part is copy.again
    copy = holdall.deepcopy(Lending([1]))
    assert copy.part is copy.again


class Tupled(tuple[int, ...]):
    pass


def test_the_hash_of_what_was_loaded() -> None:
    """Since 3.14 a tuple keeps its hash: one that was filled by hand must not keep that of what it was before."""
    for case in [(), (1, "a"), tuple(range(40)), ((1,), (2, (3,))), Tupled([1, 2]), Tupled()]:
        for copy in (holdall.loads(holdall.dumps([case, {case}]), types=[Tupled])[0], holdall.deepcopy(case)):
            assert type(copy) is type(case) and hash(copy) == hash(case) and copy in {case}
