"""What holds for every bundle: round trips, out-of-band buffers, mapped files, errors that name the bundle, and bytes and states that lie."""

from __future__ import annotations

import contextlib
import importlib
import pathlib
import pickle
import subprocess
import sys
import warnings
from typing import Any

import numpy as np
import pytest

import holdall
from tests.bundles import samples
from tests.bundles.damage import changed, damaged, survives
from tests.bundles.same import same

BUNDLES = sorted(samples.SAMPLES)
SEEDS = range(6)


def made(bundle: str, seed: int) -> list[Any]:
    samples.require(bundle)
    holdall.register_known(bundle)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return samples.SAMPLES[bundle](np.random.default_rng(seed))


@pytest.mark.parametrize("bundle", BUNDLES)
def test_round_trips(bundle: str) -> None:
    for seed in SEEDS:
        for value in made(bundle, seed):
            same(value, holdall.loads(holdall.dumps(value)))
            # As one of many, and shared.
            one, two, rest = holdall.loads(holdall.dumps([value, value, {"x": value}]))
            same(value, one)
            assert one is two is rest["x"]


# Arrow's arrays may hold anything where nulls are, and polars writes its own anew.
@pytest.mark.parametrize("bundle", [name for name in BUNDLES if name != "polars"])
def test_in_canonical_form_equal_values_have_equal_bytes(bundle: str) -> None:
    if bundle == "numpy" and np.__version__ < "2":
        pytest.skip("generators of NumPy 1 can't be told that they had no seed")
    for value in made(bundle, 1):
        data = holdall.dumps(value, canonical=True)
        assert holdall.dumps(holdall.loads(data), canonical=True) == data


@pytest.mark.parametrize("bundle", BUNDLES)
def test_buffers_out_of_band_and_mapped_files(bundle: str, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "values.hold"
    for value in made(bundle, 2):
        buffers: list[Any] = []
        message = holdall.dumps(value, buffers=buffers)
        same_but_for_rights(value, holdall.loads(message, buffers=[bytearray(one) for one in buffers]))
        holdall.dump(value, path)
        same(value, holdall.load(path))
        same_but_for_rights(value, holdall.load(path, mmap=True))
        holdall.dump([value], path, compress="zstd")
        same(value, holdall.load(path)[0])


def same_but_for_rights(value: Any, loaded: Any) -> None:
    same(value, loaded, writable=False)


@pytest.mark.parametrize("bundle", BUNDLES)
def test_trusted_messages_and_pickles_hold_them_as_well(bundle: str) -> None:
    for value in made(bundle, 3):
        same(value, holdall.loads(holdall.dumps(value, trust=True), trust=True))
        same(value, holdall.pickle.loads(holdall.pickle.dumps(value)))


@pytest.mark.parametrize("bundle", BUNDLES)
def test_damaged_messages(bundle: str) -> None:
    refused = count = 0
    for value in made(bundle, 4):
        data = holdall.dumps(value)
        for bad in damaged(data, 4, 60):
            count += 1
            refused += survives(bad, samples.use)
        for end in range(0, len(data), max(1, len(data) // 20)):
            with pytest.raises(holdall.HoldallError):
                holdall.loads(data[:end])
    assert refused > count / 4


def within(value: Any, known: dict[Any, Any]) -> list[Any]:
    """The objects of a bundle that a value is made of."""
    found: list[Any] = []
    todo, seen = [value], {}
    while todo and len(found) < 30:
        one = todo.pop()
        if id(one) in seen:
            continue
        seen[id(one)] = one
        if type(one) in known:
            found.append(one)
            todo.append(known[type(one)].encode(one))
        elif type(one) in (tuple, list):
            todo += one[:50]
        elif type(one) is dict:
            todo += list(one.values())[:50]
    return found


@pytest.mark.parametrize("bundle", BUNDLES)
def test_states_that_lie(bundle: str) -> None:
    """What a message may hold instead of a state is refused with an exception, or gives an object that can be used."""
    values = made(bundle, 5)
    known = {one.cls: one for one in importlib.import_module(f"holdall.bundles.{bundle}").known()}
    refused = count = 0
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for value in values:
            for one in within(value, known):
                way = known[type(one)]
                # What a reader has: bytes, where there are views of memory.
                state = holdall.loads(holdall.dumps(way.encode(one)))
                for seed in range(40):
                    count += 1
                    try:
                        bad = changed(state, seed)
                        if way.fills:
                            loaded = object.__new__(way.cls)
                            way.decode(loaded, bad)
                        else:
                            loaded = way.decode(bad)
                    except Exception:
                        refused += 1
                        continue
                    with contextlib.suppress(Exception):
                        samples.use(loaded)
    assert refused > count / 5


@pytest.mark.parametrize("bundle", BUNDLES)
def test_errors_name_the_bundle(bundle: str, tmp_path: pathlib.Path) -> None:
    values = made(bundle, 0)
    pairs = [(value, holdall.dumps(value)) for value in values]
    (tmp_path / "values").write_bytes(pickle.dumps([data for _, data in pairs]))
    program = f"""
import pickle, holdall
from tests.bundles import samples
import numpy as np
remedy = 'holdall.register_known("{bundle}")'
unknown = refused = 0
for data in pickle.load(open("values", "rb")):
    try:
        holdall.loads(data)
    except holdall.UnknownTypeError as error:
        assert remedy in str(error), error
        unknown += 1
for value in samples.SAMPLES["{bundle}"](np.random.default_rng(0)):
    try:
        holdall.loads(holdall.dumps(value))
    except (holdall.EncodeError, holdall.UnknownTypeError) as error:
        assert "register_known" in str(error), error
        refused += 1
assert unknown and refused, (unknown, refused)
holdall.register_known("{bundle}")
for data in pickle.load(open("values", "rb")):
    holdall.loads(data)
"""
    root = pathlib.Path(__file__).parents[2]
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        cwd=tmp_path,
        env={"PYTHONPATH": f"{root}:{root / 'python'}"},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr[-2000:]


def test_other_formats_refuse_them() -> None:
    value = made("numpy", 0)[0]
    with pytest.raises(holdall.EncodeError, match="only hold has a form for it"):
        holdall.msgpack.dumps(value)
