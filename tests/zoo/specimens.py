"""Where the objects come from: made by hand for a package, made of any class of it with whatever arguments it takes, or found alive."""

from __future__ import annotations

import enum
import gc
import importlib
import sys
import types
from collections import Counter
from typing import Any, Callable, Iterator, NamedTuple

from tests.zoo.describe import by_name


class Specimen(NamedTuple):
    """An object with a name, and a check that uses it: what it answers must stay the same."""

    name: str
    obj: Any
    check: Callable[[Any], Any] | None = None


class Group(NamedTuple):
    """What is tried in one process: a package's specimens."""

    name: str
    packages: tuple[str, ...]
    by_hand: Callable[[], Iterator[Any]] | None


GROUPS: dict[str, Group] = {}


def zoo(name: str, *packages: str) -> Callable[[Callable[[], Iterator[Any]]], Callable[[], Iterator[Any]]]:
    """Declare a group: a generator of (name, object) or (name, object, check); `packages` are imported, and searched for more."""

    def declare(by_hand: Callable[[], Iterator[Any]]) -> Callable[[], Iterator[Any]]:
        GROUPS[name] = Group(name, packages or (name,), by_hand)
        return by_hand

    return declare


# What constructors are tried with, in this order; the first that makes something is taken, and one more that makes it of more.
ARGUMENTS: list[tuple[Any, ...]] = [
    (),
    (3,),
    ("b",),
    (b"xy",),
    ("2.25",),
    (["p", "q"],),
    ([3, 1, 2],),
    ((4, 5),),
    ({"k": 7},),
    ({"k": [1.5, 2.5]},),
    (2, 5),
    ("m", "n"),
    ("m", 4),
    (4, "m"),
    (1, 2, 3),
    ("x", "y", "z"),
    (2021, 4, 5),
    ([("k", 2)],),
    (int,),
    (int, [2]),
    (len,),
    (len, 1),
    ("t", ["u"]),
    ("t", {"u": 1}),
    (b"\1" * 16,),
    ("127.0.0.2",),
    ("http://127.0.0.1/a?b=c",),
    ("Europe/Paris",),
    (0.5, 2),
    (None,),
    (None, None),
    (0,) * 9,
    (tuple(range(10)),),
    (tuple(range(12)),),
    (tuple(range(22)),),
]
NOT_FOUND = (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType)
# Classes whose instances do something by being there.
NOT_MADE = (
    "Thread",
    "Process",
    "Server",
    "Executor",
    "Pool",
    "Socket",
    "Client",
    "Session",
    "Connection",
    "Loop",
    "Window",
    "Debugger",
    "Shell",
    "App",
    "Figure",
    "Lock",
    "Timer",
    "DLL",
    "file_",
    "Mock",
)
GUARDED = (
    "os.",
    "socket.",
    "subprocess.",
    "shutil.",
    "ctypes.",
    "mmap.",
    "tempfile.",
    "fcntl.",
    "signal.",
    "webbrowser.",
    "urllib.",
    "http.",
)


class Guard:
    """While unknown constructors run, nothing outside is touched: an audit hook refuses."""

    def __init__(self) -> None:
        self.closed = False
        sys.addaudithook(self.hook)

    def hook(self, event: str, arguments: object) -> None:
        if self.closed and (event in ("open", "exec", "compile") or event.startswith(GUARDED)):
            raise PermissionError("not while unknown constructors run")

    def call(self, cls: Any, arguments: tuple[Any, ...]) -> Any:
        self.closed = True
        try:
            return cls(*arguments)
        finally:
            self.closed = False


def modules(packages: tuple[str, ...]) -> list[Any]:
    """The packages, and what importing them has loaded of them."""
    for name in packages:
        importlib.import_module(name)
    roots = {name.partition(".")[0] for name in packages} | {f"_{name}" for name in packages}
    return [
        module
        for name, module in sorted(sys.modules.items())
        if name.partition(".")[0] in roots and module is not None
    ]


def root(name: str) -> str:
    """The package that a module belongs to; those in C begin with an underscore."""
    return name.partition(".")[0].lstrip("_")


def classes(packages: tuple[str, ...]) -> list[type]:
    found: dict[int, type] = {}
    roots = {root(name) for name in packages}
    for module in modules(packages):
        for name in sorted(vars(module)):
            cls = vars(module)[name]
            if not isinstance(cls, type) or name.startswith("_") or issubclass(cls, enum.Enum):
                continue
            if root(str(getattr(cls, "__module__", ""))) in roots or module.__name__ in packages:
                found.setdefault(id(cls), cls)
    return list(found.values())


def made(
    packages: tuple[str, ...], guard: Guard, announce: Callable[[str], bool], once: bool
) -> Iterator[Specimen]:
    """Each public class, with the first arguments that it takes, and (unless `once`) with the longest ones.

    announce: told what is about to be made; False if it is to be left out, since that ended the process.
    """
    for cls in classes(packages):
        if any(word in cls.__name__ for word in NOT_MADE):
            continue
        yield from of_class(cls, guard, announce, once)


def of_class(cls: type, guard: Guard, announce: Callable[[str], bool], once: bool) -> Iterator[Specimen]:
    orders = (("", ARGUMENTS), (" again", ARGUMENTS[:0:-1]))
    for order, arguments_list in orders[:1] if once else orders:
        if not announce(f"{cls.__module__}.{cls.__qualname__}{order}"):
            continue
        for arguments in arguments_list:
            try:
                obj = guard.call(cls, arguments)
            except BaseException:
                continue
            if type(obj) is not type:
                yield Specimen(f"{cls.__module__}.{cls.__qualname__}{arguments!r:.40}{order}", obj)
            break
        else:
            return


def found(packages: tuple[str, ...]) -> Iterator[Specimen]:
    """What is there anyhow: values of modules, and objects alive; one of each class, four of each builtin one."""
    counts: Counter[Any] = Counter()
    ids: set[int] = set()
    roots = {root(name) for name in packages}

    def is_new(obj: Any) -> bool:
        cls = type(obj)
        most = 4 if cls.__module__ == "builtins" else 1
        if issubclass(type(obj), NOT_FOUND) or id(obj) in ids or counts[by_name(cls)] >= most:
            return False
        ids.add(id(obj))
        counts[by_name(cls)] += 1
        return True

    for module in modules(packages):
        for name in sorted(vars(module)):
            if not name.startswith("__") and is_new(vars(module)[name]):
                yield Specimen(f"{module.__name__}.{name}", vars(module)[name])
    for obj in gc.get_objects():
        cls = type(obj)
        if root(str(getattr(cls, "__module__", ""))) in roots and is_new(obj):
            yield Specimen(f"a {cls.__module__}.{cls.__qualname__} alive", obj)


def by_hand(group: Group) -> Iterator[Specimen]:
    if group.by_hand is None:
        return
    for item in group.by_hand():
        name, obj, *check = item
        yield Specimen(name, obj, check[0] if check else None)
