"""The data sets, each made anew from a fixed seed in the process that measures it."""

from __future__ import annotations

import importlib.util
import os
import random
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from types import ModuleType
from typing import Any

from holdall_bench.data import SEED, Data
from holdall_bench.suites.arrays import matrices as arrays
from holdall_bench.suites.bakeoff import messages, typed_messages
from holdall_bench.suites.documents import DOCUMENTS, VARIABLE, document, path_of
from holdall_bench.suites.graphs import clusters, component
from holdall_bench.suites.instances import build
from holdall_bench.suites.models import Bar, Baz, Foo, Message, Node, Sample
from holdall_bench.suites.serbench import serbench
from holdall_bench.suites.structures import fixnums, floats, samples, tiny_ints, unicode_strings

from .documents import Catalog, Search

ROOT = Path(__file__).resolve().parents[2]
# Documents of which a program may want a part, as dataclasses.
PARTS = {"twitter": Search, "citm_catalog": Catalog}
SHARED = Path(os.environ.get("HOLDALL_SHARED", ROOT.parent / "shared"))
# Where the suite of documents looks for the real ones.
os.environ.setdefault(VARIABLE, str(SHARED / "data" / "json"))


@dataclass(frozen=True)
class Case(Data):
    """A data set that a target speaks of, or that stands beside one for orientation.

    typed: loads are asked for the annotation.
    stand_in: generated because the real data is missing, or shrunk for a quick run; the targets speak of the real data only.
    heavy: a round takes many seconds, so that there are few.
    core: a row that has a stated target (`judge.py`); the others are for orientation.
    expected: what loads give, where it isn't what was stored; a typed row that has it is about loads only.
    contestants: who takes part, where it isn't everybody who stores Python's objects.
    apart: each contestant is timed in a process of its own, where nobody else's memory is in the way.
    key: of a file, the member that is read.
    records: how many the data are, where the report is to say what one takes.
    missing: why it can't be measured here, where it can't.
    """

    typed: bool = False
    heavy: bool = False
    core: bool = True
    stand_in: bool = False
    classes: tuple[type, ...] = field(default=())
    expected: Callable[[], Any] | None = None
    contestants: Callable[[Case], list[Any]] | None = None
    apart: bool = False
    key: Any = None
    records: int | None = None
    missing: str = ""

    def made(self, annotation: Any) -> Any:
        """The data as another annotation says."""
        return build(annotation, self.make())


def row(name: str, title: str, make: Callable[[], Any], document: str = "", **others: Any) -> Case:
    """document: which of the JSON documents the data are, that may be missing."""
    if document and path_of(document) is None:
        title, others = f"{title} (generated stand-in)", others | {"stand_in": True}
    return Case(name, "targets", title, make, **others)


@cache
def scratch_folder() -> tempfile.TemporaryDirectory[str]:
    """For the files of this process, which removes it when it ends."""
    return tempfile.TemporaryDirectory(prefix="holdall-bench-")


def strings_of_few_kinds(count: int = 100_000, kinds: int = 500) -> list[str]:
    rng = random.Random(SEED)
    return rng.choices([f"kind-{i}" for i in range(kinds)], k=count)


def mixed(count: int = 1_000_000) -> list[Any]:
    """Floats, strings, pairs, complex numbers and lists, all of them objects of their own."""
    rng = random.Random(SEED)
    kinds: list[Callable[[], Any]] = [
        rng.random,
        lambda: f"item {rng.randrange(10_000)}",
        lambda: (rng.randrange(30), 2),
        lambda: complex(rng.random(), 1.0),
        lambda: [rng.randrange(1000), rng.random()],
    ]
    return [kinds[rng.randrange(5)]() for _ in range(count)]


@cache
def lisp_sets() -> ModuleType | None:
    """cl-binary-store's benchmark data, rebuilt in Python, when the shared data are at hand."""
    path = SHARED / "data" / "lisp" / "datasets.py"
    if not path.exists():
        return None
    spec = importlib.util.spec_from_file_location("datasets", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["datasets"] = module  # pickle finds the classes by this name
    kept = sys.dont_write_bytecode
    sys.dont_write_bytecode = True  # the folder may be read-only, and isn't ours
    try:
        spec.loader.exec_module(module)
    finally:
        sys.dont_write_bytecode = kept
    return module


def lisp_cases() -> list[Case]:
    module = lisp_sets()
    if module is None:
        return []
    people = (module.Person, module.Address)
    # Name, whether sharing matters, classes, how many where it isn't the original's number.
    chosen: list[tuple[str, bool, tuple[type, ...], dict[str, int]]] = [
        ("lots_of_keywords", False, (), {}),
        ("long_complex_list", False, (), {}),
        ("lots_of_standard_objects", False, (module.CBlarg,), {}),
        ("lots_of_the_same_string", False, (), {}),
        ("simple_base_strings", False, (), {}),
        ("a_lot_of_people_and_addresses", True, people, {}),
        ("a_bunch_of_specialized_arrays", False, (), {"n": 100_000}),
        ("a_pile_of_tangled_conses", True, (), {"number": 100_000}),
    ]
    return [
        row(
            f"lisp_{name}",
            f"cl-binary-store: {name.replace('_', ' ')}",
            partial(module.DATASETS[name], **arguments),
            identity=identity,
            deep="tangled" in name,
            core=False,
            classes=classes,
        )
        for name, identity, classes, arguments in chosen
    ]


def typed_cases() -> list[Case]:
    """Rows whose loads validate and build what an annotation asks for."""
    typed = partial(row, typed=True)
    serbenches, foos = "typed: serbench at 1/10, slotted dataclasses", dict[str, list[Foo]]
    small = "typed: 100,000 slotted dataclasses (float, str)"
    nested = "typed: 2,000 messages as nested dataclasses one by one"
    return [
        typed("typed_serbench", serbenches, serbench, annotation=foos),
        typed("typed_samples", small, samples, annotation=list[Sample]),
        typed("typed_messages", nested, typed_messages, each=True, annotation=Message),
        *[
            typed(
                f"typed_{name.removesuffix('_catalog')}",
                f"typed: part of {name}.json as dataclasses",
                partial(document, name),
                name,
                annotation=annotation,
                expected=partial(made_of_document, annotation, name),
            )
            for name, annotation in PARTS.items()
        ],
    ]


def made_of_document(annotation: Any, name: str) -> Any:
    return build(annotation, document(name))


def cases() -> list[Case]:
    small, foos = "100,000 slotted dataclasses (float, str)", "serbench at 1/10: 90,000 Baz in Bar in Foo"
    trees = dict[str, list[Foo]]
    graph = partial(row, identity=True, deep=True, classes=(Node,))
    extra = partial(row, core=False)
    return [
        *[row(name, f"{name}.json as dicts", partial(document, name), name) for name in DOCUMENTS],
        row("messages", "2,000 messages of 1.6 kB one by one", messages, each=True),
        row("samples", small, samples, classes=(Sample,), annotation=list[Sample]),
        row("serbench", foos, serbench, classes=(Foo, Bar, Baz), annotation=trees),
        graph("clusters", "200,000 cyclic nodes, clusters of 20", clusters),
        graph("component", "200,000 cyclic nodes, one deep component", component),
        row("small_ints", "1,000,000 ints, -16..16", tiny_ints),
        row("large_ints", "1,000,000 ints of 61 bits", fixnums),
        row("floats", "1,000,000 floats", floats),
        row("arrays", "100 arrays 100x100 float64", arrays),
        extra("unicode_strings", "100,000 short unicode strings", unicode_strings),
        extra("few_strings", "100,000 strings of 500 kinds", strings_of_few_kinds),
        extra("mixed", "1,000,000 mixed values", mixed),
        extra("one_int", "the int 1", lambda: 1),
        extra("one_string", "the string 'abcd'", lambda: "abcd"),
        extra("one_dict", "a dict of three small values", lambda: {"id": 7, "name": "abcd", "ok": True}),
        *typed_cases(),
        *lisp_cases(),
    ]
