"""Run a function in a forked child: a contestant that crashes there doesn't end the benchmark."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable
from typing import Any, NoReturn

# pickle and its like recurse; these let them take deep graphs at all.
STACK_SIZES = (16 << 30, 4 << 30, 1 << 30, 256 << 20)
RECURSION_LIMIT = 100_000_000


class Crashed(Exception):
    """The child died of a signal."""


class Child:
    """`function()` running in a forked child, its result to be fetched with `result`.

    Where there is no fork the function runs at once in this process.
    """

    def __init__(self, function: Callable[[], Any]) -> None:
        if not hasattr(os, "fork"):
            self.pid, self.value = 0, function()
            return
        self.reader, writer = os.pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self.reader)
            run_child(function, writer)
        os.close(writer)

    def result(self) -> Any:
        if self.pid == 0:
            return self.value
        with open(self.reader, "rb") as pipe:
            answer = pipe.read()
        status = os.waitpid(self.pid, 0)[1]
        if os.WIFSIGNALED(status):
            raise Crashed(signal.Signals(os.WTERMSIG(status)).name)
        kind, value = pickle.loads(answer)
        if kind == "error":
            raise RuntimeError(value)
        return value


class Worker:
    """`function` in a forked child that lives until the end of `with`; it is called there whenever this is.

    Where there is no fork the function runs in this process.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function, self.pid = function, 0

    def __enter__(self) -> Worker:
        if hasattr(os, "fork"):
            self.pipe, theirs = multiprocessing.Pipe()
            self.pid = os.fork()
            if self.pid == 0:
                serve(self.function, theirs)
            theirs.close()
        return self

    def __call__(self, *arguments: Any) -> Any:
        if self.pid == 0:
            return self.function(*arguments)
        self.pipe.send(arguments)
        try:
            kind, value = self.pipe.recv()
        except EOFError:
            raise Crashed("no answer") from None
        if kind == "error":
            raise RuntimeError(value)
        return value

    def __exit__(self, *_: object) -> None:
        if self.pid == 0:
            return
        # Later children hold this end too, so that closing it would tell nothing; one that crashed reads no more.
        with contextlib.suppress(OSError):
            self.pipe.send(None)
        self.pipe.close()
        os.waitpid(self.pid, 0)


def serve(function: Callable[..., Any], pipe: Any) -> NoReturn:
    try:
        while (arguments := pipe.recv()) is not None:
            try:
                answer = ("value", function(*arguments))
            except BaseException as error:  # told to the parent, which raises it
                answer = ("error", f"{type(error).__name__}: {error}")
            pipe.send(answer)
    finally:
        os._exit(0)


def run_child(function: Callable[[], Any], writer: int) -> NoReturn:
    code = 1
    try:
        try:
            answer = ("value", function())
        except BaseException as error:  # told to the parent, which raises it
            answer = ("error", f"{type(error).__name__}: {error}")
        with open(writer, "wb") as pipe:
            pipe.write(pickle.dumps(answer))
        code = 0
    finally:
        os._exit(code)  # no clean-up: the parent owns what this process shares


def with_deep_stack(function: Callable[[], Any]) -> Any:
    """The result of `function`, run in a thread with the largest stack that can be had and no recursion limit."""
    outcome: list[Any] = []

    def target() -> None:
        try:
            outcome.extend((True, function()))
        except BaseException as error:  # raised again below, in the caller's thread
            outcome.extend((False, error))

    before = sys.getrecursionlimit()
    sys.setrecursionlimit(RECURSION_LIMIT)
    try:
        start_thread(target).join()
    finally:
        sys.setrecursionlimit(before)
        threading.stack_size(0)
    succeeded, value = outcome
    if not succeeded:
        raise value
    return value


def start_thread(target: Callable[[], None]) -> threading.Thread:
    for size in STACK_SIZES:
        try:
            threading.stack_size(size)
            thread = threading.Thread(target=target)
            thread.start()
        except (ValueError, RuntimeError):
            continue
        return thread
    raise RuntimeError("no thread with a stack of even 256 MiB can be started")
