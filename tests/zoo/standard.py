"""The standard library: every type of it that pickle takes."""

from __future__ import annotations

import sys
from typing import Any, Iterator

from tests.zoo.specimens import zoo

# Importing these does something, asks something, or takes long.
AVOIDED = set(
    "antigravity this idlelib lib2to3 test tkinter turtle turtledemo ensurepip venv pip setuptools distutils pty tty nis crypt spwd "
    "ossaudiodev msilib winreg winsound msvcrt _winapi nt ntpath asyncio.windows_events readline rlcompleter site sitecustomize usercustomize".split()
)
MODULES = tuple(
    name for name in sorted(sys.stdlib_module_names) if not name.startswith("_") and name not in AVOIDED
)
INNER = tuple(
    "collections.abc concurrent.futures concurrent.futures.process email.charset email.errors email.header email.headerregistry email.message "
    "email.mime.text email.policy http.client http.cookiejar http.cookies importlib.machinery importlib.metadata json.decoder json.encoder "
    "logging.config logging.handlers multiprocessing.connection multiprocessing.shared_memory os.path unittest.case unittest.suite "
    "urllib.error urllib.parse urllib.request urllib.robotparser wsgiref.headers xml.dom.minidom xml.etree.ElementTree xml.sax.handler "
    "xml.sax.xmlreader xmlrpc.client asyncio.exceptions zoneinfo ctypes.util".split()
)


@zoo("builtins", "builtins")
def builtin_types() -> Iterator[Any]:
    yield "int", [0, -1, 255, 256, 2**31, -(2**63), 2**64, 10**40]
    yield "bool", [True, False, None, ..., NotImplemented]
    yield "float", [0.0, -0.0, float("inf"), float("nan"), 5e-324, 1.7e308]
    yield "complex", [1j, complex(-0.0, float("nan"))]
    yield "text", ["", "a", "é", "漢", "\U0001f600", "\ud800", "a\0b", "x" * 5000]
    yield "bytes", [b"", b"a", bytes(range(256)) * 40, bytearray(b"abc"), bytearray()]
    yield "list", [[], [1], [[]], list(range(300))]
    yield "tuple", [(), (1,), ((), ()), tuple("abc")]
    yield "dict", [{}, {"a": 1}, {1: 2, (3, 4): 5}, {None: {}}]
    yield "set", [set(), {1}, frozenset(), frozenset({1, (2, 3)})]
    yield "range", range(3, 10, 2), list
    yield "slice", slice(1, None, -1)
    yield "memory", [bytes(8), bytearray(8)]
    yield "classes", [int, dict, type, object, ValueError, type(None), type(...), type(NotImplemented)]
    yield (
        "functions",
        [len, print, sum, [].append.__class__, dict.fromkeys, str.join, "x".join, object.__init__.__class__],
    )
    yield (
        "bound methods of C",
        [[1, 2].index, {"a": 1}.get, "abc".upper],
        lambda found: [found[0](2), found[1]("a"), found[2]()],
    )
    yield (
        "iterators",
        [
            iter([1, 2, 3]),
            iter((1, 2)),
            iter("ab"),
            iter(range(5)),
            iter({1: 2}),
            iter(b"ab"),
            reversed([1, 2]),
        ],
        lambda found: [type(each).__name__ for each in found],
    )
    yield "enumerate", enumerate("ab", 5), None
    yield "zip, map, filter", [zip([1], [2], strict=False), map(abs, [-1]), filter(None, [0, 1])], None
    a: list[Any] = []
    a.append(a)
    yield "a list that holds itself", a, lambda found: found[0] is found
    d: dict[str, Any] = {}
    d["d"] = d
    yield "a dict that holds itself", d, lambda found: found["d"] is found
    for cls in sorted(all_exceptions(), key=lambda cls: cls.__name__):
        for arguments in (
            (),
            ("text",),
            (2, "no such file"),
            (2, "no such file", "a", None, "b"),
            ("utf-8", b"\xff", 0, 1, "bad"),
            ("utf-8", "\udc80", 0, 1, "bad"),
            ("\udc80", 0, 1, "bad"),
            ("group", [ValueError(1), TypeError("x")]),
        ):
            try:
                error = cls(*arguments)
            except TypeError:
                continue
            yield f"{cls.__name__}{arguments!r}", error, lambda error: (str(error), error.args)
    blocked = BlockingIOError(11, "would block")
    blocked.characters_written = 7
    yield "BlockingIOError.characters_written", blocked, lambda error: error.characters_written
    noted = ValueError("x")
    noted.__dict__["code"] = 3
    noted.__cause__ = KeyError("why")
    if hasattr(noted, "add_note"):
        noted.add_note("a note")
    yield (
        "an exception with notes and attributes",
        noted,
        lambda error: (error.code, getattr(error, "__notes__", None)),
    )
    yield "StopIteration", StopIteration(5), lambda error: error.value
    yield "SystemExit", SystemExit(3), lambda error: error.code
    yield (
        "ImportError",
        ImportError("no", name="n", path="p"),
        lambda error: (error.name, error.path, error.msg),
    )
    yield "AttributeError", AttributeError("no", name="n", obj=[1]), lambda error: error.name
    yield "NameError", NameError("no", name="n"), lambda error: error.name
    yield (
        "SyntaxError",
        SyntaxError("bad", ("file", 1, 2, "text", 3, 4)),
        lambda error: (error.lineno, error.text, error.print_file_and_line),
    )


def all_exceptions() -> list[type[BaseException]]:
    import builtins

    return [
        cls for cls in vars(builtins).values() if isinstance(cls, type) and issubclass(cls, BaseException)
    ]


@zoo(
    "collections",
    "collections",
    "collections.abc",
    "types",
    "enum",
    "dataclasses",
    "functools",
    "itertools",
    "operator",
    "queue",
    "heapq",
    "array",
    "weakref",
    "contextvars",
)
def containers() -> Iterator[Any]:
    import array
    import collections
    import functools
    import itertools
    import operator
    import types

    yield "deque", collections.deque([1, 2], maxlen=3), lambda found: found.maxlen
    yield "OrderedDict", collections.OrderedDict([("b", 1), ("a", 2)]), list
    yield "defaultdict", collections.defaultdict(list, a=[1]), lambda found: found.copy()["new"]
    yield "Counter", collections.Counter("hello"), lambda found: found.most_common(1)
    yield "ChainMap", collections.ChainMap({"a": 1}, {"a": 2, "b": 3}), dict
    yield "UserDict", collections.UserDict(a=1), dict
    yield "UserList", collections.UserList([1]), list
    yield "UserString", collections.UserString("abc"), str
    yield "SimpleNamespace", types.SimpleNamespace(a=1, b=[2]), lambda found: found.b
    yield "MappingProxyType", types.MappingProxyType({"a": 1})
    yield "GenericAlias", [list[int], dict[str, list[int]], tuple[int, ...], type[int]], str
    yield "a union", int | str | None, str
    for code in "bBhHiIlLqQfdu":
        yield (
            f"array {code}",
            array.array(code, "ab" if code == "u" else [1, 2]),
            lambda found: found.typecode,
        )
    yield "partial", functools.partial(int, "11", base=2), lambda found: found()
    partial = functools.partial(sorted, reverse=True)
    partial.note = "x"  # type: ignore[attr-defined]
    yield "partial with an attribute", partial, lambda found: (found([1, 3, 2]), found.note)
    yield "cmp_to_key", functools.cmp_to_key(operator.sub)
    yield "itemgetter", operator.itemgetter(1, "a")
    yield "attrgetter", operator.attrgetter("a.b", "c"), repr
    yield "methodcaller", operator.methodcaller("split", ",", maxsplit=1), lambda found: found("a,b,c")
    counter = itertools.count(5, 3)
    next(counter)
    yield "count", counter, repr
    cycle = itertools.cycle("abc")
    next(cycle)
    yield "cycle", cycle
    yield "repeat", itertools.repeat("x", 3), repr
    yield "chain", itertools.chain([1], [2])
    yield "islice", itertools.islice(range(9), 2, 8, 3)
    yield "product", itertools.product("ab", repeat=2)
    yield "combinations", itertools.combinations("abcd", 2)
    yield "permutations", itertools.permutations("abc")
    yield "accumulate", itertools.accumulate([1, 2, 3])
    yield "zip_longest", itertools.zip_longest([1], [2, 3], fillvalue=0)
    yield (
        "compress, dropwhile, takewhile, starmap, filterfalse",
        [
            itertools.compress([1, 2], [1, 0]),
            itertools.dropwhile(bool, [1, 0]),
            itertools.takewhile(bool, [1, 0]),
            itertools.starmap(pow, [(2, 3)]),
            itertools.filterfalse(None, [0, 1]),
        ],
    )
    first, second = itertools.tee([1, 2, 3])
    yield "tee", [first, second]
    from tests.zoo import definitions

    yield "classes made here", definitions.instances(), None
    for name, obj in definitions.apart():
        yield name, obj, definitions.check


@zoo(
    "numbers and time",
    "decimal",
    "fractions",
    "numbers",
    "math",
    "random",
    "statistics",
    "datetime",
    "zoneinfo",
    "time",
    "calendar",
    "sched",
    "uuid",
    "ipaddress",
    "hashlib",
    "secrets",
)
def values() -> Iterator[Any]:
    import calendar
    import datetime as dt
    import decimal
    import fractions
    import ipaddress
    import random
    import statistics
    import time
    import uuid
    import zoneinfo

    for text in ("1.50", "-0", "1E+30", "NaN", "sNaN12", "-Infinity"):
        yield f"Decimal {text}", decimal.Decimal(text), str
    yield (
        "Context",
        decimal.Context(prec=5, rounding=decimal.ROUND_UP, traps=[decimal.Inexact]),
        lambda found: str(found.divide(1, 3)) if found.prec != 5 else found.prec,
    )
    yield "DecimalTuple", decimal.Decimal("1.5").as_tuple()
    yield "Fraction", fractions.Fraction(-3, 7)
    yield (
        "Random",
        random.Random(5),
        lambda found: random.Random.random(found) if False else found.getstate()[1][:3],
    )
    yield "NormalDist", statistics.NormalDist(1, 2), lambda found: found.cdf(1.5)
    yield "date", [dt.date(1, 1, 1), dt.date.max]
    yield "time", [dt.time(1, 2, 3, 4), dt.time(23, fold=1), dt.time(1, tzinfo=dt.timezone.utc)]
    yield (
        "datetime",
        [
            dt.datetime.min,
            dt.datetime(2024, 2, 29, 1, 2, 3, 4, fold=1),
            dt.datetime(2024, 7, 1, tzinfo=zoneinfo.ZoneInfo("Europe/Paris")),
        ],
    )
    yield "timedelta", [dt.timedelta.min, dt.timedelta(-1, 2, 3)]
    yield (
        "timezone",
        [dt.timezone.utc, dt.timezone(dt.timedelta(hours=-3), "X"), dt.timezone(dt.timedelta(0), "zero")],
    )
    yield "ZoneInfo", zoneinfo.ZoneInfo("Asia/Tokyo"), lambda found: found.utcoffset(dt.datetime(2024, 1, 1))
    yield (
        "ZoneInfo.no_cache",
        zoneinfo.ZoneInfo.no_cache("Asia/Tokyo"),
        lambda found: found is zoneinfo.ZoneInfo("Asia/Tokyo"),
    )
    yield "IsoCalendarDate", dt.date(2024, 2, 29).isocalendar(), lambda found: found.week
    for instant in (
        time.gmtime(0),
        time.localtime(1e9),
        time.strptime("2024", "%Y"),
        time.struct_time(range(9)),
        time.struct_time(range(11)),
    ):
        yield "struct_time", instant, lambda found: (found.tm_zone, found.tm_gmtoff, tuple(found))
    yield "clock", time.get_clock_info("time"), lambda found: found.resolution
    yield (
        "calendar",
        [
            calendar.Calendar(3),
            calendar.TextCalendar(),
            calendar.HTMLCalendar(),
            calendar.LocaleTextCalendar(6, "C"),
        ],
        lambda found: found[0].firstweekday,
    )
    for safe in uuid.SafeUUID:
        yield f"UUID {safe.name}", uuid.UUID(int=5, is_safe=safe), lambda found: found.is_safe
    # Before 3.11 pickle itself loses the zone, which we keep.
    zones = ("fe80::1%eth0",) if sys.version_info >= (3, 11) else ()
    for text in ("10.0.0.1", "::1", *zones):
        yield f"ip_address {text}", ipaddress.ip_address(text), str
    yield (
        "ip_network",
        [ipaddress.ip_network("10.0.0.0/8"), ipaddress.ip_network("2001:db8::/32")],
        lambda found: found[0].num_addresses,
    )
    yield (
        "ip_interface",
        [ipaddress.ip_interface("10.1.2.3/8"), ipaddress.ip_interface("::1/64")],
        lambda found: str(found[0].network),
    )


@zoo(
    "the system",
    "os",
    "posix",
    "pathlib",
    "stat",
    "tempfile",
    "shutil",
    "glob",
    "pwd",
    "grp",
    "resource",
    "signal",
    "errno",
    "sys",
    "platform",
    "sysconfig",
    "subprocess",
    "selectors",
    "socket",
    "ssl",
    "mimetypes",
    "filecmp",
    "zipfile",
    "tarfile",
    "gzip",
    "io",
    "csv",
    "configparser",
    "netrc",
    "plistlib",
    "struct",
    "codecs",
)
def system() -> Iterator[Any]:
    import codecs
    import configparser
    import csv
    import grp
    import inspect
    import io
    import os
    import pathlib
    import platform
    import pwd
    import resource
    import shutil
    import signal
    import socket
    import struct
    import tarfile
    import zipfile

    yield "stat_result", os.stat("/"), lambda found: (found.st_atime_ns, found.st_blksize, found.st_ino)
    yield "stat_result of ten", os.stat_result(range(10)), lambda found: found.st_atime_ns
    yield "statvfs_result", os.statvfs("/"), lambda found: found.f_fsid
    yield "terminal_size", os.terminal_size((80, 24)), lambda found: found.columns
    yield "times_result", os.times(), lambda found: found.elapsed
    yield "uname_result", os.uname(), lambda found: found.sysname
    yield "sched_param", os.sched_param(0)
    yield "getpwall", pwd.getpwall()[:2], lambda found: found[0].pw_dir
    yield "getgrall", grp.getgrall()[:2], lambda found: found[0].gr_mem
    yield "getrusage", resource.getrusage(resource.RUSAGE_SELF), lambda found: found.ru_maxrss
    yield "disk_usage", shutil.disk_usage("/"), lambda found: found.total
    yield "uname", platform.uname(), lambda found: found.machine
    yield "architecture", platform.architecture()
    for name in (
        "flags",
        "version_info",
        "float_info",
        "int_info",
        "hash_info",
        "thread_info",
        "implementation",
    ):
        yield f"sys.{name}", getattr(sys, name), repr
    yield "asyncgen_hooks", sys.get_asyncgen_hooks()
    yield (
        "Signals",
        [signal.SIGINT, signal.SIG_IGN, signal.Handlers.SIG_DFL],
        lambda found: found[0] is signal.SIGINT,
    )
    yield "siginfo", signal.struct_siginfo(range(7)) if hasattr(signal, "struct_siginfo") else None
    yield "AddressFamily", [socket.AF_INET, socket.SOCK_STREAM], lambda found: found[0] is socket.AF_INET
    yield (
        "paths",
        [pathlib.PurePosixPath("/a/../b"), pathlib.PureWindowsPath("C:\\x"), pathlib.Path(".")],
        lambda found: found[1].drive,
    )
    yield "StringIO", io.StringIO("abc\ndef"), lambda found: found.getvalue()
    moved = io.StringIO("abc", newline="")
    moved.seek(2)
    yield "StringIO in the middle", moved, lambda found: (found.tell(), found.getvalue())
    stream = io.BytesIO(b"abcdef")
    stream.seek(3)
    stream.note = "x"  # type: ignore[attr-defined]
    yield "BytesIO", stream, lambda found: (found.tell(), found.getvalue(), found.note)
    yield "BytesIO closed", closed(io.BytesIO(b"x"))
    yield "ZipInfo", zipfile.ZipInfo("a", (2024, 1, 2, 3, 4, 6)), lambda found: found.date_time
    yield "TarInfo", tarfile.TarInfo("a"), lambda found: found.name
    yield "ConfigParser", configured(configparser), lambda found: found["a"]["b"]
    yield "dialects", [csv.excel, csv.excel_tab, csv.unix_dialect]
    yield "Struct", struct.Struct("<iq"), lambda found: found.size
    yield "CodecInfo", codecs.lookup("utf-8"), lambda found: found.name
    yield "Signature", inspect.signature(closed), str
    yield "getfullargspec", inspect.getfullargspec(configured)


def closed(file: Any) -> Any:
    file.close()
    return file


def configured(configparser: Any) -> Any:
    parser = configparser.ConfigParser()
    parser.read_string("[a]\nb = 1\n")
    return parser


@zoo(
    "text and the web",
    "re",
    "string",
    "textwrap",
    "difflib",
    "json",
    "xml.etree.ElementTree",
    "xml.dom.minidom",
    "html.parser",
    "email.message",
    "email.policy",
    "email.headerregistry",
    "http",
    "http.cookies",
    "http.cookiejar",
    "http.client",
    "urllib.parse",
    "urllib.request",
    "urllib.error",
    "xmlrpc.client",
    "logging",
    "logging.handlers",
    "argparse",
    "optparse",
    "ast",
    "tokenize",
    "token",
    "traceback",
    "inspect",
    "dis",
    "typing",
    "gettext",
    "unittest.case",
    "concurrent.futures",
    "asyncio",
    "importlib.metadata",
    "importlib.machinery",
    "graphlib",
    "pprint",
    "reprlib",
    "cProfile",
    "pstats",
    "tracemalloc",
)
def text_and_web() -> Iterator[Any]:
    import argparse
    import ast
    import concurrent.futures
    import datetime
    import difflib
    import email.headerregistry
    import email.message
    import email.policy
    import graphlib
    import http
    import http.cookies
    import importlib.machinery
    import importlib.metadata
    import json
    import logging
    import re
    import string
    import tokenize
    import traceback
    import typing
    import urllib.error
    import urllib.parse
    import urllib.request
    import xml.dom.minidom
    import xml.etree.ElementTree as ElementTree
    import xmlrpc.client

    yield (
        "Pattern",
        [re.compile("a(b)?", re.I), re.compile(b"x", re.S), re.compile("(?P<n>x)", re.X | re.M)],
        lambda found: found[0].match("AB").groups(),
    )
    yield "RegexFlag", [re.I, re.I | re.M, re.RegexFlag(0)], lambda found: found[0] is re.I
    yield "Template", string.Template("$a"), lambda found: found.substitute(a=1)
    yield "Formatter", string.Formatter()
    yield "Match of difflib", difflib.SequenceMatcher(None, "abc", "bcd").get_matching_blocks()
    yield (
        "JSONDecodeError",
        raised(lambda: json.loads("{")),
        lambda error: (error.lineno, error.doc, error.pos, str(error)),
    )
    yield "JSONEncoder, JSONDecoder", [json.JSONEncoder(indent=2)], lambda found: found[0].encode([1])
    tree = ElementTree.fromstring("<a x='1'><b>t</b>u<c/></a>")
    yield "Element", tree, lambda found: ElementTree.tostring(found)
    yield "ElementTree", ElementTree.ElementTree(tree), lambda found: found.getroot().tag
    yield "QName", ElementTree.QName("u", "t"), str
    yield "Document", xml.dom.minidom.parseString("<a x='1'><b/></a>"), lambda found: found.toxml()
    message = email.message.EmailMessage()
    message["Subject"] = "über"
    message["To"] = "a@example.org"
    message.set_content("body")
    yield "EmailMessage", message, lambda found: (found["subject"], found.get_content(), found.as_string())
    yield "Address", email.headerregistry.Address("N", "u", "example.org"), str
    yield "policy", [email.policy.default, email.policy.SMTP], lambda found: found[1].linesep
    yield (
        "HTTPStatus",
        [http.HTTPStatus.OK, http.HTTPMethod.GET if hasattr(http, "HTTPMethod") else None],
        lambda found: found[0].phrase,
    )
    cookies = http.cookies.SimpleCookie("a=1; b=2")
    cookies["a"]["path"] = "/"
    yield "SimpleCookie", cookies, lambda found: found.output()
    yield (
        "urlsplit",
        [
            urllib.parse.urlsplit("http://u:p@h:1/p?q#f"),
            urllib.parse.urlparse("a;b"),
            urllib.parse.urldefrag("a#b"),
            urllib.parse.urlsplit(b"http://h/"),
        ],
        lambda found: found[0].port,
    )
    request = urllib.request.Request("http://127.0.0.1/", data=b"x", headers={"A": "b"})
    yield "Request", request, lambda found: (found.get_method(), found.header_items())
    yield (
        "URLError",
        [urllib.error.URLError("no"), urllib.error.ContentTooShortError("m", b"c")],
        lambda found: found[0].reason,
    )
    yield (
        "xmlrpc",
        [
            xmlrpc.client.Fault(1, "x"),
            xmlrpc.client.DateTime(datetime.datetime(2024, 1, 1)),
            xmlrpc.client.Binary(b"x"),
        ],
        lambda found: found[0].faultCode,
    )
    yield (
        "LogRecord",
        logging.LogRecord("n", 20, "p", 1, "m %s", ("a",), None),
        lambda found: found.getMessage(),
    )
    yield (
        "Logger",
        [logging.getLogger("zoo"), logging.getLogger()],
        lambda found: found[0] is logging.getLogger("zoo"),
    )
    yield (
        "Formatter of logging",
        logging.Formatter("%(message)s"),
        lambda found: found.format(logging.LogRecord("n", 20, "p", 1, "m", (), None)),
    )
    yield "Namespace", argparse.Namespace(a=1), lambda found: found.a
    yield "ast", ast.parse("def f(a: int = 1, *b) -> None:\n    return a + (yield)"), ast.dump
    yield (
        "TokenInfo",
        list(tokenize.generate_tokens(iter(["a = 1\n"]).__next__)),
        lambda found: found[0].exact_type,
    )
    yield "FrameSummary", traceback.extract_stack(limit=2), lambda found: found[0].name
    yield "StackSummary", traceback.StackSummary.from_list([("f", 1, "n", "l")]), lambda found: found.format()
    yield (
        "typing",
        [
            typing.List[int],
            typing.Optional[str],  # noqa: UP045
            typing.Callable[[int], str],
            typing.Any,
            typing.Literal[1, "a"],
            typing.Annotated[int, 5],
            typing.Tuple[int, ...],
            typing.ClassVar[int],
            typing.ForwardRef("X"),
        ],
        repr,
    )
    yield "TypeVar of typing", [typing.AnyStr], lambda found: found[0] is typing.AnyStr
    yield "distribution", importlib.machinery.ModuleSpec("a", None, origin="o"), lambda found: found.name
    yield "EntryPoint", importlib.metadata.EntryPoint("n", "m:a", "g"), lambda found: found.attr
    yield "TopologicalSorter", graphlib.TopologicalSorter({"a": ["b"]}), lambda found: type(found).__name__
    yield "errors of futures", [concurrent.futures.TimeoutError("x"), concurrent.futures.CancelledError()]


def raised(call: Any) -> BaseException:
    try:
        call()
    except BaseException as error:
        return error.with_traceback(None)
    raise AssertionError("nothing was raised")


zoo("any class of the standard library", *MODULES, *INNER)(lambda: iter(()))
