"""Handmade messages for every class that is loaded, under `types=` and `type=`: none may end the interpreter.

python -m tests.zoo.scan [--packages NAME ...] [--only TEXT] [--all] [--list]      exits with 1 where a class ended the process

The packages are imported once. A fork of that process goes over the classes and notes in shared memory what it is about to do;
where it ends early, that is the finding, and the next fork goes on behind it.
"""

from __future__ import annotations

import argparse
import copy
import gc
import importlib
import mmap
import os
import pickle
import pkgutil
import signal
import sys
import time
import types
import warnings
from functools import partial
from typing import Any, Callable, Iterator

import holdall
from holdall import msgpack
from tests.support import wire

DESCRIPTORS = (types.GetSetDescriptorType, types.MemberDescriptorType)
HEAP_TYPE = 1 << 9
MOST_FIELDS = 40
# A class whose messages take longer hangs.
MOST_SECONDS = 60
NOTE = 600
# Of one class.
MOST_FINDINGS = 4
# What a class is built for by force hangs or ends the process whoever calls it, also without us.
NOT_USED = {"__del__", "__abstractmethods__", "__init__", "__new__", "__init_subclass__", "__class__"}


def is_c(cls: type) -> bool:
    """Was it made by something else than a class statement? (No attribute says so; a class statement leaves traces.)"""
    if not cls.__flags__ & HEAP_TYPE:
        return True
    own = vars(cls)
    if (
        "__firstlineno__" in own
        or "__static_attributes__" in own
        or "__slots__" in own
        or "__annotations__" in own
    ):
        return False
    return not any(isinstance(member, (types.FunctionType, property)) for member in own.values()) and any(
        isinstance(member, (types.WrapperDescriptorType, types.MethodDescriptorType, *DESCRIPTORS))
        for name, member in own.items()
        if name not in ("__dict__", "__weakref__")
    )


def is_laid_out_by_c(cls: type) -> bool:
    """Is there a class of C's among its bases, other than `object`? Else Python alone has laid it out."""
    return any(is_c(owner) for owner in cls.__mro__ if owner is not object)


def all_classes() -> list[type]:
    """Every class there is, by way of what is derived from `object`."""
    seen: dict[int, type] = {}
    todo: list[type] = [object]
    while todo:
        cls = todo.pop()
        if id(cls) in seen:
            continue
        seen[id(cls)] = cls
        try:
            todo.extend(type.__subclasses__(cls))
        except TypeError:
            continue
    return sorted(seen.values(), key=lambda cls: (str(vars(cls).get("__module__")), cls.__qualname__))


# --- the messages of a class ---
def fields_of(cls: type) -> list[str]:
    names: dict[str, None] = {}
    for owner in cls.__mro__:
        for name, member in vars(owner).items():
            if type(member) in DESCRIPTORS:
                names[name] = None
    slots = getattr(cls, "__match_args__", ())
    names.update(
        dict.fromkeys(name for name in slots if isinstance(name, str)) if isinstance(slots, tuple) else {}
    )
    return [name for name in names if name.isidentifier()][:MOST_FIELDS]


CONTENTS: dict[str, bytes] = {
    "list": wire.sequence(wire.integer(1), wire.text("a")),
    "empty list": wire.EMPTY_LIST,
    "tuple": wire.tuple_(wire.integer(1), wire.text("a"), wire.NONE),
    "empty tuple": wire.tuple_(),
    "long tuple": wire.tuple_(*[wire.integer(1)] * 60),
    "dict": wire.dict_(wire.text("a"), wire.integer(1)),
    "empty dict": wire.tag("DICT_EMPTY"),
    "set": wire.sized("SET", 1, wire.integer(3)),
    "frozenset": wire.sized("FROZENSET", 1, wire.integer(3)),
    "text": wire.text("abc"),
    "bytes": wire.blob(b"abcdefgh" * 4),
    "bytearray": wire.sized("BYTEARRAY", 3, b"abc"),
    "int": wire.integer(7),
    "large int": wire.integer(1 << 90),
    "float": wire.tag("FLOAT", b"\0" * 8),
    "complex": wire.tag("COMPLEX", b"\0" * 16),
    "None": wire.NONE,
    "deque": wire.known("Deque", wire.NONE, wire.sequence(wire.integer(1))),
    "defaultdict": wire.known("DefaultDict", wire.NONE, wire.dict_(wire.text("a"), wire.integer(1))),
    "exception": wire.tuple_(wire.tuple_(wire.text("a")), wire.tag("DICT_EMPTY")),
    "exception that holds itself": wire.tuple_(
        wire.tuple_(wire.reference(0)),
        wire.dict_(wire.text("__cause__"), wire.reference(0), wire.text("errno"), wire.integer(3)),
    ),
    "date": wire.known("Date", wire.integer(700_000)),
    "itself": wire.tuple_(wire.reference(0)),
}
VALUES: dict[str, bytes] = {
    "int": wire.integer(0),
    "large int": wire.integer(1 << 62),
    "None": wire.NONE,
    "text": wire.text("abc"),
    "list": wire.sequence(wire.integer(1)),
    "itself": wire.reference(0),
}


def messages(cls: type, name: str) -> Iterator[tuple[str, bytes]]:
    """(label, message): layouts with nothing, with what the class seems to have, and with too much; all kinds, all contents."""
    named = fields_of(cls)
    length = getattr(cls, "n_sequence_fields", None) or len(getattr(cls, "_fields", ()) or ())
    junk = [f"field{number}" for number in range(64)]
    yield "object, empty", wire.message(wire.layout("object", name, []))
    yield "object, overlong", wire.message(wire.layout("object", name, junk, *[wire.integer(1)] * len(junk)))
    for label, value in VALUES.items():
        if named:
            yield (
                f"object, all of {label}",
                wire.message(wire.layout("object", name, named, *[value] * len(named))),
            )
    for field in named:
        for label in ("int", "text", "None"):
            yield (
                f"object, {field} of {label}",
                wire.message(wire.layout("object", name, [field], VALUES[label])),
            )
    if issubclass(cls, tuple):
        own = [str(field) for field in (getattr(cls, "__match_args__", ()) or getattr(cls, "_fields", ()))]
        lengths = {0, 1, 2, 3, length - 1, length, length + 1, len(named), 40} - {-1}
        for count in sorted(lengths):
            for start in ([], own, named):
                fields = list(dict.fromkeys([*start, *junk]))[:count]
                for label in ("int", "text", "None"):
                    yield (
                        f"object, tuple of {count} {label}",
                        wire.message(wire.layout("object", name, fields, *[VALUES[label]] * count)),
                    )
            yield (
                f"based, tuple of {count}",
                wire.message(wire.layout("based", name, [], wire.tuple_(*[wire.integer(1)] * count))),
            )
    for label, content in CONTENTS.items():
        yield f"based, {label}", wire.message(wire.layout("based", name, [], content))
        if named:
            yield (
                f"based, {label}, fields",
                wire.message(
                    wire.layout("based", name, named[:8], content, *[VALUES["int"]] * len(named[:8]))
                ),
            )
        yield f"custom, {label}", wire.message(wire.layout("custom", name, [], content))
    for label in ("text", "int", "None", "list"):
        yield f"enum, {label}", wire.message(wire.layout("enum", name, [], CONTENTS[label]))
    yield "many empty", wire.message(wire.sequence(wire.layout("object", name, []), *[wire.instance(0)] * 3))


def attempts(cls: type) -> Iterator[tuple[str, Callable[[], Any]]]:
    """(label, call) of every way to build a `cls` of bytes."""
    module = vars(cls).get("__module__")
    module = module if isinstance(module, str) else getattr(cls, "__module__", "builtins")
    name = f"{module}.{cls.__qualname__}"
    for label, data in messages(cls, name):
        yield label, lambda data=data: holdall.loads(data, types=cls)  # type: ignore[misc]
    for label in ("object, empty", "based, empty tuple", "based, empty dict"):
        data = dict(messages(cls, name))[label]
        yield f"{label}, typed", lambda data=data: holdall.loads(data, type=cls)  # type: ignore[misc]
    for value in ({}, [], None, 1, "a", dict.fromkeys(fields_of(cls), 1), [1] * 40, [1, 2, 3]):
        plain = msgpack.dumps(value)
        yield f"msgpack {value!r:.20}, typed", lambda plain=plain: msgpack.loads(plain, type=cls)  # type: ignore[misc]
        hold = holdall.dumps(value)
        yield f"hold {value!r:.20}, typed", lambda hold=hold: holdall.loads(hold, type=cls, strict=False)  # type: ignore[misc]


def use(obj: Any, depth: int = 0) -> None:
    """Everything that asks an object something and asks nothing of it."""
    if depth == 0 and type(obj) is list:
        for item in obj:
            use(item, 1)
    operations: tuple[Callable[[Any], Any], ...] = (
        repr,
        str,
        hash,
        len,
        bool,
        int,
        float,
        list_of,
        iter,
        lambda x: x == x,
        lambda x: x < x,
        lambda x: x + x,
        lambda x: x[0],
        copy.copy,
        bytes_of,
        gc.get_referents,
    )
    for operation in operations:
        quiet(operation, obj)
    for name in [*(quiet(dir, type(obj)) or ()), *(quiet(lambda: list(vars(obj))) or ())]:
        if name not in NOT_USED and isinstance(name, str):
            quiet(getattr, obj, name)
    quiet(pickle.dumps, obj)
    quiet(holdall.dumps, obj)
    quiet(holdall.deepcopy, obj)


def list_of(obj: Any) -> Any:
    return [item for item, _ in zip(iter(obj), range(3), strict=False)]


def bytes_of(obj: Any) -> Any:
    return memoryview(obj).tobytes() if memoryview(obj).nbytes < 1 << 16 else None


def list_all(found: Iterator[Any]) -> Any:
    return list(found)


def quiet(call: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return call(*arguments)
    except BaseException as error:
        if isinstance(error, TimeoutError):
            raise
        return None


# --- forks ---
class Note:
    """What a fork is about to do, in memory that outlives it."""

    def __init__(self) -> None:
        self.memory = mmap.mmap(-1, NOTE + 8)

    def write(self, index: int, text: str) -> None:
        raw = text.encode(errors="replace")[:NOTE]
        self.memory[:8] = index.to_bytes(8, "little")
        self.memory[8:] = raw.ljust(NOTE, b"\0")

    def read(self) -> tuple[int, str]:
        return int.from_bytes(self.memory[:8], "little"), self.memory[8:].rstrip(b"\0").decode(
            errors="replace"
        )


def go_over(found: list[type], start: int, skipped: int, note: Note, counts: mmap.mmap, only: str) -> None:
    """In a fork: every class from `start` on, the first of them without its first `skipped` messages."""
    for index in range(start, len(found)):
        cls = found[index]
        tried = built = 0
        for number, (label, call) in enumerate(quiet(list_all, attempts(cls)) or ()):
            if (only and only not in label) or (index == start and number < skipped):
                continue
            label = f"{number} {label}"
            note.write(index, f"{label}: load")
            tried += 1
            result = quiet(call)
            if result is not None:
                built += type(result) is cls
                note.write(index, f"{label}: use")
                use(result)
            note.write(index, f"{label}: end")
            del result
        note.write(index, "collect")
        if index % 16 == 0:
            gc.collect()
        counts[:8] = (int.from_bytes(counts[:8], "little") + tried).to_bytes(8, "little")
        counts[8:16] = (int.from_bytes(counts[8:16], "little") + built).to_bytes(8, "little")
        note.write(index + 1, "begin")
    gc.collect()
    note.write(len(found), "done")


def by_itself(cls: type) -> int:
    """The signal that ends a process which only makes an empty one by the class's own `__new__`, and uses it; or 0."""

    def task() -> None:
        obj = quiet(lambda: cls.__new__(cls))
        if obj is None:
            obj = quiet(lambda: object.__reduce_ex__)
        use(obj)
        del obj
        gc.collect()

    status, _ = forked(task, lambda: False)
    return os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0


def forked(task: Callable[[], None], is_stuck: Callable[[], bool]) -> tuple[int, bool]:
    """(status, stuck) of a fork that does `task`."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            silent = os.open(os.devnull, os.O_RDWR)
            os.dup2(silent, 0)
            if not os.environ.get("ZOO_TALK"):
                os.dup2(silent, 1)
                os.dup2(silent, 2)
            task()
            code = 0
        except BaseException:
            import traceback

            traceback.print_exc()
        finally:
            os._exit(code)
    begun = time.monotonic()
    while True:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return status, False
        if is_stuck() or time.monotonic() - begun > 3600:
            os.kill(pid, signal.SIGKILL)
            return os.waitpid(pid, 0)[1], True
        time.sleep(0.02)


class Stuck:
    """Has the note stood still for too long?"""

    def __init__(self, note: Note) -> None:
        self.note, self.last, self.since = note, (-1, ""), time.monotonic()

    def __call__(self) -> bool:
        now = self.note.read()
        if now != self.last:
            self.last, self.since = now, time.monotonic()
        return time.monotonic() - self.since > MOST_SECONDS


def scan(found: list[type], only: str = "") -> tuple[list[tuple[type, str, str]], int, int]:
    """(class, message, how it ended) of all that ended a process; how many messages were tried, how many built something."""
    note, counts = Note(), mmap.mmap(-1, 16)
    findings: list[tuple[type, str, str]] = []
    start = skipped = 0
    while start < len(found):
        note.write(start, "begin")
        status, stuck = forked(partial(go_over, found, start, skipped, note, counts, only), Stuck(note))
        index, text = note.read()
        if text == "done":
            break
        cls = found[min(index, len(found) - 1)]
        if stuck and text.endswith("use"):
            # A graph that goes in circles, given to the class's own Python code.
            number = text.partition(" ")[0]
            start, skipped = (index, int(number) + 1) if number.isdigit() else (index + 1, 0)
            continue
        how = (
            "hangs"
            if stuck
            else f"signal {os.WTERMSIG(status)}"
            if os.WIFSIGNALED(status)
            else f"exit {os.WEXITSTATUS(status)}"
        )
        number, _, label = text.partition(" ")
        if sum(finding[0] is cls for finding in findings) == 0 and not stuck and by_itself(cls):
            how += " (so does its own __new__, used)"
        findings.append((cls, label, how))
        print(f"    {cls.__module__}.{cls.__qualname__}: {label}: {how}", flush=True)
        # On with the class's other messages: what ends it may have several causes.
        again = number.isdigit() and sum(finding[0] is cls for finding in findings) < MOST_FINDINGS
        start, skipped = (index, int(number) + 1) if again else (index + 1, 0)
    return findings, int.from_bytes(counts[:8], "little"), int.from_bytes(counts[8:16], "little")


def import_all(packages: list[str]) -> None:
    """The packages, with the standard library's modules that can be imported without doing something."""
    avoided = {
        "antigravity",
        "this",
        "idlelib",
        "lib2to3",
        "test",
        "tkinter",
        "turtle",
        "turtledemo",
        "__main__",
        "pip",
        "setuptools",
        "ensurepip",
        "pty",
        "tty",
    }
    for name in sorted(sys.stdlib_module_names):
        if name not in avoided:
            quiet(importlib.import_module, name)
    for name in packages:
        if quiet(importlib.import_module, name) is None:
            print(f"    not installed: {name}")


def submodules(package: str) -> Iterator[str]:
    module = sys.modules.get(package)
    for info in pkgutil.iter_modules(getattr(module, "__path__", ())):
        if not info.name.startswith("_") and "test" not in info.name:
            yield f"{package}.{info.name}"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--packages", nargs="*", help="modules to import before; those of the zoo if not given"
    )
    parser.add_argument("--only", default="", help="only classes whose full name has this text in it")
    parser.add_argument("--message", default="", help="only messages whose label has this text in it")
    parser.add_argument("--all", action="store_true", help="also classes that no C code had a part in")
    parser.add_argument("--list", action="store_true", help="the classes, and nothing else")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    os.environ.setdefault("MPLBACKEND", "agg")
    packages = options.packages
    if packages is None:
        from tests.zoo.run import load_groups
        from tests.zoo.specimens import GROUPS

        load_groups()
        packages = [name for group in GROUPS.values() for name in group.packages]
    import_all(packages)
    found = [cls for cls in all_classes() if options.only in f"{cls.__module__}.{cls.__qualname__}"]
    if not options.all:
        found = [cls for cls in found if is_laid_out_by_c(cls)]
    if options.list:
        print(
            *(f"{cls.__module__}.{cls.__qualname__}" + (" (C)" if is_c(cls) else "") for cls in found),
            sep="\n",
        )
        return 0
    begun = time.monotonic()
    findings, tried, built = scan(found, options.message)
    print(
        f"{len(found)} classes, {sum(map(is_c, found))} of them C's; {tried} messages, {built} built an instance; "
        f"{len(findings)} ended the process; {time.monotonic() - begun:.0f} s"
    )
    return int(bool(findings))


if __name__ == "__main__":
    sys.exit(main())
