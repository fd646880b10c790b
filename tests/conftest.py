"""Fixtures and settings for all tests."""

from __future__ import annotations

import gc
import io
import os
import pathlib
import random
import sys
from typing import Any, Callable, Iterator

import pytest

import holdall
from tests.support import each, extent
from tests.support.formats import FORMATS, Format
from tests.support.kinds import KINDS, TYPES
from tests.support.places import data_folder

try:
    import hypothesis
except ImportError:
    hypothesis = None  # type: ignore[assignment]
else:
    _SLOW = [hypothesis.HealthCheck.too_slow, hypothesis.HealthCheck.data_too_large]
    hypothesis.settings.register_profile(
        "random", max_examples=extent.EXAMPLES["random"], deadline=None, suppress_health_check=_SLOW
    )
    # The same examples each time: a run that fails does so again. `make properties` looks for new ones.
    hypothesis.settings.register_profile(
        "same",
        parent=hypothesis.settings.get_profile("random"),
        max_examples=extent.EXAMPLES["same"],
        derandomize=True,
        database=None,
        print_blob=True,
    )
    hypothesis.settings.load_profile("same")


# No test needs as much: a runaway allocation ends the one process that makes it, not the machine.
MOST_MEMORY = 8 << 30


def pytest_configure(config: pytest.Config) -> None:
    each.chosen = config.getoption("--case")
    extent.full = config.getoption("--full")
    # AddressSanitizer reserves terabytes of addresses.
    if sys.platform.startswith("linux") and "asan" not in os.environ.get("LD_PRELOAD", ""):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
    config.addinivalue_line("markers", "soak: many rounds of everything; `make soak` runs these alone")
    if not config.pluginmanager.hasplugin("xdist"):
        config.addinivalue_line(
            "markers", "xdist_group(name): tests that run in one worker, here: memory or time is measured"
        )


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    seed = config.getoption("--shuffle")
    if seed is not None:
        random.Random(seed).shuffle(items)
    for item in items:
        if any("memory" in mark.args for mark in item.iter_markers("xdist_group")):
            item.add_marker("resident")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--case", default="", metavar="TEXT", help="of tests with many cases: those whose name contains TEXT"
    )
    parser.addoption(
        "--full",
        action="store_true",
        help="every byte of files that are damaged in turn, instead of a sample",
    )
    parser.addoption("--shuffle", type=int, metavar="SEED", help="the tests in another order")


def by_dumps(obj: object) -> Any:
    return holdall.loads(holdall.dumps(obj), types=TYPES)


def by_file(obj: object) -> Any:
    file = io.BytesIO()
    holdall.dump(obj, file)
    file.seek(0)
    return holdall.load(file, types=TYPES)


def by_codec(obj: object) -> Any:
    return holdall.Decoder(types=TYPES).decode(bytearray(holdall.Encoder().encode(obj)))


def by_trusted(obj: object) -> Any:
    return holdall.loads(holdall.dumps(obj, trust=True), types=TYPES, trust=True)


WAYS: dict[str, Callable[[object], Any]] = {
    "dumps": by_dumps,
    "file": by_file,
    "codec": by_codec,
    "trusted": by_trusted,
    "deepcopy": holdall.deepcopy,
}


@pytest.fixture(params=list(WAYS))
def way(request: pytest.FixtureRequest) -> Callable[[object], Any]:
    """Every way there and back: a case that takes this runs on all of them."""
    return WAYS[request.param]


@pytest.fixture(params=list(FORMATS))
def fmt(request: pytest.FixtureRequest) -> Format:
    """Every format: a case that takes this runs on all of them."""
    return FORMATS[request.param]


@pytest.fixture(scope="session")
def shared_json() -> Iterator[pathlib.Path]:
    """The JSON documents of the shared data; the test skips where they are missing."""
    folder = data_folder("json")
    if not folder.is_dir():
        pytest.skip(f"no JSON documents in {folder}")
    yield folder


def kinds_as_they_come_back() -> dict[str, tuple[int, type]]:
    """How much is written of every kind (sets have no fixed order), and which class that loads to."""
    written = {kind.name: holdall.dumps(kind.make()) for kind in KINDS}
    return {name: (len(data), type(holdall.loads(data, types=TYPES))) for name, data in written.items()}


@pytest.fixture(scope="session")
def kinds_at_first() -> dict[str, tuple[int, type]]:
    return kinds_as_they_come_back()


@pytest.fixture(scope="module", autouse=True)
def no_module_changes_what_others_meet(kinds_at_first: dict[str, tuple[int, type]]) -> Iterator[None]:
    """What a module registers or installs must not show elsewhere: modules run in any order, in any worker."""
    yield
    # Whose file was left open is told here, and not by the test whose turn it is when it is collected.
    gc.collect()
    changed = [name for name, found in kinds_as_they_come_back().items() if found != kinds_at_first[name]]
    assert not changed, "this module left something behind that changes these kinds"


def leave_what_is_there_alone() -> None:
    """The collector does not look at it again: modules and tests are half a million objects, which take longer than most tests."""
    gc.unfreeze()
    gc.collect()
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Iterator[None]:
    """Nothing of what is imported is garbage, and the collector would look for some again and again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish(session: pytest.Session) -> None:
    leave_what_is_there_alone()


@pytest.fixture
def no_collector() -> Iterator[None]:
    """For tests that make millions of objects: the collector would look at all of them again and again."""
    gc.disable()
    yield
    gc.enable()


@pytest.fixture(scope="module")
def only_new_objects() -> Iterator[None]:
    """What the tests before have left does not count: it may be freed at any time."""
    leave_what_is_there_alone()
    yield
    leave_what_is_there_alone()
