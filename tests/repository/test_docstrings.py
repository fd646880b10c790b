"""The examples in the docstring of every public name run, and every public name has one."""

from __future__ import annotations

import doctest
import inspect
import sys
import types

import pytest

import holdall
import holdall.bson
import holdall.envelope_pickle
import holdall.integrations
import holdall.julia
import holdall.msgpack.compat
import holdall.pickle
import holdall.safe_pickle
from tests.support.each import each

MODULES = (
    holdall, holdall.bson, holdall.envelope_pickle, holdall.integrations, holdall.julia, holdall.msgpack, holdall.msgpack.compat, holdall.pickle,
    holdall.safe_pickle,
)  # fmt: skip
# Names that holdall takes over from the standard library have their documentation there; constants have none.
PUBLIC = {
    f"{module.__name__}.{name}": (module, getattr(module, name))
    for module in MODULES
    for name in [*module.__all__, "open"]
    if getattr(getattr(module, name, None), "__module__", "").startswith("holdall")
}


def documented_parts(name, value):
    """The object itself and, of a class, what it defines under public names."""
    yield name, value
    if inspect.isclass(value):
        for attribute, member in vars(value).items():
            if (
                not attribute.startswith("_")
                and getattr(member, "__doc__", None)
                and not isinstance(member, str)
            ):
                yield f"{name}.{attribute}", member


def examples(name, text, namespace):
    return doctest.DocTestParser().get_doctest(inspect.cleandoc(text), namespace, name, None, None)


@pytest.fixture
def namespace(monkeypatch, tmp_path, request):
    """What an example may use: the public names of its module; classes it defines belong to a module of their own."""
    monkeypatch.chdir(tmp_path)
    module = types.ModuleType("example_" + request.node.callspec.id.replace(".", "_"))
    monkeypatch.setitem(sys.modules, module.__name__, module)
    source, _ = PUBLIC[request.node.callspec.id]
    # In examples `open` is Python's own.
    public = {name: getattr(source, name) for name in source.__all__ if name != "open"}
    vars(module).update(public, holdall=holdall)
    return vars(module)


def test_the_public_names_are_found():
    assert {"holdall.dumps", "holdall.Record", "holdall.LimitError", "holdall.pickle.Pickler"} <= set(PUBLIC)


@pytest.mark.parametrize("name", PUBLIC)
def test_examples_run(name, namespace):
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL)
    _, value = PUBLIC[name]
    assert examples(name, value.__doc__ or "", {}).examples, f"{name} has no example"
    report = []
    for part, member in documented_parts(name, value):
        runner.run(examples(part, member.__doc__, namespace), out=report.append, clear_globs=False)
    assert runner.summarize(verbose=False).failed == 0, "".join(report)


@each("name", PUBLIC)
def test_docstrings_say_more_than_the_example(name):
    _, value = PUBLIC[name]
    first = inspect.cleandoc(value.__doc__ or "").split("\n")[0]
    assert first.endswith((".", ":"))
    assert not first.startswith(">>>")


@pytest.mark.parametrize("name", ["dumps", "loads", "deepcopy", "Encoder", "Decoder", "Limits"])
def test_native_names_have_signatures(name):
    assert inspect.signature(getattr(holdall, name)).parameters
