"""`register_known` itself, by the one bundle whose library is there where `make test` runs: the others are in `bundles/`."""

from __future__ import annotations

import subprocess
import sys

import pytest

import holdall
from holdall import _bundles

# In a process of its own, as what it registers stays.
PROGRAM = """
import holdall, numpy as np

masked = np.ma.masked_array([[1, 2]], mask=[[True, False]])
data = holdall.dumps([1])
for refused in (lambda: holdall.dumps(masked), lambda: holdall.msgpack.dumps(masked)):
    try:
        refused()
    except holdall.EncodeError as error:
        print("register_known" in str(error))
assert holdall._bundles.bundle_of("numpy.ndarray") is None
holdall.register_known("numpy", "numpy")
one, two, generator = holdall.loads(holdall.dumps([masked, masked, np.random.default_rng(1)]))
assert one is two and type(one) is type(masked) and one.tolist() == [[None, 2]]
assert generator.random() == np.random.default_rng(1).random()
assert holdall._bundles.bundle_of("numpy.ma.MaskedArray") is None

# Content that it can't have.
data = holdall.dumps([masked])
for bad in (data.replace(b"numpy.ma.MaskedArray", b"numpy.random.PCG64\\0\\0"), data[:-1]):
    try:
        holdall.loads(bad)
    except holdall.DecodeError as error:
        print(type(error).__name__)

# Other formats say that they have no form for it.
try:
    holdall.msgpack.dumps([masked])
except holdall.EncodeError as error:
    print("only hold has a form" in str(error))

# What the program has registered itself stays.
holdall.register(np.random.Generator, encode=lambda value: 5, decode=lambda value: np.random.default_rng(value))
print(holdall.loads(holdall.dumps(np.random.default_rng(1))).random() == np.random.default_rng(5).random())
"""


def test_a_bundle() -> None:
    run = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert run.stdout.split() == ["True", "False", "UnknownTypeError", "TruncatedError", "True", "True"]


# A bundle's class that has a form of its own keeps it, under whichever name it is registered for the rest: here those with attributes.
REMAINING = """
import holdall
from collections import OrderedDict

plain, noted = OrderedDict(b=1, a=[2]), OrderedDict(a=1)
noted.note = "x"
before = holdall.dumps(plain), holdall.msgpack.dumps(plain)
holdall._core.register_class(
    OrderedDict, "torch.OrderedDict", (), 1, {}, None, lambda one: (dict(one), vars(one)), lambda state: ("made of", *state), None,
    bundled=True, remaining=True,
)
assert (holdall.dumps(plain), holdall.msgpack.dumps(plain)) == before
one, two, other = holdall.loads(holdall.dumps([noted, noted, plain]))
print(one is two, one == ("made of", {"a": 1}, {"note": "x"}), (type(other), other) == (OrderedDict, plain))
"""


def test_what_has_a_form_keeps_it() -> None:
    run = subprocess.run([sys.executable, "-c", REMAINING], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert run.stdout.split() == ["True", "True", "True"]


def test_what_it_refuses() -> None:
    with pytest.raises(ValueError, match=r"expected one of django, .* got 'panda'"):
        holdall.register_known("panda")
    with pytest.raises(TypeError, match="expected str, got int"):
        holdall.register_known(1)  # type: ignore[arg-type]


def test_the_library_that_a_bundle_needs() -> None:
    program = "import sys, holdall; sys.modules['shapely'] = None\ntry: holdall.register_known('shapely')\nexcept ImportError as error: print(error)"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert run.stdout.startswith('holdall.register_known("shapely") needs shapely: '), run.stderr


def test_names_of_bundles() -> None:
    names = {
        "pandas.DataFrame": "pandas",
        "PIL.Image.Image": "pillow",
        "sklearn.svm.SVC": "sklearn",
        "pandasql.Table": None,
    }
    for name, bundle in names.items():
        if name.partition(".")[0] not in sys.modules:
            assert _bundles.bundle_of(name) == bundle


def test_data_of_a_library_that_is_not_there_name_its_bundle() -> None:
    stored = holdall.dumps(holdall.Record("shapely.Point", {"state": b""}))
    with pytest.raises(holdall.UnknownTypeError, match=r'register_known\("shapely"\)` permits it'):
        holdall.loads(stored)
