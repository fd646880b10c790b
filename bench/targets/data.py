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

    def made(self, annotation: Any) -> Any:
        """The data as another annotation says."""
        return build(annotation, self.make())


def row(name: str, title: str, make: Callable[[], Any], **others: Any) -> Case:
    return Case(name, "targets", title, make, **others)


@cache
def scratch_folder() -> tempfile.TemporaryDirectory[str]:
    """For the files of this process, which removes it when it ends."""
    return tempfile.TemporaryDirectory(prefix="holdall-bench-")


def has_document(name: str) -> bool:
    return path_of(name) is not None


def strings_of_few_kinds(count: int = 100_000, kinds: int = 500) -> list[str]:
    rng = random.Random(SEED)
    return rng.choices([f"kind-{i}" for i in range(kinds)], k=count)


def mixed(count: int = 1_000_000) -> list[Any]:
    """Floats, strings, pairs, complex numbers and lists, all of them objects of their own."""
    rng = random.Random(SEED)

    def one() -> Any:
        kind = rng.randrange(5)
        if kind == 0:
            return rng.random()
        if kind == 1:
            return f"item {rng.randrange(10_000)}"
        if kind == 2:
            return (rng.randrange(30), 2)
        if kind == 3:
            return complex(rng.random(), 1.0)
        return [rng.randrange(1000), rng.random()]

    return [one() for _ in range(count)]


def lisp_sets() -> ModuleType | None:
    """cl-binary-store's benchmark data, rebuilt in Python, when the shared data are at hand."""
    path = SHARED / "data" / "lisp" / "datasets.py"
    if not path.exists():
        return None
    spec = importlib.util.spec_from_file_location("datasets", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["datasets"] = module  # pickle finds the classes by this name
    sys.dont_write_bytecode = True  # the shared folder may be read-only, and isn't ours
    spec.loader.exec_module(module)
    return module


def lisp_cases() -> list[Case]:
    module = lisp_sets()
    if module is None:
        return []
    people = (module.Person, module.Address)
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

    def case(name: str, identity: bool, classes: tuple[type, ...], arguments: dict[str, int]) -> Case:
        make = module.DATASETS[name]
        title = f"cl-binary-store: {name.replace('_', ' ')}"
        deep = "tangled" in name
        return row(
            f"lisp_{name}",
            title,
            partial(make, **arguments),
            identity=identity,
            deep=deep,
            core=False,
            classes=classes,
        )

    return [case(*row) for row in chosen]


def typed_cases() -> list[Case]:
    """Rows whose loads validate and build what an annotation asks for."""
    parts = [
        row(
            f"typed_{name.removesuffix('_catalog')}",
            f"typed: part of {name}.json as dataclasses" + " (generated stand-in)" * stand_in,
            partial(document, name),
            stand_in=stand_in,
            typed=True,
            annotation=annotation,
            expected=partial(made_of_document, annotation, name),
        )
        for name, annotation in (("twitter", Search), ("citm_catalog", Catalog))
        for stand_in in [not has_document(name)]
    ]
    return [
        row(
            "typed_serbench",
            "typed: serbench at 1/10, slotted dataclasses",
            serbench,
            typed=True,
            annotation=dict[str, list[Foo]],
        ),
        row(
            "typed_samples",
            "typed: 100,000 slotted dataclasses (float, str)",
            samples,
            typed=True,
            annotation=list[Sample],
        ),
        row(
            "typed_messages",
            "typed: 2,000 messages as nested dataclasses one by one",
            typed_messages,
            each=True,
            typed=True,
            annotation=Message,
        ),
        *parts,
    ]


def made_of_document(annotation: Any, name: str) -> Any:
    return build(annotation, document(name))


def cases() -> list[Case]:
    documents = [
        row(
            name,
            f"{name}.json as dicts" + " (generated stand-in)" * stand_in,
            partial(document, name),
            stand_in=stand_in,
        )
        for name in DOCUMENTS
        for stand_in in [not has_document(name)]
    ]
    return [
        *documents,
        row("messages", "2,000 messages of 1.6 kB one by one", messages, each=True),
        row(
            "samples",
            "100,000 slotted dataclasses (float, str)",
            samples,
            classes=(Sample,),
            annotation=list[Sample],
        ),
        row(
            "serbench",
            "serbench at 1/10: 90,000 Baz in Bar in Foo",
            serbench,
            classes=(Foo, Bar, Baz),
            annotation=dict[str, list[Foo]],
        ),
        row(
            "clusters",
            "200,000 cyclic nodes, clusters of 20",
            clusters,
            identity=True,
            deep=True,
            classes=(Node,),
        ),
        row(
            "component",
            "200,000 cyclic nodes, one deep component",
            component,
            identity=True,
            deep=True,
            classes=(Node,),
        ),
        row("small_ints", "1,000,000 ints, -16..16", tiny_ints),
        row("large_ints", "1,000,000 ints of 61 bits", fixnums),
        row("floats", "1,000,000 floats", floats),
        row("arrays", "100 arrays 100x100 float64", arrays),
        row("unicode_strings", "100,000 short unicode strings", unicode_strings, core=False),
        row("few_strings", "100,000 strings of 500 kinds", strings_of_few_kinds, core=False),
        row("mixed", "1,000,000 mixed values", mixed, core=False),
        row("one_int", "the int 1", lambda: 1, core=False),
        row("one_string", "the string 'abcd'", lambda: "abcd", core=False),
        row(
            "one_dict",
            "a dict of three small values",
            lambda: {"id": 7, "name": "abcd", "ok": True},
            core=False,
        ),
        *typed_cases(),
        *lisp_cases(),
    ]
