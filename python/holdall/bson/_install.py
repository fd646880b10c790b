"""`install` and `uninstall`: a running PyMongo with this codec.

PyMongo has no hook for its codec. It calls it in few places, the same ones in every version from 4.6 to 4.20:

| where | what |
|---|---|
| `bson` | `_dict_to_bson`, `_bson_to_dict`, `_decode_all`, which its public functions look up when they are called |
| modules of `pymongo` | the same objects, imported by name: messages, change streams, encryption |
| `pymongo.message` | with C extensions: functions of `pymongo._cmessage`, which call the C encoder past all of the above |

`install` sets these names, in the modules of PyMongo, to functions that do the same with this codec, and `uninstall` sets them back.
Who has imported `bson.encode` or `bson.decode` before gets this codec too.

For the functions of C there were three ways:

- A second copy of `pymongo.message`, run while `_cmessage` seems to be missing: it has the Python twins that C takes the place of.
  They are not the same: no documents at all are a ValueError there, batches of encrypted writes end elsewhere, and the command
  before such a batch is encoded with other options. It also needs PyMongo's source code where it runs.
- The helpers of these twins that stay in `pymongo.message`: the same differences, and twice as many private names.
- Functions of our own: few lines each, after a documented protocol. Their arguments and results have not changed since 4.6.

The last is safest, as `install` can find out whether it still fits: each function is compared with the one that it takes the place
of, on messages that are not sent. A PyMongo that builds another message, or has a function of C that isn't known here, is
refused before anything is changed. Without C extensions, PyMongo's own functions stay: they call this codec by the names in `bson`.

The protocol: https://www.mongodb.com/docs/manual/reference/mongodb-wire-protocol/
"""

from __future__ import annotations

import importlib
import itertools
import struct
import sys
import threading
from functools import partial
from types import BuiltinFunctionType, ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any, NoReturn

from .. import _core

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import TracebackType
    from typing import TypeAlias

    Function: TypeAlias = Callable[..., Any]
    Encode: TypeAlias = Callable[[Any, bool, Any], bytes]

_OLDEST = (4, 6)
_PACKAGES = ("bson", "gridfs", "pymongo")
# The native modules keep theirs: nobody calls these functions through them.
_UNTOUCHED = ("bson._cbson", "pymongo._cmessage")
_CODEC = ("_dict_to_bson", "_bson_to_dict", "_decode_all")
# Functions of C in `pymongo.message`. `_query_message`, for the first message of a connection, is gone in 4.20.
_NEEDED = ("_op_msg", "_batched_op_msg", "_encode_batched_op_msg", "_encode_batched_write_command")
_WITHOUT_BSON = ("_get_more_message",)

_OP_QUERY = 2004
_OP_MSG = 2013
_HEADER = struct.Struct("<iiii")
_HEADER_SIZE = _HEADER.size
_INT32 = struct.Struct("<i").pack
_MOST = (1 << 31) - 1
# What the server allows a command beside the largest document, without the two NULs that end it.
_COMMAND_OVERHEAD = 16 * 1024 - 2
# By operation number.
_VERBS = ("insert", "update", "delete")
_FIELDS = (b"documents\0", b"updates\0", b"deletes\0")

# Unlike random numbers, these leave the program's own sequence alone. 2^31 may be used again: an answer comes before.
_request_ids = itertools.count(1)


class Installed:
    """What `install` returns: a context manager, for one block, that takes its `install` back.

    Raises RuntimeError: it was taken back before the block begins.

    >>> with install() as installed:
    ...     type(installed).__name__
    'Installed'
    """

    __slots__ = ("_era",)

    def __init__(self, era: int) -> None:
        self._era: int | None = era

    def __enter__(self) -> Installed:
        if self._era != _era:
            raise RuntimeError("cannot begin a block with an install that was taken back")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
        /,
    ) -> None:
        era, self._era = self._era, None
        _release(era)


_lock = threading.RLock()
# What was set, with what was there before; empty when PyMongo's own codec is in use.
_swapped: list[tuple[Function, Function]] = []
# How many `install` are in force. `uninstall` ends all of them, and with them an era: their blocks have nothing to take back.
_holders = 0
_era = 0


def install() -> Installed:
    """Let PyMongo encode and decode with this codec, until `uninstall` or the end of the `with` block.

    It holds for the process: for all clients, open ones too, synchronous and asynchronous, and for `bson` itself, also where
    `encode` or `decode` were imported before. Options, results and errors stay PyMongo's. Installing twice does no harm. As a
    context manager, the block's end takes back this `install` alone: where another one holds, the codec stays. Threads may call
    it at any time.

    Not reached, and so PyMongo's own:

    - fields of a `RawBSONDocument`, taken apart when they are asked for, and the cursor's envelope around raw batches;
    - functions with an underscore that a module outside PyMongo imported by name, or that were taken from `bson._cbson`;
    - native code that calls PyMongo's through `bson._cbson._C_API`, and libraries with a codec of their own, like pymongoarrow.

    Raises ImportError: PyMongo isn't there. Raises RuntimeError: it is older than 4.6, or calls its codec in ways that aren't
    known here; then nothing was changed.

    >>> import bson
    >>> with install():
    ...     data = bson.encode({"a": 1})
    >>> bson.decode(data)
    {'a': 1}
    """
    global _holders
    with _lock:
        if not _swapped:
            pairs = _pairs()
            _swap(pairs)
            _swapped.extend(pairs)
        _holders += 1
        return Installed(_era)


def uninstall() -> None:
    """Give PyMongo its own codec back, however often `install` was called. Without `install` nothing happens.

    >>> installed = install()
    >>> uninstall()
    """
    global _holders, _era
    with _lock:
        _holders = 0
        _era += 1
        _swap([(new, old) for old, new in _swapped])
        _swapped.clear()


def _release(era: int | None) -> None:
    """The end of a block: `era` is its `install`'s, or None where it has ended before."""
    global _holders
    with _lock:
        if era == _era:
            _holders -= 1
            if not _holders:
                uninstall()


def _swap(pairs: list[tuple[Function, Function]]) -> None:
    """Every name in a module of PyMongo that means the first of a pair means the second from now on.

    The modules are asked, instead of a list kept: some are imported later, and those get what `bson` has then.
    """
    new = {id(old): new for old, new in pairs}
    for name, module in sorted(sys.modules.items()):
        if name.partition(".")[0] in _PACKAGES and name not in _UNTOUCHED and isinstance(module, ModuleType):
            for key, value in list(vars(module).items()):
                if id(value) in new:
                    setattr(module, key, new[id(value)])


def _pairs() -> list[tuple[Function, Function]]:
    """What is there, and what takes its place."""
    # Not at the top: it isn't there for all who import this module, nor does mypy have it everywhere.
    try:
        bson: Any = importlib.import_module("bson")
        pymongo: Any = importlib.import_module("pymongo")
        message: Any = importlib.import_module("pymongo.message")
    except ImportError as error:
        raise ImportError("install() is for PyMongo: install `holdall[bson]`") from error
    if pymongo.version_tuple[:2] < _OLDEST:
        _refuse(pymongo, "version 4.6 or newer", pymongo.version)

    for name in _CODEC:
        if not callable(getattr(bson, name, None)):
            _refuse(pymongo, f"the function bson.{name}", "none")
    pairs: list[tuple[Function, Function]] = [
        (bson._dict_to_bson, _encoder(bson._dict_to_bson)),
        (bson._bson_to_dict, _core.bson_decode),
        (bson._decode_all, _core.bson_decode_all),
    ]

    # C extensions come together: without this one, all of PyMongo is Python.
    cmessage = getattr(message, "_cmessage", None)
    if cmessage is not None:
        ours = _messages(_core.bson_encode)
        found = {
            value.__name__: value
            for value in vars(message).values()
            if isinstance(value, BuiltinFunctionType) and value.__self__ is cmessage
        }
        for name in _NEEDED:
            if name not in found:
                _refuse(pymongo, f"the C function {name} in pymongo.message", "none")
        for name, theirs in found.items():
            if name in _WITHOUT_BSON:
                continue
            if name not in ours:
                _refuse(pymongo, "known C functions in pymongo.message", name)
            if not _agree(theirs, ours[name], _SAMPLES[name], bson.DEFAULT_CODEC_OPTIONS):
                _refuse(pymongo, f"messages of {name} as they are known", "others")
            pairs.append((theirs, ours[name]))
    return pairs


def _refuse(pymongo: Any, expected: str, found: str) -> NoReturn:
    raise RuntimeError(f"cannot install into PyMongo {pymongo.version}: expected {expected}, found {found}")


def _encoder(theirs: Function) -> Function:
    """`bson._dict_to_bson`."""
    encode = _core.bson_encode

    def dict_to_bson(doc: Any, check_keys: bool, opts: Any, top_level: bool = True) -> bytes:
        if top_level:
            return encode(doc, check_keys, opts)
        # The scope of code, whose `_id` keeps its place: only PyMongo's Python encoder asks for it.
        return theirs(doc, check_keys, opts, top_level)  # type: ignore[no-any-return]

    return dict_to_bson


# --- what `pymongo._cmessage` has, by its names there ---


def _messages(encode: Encode) -> dict[str, Function]:
    """Functions with the arguments and results of C's. `opts` are codec options, `ctx` has the server's limits."""

    def op_msg(
        flags: int, command: Any, identifier: str, docs: Any, opts: Any
    ) -> tuple[int, bytes, int, int]:
        """A command. Also returns the size of its documents together, and that of the largest in the sequence."""
        body = encode(command, False, opts)
        parts = [_INT32(flags), b"\0", body]
        size, largest = len(body), 0
        if identifier:
            field = identifier.encode() + b"\0"
            encoded = [encode(doc, False, opts) for doc in docs]
            section = 4 + len(field) + sum(map(len, encoded))
            parts += [b"\1", _int32(section), field, *encoded]
            size += section
            largest = max(map(len, encoded), default=0)
        request_id, data = _with_header(_OP_MSG, parts)
        return request_id, data, size, largest

    def batched_op_msg(
        operation: int, command: Any, docs: Iterable[Any], ack: bool, opts: Any, ctx: Any
    ) -> tuple[int, bytes, list[Any]]:
        parts, sent = _sequence(encode, _HEADER_SIZE, operation, command, docs, ack, opts, ctx)
        return *_with_header(_OP_MSG, parts), sent

    def encode_batched_op_msg(
        operation: int, command: Any, docs: Iterable[Any], ack: bool, opts: Any, ctx: Any
    ) -> tuple[bytes, list[Any]]:
        """Without a header, as compression comes between."""
        parts, sent = _sequence(encode, 0, operation, command, docs, ack, opts, ctx)
        return b"".join(parts), sent

    def query_message(
        flags: int, namespace: str, skip: int, limit: int, query: Any, fields: Any, opts: Any
    ) -> tuple[int, bytes, int]:
        """Also returns the size of the largest document."""
        documents = [encode(doc, False, opts) for doc in (query, fields) if doc is not None]
        head = _INT32(flags) + namespace.encode() + b"\0" + _INT32(skip) + _INT32(limit)
        return *_with_header(_OP_QUERY, [head, *documents]), max(map(len, documents))

    return {
        "_op_msg": op_msg,
        "_batched_op_msg": batched_op_msg,
        "_encode_batched_op_msg": encode_batched_op_msg,
        "_encode_batched_write_command": partial(_write_command, encode),
        "_query_message": query_message,
    }


def _sequence(
    encode: Encode,
    before: int,
    operation: int,
    command: Any,
    docs: Iterable[Any],
    ack: bool,
    opts: Any,
    ctx: Any,
) -> tuple[list[bytes], list[Any]]:
    """An OP_MSG of as many documents as a message of the server's size holds, when `before` bytes come first."""
    most_bson, most_docs, most_bytes = ctx.max_bson_size, ctx.max_write_batch_size, ctx.max_message_size
    body = encode(command, False, opts)
    field = _field(operation)
    parts = [b"\0\0\0\0\0" if ack else b"\2\0\0\0\0", body, b"\1", b"", field]
    first = before + 5 + len(body) + 1
    size = first + 4 + len(field)
    sent: list[Any] = []
    for doc in docs:
        encoded = encode(doc, False, opts)
        size += len(encoded)
        # Documents too large for the server are its affair, as it may go on with the next ones; without an answer
        # nobody would hear of them.
        if (size > most_bytes and not sent) or (not ack and len(encoded) > most_bson):
            raise _too_large(operation, len(encoded), most_bson)
        if size > most_bytes:
            size -= len(encoded)
            break
        parts.append(encoded)
        sent.append(doc)
        if len(sent) == most_docs:
            break
    parts[3] = _int32(size - first)
    return parts, sent


def _write_command(
    encode: Encode, namespace: str, operation: int, command: Any, docs: Iterable[Any], opts: Any, ctx: Any
) -> tuple[bytes, list[Any]]:
    """One document, to be encrypted: the command with the list of documents as its last field, behind the head of an OP_QUERY."""
    most_bson, most_docs, most_bytes = ctx.max_bson_size, ctx.max_write_batch_size, ctx.max_split_size
    head = bytes(4) + namespace.encode() + b"\0" + _INT32(0) + _INT32(-1)
    body = encode(command, False, opts)
    field = _field(operation)
    # The NUL that ends the command becomes the type of one more field.
    parts = [head, b"", body[4:-1], b"\4", field, b""]
    array = len(head) + len(body) + len(field)
    size = array + 4
    sent: list[Any] = []
    for doc in docs:
        key = b"\3%d\0" % len(sent)
        encoded = encode(doc, False, opts)
        if len(encoded) > most_bson + _COMMAND_OVERHEAD:
            raise _too_large(operation, len(encoded), most_bson)
        if sent and size + len(key) + len(encoded) > most_bytes:
            break
        parts += (key, encoded)
        size += len(key) + len(encoded)
        sent.append(doc)
        if len(sent) == most_docs:
            break
    parts.append(b"\0\0")
    parts[1] = _int32(size + 2 - len(head))
    parts[5] = _int32(size + 1 - array)
    return b"".join(parts), sent


def _with_header(opcode: int, parts: list[bytes]) -> tuple[int, bytes]:
    request_id = next(_request_ids) & _MOST
    size = _fits(_HEADER_SIZE + sum(map(len, parts)))
    return request_id, b"".join([_HEADER.pack(size, request_id, 0, opcode), *parts])


def _int32(size: int) -> bytes:
    return _INT32(_fits(size))


def _fits(size: int) -> int:
    if size > _MOST:
        raise ValueError(f"message too large: expected at most {_MOST} bytes, found {size}")
    return size


def _field(operation: int) -> bytes:
    if operation not in range(len(_FIELDS)):
        raise _errors().InvalidOperation("Unknown command")
    return _FIELDS[operation]


def _too_large(operation: int, size: int, most: int) -> Exception:
    """PyMongo's error, with the text that programs may look for."""
    if _VERBS[operation] == "insert":
        text = f"BSON document too large ({size} bytes) - the connected server supports BSON document sizes up to {most} bytes."
    else:
        text = f"{_VERBS[operation]} command document too large"
    return _errors().DocumentTooLarge(text)  # type: ignore[no-any-return]


def _errors() -> Any:
    return importlib.import_module("pymongo.errors")


# --- whether a function builds what PyMongo's own builds ---

# The second document makes the message larger than it may be, or is one more than it may have.
_DOCS = [{"_id": 1, "a": "b"}, {"a": [1.5, None], "_id": 2}]
_LIMITS = [
    SimpleNamespace(
        max_bson_size=size, max_message_size=size, max_split_size=size, max_write_batch_size=count
    )
    for size, count in ((1 << 20, 5), (1 << 20, 1), (100, 5))
]
_BATCHES = [
    (operation, {verb: "c"}, _DOCS, ack) for operation, verb in enumerate(_VERBS) for ack in (True, False)
]
# Stands for PyMongo's default, which only `install` may import.
_OPTIONS = object()
_SAMPLES: dict[str, list[tuple[Any, ...]]] = {
    "_op_msg": [
        (0, {"ping": 1, "$db": "d"}, "", None, _OPTIONS),
        (2, {"insert": "c", "$db": "d"}, "documents", _DOCS, _OPTIONS),
    ],
    "_batched_op_msg": [(*batch, _OPTIONS, limits) for batch in _BATCHES for limits in _LIMITS],
    "_encode_batched_op_msg": [(*batch, _OPTIONS, limits) for batch in _BATCHES for limits in _LIMITS],
    "_encode_batched_write_command": [
        ("d.$cmd", *batch[:3], _OPTIONS, limits) for batch in _BATCHES[::2] for limits in _LIMITS
    ],
    "_query_message": [
        (0, "d.$cmd", 0, -1, {"hello": 1}, None, _OPTIONS),
        (4, "d.c", 1, 2, {}, {"a": 1}, _OPTIONS),
    ],
}


def _agree(theirs: Function, ours: Function, samples: list[tuple[Any, ...]], options: Any) -> bool:
    """Whether both return the same for all samples, but for the number of the request."""
    for sample in samples:
        arguments = [options if value is _OPTIONS else value for value in sample]
        # A function that takes other arguments, or can't cope with these, is another one.
        try:
            expected = theirs(*arguments)
        except MemoryError:
            raise
        except Exception:
            return False
        if _numberless(ours(*arguments)) != _numberless(expected):
            return False
    return True


def _numberless(result: tuple[Any, ...]) -> tuple[Any, ...]:
    if isinstance(result[0], int):
        request_id, data, *rest = result
        return data[4:8] == _INT32(request_id), data[:4], data[8:], *rest
    return result
