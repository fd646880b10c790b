"""Every door that takes messages, for the structure-aware fuzzer: what each may answer, and what must hold of what it gives."""

from __future__ import annotations

import collections
import contextlib
import copy
import datetime
import io
import itertools
import pathlib
import pickle
import random
import tempfile
import traceback
from collections.abc import Iterator
from typing import Any, Literal

import numpy as np

import holdall
from holdall import msgpack, resolve, safe_pickle
from holdall._cli import _inspect
from holdall._cli._app import Failure
from holdall._cli._json import pieces
from holdall._cli._pretty import pretty
from holdall.msgpack import compat
from tests.fuzz import grammar_classes as own
from tests.fuzz.grammar_classes import PERMITTED, Mine
from tests.support import models
from tests.support.kinds import TYPES
from tests.support.typed_targets import TARGETS

Outcome = tuple[bool, bool]
REPO = pathlib.Path(__file__).resolve().parents[2]
REFUSED: Outcome = (False, False)
# What a door may raise: our own errors, and what a permitted class raises in its own code.
ALLOWED = (holdall.HoldallError, Mine)
# Deeper and wider than this nothing is looked at member by member.
DEEPEST, MOST = 12, 12


def permitted(number: int) -> Any:
    return PERMITTED[number // 7 % len(PERMITTED)]


@contextlib.contextmanager
def foreign_code() -> Iterator[None]:
    """What the code of a class raises while its instance is stored, which may lack any field."""
    try:
        yield
    except SystemError:
        raise
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        if REPO in pathlib.Path(last.filename).parents and "site-packages" not in last.filename:
            raise


# --- what must hold of a value ---
def dumped(found: Any, types: Any, number: int) -> bool:
    """What was loaded is dumped or refused; what is dumped is loaded again, and says the same."""
    again = b""
    with contextlib.suppress(*ALLOWED), foreign_code():
        again = holdall.dumps(found)
    if not again:
        return False
    if types is TYPES or types == () or types is holdall.Record:
        before = own.MEDDLED[0]
        try:
            second = holdall.loads(again, types=types)
        except ALLOWED:
            # Of classes that meddle with what is just being built.
            if own.MEDDLED[0] == before:
                raise
            return True
        if number % 5 == 0:
            with contextlib.suppress(*ALLOWED):
                # Of the second: what a first round has changed for good, the next one keeps.
                same = holdall.dumps(second, canonical=True)
                third = holdall.loads(same, types=types)
                again = holdall.dumps(third, canonical=True)
                # Classes that meddle change what holds them.
                assert again == same or own.MEDDLED[0] > before, "other bytes after a second round"
    return True


def listed(found: Any) -> None:
    """The first of its items: of a range they may go on for ever."""
    for _ in itertools.islice(found, 100):
        pass


def compared(found: Any) -> Any:
    """Equal to itself and to its copy. Counters and mapping proxies compare what they hold twice: of 27 within each other there is no end."""
    if sum(map(repr(found).count, ("mappingproxy(", "Counter("))) > DEEPEST:
        return None
    return found == found, copy.copy(found) == found


def looked_at(found: Any) -> None:
    """Whatever may be done with a value does not crash; it may raise anything but what says that C code is broken."""
    looks = [repr, hash, pickle.dumps, bool, str]
    # Its maps may be whatever there is: a network of 2**96 addresses, say.
    looks += [] if isinstance(found, collections.ChainMap) else [compared, listed]
    for look in looks:
        try:
            look(found)
        except SystemError:
            raise
        except Exception:
            continue
    items: Any = found.values() if type(found) is dict else found if type(found) in (list, tuple) else ()
    for item in list(items)[:MOST]:
        for look in (repr, hash, type):
            try:
                look(item)
            except SystemError:
                raise
            except Exception:
                continue


# --- hold ---
def loads(data: bytes, number: int) -> Outcome:
    types = permitted(number)
    try:
        found = holdall.loads(data, types=types)
    except ALLOWED:
        return REFUSED
    return True, dumped(found, types, number)


def looks(data: bytes, number: int) -> Outcome:
    try:
        found = holdall.loads(data, types=permitted(number))
    except ALLOWED:
        return REFUSED
    looked_at(found)
    return True, False


def copies(data: bytes, number: int) -> Outcome:
    try:
        found = holdall.loads(data, types=permitted(number))
    except ALLOWED:
        return REFUSED
    ways = [
        holdall.deepcopy, lambda it: holdall.dumps(it, canonical=True), lambda it: holdall.dumps(it, refs=False), holdall.msgpack.dumps,
        lambda it: holdall.bson.dumps({"v": it}), lambda it: holdall.julia.dumps({"v": it}),
    ]  # fmt: skip
    for place, way in enumerate(ways):
        # What is shared is written as often as it is met where there are no references.
        expands = (MemoryError,) if place > 1 else ()
        with contextlib.suppress(*ALLOWED, *expands), foreign_code():
            try:
                way(found)
            except TypeError as error:
                # As copy.deepcopy says it.
                if "cannot pickle" not in str(error):
                    raise
    return True, False


DECODERS = [holdall.Decoder(types=types) for types in PERMITTED]
DECODERS += [holdall.Decoder(type=annotation) for _, annotation, _ in TARGETS]


def decoders(data: bytes, number: int) -> Outcome:
    """The same decoder again and again: nothing of one message is left for the next."""
    decoder = DECODERS[number // 3 % len(DECODERS)]
    first = second = None
    with contextlib.suppress(*ALLOWED):
        first = decoder.decode(data)
    with contextlib.suppress(*ALLOWED):
        second = decoder.decode(data)
    return first is not None, (first is None) == (second is None)


def buffers(data: bytes, number: int) -> Outcome:
    """Buffers out of band, which the message refers to or not."""
    many = [bytearray(b"x" * size) for size in (8, 64, 5000)]
    try:
        found = holdall.loads(data, types=permitted(number), buffers=many[: number % 4])
    except ALLOWED:
        return REFUSED
    with contextlib.suppress(*ALLOWED), foreign_code():
        holdall.dumps(found, buffers=[].append if number % 2 else None)
    return True, False


# Types for messages that were not made for them.
WILD: list[Any] = [
    int, str, bytes, bytearray, float, bool, complex, None, list, dict, tuple, set, frozenset, list[int], list[Any], list[list[str]],
    dict[str, Any], dict[int, str], dict[Any, Any], dict[tuple[int, ...], Any], dict[frozenset[int], int], tuple[int, str], tuple[Any, ...],
    set[int], set[str], frozenset[Any], set[tuple[Any, ...]], collections.deque[Any], collections.OrderedDict[str, Any],
    collections.Counter[str], collections.defaultdict[str, list[Any]], int | str | None, list[int] | dict[str, int] | str,
    datetime.datetime, datetime.date | datetime.time | None, datetime.timedelta, np.ndarray, Literal["a", 1, None], own.Posted,
    list[own.Posted], own.Posted | own.ByFields | None, own.ByFields, dict[own.ByFields, Any], own.Named, list[own.Named | str],
    own.ByFieldsSlots, own.PairOfTuple, own.Listed, own.Defaulted, own.Missing, own.Bits, own.Odd, own.Failure, own.MeddlingKey,
    set[own.ByFieldsSlots], dict[own.MeddlingText, Any], own.MeddlingInt, models.DNode, models.PlainDict, models.MyDict, models.Color,
    list[models.DSlots], models.DFrozen, models.DFrozenSlots, models.DInitVar, models.NPoint, models.NSub, models.Box, models.DGeneric[Any],
    models.Level | models.Color, models.Access, models.MyError, models.UserDict if hasattr(models, "UserDict") else models.MyUserDict,
]  # fmt: skip


def planned(annotation: Any) -> bool:
    try:
        holdall.Decoder(type=annotation), msgpack.Decoder(type=annotation)
    except TypeError:
        return False
    return True


WILD = [annotation for annotation in WILD if planned(annotation)]
WANTED = [
    int,
    str,
    list,
    dict,
    Any,
    list[Any],
    dict[str, Any],
    own.Posted,
    own.ByFields,
    int | str | None,
    tuple[Any, ...],
]


def typed(data: bytes, number: int) -> Outcome:
    annotation = WILD[number // 5 % len(WILD)]
    try:
        found = holdall.loads(data, type=annotation, types=permitted(number), strict=number % 3 > 0)
    except ALLOWED:
        return REFUSED
    with contextlib.suppress(*ALLOWED), foreign_code():
        holdall.dumps(found)
    return True, False


def resolver_of(number: int) -> Any:
    """A resolver whose answers depend on the name and the number: each kind of answer is met."""

    def by_value(record: Any) -> Any:
        own.meddle(list(record.fields.values()))
        return answers[(len(record.fields) + number) % len(answers)]

    classes: list[Any] = [
        own.Posted,
        own.ByFieldsSlots,
        own.Named,
        own.Bits,
        own.Converted,
        own.Upgraded,
        dict,
        own.Listed,
    ]
    answers: list[Any] = [
        None, holdall.Record, resolve.SKIP, resolve.Value([]), resolve.Value(None), resolve.Refuse("no"),
        *classes, *(resolve.Use(cls, renames={"a": "x", "b": "a", "x": None}) for cls in classes),
    ]  # fmt: skip
    each = [*answers, resolve.ByValue(by_value), resolve.ByValue(lambda record: record)]
    return lambda stored: each[(len(stored.name or "") + len(stored.fields) + number) % len(each)]


def resolved(data: bytes, number: int) -> Outcome:
    options: dict[str, Any] = {} if number % 2 else {"type": WILD[number // 5 % len(WILD)]}
    try:
        found = holdall.loads(data, types=permitted(number), resolver=resolver_of(number), **options)
    except ALLOWED:
        return REFUSED
    looked_at(found)
    with contextlib.suppress(*ALLOWED), foreign_code():
        holdall.dumps(found)
    return True, False


def from_files(data: bytes, number: int) -> Outcome:
    types = permitted(number)
    try:
        if number % 4 == 0:
            # Never written again: a map of it may still be in use.
            with tempfile.NamedTemporaryFile(suffix=".hold") as file:
                file.write(data)
                file.flush()
                found = holdall.load(file.name, mmap=(True, "copy", False)[number // 4 % 3], types=types)
        elif number % 4 == 1:
            found = holdall.load(io.BytesIO(data), types=types)
        elif number % 4 == 2:
            found = holdall.load(Slow(data), types=types)
        else:
            found = holdall.load(data, mmap=True, types=types)
    except ALLOWED:
        return REFUSED
    if number % 16 == 0:
        looked_at(found)
    return True, dumped(found, types, number)


class Slow:
    """A stream that gives few bytes at a time."""

    def __init__(self, data: bytes) -> None:
        self.file = io.BytesIO(data)

    def read(self, size: int = -1) -> bytes:
        return self.file.read(min(size, 7) if size >= 0 else 7)


def touched(doc: Any, rng: random.Random, depth: int = 0) -> None:
    """Some of a document, in any order."""
    if depth == DEEPEST:
        doc.load()
        return
    size, keys = len(doc), []
    if "array of" in repr(doc) or isinstance(next(iter(doc), None), holdall.bson.Document):
        keys = [rng.randrange(-size, size) for _ in range(min(size, 4))] if size else []
    else:
        with contextlib.suppress(*ALLOWED):
            keys = list(doc.keys())[:MOST]
            rng.shuffle(keys)
    for key in keys[:MOST] if size else ():
        way = rng.random()
        # Keys that were asked for are hashed and compared by their own classes' code, which may lack any field.
        with contextlib.suppress(*ALLOWED, KeyError, IndexError, TypeError, ValueError, AttributeError):
            if way < 0.6:
                value = doc[key]
                if isinstance(value, holdall.bson.Document):
                    touched(value, rng, depth + 1)
            elif way < 0.8:
                doc.get(key, type=rng.choice(WANTED))
            else:
                key in doc  # noqa: B015
    with contextlib.suppress(*ALLOWED):
        if rng.random() < 0.3:
            list(doc.items()) if rng.random() < 0.5 and "array" not in repr(doc) else list(doc)
        if rng.random() < 0.3:
            doc.load()


def opened(data: bytes, number: int) -> Outcome:
    types = permitted(number)
    try:
        with holdall.open(data, types=types) as doc:
            if isinstance(doc, holdall.bson.Document):
                touched(doc, random.Random(number))
    except ALLOWED:
        return REFUSED
    except TypeError:
        # A document of what has no members.
        return REFUSED
    return True, False


def is_plain(key: tuple[Any, ...]) -> bool:
    return all(type(part) in (str, int, bytes) for part in key)


def partly(data: bytes, number: int) -> Outcome:
    """What can be loaded at once can be loaded member by member, and the other way."""
    types = (TYPES, holdall.Record, ())[number % 3]
    before = own.MEDDLED[0]
    try:
        found = holdall.loads(data, types=types)
    except ALLOWED:
        return REFUSED
    if own.MEDDLED[0] > before:
        return True, False
    if not (type(found) is dict or type(found) is list) or not found:
        return REFUSED
    doc = holdall.open(data, types=types)
    if type(found) is list:
        assert len(doc) == len(found)
        for at in range(min(len(found), MOST)):
            value = doc[at]
            value = value.load() if isinstance(value, holdall.bson.Document) else value
            assert type(value) is type(found[at]), f"another type at {at}: {type(value)}"
    else:
        assert len(doc) == len(found)
        # What is equal to itself alone is not found again: instances, records, what is not a number.
        keys = [
            key for key in found if type(key) in (str, int, bytes) or (type(key) is tuple and is_plain(key))
        ]
        for key in keys[:MOST]:
            with contextlib.suppress(TypeError):
                value = doc[key]
                value = value.load() if isinstance(value, holdall.bson.Document) else value
                assert type(value) is type(found[key]), f"another type: {type(value)}"
    return True, False


def told(data: bytes, number: int, form: str) -> Outcome:
    """What `holdall inspect` says."""
    try:
        found = _inspect.look(
            memoryview(data), form, depth=number % 5, most=number // 5 % 12, values=number % 2 == 0
        )
    except ALLOWED:
        return REFUSED
    from pathlib import Path

    _inspect._as_json(Path(__file__), found)
    if number % 8 == 0:
        from rich.console import Console

        _inspect.show(Console(file=io.StringIO(), highlight=False, width=200), Path(__file__), found, 10)
    return True, False


def inspected(data: bytes, number: int) -> Outcome:
    return told(data, number, "hold")


def shown(data: bytes, number: int) -> Outcome:
    """What `holdall cat` prints."""
    try:
        found = holdall.loads(data, types=holdall.Record)
    except ALLOWED:
        return REFUSED
    with contextlib.suppress(*ALLOWED), foreign_code():
        for _ in pretty(found, 100):
            pass
    # What JSON would have to write too often is an error of the command's.
    with contextlib.suppress(*ALLOWED, Failure), foreign_code():
        "".join(pieces(found))
    return True, False


SAFE: list[Any] = [safe_pickle, safe_pickle.permitting([*TYPES, *own.OWN])]


def unpickled(data: bytes, number: int) -> Outcome:
    try:
        module = SAFE[number % len(SAFE)]
        found = module.loads(data)
    except (pickle.UnpicklingError, *ALLOWED):
        return REFUSED
    with contextlib.suppress(pickle.PicklingError, *ALLOWED), foreign_code():
        module.dumps(found)
    return True, False


HOLD = [
    loads,
    resolved,
    looks,
    copies,
    decoders,
    typed,
    opened,
    partly,
    inspected,
    shown,
    unpickled,
    buffers,
    loads,
    typed,
]


# --- files ---
def checked(data: bytes, number: int) -> Outcome:
    """What says how a file is: `verify`, `inspect`, `file_kind`."""
    try:
        holdall.verify(data) if number % 2 else holdall.verify(io.BytesIO(data))
    except ALLOWED:
        return REFUSED
    except (TypeError, ValueError):
        return REFUSED
    return inspected(data, number)


FILES = [from_files, opened, loads, checked, from_files]


# --- logs ---
def records(data: bytes, number: int) -> Outcome:
    """All records that are whole, by each way of giving bytes."""
    repair: Any = (None, "stop", "skip")[number % 3]
    types, count = permitted(number), 0
    try:
        if number // 3 % 4 == 0:
            with tempfile.NamedTemporaryFile(suffix=".hold") as file:
                file.write(data)
                file.flush()
                with holdall.Reader(file.name, repair=repair, types=types) as log:
                    for at in (number % 5, 0):
                        with contextlib.suppress(*ALLOWED, EOFError, IndexError):
                            log.seek(at)
                            log.read()
                    count += sum(1 for _ in log)
        elif number // 3 % 4 == 1:
            log = holdall.Reader(None, repair=repair, types=types)
            for at in range(0, len(data), 97):
                log.feed(data[at : at + 97])
                with contextlib.suppress(holdall.UnknownTypeError, holdall.LimitError):
                    count += sum(1 for _ in log)
            log.end()
            count += sum(1 for _ in log)
        else:
            log = holdall.Reader(io.BytesIO(data) if number % 2 else data, repair=repair, types=types)
            for _ in range(40):
                try:
                    log.read()
                except holdall.UnknownTypeError:
                    continue
                except EOFError:
                    break
                count += 1
    except ALLOWED:
        return count > 0, False
    return True, False


def typed_records(data: bytes, number: int) -> Outcome:
    count = 0
    try:
        for _ in holdall.Reader(
            data, repair="skip", type=WILD[number // 3 % len(WILD)], types=permitted(number)
        ):
            count += 1
    except ALLOWED:
        return count > 0, False
    return True, False


LOGS = [records, inspected, records, typed_records]


# --- by a type whose values the message was made from ---
def by_target(at: int, fmt: Any) -> Any:
    _, annotation, _ = TARGETS[at]

    def load(data: bytes, number: int) -> Outcome:
        options: dict[str, Any] = {"type": annotation, "strict": number % 3 > 0}
        if not fmt.plain:
            options["types"] = permitted(number)
        try:
            found = fmt.loads(data, **options)
        except ALLOWED:
            return REFUSED
        except KeyError:
            # The door of BSON's tests looks for one member.
            if fmt.name == "bson":
                return REFUSED
            raise
        with contextlib.suppress(*ALLOWED):
            again = fmt.dumps(found)
            fmt.loads(again, **options)
            return True, True
        return True, False

    return load


# --- MessagePack ---
def plain_loads(data: bytes, number: int) -> Outcome:
    hook = (lambda code, payload: (code, payload)) if number % 2 else None
    try:
        found = msgpack.loads(data, ext_hook=hook)
    except ALLOWED:
        return REFUSED
    try:
        again = msgpack.dumps(found)
    except ALLOWED:
        return True, False
    if hook is None:
        assert msgpack.dumps(msgpack.loads(again)) == again, "other bytes after a second round"
    looked_at(found)
    return True, True


def plain_typed(data: bytes, number: int) -> Outcome:
    try:
        found = msgpack.loads(data, type=WILD[number // 3 % len(WILD)], strict=number % 3 > 0)
    except ALLOWED:
        return REFUSED
    with contextlib.suppress(*ALLOWED), foreign_code():
        msgpack.dumps(found)
    return True, False


def plain_resolved(data: bytes, number: int) -> Outcome:
    try:
        found = msgpack.loads(data, type=WILD[number // 3 % len(WILD)], resolver=resolver_of(number))
    except ALLOWED:
        return REFUSED
    looked_at(found)
    return True, False


def streamed(data: bytes, number: int) -> Outcome:
    """Values one behind the other, in pieces."""
    reader = msgpack.Reader() if number % 2 else msgpack.Reader(io.BytesIO(data * 2))
    count = 0
    try:
        if number % 2:
            step = 1 + number % 40
            for at in range(0, len(data), step):
                reader.feed(data[at : at + step])
                count += sum(1 for _ in reader)
        else:
            count += sum(1 for _ in reader)
    except ALLOWED:
        return count > 0, False
    return True, False


def plain_opened(data: bytes, number: int) -> Outcome:
    try:
        with msgpack.open(data) as doc:
            touched(doc, random.Random(number))
    except ALLOWED:
        return REFUSED
    except TypeError:
        return REFUSED
    return True, False


COMPAT: list[dict[str, Any]] = [
    {}, {"strict_map_key": False}, {"use_list": False, "strict_map_key": False}, {"raw": True, "strict_map_key": False}, {"timestamp": 1},
    {"timestamp": 3}, {"object_hook": dict}, {"object_pairs_hook": list}, {"list_hook": tuple, "strict_map_key": False},
    {"ext_hook": lambda code, payload: [code, payload]}, {"max_array_len": 3, "max_map_len": 2}, {"unicode_errors": "replace"},
]  # fmt: skip


def unpacked(data: bytes, number: int) -> Outcome:
    """By msgpack's own names, with the errors that they have there."""
    options = COMPAT[number // 2 % len(COMPAT)]
    allowed = (compat.exceptions.UnpackException, ValueError, TypeError, OverflowError)
    try:
        if number % 2:
            found: Any = compat.unpackb(data, **options)
        else:
            unpacker = compat.Unpacker(**options)
            unpacker.feed(data[: len(data) // 2])
            found = list(unpacker)
            unpacker.feed(data[len(data) // 2 :])
            found += list(unpacker)
    except allowed:
        return REFUSED
    with contextlib.suppress(*ALLOWED, TypeError, ValueError, OverflowError):
        compat.packb(found)
    return True, False


def plain_inspected(data: bytes, number: int) -> Outcome:
    return told(data, number, "msgpack")


def bson_inspected(data: bytes, number: int) -> Outcome:
    return told(data, number, "bson")


def julia_inspected(data: bytes, number: int) -> Outcome:
    return told(data, number, "julia")


MSGPACK = [plain_loads, plain_typed, plain_resolved, streamed, plain_opened, unpacked, plain_inspected]
