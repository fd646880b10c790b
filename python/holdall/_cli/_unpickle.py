"""Pickles, read as data: an interpreter of pickle's instructions that imports nothing and calls nothing that
the data names.

It builds builtin values, the standard library's value types, NumPy arrays, and (on request) records in place
of instances. Any other name is refused.
"""

from __future__ import annotations

import codecs
import io
import pickletools
import warnings
from typing import TYPE_CHECKING, Any

import holdall

from . import _harmless
from ._errors import located
from ._harmless import Global, Pending, Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# Bounds, in units of the input's size, on work that takes no input: copies of shared values, and hashes of
# shared keys. Pickles written by programs stay far below.
_MOST_COPIED = 64
_MOST_HASHED = 64
_GRACE = 1 << 20
# Python hashes tuples by recursion without a bound.
_MOST_KEY_DEPTH = 200

_MARK = object()


def values(data: bytes, *, records: bool = False) -> Iterator[Any]:
    """The values of the pickles in `data`, which may follow each other. Protocols 0 to 5.

    records: instances whose pickles are a class and its fields become `holdall.Record`s.

    Memory is proportional to the input.

    Raises DecodeError: malformed, or it names something that would be code; `.offset` says where. Raises
    TruncatedError: it ends early.
    """
    at = 0
    while True:
        machine = _Machine(data, at, records)
        yield machine.run()
        at = machine.end
        if at >= len(data):
            return


class _Machine:
    def __init__(self, data: bytes, at: int, records: bool) -> None:
        self.data = data
        self.size = len(data)
        self.stream = io.BytesIO(data)
        self.stream.seek(at)
        self.at = at
        self.end = at
        self.records = records
        self.protocol = 0
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}
        self.names_code = False
        self.copied = _MOST_COPIED * self.size + _GRACE
        self.hashed = _MOST_HASHED * self.size + _GRACE
        # For nested tuples, by id: the object (so that no other gets its id), its depth, and its number of
        # values.
        self.weights: dict[int, tuple[Any, int, int]] = {}

    def run(self) -> Any:
        with warnings.catch_warnings():
            # About escapes that text of Python 2 lacks.
            warnings.simplefilter("ignore", DeprecationWarning)
            return self.steps()

    def steps(self) -> Any:
        # Requesting the next instruction runs the generator up to it; the stream is where its argument
        # begins.
        steps = pickletools.genops(self.stream)
        do = _DO
        try:
            while True:
                self.at = self.stream.tell()
                try:
                    op, arg, _ = next(steps)
                except StopIteration:
                    raise Refused("expected an instruction, found none") from None
                except ValueError as error:
                    if isinstance(error, UnicodeDecodeError) and self.data[self.at : self.at + 1] == b"S":
                        self.push(self.old_bytes())
                        steps = pickletools.genops(self.stream)
                        continue
                    raise self.malformed(error) from None
                if op.name == "STOP":
                    break
                do[op.name](self, arg)
            result = self.pop()
            self.end = self.stream.tell()
            self.check(result)
        except Refused as error:
            raise located(holdall.DecodeError, str(error), self.at) from None
        except RecursionError:
            raise located(holdall.DecodeError, "nested too deep", self.at) from None
        except (
            ValueError,
            TypeError,
            KeyError,
            IndexError,
            OverflowError,
            AttributeError,
            ArithmeticError,
        ) as error:
            if isinstance(error, holdall.HoldallError):
                raise
            why = f"an argument that can't be ({type(error).__name__})"
            raise located(holdall.DecodeError, why, self.at) from None
        return result

    def old_bytes(self) -> bytes:
        """A quoted `str` of Python 2 that isn't ASCII, which pickletools doesn't accept; pickled dates
        contain one.
        """
        self.stream.seek(self.at + 1)
        line = self.stream.readline().rstrip(b"\n")
        return codecs.escape_decode(line[1:-1])[0]

    def malformed(self, error: ValueError) -> holdall.DecodeError:
        text = str(error)
        short = self.stream.tell() >= self.size
        if short and ("opcode" not in text or "exhausted" in text):
            return located(
                holdall.TruncatedError, "truncated: the pickle ends within an instruction", self.at
            )
        return located(
            holdall.DecodeError, "expected an instruction of pickle, found something else", self.at
        )

    # --- the stack ---

    def push(self, value: Any) -> None:
        self.stack.append(value)

    def pop(self) -> Any:
        if not self.stack or self.stack[-1] is _MARK:
            raise Refused("expected a value on the stack, found none")
        return self.stack.pop()

    def top(self) -> Any:
        if not self.stack or self.stack[-1] is _MARK:
            raise Refused("expected a value on the stack, found none")
        return self.stack[-1]

    def since_mark(self) -> list[Any]:
        stack = self.stack
        at = len(stack) - 1
        while at >= 0 and stack[at] is not _MARK:
            at -= 1
        if at < 0:
            raise Refused("expected a mark on the stack, found none")
        found = stack[at + 1 :]
        del stack[at:]
        return found

    # --- bounds ---

    def spend(self, count: int) -> None:
        """Charge for a copy of what the input may name repeatedly."""
        self.copied -= count
        if self.copied < 0:
            raise Refused("copies of shared values, beyond what a pickle of this size needs")

    def key(self, value: Any) -> Any:
        """A value that is about to be hashed."""
        depth, count = self.weigh(value)
        self.hashed -= count
        if depth > _MOST_KEY_DEPTH:
            raise Refused(f"a key that is nested deeper than {_MOST_KEY_DEPTH}")
        if self.hashed < 0:
            raise Refused("keys that take too long to compare")
        return value

    def weigh(self, value: Any) -> tuple[int, int]:
        cls = type(value)
        if cls is tuple or cls is frozenset:
            known = self.weights.get(id(value))
            return (known[1], known[2]) if known is not None else (1, len(value) + 1)
        if cls is int:
            return 0, 1 + (value.bit_length() >> 9)
        return (0, 1) if cls is str or cls is bytes else (0, 8)

    def weighed(self, value: Any) -> Any:
        """A tuple or frozenset that was just made."""
        if any(
            type(item) is tuple or type(item) is frozenset or (type(item) is int and item.bit_length() > 512)
            for item in value
        ):
            depth, total = 0, 1
            for item in value:
                deep, count = self.weigh(item)
                depth, total = max(depth, deep), total + count
            self.weights[id(value)] = (value, depth + 1, total)
        return value

    # --- names ---

    def find(self, module: Any, name: Any) -> None:
        if type(module) is not str or type(name) is not str:
            raise Refused("expected the name of a module and what is in it")
        self.names_code = True
        self.push(Global.named(module, name, self.at, self.protocol))

    def reduce(self, function: Any, args: Any) -> Any:
        if type(function) is not Global:
            raise Refused("expected the name of what is called, found a value")
        if type(args) is not tuple:
            raise Refused("expected a tuple of arguments, found another value")
        self.at = function.offset
        build = _harmless.REDUCES.get(function.path)
        if build is not None:
            try:
                made = build(self, *args)
                if type(made) is Pending:
                    made.offset = function.offset
                return made
            except Refused:
                raise
            except Exception as error:
                raise Refused(f"{function}: arguments that can't be ({type(error).__name__})") from None
        raise self.refused(function)

    def refused(self, function: Global) -> Refused:
        remedy = ""
        if not self.records and not function.is_known:
            remedy = "; `--records` makes records of instances that are a class and its fields"
        return Refused(f"`{function}` would have to be imported and called, which is never done{remedy}")

    def instance(self, cls: Any, args: Any) -> Any:
        """The result of `cls.__new__(cls, *args)`, to be completed later."""
        if type(cls) is not Global or type(args) is not tuple:
            raise Refused("expected a class and a tuple, found something else")
        self.at = cls.offset
        if cls.path in _harmless.STATES and not args:
            return Pending(cls, _harmless.STATES[cls.path], cls.offset)
        if cls.path in _harmless.REDUCES:
            return self.reduce(cls, args)
        if not self.records or cls.is_known:
            raise self.refused(cls)
        if args:
            raise Refused(f"`{cls}` takes arguments in its `__new__`, so that its fields aren't known")
        return holdall.Record(str(cls), {})

    def build(self, target: Any, state: Any) -> None:
        """`target.__setstate__(state)`, or its `__dict__.update(state)`."""
        if type(target) is Pending:
            final = target.finish(self, state)
            for key in target.keys:
                self.memo[key] = final
            self.stack[-1] = final
        elif type(target) is holdall.Record or type(target).__name__ == "SimpleNamespace":
            fields = target.fields if type(target) is holdall.Record else vars(target)
            parts = state if type(state) is tuple and len(state) == 2 else (state,)
            for part in parts:
                if part is None:
                    continue
                if type(part) is not dict or not all(type(name) is str for name in part):
                    raise Refused(f"the state of `{_called(target)}` is no dict of fields")
                fields.update(part)
        else:
            raise Refused(f"state for a `{type(target).__name__}`, which has none of its own")

    def check(self, result: Any) -> None:
        """Refuse a result that contains placeholders."""
        if not self.names_code:
            return
        stack, seen = [result], set()
        while stack:
            value = stack.pop()
            cls = type(value)
            if cls is Global:
                self.at = value.offset
                raise Refused(
                    f"`{value}` itself is a value, and would have to be imported, which is never done"
                )
            if cls is Pending:
                self.at = value.offset
                raise Refused(f"a `{value.cls}` that isn't complete, or holds itself")
            if id(value) in seen:
                continue
            inner = _inner(value)
            if inner:
                seen.add(id(value))
                stack.extend(inner)


def _called(value: Any) -> str:
    return value.type_name if type(value) is holdall.Record else type(value).__name__


def _inner(value: Any) -> Any:
    if isinstance(value, dict):
        return [*value.keys(), *value.values()]
    if isinstance(value, (list, tuple, set, frozenset)) or type(value).__name__ == "deque":
        return value
    if type(value) is holdall.Record:
        return value.fields.values()
    if type(value).__name__ == "SimpleNamespace":
        return vars(value).values()
    if type(value).__name__ == "ndarray" and value.dtype.hasobject:
        return value.ravel().tolist()
    return ()


# --- instructions ---


def _push(machine: _Machine, arg: Any) -> None:
    machine.stack.append(arg)


def _made(make: Callable[[], Any]) -> Callable[[_Machine, Any], None]:
    return lambda machine, _: machine.stack.append(make())


def _byte_text(machine: _Machine, arg: str) -> None:
    """A `str` of Python 2, which was bytes: text if it is ASCII."""
    machine.push(arg if arg.isascii() else arg.encode("latin-1"))


def _nothing(machine: _Machine, arg: Any) -> None:
    pass


def _proto(machine: _Machine, arg: int) -> None:
    if arg > 5:
        raise Refused(f"protocol {arg}, which is newer than 5")
    machine.protocol = arg


def _get(machine: _Machine, arg: int) -> None:
    if arg not in machine.memo:
        raise Refused(f"a reference to number {arg}, which nothing has")
    machine.stack.append(machine.memo[arg])


def _put(machine: _Machine, arg: int) -> None:
    if arg < 0:
        raise Refused("a number below 0 for a reference")
    value = machine.top()
    machine.memo[arg] = value
    if type(value) is Pending:
        value.keys.append(arg)


def _memoize(machine: _Machine, arg: Any) -> None:
    _put(machine, len(machine.memo))


def _mark(machine: _Machine, arg: Any) -> None:
    machine.stack.append(_MARK)


def _pop(machine: _Machine, arg: Any) -> None:
    if not machine.stack:
        raise Refused("expected a value on the stack, found none")
    machine.stack.pop()


def _pop_mark(machine: _Machine, arg: Any) -> None:
    machine.since_mark()


def _tuple_of(count: int) -> Callable[[_Machine, Any], None]:
    def make(machine: _Machine, arg: Any) -> None:
        items = [machine.pop() for _ in range(count)]
        machine.push(machine.weighed(tuple(reversed(items))))

    return make


def _tuple(machine: _Machine, arg: Any) -> None:
    machine.push(machine.weighed(tuple(machine.since_mark())))


def _list(machine: _Machine, arg: Any) -> None:
    machine.push(machine.since_mark())


def _pairs(machine: _Machine, target: Any, items: list[Any]) -> None:
    if not isinstance(target, dict):
        raise Refused(f"expected a dict on the stack, found a `{_kind(target)}`")
    if len(items) % 2:
        raise Refused("expected as many values as keys")
    for place in range(0, len(items), 2):
        target[machine.key(items[place])] = items[place + 1]


def _dict(machine: _Machine, arg: Any) -> None:
    items = machine.since_mark()
    made: dict[Any, Any] = {}
    _pairs(machine, made, items)
    machine.push(made)


def _append(machine: _Machine, arg: Any) -> None:
    _extend(machine, [machine.pop()])


def _appends(machine: _Machine, arg: Any) -> None:
    _extend(machine, machine.since_mark())


def _extend(machine: _Machine, items: list[Any]) -> None:
    target = machine.top()
    if type(target) is not list and type(target).__name__ != "deque":
        raise Refused(f"expected a list on the stack, found a `{_kind(target)}`")
    target.extend(items)


def _setitem(machine: _Machine, arg: Any) -> None:
    value, key = machine.pop(), machine.pop()
    _pairs(machine, machine.top(), [key, value])


def _setitems(machine: _Machine, arg: Any) -> None:
    items = machine.since_mark()
    _pairs(machine, machine.top(), items)


def _additems(machine: _Machine, arg: Any) -> None:
    items = machine.since_mark()
    target = machine.top()
    if type(target) is not set:
        raise Refused(f"expected a set on the stack, found a `{_kind(target)}`")
    for item in items:
        target.add(machine.key(item))


def _frozenset(machine: _Machine, arg: Any) -> None:
    machine.push(machine.weighed(frozenset([machine.key(item) for item in machine.since_mark()])))


def _global(machine: _Machine, arg: str) -> None:
    module, _, name = arg.partition(" ")
    machine.find(module, name)


def _stack_global(machine: _Machine, arg: Any) -> None:
    name, module = machine.pop(), machine.pop()
    machine.find(module, name)


def _reduce(machine: _Machine, arg: Any) -> None:
    args, function = machine.pop(), machine.pop()
    machine.push(machine.reduce(function, args))


def _newobj(machine: _Machine, arg: Any) -> None:
    args, cls = machine.pop(), machine.pop()
    machine.push(machine.instance(cls, args))


def _newobj_ex(machine: _Machine, arg: Any) -> None:
    kwargs, args, cls = machine.pop(), machine.pop(), machine.pop()
    if type(kwargs) is not dict or kwargs:
        raise Refused(f"`{cls}` takes arguments in its `__new__`, so that its fields aren't known")
    machine.push(machine.instance(cls, args))


def _inst(machine: _Machine, arg: str) -> None:
    _global(machine, arg)
    cls = machine.pop()
    machine.push(machine.instance(cls, tuple(machine.since_mark())))


def _obj(machine: _Machine, arg: Any) -> None:
    cls, *args = machine.since_mark()
    machine.push(machine.instance(cls, tuple(args)))


def _build(machine: _Machine, arg: Any) -> None:
    state = machine.pop()
    machine.build(machine.top(), state)


def _refuse(what: str) -> Callable[[_Machine, Any], None]:
    def refuse(machine: _Machine, arg: Any) -> None:
        raise Refused(what)

    return refuse


def _kind(value: object) -> str:
    return str(value) if type(value) is Global else type(value).__name__


_DO: dict[str, Callable[[_Machine, Any], None]] = {
    **dict.fromkeys(
        "INT BININT BININT1 BININT2 LONG LONG1 LONG4 FLOAT BINFLOAT UNICODE BINUNICODE SHORT_BINUNICODE"
        " BINUNICODE8 BINBYTES SHORT_BINBYTES BINBYTES8 BYTEARRAY8".split(),
        _push,
    ),
    **dict.fromkeys(("STRING", "BINSTRING", "SHORT_BINSTRING"), _byte_text),
    "NONE": lambda machine, _: machine.push(None),
    "NEWTRUE": lambda machine, _: machine.push(True),
    "NEWFALSE": lambda machine, _: machine.push(False),
    "EMPTY_LIST": _made(list),
    "EMPTY_TUPLE": _made(tuple),
    "EMPTY_DICT": _made(dict),
    "EMPTY_SET": _made(set),
    "TUPLE": _tuple,
    "TUPLE1": _tuple_of(1),
    "TUPLE2": _tuple_of(2),
    "TUPLE3": _tuple_of(3),
    "LIST": _list,
    "DICT": _dict,
    "APPEND": _append,
    "APPENDS": _appends,
    "SETITEM": _setitem,
    "SETITEMS": _setitems,
    "ADDITEMS": _additems,
    "FROZENSET": _frozenset,
    "MARK": _mark,
    "POP": _pop,
    "POP_MARK": _pop_mark,
    "DUP": lambda machine, _: machine.push(machine.top()),
    **dict.fromkeys(("GET", "BINGET", "LONG_BINGET"), _get),
    **dict.fromkeys(("PUT", "BINPUT", "LONG_BINPUT"), _put),
    "MEMOIZE": _memoize,
    "PROTO": _proto,
    "FRAME": _nothing,
    "GLOBAL": _global,
    "STACK_GLOBAL": _stack_global,
    "REDUCE": _reduce,
    "NEWOBJ": _newobj,
    "NEWOBJ_EX": _newobj_ex,
    "INST": _inst,
    "OBJ": _obj,
    "BUILD": _build,
    **dict.fromkeys(("PERSID", "BINPERSID"), _refuse("an object that is kept elsewhere (a persistent id)")),
    **dict.fromkeys(("EXT1", "EXT2", "EXT4"), _refuse("a number from copyreg's registry of another program")),
    **dict.fromkeys(("NEXT_BUFFER", "READONLY_BUFFER"), _refuse("a buffer that is not in the pickle")),
}
