"""Interpreters beside the main one: each has an image of the extension, so that no two have an object in common."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

pytestmark = pytest.mark.skipif(
    sys.platform == "win32", reason="Windows has no way yet to load the extension once more"
)
OWN_GIL = pytest.mark.skipif(
    sys.version_info < (3, 13), reason="before 3.13 `datetime` in C isn't there with a GIL of its own"
)

# `run(code)` runs it in a new interpreter, which then ends, and raises what was raised there.
BEGIN = """
import os, sys, threading
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters

HOW = {"isolated": False} if sys.version_info[:2] == (3, 12) else {}

def create(**how):
    return interpreters.create(**(how or HOW))

def within(one, code):
    failed = interpreters.run_string(one, code)
    if failed is not None:
        raise SystemExit(failed.formatted)

def run(code, **how):
    one = create(**how)
    try:
        within(one, code)
    finally:
        interpreters.destroy(one)

def images():
    with open("/proc/self/maps") as maps:
        return len({line.split()[4] for line in maps if "memfd:holdall" in line})
"""

TOUR = """
import collections, dataclasses, datetime, decimal, enum, pathlib, uuid
import holdall
from holdall import bson, msgpack

@dataclasses.dataclass
class Point:
    x: int
    y: str

class Colour(enum.Enum):
    RED = 1

for cls in (Point, Colour):
    cls.__module__ = "app"
    holdall.register(cls, name=f"app.{cls.__name__}")

node = [1, 2.5, "text", "\\u00e9\\u4e2d", b"bytes", None, True, 1 << 70, {"a": 1, 2: "b"}, {1, 2}, (1, 2), frozenset([3])]
node += [Point(1, "y"), Colour.RED, decimal.Decimal("1.5"), uuid.UUID(int=5), pathlib.PurePosixPath("a/b"), 3j, range(3)]
node += [datetime.datetime(2026, 1, 2, tzinfo=datetime.timezone.utc), collections.deque([1]), collections.Counter("ab")]
for number in range(50):
    assert holdall.loads(holdall.dumps([node, number])) == [node, number]
    assert holdall.deepcopy(node) == node
    assert msgpack.loads(msgpack.dumps({"n": number, "p": Point(number, "z")}), type=dict[str, Point | int])["p"] == Point(number, "z")
    assert bson.loads(bson.dumps({"n": number}))["n"] == number
loop = []
loop.append(loop)
again = holdall.loads(holdall.dumps(loop))
assert again[0] is again
for damaged in (b"", b"\\xc1", holdall.dumps(node)[:-3]):
    try:
        holdall.loads(damaged)
    except holdall.DecodeError:
        pass
    else:
        raise AssertionError(damaged)
try:
    holdall.dumps(x for x in ())
except holdall.EncodeError as error:
    assert "generator" in str(error)
"""


def passes(code: str) -> None:
    program = BEGIN + f"TOUR = {TOUR!r}\n" + textwrap.dedent(code)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.strip().endswith("done")


def test_each_has_classes_of_its_own() -> None:
    passes("""
        import holdall
        exec(TOUR)
        ids = {id(holdall.DecodeError), id(holdall.Encoder), id(holdall.Limits)}
        for _ in range(2):
            run(TOUR + f"assert not {ids} & {{id(holdall.DecodeError), id(holdall.Encoder), id(holdall.Limits)}}")
        exec(TOUR.replace("app.", "app2."))
        print("done")
    """)


def test_registrations_of_one_are_unknown_to_the_other() -> None:
    passes("""
        import holdall
        exec(TOUR)
        message = holdall.dumps(Point(1, "y"))
        run(f'''if True:
            import holdall
            try:
                holdall.loads({message})
            except holdall.UnknownTypeError as error:
                assert "app.Point" in str(error)
            else:
                raise AssertionError
        ''')
        print("done")
    """)


def test_the_first_that_imports_it_may_end_first() -> None:
    passes("""
        run(TOUR)
        run(TOUR)
        exec(TOUR)
        run(TOUR)
        exec(TOUR.replace("app.", "app2."))
        print("done")
    """)


def test_again_in_the_same_interpreter() -> None:
    """A module that is imported anew is filled anew, by the same image."""
    passes("""
        AGAIN = "import sys\\n" + "for name in [name for name in sys.modules if name.startswith('holdall')]: del sys.modules[name]\\n"
        exec(TOUR)
        exec(AGAIN + TOUR.replace("app.", "app2."))
        run(TOUR + AGAIN + TOUR.replace("app.", "app2."))
        print("done")
    """)


# Files of every kind call what they are given: objects, progress, a remote file's ranges.
CALLS = '''
import io
import holdall
from holdall import _core
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters

calls = []
def called(*_):
    # What is called calls holdall itself, which leaves the interpreter once more.
    calls.append(interpreters.get_current())
    assert holdall.loads(holdall.dumps([len(calls)])) == [len(calls)]
    inner = io.BytesIO()
    holdall.dump(["inner"], inner)
    inner.seek(0)
    assert holdall.load(inner) == ["inner"]

class File(io.BytesIO):
    def write(self, data):
        called()
        return super().write(data)
    def readinto(self, buffer):
        called()
        return super().readinto(buffer)
    def flush(self):
        called()
    def read_at(self, at, size):
        called()
        return self.getvalue()[at : at + size]
    @property
    def size(self):
        called()
        return len(self.getvalue())

class Broken(io.BytesIO):
    def write(self, data):
        raise KeyError("mine")
    readinto = write

data = [list(range(1000)), "x" * 3_000_000, b"y" * 20_000_000]
file = File()
holdall.dump(data, file, progress=called)
file.seek(0)
assert holdall.load(file, progress=called) == data
log = File()
with holdall.Writer(log) as writer:
    for number in range(300):
        writer.write(["x" * 9000, number])
log.seek(0)
assert [number for _, number in holdall.Reader(log)] == list(range(300))
options = dict.fromkeys(["repair", "part", "dec_hook", "resolver", "limits"])
ranges = _core.LogReader(log, follow=False, type=object, types=(), trust=False, strict=True, **options)
assert [number for _, number in ranges] == list(range(300))
for call in (lambda: holdall.dump(data, Broken()), lambda: holdall.load(Broken())):
    try:
        call()
    except KeyError as error:
        assert error.args == ("mine",)
    else:
        raise AssertionError
assert len(calls) > 20 and set(calls) == {interpreters.get_current()}, calls
'''


@pytest.mark.parametrize("where", ["main thread", "another"])
def test_files_are_called_in_the_interpreter_that_has_them(where: str) -> None:
    passes(f"""
        CALLS = {CALLS!r}
        def turns():
            exec(CALLS, {{}})
            run(CALLS)
            exec(CALLS, {{}})
            run(CALLS)
        if {where == "main thread"}:
            turns()
        else:
            thread = threading.Thread(target=turns)
            thread.start()
            thread.join()
        print("done")
    """)


@OWN_GIL
def test_twelve_at_once() -> None:
    passes("""
        failed, alone = [], threading.Lock()
        # CPython 3.13 itself crashes where several interpreters import its library, or end, at once.
        begins = alone if sys.version_info < (3, 14) else threading.Semaphore(12)
        def work():
            try:
                with begins:
                    one = create()
                    within(one, TOUR)
                within(one, "for _ in range(50): assert holdall.loads(holdall.dumps(node)) == node")
                with begins:
                    interpreters.destroy(one)
            except BaseException as error:
                failed.append(error)
        import holdall
        for _ in range(2):
            threads = [threading.Thread(target=work) for _ in range(12)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        assert not failed, failed[0]
        print("done")
    """)


@pytest.mark.skipif(
    not sys.platform.startswith("linux") or sys.version_info < (3, 12),
    reason="reads /proc; before 3.12 images stay",
)
@pytest.mark.parametrize("where", ["main thread", "another"])
def test_images_go_with_their_interpreters(where: str) -> None:
    passes(f"""
        import holdall
        def cycle():
            run(TOUR)
        def elsewhere():
            thread = threading.Thread(target=cycle)
            thread.start()
            thread.join()
        turn = cycle if {where == "main thread"} else elsewhere
        turn()
        descriptors = len(os.listdir("/proc/self/fd"))
        for _ in range(4):
            turn()
        # The last one, and one that waits for the thread that was the first to see that its interpreter had ended.
        assert images() <= 2, images()
        assert len(os.listdir("/proc/self/fd")) == descriptors
        print("done")
    """)


@OWN_GIL
def test_bytes_are_lent_to_another() -> None:
    """Another interpreter loads from this one's memory, without a copy of the message."""
    passes("""
        import holdall
        message = holdall.dumps(list(range(1000)))
        one = create()
        within(one, "import _interpreters")
        interpreters.set___main___attrs(one, {"message": memoryview(message)})
        within(one, "import holdall; assert holdall.loads(message) == list(range(1000)); message.release()")
        interpreters.destroy(one)
        print("done")
    """)


@pytest.mark.skipif(sys.version_info < (3, 14), reason="since 3.14")
def test_a_pool_of_interpreters() -> None:
    from concurrent.futures import InterpreterPoolExecutor

    import holdall

    messages = [holdall.dumps({"n": number, "l": [number] * 50}) for number in range(40)]
    with InterpreterPoolExecutor(max_workers=3) as pool:
        found = list(pool.map(holdall.loads, messages))
    assert found == [{"n": number, "l": [number] * 50} for number in range(40)]


@pytest.mark.skipif(sys.version_info[:2] != (3, 12), reason="CPython 3.12's")
def test_what_3_12_lacks_is_said() -> None:
    passes("""
        import holdall
        one = interpreters.create()
        try:
            interpreters.run_string(one, "import holdall")
        except interpreters.RunFailedError as error:
            assert "since CPython 3.13" in str(error), error
        else:
            raise AssertionError
        interpreters.destroy(one)
        print("done")
    """)
