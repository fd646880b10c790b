"""The names that a pickle may use: a fixed table of functions, each of which makes a value that is data from
its arguments.

The arguments come from the pickle, so every function here checks their types before it uses them.
"""

from __future__ import annotations

import array
import collections
import datetime
import decimal
import fractions
import os
import pathlib
import re
import types
import uuid
import zoneinfo
from typing import TYPE_CHECKING, Any

import holdall

from ._paths import printable

if TYPE_CHECKING:
    from collections.abc import Callable

_LONGEST_NAME = 100


class Refused(Exception):
    """Why a pickle is refused; the caller knows at which offset."""


class Global:
    """A name in a pickle: just text."""

    __slots__ = ("module", "name", "offset")

    def __init__(self, module: str, name: str, offset: int) -> None:
        self.module = module
        self.name = name
        self.offset = offset

    @classmethod
    def named(cls, module: str, name: str, offset: int, protocol: int) -> Global:
        """The name in its present form, if Python 2 or another version of a library had another one."""
        if protocol < 3:
            from _compat_pickle import IMPORT_MAPPING, NAME_MAPPING

            if (module, name) in NAME_MAPPING:
                module, name = NAME_MAPPING[module, name]
            else:
                module = IMPORT_MAPPING.get(module, module)
        module = re.sub(r"^numpy\._core\b", "numpy.core", module)
        module = {"pathlib._local": "pathlib", "_collections": "collections"}.get(module, module)
        return cls(module, name, offset)

    @property
    def path(self) -> tuple[str, str]:
        return self.module, self.name

    @property
    def is_known(self) -> bool:
        """Whether it is a name of the table, not of a program's class."""
        top = self.module.partition(".")[0]
        return self.path in REDUCES or self.path in STATES or top in _NO_CLASSES_OF_ITS_OWN

    def __str__(self) -> str:
        text = f"{self.module}.{self.name}"
        text = printable(text[: _LONGEST_NAME + 1])
        return text if len(text) <= _LONGEST_NAME else text[:_LONGEST_NAME] + "..."


_NO_CLASSES_OF_ITS_OWN = {
    "builtins",
    "os",
    "posix",
    "nt",
    "sys",
    "subprocess",
    "copyreg",
    "numpy",
    "functools",
    "operator",
}


class Pending:
    """An object that was begun and waits for its state: `finish(machine, state)` returns it."""

    __slots__ = ("cls", "finish", "keys", "offset")

    def __init__(self, cls: Any, finish: Callable[[Any, Any], Any], offset: int = 0) -> None:
        self.cls = cls
        self.finish = finish
        self.offset = offset
        self.keys: list[int] = []  # the numbers under which the pickle refers to it


def _want(found: Any, *kinds: type) -> Any:
    if type(found) not in kinds:
        raise Refused(
            f"expected {' or '.join(kind.__name__ for kind in kinds)}, found `{type(found).__name__}`"
        )
    return found


def _int(found: Any) -> int:
    return int(_want(found, int, bool))


def _data(found: Any, size: int | None = None) -> bytes:
    """Bytes, which Python 2 wrote as text."""
    data: bytes = found.encode("latin-1") if type(found) is str else bytes(_want(found, bytes, bytearray))
    if size is not None and len(data) != size:
        raise Refused(f"expected {size} bytes, found {len(data)}")
    return data


# --- builtins ---


def _set(machine: Any, items: Any = ()) -> Any:
    items = _want(items, list, tuple, set)
    # A member takes more time and memory than a copied byte.
    machine.spend(8 * len(items))
    return {machine.key(item) for item in items}


def _frozenset(machine: Any, items: Any = ()) -> Any:
    return machine.weighed(frozenset(_set(machine, items)))


def _encoded(machine: Any, text: Any, encoding: Any = "utf-8") -> bytes:
    """`_codecs.encode`: how protocols 0 to 2 write bytes."""
    if encoding not in ("latin1", "latin-1"):
        raise Refused("an encoding of bytes that no pickle has")
    text = _want(text, str)
    machine.spend(len(text))
    return bytes(text.encode("latin-1"))


def _bytes(machine: Any, *args: Any) -> bytes:
    if not args:
        return b""
    return _encoded(machine, *args) if len(args) == 2 else bytes(_copied(machine, args[0]))


def _copied(machine: Any, data: Any) -> bytearray:
    data = _want(data, bytes, bytearray)
    machine.spend(len(data))
    return bytearray(data)


def _bytearray(machine: Any, *args: Any) -> bytearray:
    if len(args) == 2:
        return bytearray(_encoded(machine, *args))
    return _copied(machine, *args) if args else bytearray()


def _complex(machine: Any, real: Any, imaginary: Any) -> complex:
    return complex(_want(real, float, int), _want(imaginary, float, int))


def _range(machine: Any, *args: Any) -> range:
    return range(*map(_int, args))


def _attribute(machine: Any, of: Any, name: Any) -> Global:
    """`getattr(module.Class, "name")`, which is a name again; how older protocols write names with dots."""
    of = _want(of, Global)
    return Global(of.module, f"{of.name}.{_want(name, str)}", of.offset)


def _reconstructed(machine: Any, cls: Any, base: Any, state: Any) -> Any:
    """`copyreg._reconstructor`: how protocols 0 and 1 begin instances."""
    if type(base) is not Global or base.path != ("builtins", "object") or state is not None:
        raise Refused(f"`{cls}` is a builtin with more to it, which needs its code")
    return machine.instance(cls, ())


def _new(machine: Any, cls: Any, *args: Any) -> Any:
    return machine.instance(cls, args)


# --- collections ---


def _pairs_of(machine: Any, items: Any) -> list[tuple[Any, Any]]:
    if type(items) is dict:
        machine.spend(len(items))
        return list(items.items())
    pairs = []
    for item in _want(items, list, tuple):
        key, value = _want(item, list, tuple)
        pairs.append((machine.key(key), value))
    machine.spend(len(pairs))
    return pairs


def _ordered(machine: Any, items: Any = ()) -> Any:
    return collections.OrderedDict(_pairs_of(machine, items))


def _counter(machine: Any, items: Any = ()) -> Any:
    made: Any = collections.Counter()
    for key, count in _pairs_of(machine, items):
        made[key] = count
    return made


def _deque(machine: Any, items: Any = (), most: Any = None) -> Any:
    items = _want(items, list, tuple)
    machine.spend(len(items) + 64)
    return collections.deque(items, None if most is None else _int(most))


_FACTORIES: dict[tuple[str, str], type] = {
    **{
        ("builtins", kind.__name__): kind
        for kind in (list, dict, set, frozenset, tuple, int, float, str, bool, bytes)
    },
    ("builtins", "bytearray"): bytearray,
    ("builtins", "complex"): complex,
    ("collections", "OrderedDict"): collections.OrderedDict,
    ("collections", "Counter"): collections.Counter,
    ("collections", "deque"): collections.deque,
}


def _defaultdict(machine: Any, factory: Any = None, items: Any = ()) -> Any:
    if factory is None:
        return collections.defaultdict(None, _pairs_of(machine, items))
    kind = _FACTORIES.get(_want(factory, Global).path)
    if kind is None:
        raise Refused(f"a defaultdict that makes `{factory}`, which would have to be imported")
    return collections.defaultdict(kind, _pairs_of(machine, items))


def _namespace(machine: Any) -> Any:
    return types.SimpleNamespace()


# --- numbers, identifiers, paths ---


def _decimal(machine: Any, text: Any) -> decimal.Decimal:
    text = _want(text, str)
    machine.spend(len(text))
    return decimal.Decimal(text)


_FRACTION = re.compile(r"-?\d+(/\d+)?", re.ASCII)


def _fraction(machine: Any, *args: Any) -> fractions.Fraction:
    if len(args) == 2:
        above, below = map(_int, args)
        machine.spend((above.bit_length() + below.bit_length()) // 8)
        return fractions.Fraction(above, below)
    (text,) = args
    # "1e999999999" would be a number with a billion digits.
    if not _FRACTION.fullmatch(_want(text, str)):
        raise Refused("expected a fraction like 2/3, found another text")
    machine.spend(len(text))
    return fractions.Fraction(text)


def _finish_uuid(machine: Any, state: Any) -> uuid.UUID:
    number = _int(_want(state, dict).get("int"))
    safe = state.get("is_safe")
    if isinstance(safe, Pending) or safe not in (None, 0, -1):
        raise Refused("a UUID whose `is_safe` is none")
    known = uuid.SafeUUID.unknown if safe is None else uuid.SafeUUID(safe)
    return uuid.UUID(int=number, is_safe=known)


def _uuid(machine: Any, text: Any) -> uuid.UUID:
    return uuid.UUID(_want(text, str)[:64])


def _path(kind: type[pathlib.PurePath]) -> Callable[..., pathlib.PurePath]:
    def make(machine: Any, *parts: Any) -> pathlib.PurePath:
        # Paths of another system can be inspected, but not used.
        here: type[pathlib.PurePath] = kind
        if issubclass(kind, pathlib.Path):
            windows = issubclass(kind, pathlib.PureWindowsPath)
            if windows != (os.name == "nt"):
                here = pathlib.PureWindowsPath if windows else pathlib.PurePosixPath
        machine.spend(sum(len(_want(part, str)) for part in parts))
        return here(*parts)

    return make


# --- dates ---


def _zone(found: Any) -> Any:
    if found is not None and not isinstance(found, (datetime.timezone, zoneinfo.ZoneInfo)):
        raise Refused(f"a time zone that is a `{found if type(found) is Global else type(found).__name__}`")
    return found


def _date(machine: Any, data: Any) -> datetime.date:
    high, low, month, day = _data(data, 4)
    return datetime.date(high << 8 | low, month, day)


def _datetime(machine: Any, data: Any, zone: Any = None) -> datetime.datetime:
    # Not by its constructor, which accepts hours beyond 23 if they come as bytes.
    high, low, month, day, hour, minute, second, *micros = _data(data, 10)
    micro = int.from_bytes(bytes(micros), "big")
    year = high << 8 | low
    return datetime.datetime(
        year, month & 0x7F, day, hour, minute, second, micro, _zone(zone), fold=month >> 7
    )


def _time(machine: Any, data: Any, zone: Any = None) -> datetime.time:
    hour, minute, second, *micros = _data(data, 6)
    micro = int.from_bytes(bytes(micros), "big")
    return datetime.time(hour & 0x7F, minute, second, micro, _zone(zone), fold=hour >> 7)


def _timedelta(machine: Any, *args: Any) -> datetime.timedelta:
    days, seconds, micros = map(_int, args)
    return datetime.timedelta(days, seconds, micros)


def _timezone(machine: Any, offset: Any, *name: Any) -> datetime.timezone:
    delta = _want(offset, datetime.timedelta)
    if not delta and not name:
        return datetime.timezone.utc
    return datetime.timezone(delta, *(_want(text, str) for text in name))


_ZONE = re.compile(r"[A-Za-z0-9_+-]+(/[A-Za-z0-9_+-]+)*")


def _zoneinfo(machine: Any, key: Any, from_cache: Any = True) -> zoneinfo.ZoneInfo:
    if not _ZONE.fullmatch(_want(key, str)):
        raise Refused("a time zone's name that is none")
    try:
        return zoneinfo.ZoneInfo(key)
    except zoneinfo.ZoneInfoNotFoundError:
        raise Refused(f"the time zone {key[:64]}, which is not known here") from None


# --- arrays ---


def _arrayed(machine: Any, cls: Any, code: Any, form: Any, data: Any) -> array.array[Any]:
    """`array._array_reconstructor`, for arrays whose items have the same form here."""
    made: array.array[Any] = array.array(_typecode(cls, code))
    native = made.__reduce_ex__(3)[1][2]
    if _int(form) != native:
        raise Refused("an array of a machine that writes numbers in another way")
    data = _want(data, bytes)
    machine.spend(len(data))
    made.frombytes(data)
    return made


def _array(machine: Any, code: Any, items: Any) -> array.array[Any]:
    items = _want(items, list, str)
    machine.spend(len(items))
    return array.array(_typecode(None, code), items)


def _typecode(cls: Any, code: Any) -> Any:
    if cls is not None and (type(cls) is not Global or cls.path != ("array", "array")):
        raise Refused("a class of arrays that is not the standard library's")
    if _want(code, str) not in array.typecodes or len(code) != 1:
        raise Refused("a type code that no array has")
    return code


def _numpy() -> Any:
    try:
        import numpy
    except ModuleNotFoundError as cause:
        raise holdall.HoldallError("arrays need NumPy: `pip install 'holdall[numpy]'`") from cause
    return numpy


_DTYPE = re.compile(r"[?biufcmMOSUV]\d*")


def _dtype(machine: Any, text: Any, *options: Any) -> Pending:
    if not _DTYPE.fullmatch(_want(text, str)):
        raise Refused("a dtype that is not one of NumPy's own")

    def finish(machine: Any, state: Any) -> Any:
        version, order, sub, names, fields, size, _, flags, *more = _want(state, tuple)
        numpy = _numpy()
        if _int(version) not in (3, 4) or order not in ("<", ">", "=", "|"):
            raise Refused("a dtype of another version of NumPy")
        if sub is not None:
            base, shape = _want(sub, tuple)
            return numpy.dtype((_is_dtype(base), _shape(machine, shape)))
        if names is not None:
            return _structured(_want(names, tuple), _want(fields, dict), _int(size), bool(_int(flags) & 0x80))
        made = numpy.dtype(text)
        if made.kind in "mM" and more:
            unit, count, *_ = _want(more[0], tuple)[1]
            if not re.fullmatch(
                r"[a-z]*", _want(unit, bytes, str) if type(unit) is str else unit.decode(), re.I
            ):
                raise Refused("a unit of time that is none")
            unit = unit if type(unit) is str else unit.decode()
            made = numpy.dtype(f"{made.char}8" if unit == "generic" else f"{made.char}8[{_int(count)}{unit}]")
        return made if order == "|" else made.newbyteorder(order)

    return Pending("numpy.dtype", finish)


def _structured(names: tuple[Any, ...], fields: dict[Any, Any], size: int, aligned: bool) -> Any:
    formats, offsets, titles = [], [], []
    for name in names:
        dtype, offset, *title = _want(fields[name], tuple)
        formats.append(_is_dtype(dtype))
        offsets.append(_int(offset))
        titles.append(_want(title[0], str) if title else None)
    described = {
        "names": [_want(name, str) for name in names],
        "formats": formats,
        "offsets": offsets,
        "itemsize": size,
    }
    if any(titles):
        described["titles"] = titles
    return _numpy().dtype(described, align=aligned)


def _is_dtype(found: Any) -> Any:
    if not isinstance(found, _numpy().dtype):
        raise Refused(f"expected a dtype, found `{type(found).__name__}`")
    return found


def _shape(machine: Any, found: Any) -> tuple[int, ...]:
    shape = tuple(map(_int, _want(found, tuple)))
    count = 1
    for length in shape:
        count *= length
        # Items of size 0 take no input.
        if length < 0 or count > machine.size:
            raise Refused("an array of more items than there are bytes")
    return shape


def _array_begun(machine: Any, cls: Any, *args: Any) -> Pending:
    if type(cls) is not Global or cls.path != ("numpy", "ndarray"):
        raise Refused(f"`{cls}` is no plain array, and needs its code")

    def finish(machine: Any, state: Any) -> Any:
        _, shape, dtype, fortran, content = _want(state, tuple)
        order = "F" if fortran else "C"
        if type(content) is not list:
            return _from_bytes(machine, _data(content), dtype, _shape(machine, shape), order)
        if not _is_dtype(dtype).hasobject or dtype.names or dtype.subdtype:
            raise Refused("expected an array of objects")
        made = _numpy().empty(len(content), dtype=object)
        machine.spend(len(content))
        for place, item in enumerate(content):
            made[place] = item
        return made.reshape(_shape(machine, shape), order=order)

    return Pending(cls, finish)


def _from_bytes(machine: Any, data: Any, dtype: Any, shape: tuple[int, ...], order: str) -> Any:
    """A new array. Like NumPy, this refuses to take pointers from bytes."""
    numpy = _numpy()
    if _is_dtype(dtype).hasobject:
        raise Refused("objects in the form of bytes")
    machine.spend(len(data))
    if not data:
        return numpy.zeros(shape, dtype=dtype, order=order)
    return numpy.frombuffer(data, dtype=dtype).reshape(shape, order=order).copy(order=order)


def _from_buffer(machine: Any, data: Any, dtype: Any, shape: Any, order: Any) -> Any:
    if order not in ("C", "F"):
        raise Refused("an order of an array that is none")
    return _from_bytes(machine, _want(data, bytes, bytearray), dtype, _shape(machine, shape), order)


def _scalar(machine: Any, dtype: Any, data: Any) -> Any:
    if _is_dtype(dtype).hasobject or dtype.subdtype or not dtype.itemsize:
        raise Refused("a scalar of a dtype that has none")
    machine.spend(dtype.itemsize)
    return _numpy().frombuffer(_data(data, dtype.itemsize), dtype=dtype).copy()[0]


REDUCES: dict[tuple[str, str], Callable[..., Any]] = {
    ("builtins", "set"): _set,
    ("builtins", "frozenset"): _frozenset,
    ("builtins", "bytes"): _bytes,
    ("builtins", "bytearray"): _bytearray,
    ("builtins", "complex"): _complex,
    ("builtins", "range"): _range,
    ("builtins", "slice"): lambda machine, *args: slice(*args),
    ("builtins", "getattr"): _attribute,
    ("_codecs", "encode"): _encoded,
    ("copyreg", "_reconstructor"): _reconstructed,
    ("copyreg", "__newobj__"): _new,
    ("collections", "OrderedDict"): _ordered,
    ("collections", "Counter"): _counter,
    ("collections", "deque"): _deque,
    ("collections", "defaultdict"): _defaultdict,
    ("types", "SimpleNamespace"): _namespace,
    ("decimal", "Decimal"): _decimal,
    ("fractions", "Fraction"): _fraction,
    ("uuid", "UUID"): _uuid,
    **{
        ("pathlib", kind.__name__): _path(kind)
        for kind in (
            pathlib.PurePath, pathlib.PurePosixPath, pathlib.PureWindowsPath,
            pathlib.Path, pathlib.PosixPath, pathlib.WindowsPath,
        )
    },
    ("datetime", "date"): _date,
    ("datetime", "datetime"): _datetime,
    ("datetime", "time"): _time,
    ("datetime", "timedelta"): _timedelta,
    ("datetime", "timezone"): _timezone,
    ("zoneinfo", "ZoneInfo._unpickle"): _zoneinfo,
    ("array", "_array_reconstructor"): _arrayed,
    ("array", "array"): _array,
    ("numpy", "dtype"): _dtype,
    ("numpy.core.multiarray", "_reconstruct"): _array_begun,
    ("numpy.core.multiarray", "scalar"): _scalar,
    ("numpy.core.numeric", "_frombuffer"): _from_buffer,
}  # fmt: skip

# Classes whose instances are begun without arguments and completed by their state.
STATES: dict[tuple[str, str], Callable[[Any, Any], Any]] = {("uuid", "UUID"): _finish_uuid}
