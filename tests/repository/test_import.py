"""What `import holdall` costs and brings along."""

from __future__ import annotations

import subprocess
import sys

import holdall


def run(program, *flags):
    return subprocess.run([sys.executable, *flags, "-c", program], capture_output=True, text=True, check=True)


def test_nothing_heavy_is_imported():
    heavy = {"pickle", "numpy", "dataclasses", "inspect", "decimal", "tempfile", "asyncio"}
    program = (
        f"import sys; before = set(sys.modules); import holdall; print(*{heavy} & set(sys.modules) - before)"
    )
    assert run(program).stdout.split() == []


def test_import_takes_less_than_40_ms():
    """Of computing, and once in twenty times: how busy the machine is says nothing about it."""
    program = "import time; began = time.process_time(); import holdall; print(1000 * (time.process_time() - began))"
    taken = []
    while not taken or (min(taken) >= 40 and len(taken) < 20):
        taken.append(float(run(program).stdout))
    assert min(taken) < 40


def test_the_pickle_module_comes_when_it_is_asked_for():
    program = "import holdall; print(holdall.pickle.loads(holdall.pickle.dumps([len])) == [len], 'pickle' in dir(holdall))"
    assert run(program).stdout.split() == ["True", "True"]


def test_a_star_import_hides_nothing_of_the_standard_library():
    assert not set(holdall.__all__) & set(sys.stdlib_module_names)


def test_names_that_are_not_there():
    program = "import holdall\ntry: holdall.nothing\nexcept AttributeError as error: print(error)"
    assert run(program).stdout == "module 'holdall' has no attribute 'nothing'\n"
