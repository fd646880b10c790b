"""Two hundred more files of BSON.jl's, with the expressions that made them: each is loaded, and says the same when it is written again.

Some have a check in Python beside the expression. What Julia makes of them when they are written again is compared by `make check-julia`.
"""

from __future__ import annotations

import datetime
import pathlib
import re
from collections.abc import Iterator

import pytest

pytest.importorskip("numpy")

import numpy as np

from holdall import julia
from tests.support import julia_tree
from tests.support.each import each
from tests.support.julia_registry import fresh
from tests.support.julia_same import same
from tests.support.julia_trees import same_tree
from tests.support.places import data_folder

FOLDER = data_folder("julia_values")
# Longer than the second reader and writer recurse, and a cycle of types, which compare by what they are.
TOO_DEEP = ("long",)
# A dict that BSON.jl took for a document is written as what it is: BSON.jl could take it for a symbol.
OTHER_FORM = ("m_tag2",)


def checks() -> dict[str, str]:
    """By name: an expression that holds of `v`. In values.jl it is the last argument, in quotes, of `v("name", value, "check")`."""
    found = {}
    for name in ("values.jl", "values2.jl"):
        for call in re.split(r'\bv\("', (FOLDER / name).read_text(encoding="utf-8"))[1:]:
            of, _, rest = call.partition('", ')
            check = re.search(r', "((?:[^"\\]|\\.)*)"\)[;\s]*$', rest.split("\n")[0].rstrip())
            if check is not None and re.search(r"\bv\b", check[1]):
                found[of] = re.sub(r"\\(.)", r"\1", check[1])
    return found


if FOLDER.is_dir():
    PATHS = [pytest.param(path, id=path.stem) for path in sorted((FOLDER / "bson").glob("*.bson"))]
    CHECKS = checks()
else:
    PATHS = [pytest.param(None, marks=pytest.mark.skip(f"no files in {FOLDER}"))]
    CHECKS = {}


@pytest.fixture(autouse=True)
def registry() -> Iterator[None]:
    with fresh():
        yield


@each("path", PATHS, within=fresh)
def test_a_file_is_loaded_and_written_again(path: pathlib.Path) -> None:
    data = path.read_bytes()
    value = julia.loads(data)
    again = julia.dumps(value)
    if path.stem in TOO_DEEP or path.stem in OTHER_FORM:
        assert julia.dumps(julia.loads(again)) == again
        return
    same(value, julia_tree.loads(data))
    if again != data:
        same_tree(julia_tree.parse(again), julia_tree.parse(data))
    if path.stem in CHECKS:
        assert eval(CHECKS[path.stem], {"v": value["value"], "J": julia, "np": np, "dt": datetime})


def test_there_are_checks() -> None:
    if not FOLDER.is_dir():
        pytest.skip(f"no files in {FOLDER}")
    assert len(CHECKS) > 60
    assert CHECKS["strnul"] == r"v=='a\0b'"
