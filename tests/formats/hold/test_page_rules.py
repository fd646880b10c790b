"""Every rule of docs/format.md has a case: what the page calls malformed is refused, and what stands beside it is taken.

The rules are the sentences that `page_rules` finds in the page. One without a case here fails, and so does a case whose rule is gone.
"""

from __future__ import annotations

import builtins
import datetime as dt
import json
import re
import struct
from dataclasses import dataclass, field
from typing import Any

import pytest

import holdall
from tests.support.page_rules import rules
from tests.support.places import REPO, VECTORS
from tests.support.wire import (
    EMPTY_LIST,
    NONE,
    TAG,
    blob,
    dict_,
    instance,
    integer,
    known,
    layout,
    length,
    mark,
    message,
    reference,
    sequence,
    shape,
    sized,
    tag,
    text,
    tuple_,
)

TRUE, FALSE, EMPTY_DICT = tag("TRUE"), tag("FALSE"), tag("DICT_EMPTY")
NAN = tag("FLOAT", struct.pack("<d", float("nan")))
ONE = tag("FLOAT", struct.pack("<d", 1.0))


@dataclass
class Rule:
    """refused, taken: values, the message of each being an ordinary one; where a value begins with 0xD1, a trusted message.

    elsewhere: tests and vectors that hold the rule besides, "tests/file.py::test" or "group: vector".
    """

    refused: list[bytes] = field(default_factory=list)
    taken: list[bytes] = field(default_factory=list)
    elsewhere: list[str] = field(default_factory=list)
    options: dict[str, Any] = field(default_factory=dict)


def moment(
    year: int = 2026,
    month: int = 11,
    day: int = 20,
    hour: int = 0,
    minute: int = 0,
    second: int = 0,
    micro: int = 0,
) -> bytes:
    bits = year << 47 | month << 43 | day << 38 | hour << 33 | minute << 27 | second << 21 | micro << 1
    return struct.pack("<Q", bits)


def based(content: bytes) -> bytes:
    return layout("based", "a.B", [], content)


def array(dtype: bytes, count: int, items: bytes) -> bytes:
    return known("NdArray", dtype, tuple_(integer(count)), FALSE, items)


def trusted(value: bytes) -> bytes:
    return bytes([TAG.VERSION_TRUSTED]) + value


def decimals(*texts: str) -> list[bytes]:
    return [known("Decimal", text(one)) for one in texts]


def pairs(*members: bytes) -> list[bytes]:
    """A set of these members, and a dict with these keys."""
    return [
        sized("SET", len(members), *members),
        dict_(*(part for member in members for part in (member, NONE))),
    ]


DAY = 86_400_000_000
DELTA_MIN, DELTA_MAX = -999_999_999 * DAY, 1_000_000_000 * DAY - 1
OBJECT = tag("GLOBAL", text("builtins"), text("list"))
NAMES = "tests/formats/hold/test_names.py::"
FRAMES = "tests/formats/hold/test_file_frames.py::"
SAFETY = "tests/hostile/test_safety.py::"
MAPPINGS = [
    known("OrderedDict", EMPTY_DICT),
    known("Counter", EMPTY_DICT),
    known("DefaultDict", NONE, EMPTY_DICT),
]
STAT = "os.stat_result"

# A sentence's beginning (or all of it, if others begin so) to its cases.
CASES: dict[str, Rule] = {
    # --- section 1: messages and files ---
    "Any other first byte": Rule(elsewhere=["invalid: another version", "invalid: text", SAFETY + "test_every_first_byte"]),
    "A reader refuses a trusted message": Rule(elsewhere=["invalid: trusted"]),
    "a reader refuses one if it does not have those.": Rule(
        elsewhere=["tests/formats/hold/test_page_rules.py::test_messages_that_go_on_with_others"]
    ),
    "If the check holds but the version or kind": Rule(elsewhere=["files: another version", "files: kind of no file"]),
    "Unpacked, they are at most 1 MiB": Rule(
        elsewhere=["files: block that is larger than a block", "files: block that becomes less than it says"]
    ),
    "Together, the blocks must have": Rule(
        elsewhere=["files: body that is longer than it says", "files: body that is shorter than it says"]
    ),
    "The reference reader refuses more than 64 MiB": Rule(elsewhere=[FRAMES + "test_bombs", "files: body of a terabyte"]),
    "Don't trust a length that a stream claims": Rule(elsewhere=[FRAMES + "test_what_is_claimed_costs_nothing"]),
    # --- section 2: lengths ---
    "| `0xFF` | no meaning in version 1": Rule(
        [sized("BYTES", 0)[:1] + b"\xff" + bytes(300)], [sized("BYTES", 0)], ["invalid: length of no form"]
    ),
    "A length above 2^63 - 1": Rule(
        [tag("BYTES", b"\xfe" + struct.pack("<Q", 1 << 63)), tag("LIST_ASCII", b"\xfe" + struct.pack("<Q", (1 << 64) - 1))],
        [tag("BYTES", b"\xfe" + struct.pack("<Q", 1), b"a")],
    ),
    # --- section 3: values ---
    "| `0xDB`-`0xFC` | RESERVED": Rule([bytes([first]) + bytes(20) for first in range(0xDB, 0xFD)]),
    "A byte above 0x7F in ASCII": Rule(
        [b"\x41\x80", sized("ASCII", 1, b"\xff"), sized("LIST_ASCII", 1, b"\x01\x80"), sized("TUPLE_ASCII", 1, b"\x01\x80")]
        + [
            sized("UTF_8", len(raw), raw)
            for raw in (b"\xc3", b"\xc0\x81", b"\xe0\x80\x80", b"\xf4\x90\x80\x80", b"\x80", b"\xff", b"\xf0\x82\x82\xac")
        ],
        [sized("LATIN_1", 1, b"\xff"), sized("UTF_8", 6, b"\xed\xa0\x80\xed\xb0\x80"), sized("UCS_2", 1, b"\x00\xd8")],
    ),
    "In a run of bools": Rule(
        [sized("LIST_BOOL", 1, b"\x02"), sized("TUPLE_BOOL", 2, b"\x01\xff")], [sized("TUPLE_BOOL", 2, b"\x01\x00")]
    ),
    "Two equal keys in a dict": Rule(
        [
            *pairs(integer(1), integer(1)),
            *pairs(integer(1), TRUE),
            *pairs(integer(1), ONE),
            *pairs(integer(1), tag("COMPLEX", struct.pack("<2d", 1, 0))),
            *pairs(integer(1), *decimals("1.00")),
            *pairs(integer(1), known("Fraction", integer(1), integer(1))),
            *pairs(tag("FLOAT", bytes(8)), tag("FLOAT", struct.pack("<d", -0.0))),
            *pairs(mark(NAN), reference(1)),
            *pairs(text("a"), sized("UTF_8", 1, b"a")),
            *pairs(blob(b"a"), blob(b"a")),
            *pairs(tuple_(integer(1), text("a")), tuple_(TRUE, text("a"))),
            *pairs(sized("FROZENSET", 1, integer(1)), sized("FROZENSET", 1, ONE)),
            *pairs(tag("DATETIME", moment()), tag("DATETIME", struct.pack("<Q", struct.unpack("<Q", moment())[0] | 1))),
            *pairs(
                tag("DATETIME_ZONED", moment(hour=12), known("Utc")),
                tag("DATETIME_ZONED", moment(hour=13), known("Timezone", integer(3_600_000_000), NONE)),
            ),
            *pairs(known("Range", integer(0), integer(0), integer(1)), known("Range", integer(5), integer(5), integer(2))),
            *pairs(known("PurePosixPath", text("a/b")), known("PurePosixPath", text("a//b"))),
            *pairs(known("PureWindowsPath", text("a")), known("PureWindowsPath", text("A"))),
            *pairs(known("IPv6Address", text("::1")), known("IPv6Address", text("0:0:0:0:0:0:0:1"))),
        ],
        [
            *pairs(NAN, NAN),
            *pairs(text("a"), blob(b"a")),
            *pairs(integer(1), integer(2)),
            *pairs(tag("DATETIME", moment()), tag("DATETIME_ZONED", moment(), known("Utc"))),
        ],
    ),
    "Lists, dicts, sets, bytearrays": Rule(
        [
            made
            for member in (EMPTY_LIST, EMPTY_DICT, sized("SET", 0), sized("BYTEARRAY", 0), tuple_(EMPTY_LIST))
            for made in pairs(member)
        ],
        [*pairs(sized("FROZENSET", 0)), *pairs(tuple_())],
    ),
    "Any other value there, None too": Rule(
        [tag("DATETIME_ZONED", moment(), zone) for zone in (NONE, integer(0), text("UTC"), mark(NONE), known("Timedelta", integer(0)))],
        [tag("DATETIME_ZONED", moment(), known("Utc")), tag("DATETIME_ZONED", moment(), mark(known("Utc")))],
    ),
    "A field out of its range": Rule(
        [
            tag("DATETIME", moment(**fields))
            for fields in (
                {"year": 0},
                {"year": 10_000},
                {"month": 0},
                {"month": 13},
                {"day": 0},
                {"day": 31},
                {"hour": 24},
                {"minute": 60},
                {"second": 60},
                {"micro": 1_000_000},
            )
        ]
        + [tag("DATETIME", struct.pack("<Q", struct.unpack("<Q", moment())[0] | 1 << bit)) for bit in (61, 62, 63)],
        [tag("DATETIME", moment(9999, 12, 31, 23, 59, 59, 999_999)), tag("DATETIME", moment(1, 1, 1))],
    ),
    # --- section 4: objects ---
    "`MARK` is never followed by": Rule(
        [sequence(tag("MARK", mark(EMPTY_LIST))), sequence(mark(reference(0))), mark(EMPTY_LIST), reference(0)],
        [sequence(mark(EMPTY_LIST), reference(1))],
    ),
    "A reference to an id that is not yet assigned": Rule(
        [sequence(reference(1), mark(EMPTY_LIST)), sequence(reference(9))], [sequence(reference(0))]
    ),
    "All others (frozensets": Rule(
        [
            sized("FROZENSET", 1, reference(0)),
            known("Slice", reference(0), NONE, NONE),
            known("MappingProxy", dict_(integer(1), reference(0))),
            # Groups came with Python 3.11; before, there is nothing of that name to be made.
            *[layout("based", "builtins.ExceptionGroup", [], tuple_(tuple_(text("m"), sequence(reference(0))), EMPTY_DICT))]
            * hasattr(builtins, "ExceptionGroup"),
        ],
        [
            known("Deque", NONE, sequence(reference(0))),
            known("OrderedDict", dict_(integer(1), reference(0))),
            known("DefaultDict", NONE, dict_(integer(1), reference(0))),
            known("Counter", dict_(integer(1), reference(0))),
            layout("based", "builtins.ValueError", [], tuple_(tuple_(reference(0)), EMPTY_DICT)),
            based(tuple_(reference(0))),
            layout("custom", "a.B", [], reference(0)),
        ],
    ),
    "So is a tuple (a named tuple": Rule(
        [tuple_(reference(0)), tuple_(known("Slice", reference(0), NONE, NONE)), tuple_(sized("FROZENSET", 1, reference(0)))],
        [tuple_(sequence(reference(0))), tuple_(known("MappingProxy", dict_(integer(1), reference(0))))],
    ),
    "The reference reader refuses such a value": Rule(elsewhere=["tests/host/test_deep.py"]),
    # --- section 5: shapes ---
    "A name that occurs twice": Rule(
        [
            shape(["x", "x"], NONE, NONE),
            layout("object", "a.B", ["x", "x"], NONE, NONE),
            layout("object", "a.B", ["x", "y", "x"], NONE, NONE, NONE),
            layout("based", "a.B", ["x", "x"], EMPTY_LIST, NONE, NONE),
            sequence(mark(text("x")), tag("SHAPE", length(2), length(4), text("x") + b"\xc1\x01", NONE, NONE)),
            layout("object", "types.SimpleNamespace", ["x", "x"], NONE, NONE),
            tag("CLASS", b"\x00", length(1), length(2), length(9), text("a.B") + text("x") + sized("UTF_8", 1, b"x"), NONE, NONE),
        ],
        [layout("object", "x", ["x"], NONE), shape(["x", "y"], NONE, NONE)],
    ),
    "A name with a lone surrogate": Rule(
        [
            tag("CLASS", b"\x00", length(1), length(0), length(len(name)), name)
            for name in (sized("UCS_2", 1, b"\x00\xd8"), sized("UTF_8", 3, b"\xed\xa0\x80"))
        ],
        [tag("CLASS", b"\x00", length(1), length(1), length(8), text("a.B") + sized("UCS_2", 1, b"\x00\xd8"), NONE)],
        [NAMES + "test_a_class_name_with_a_lone_surrogate"],
    ),
    "A reader that lacks the class refuses": Rule(elsewhere=[SAFETY + "test_unknown_types_tell_the_remedies"]),
    "A content that is not a text, bytes or number": Rule(
        [
            *(sequence(mark(value), based(reference(1))) for value in (EMPTY_LIST, sized("FROZENSET", 0), known("Date", integer(1)))),
            *(
                based(mark(value))
                for value in (EMPTY_LIST, EMPTY_DICT, sized("SET", 0), sized("FROZENSET", 0), sized("BYTEARRAY", 0))
            ),
            based(mark(known("Deque", NONE, EMPTY_LIST))),
            based(reference(0)),
            sequence(mark(based(reference(1)))),
            layout("based", "builtins.ValueError", [], reference(0)),
        ],
        [
            *(sequence(mark(value), based(reference(1))) for value in (text("ab"), blob(b"ab"), integer(5), ONE)),
            *(based(mark(value)) for value in (text("ab"), blob(b"ab"), integer(5), ONE)),
            based(known("Deque", NONE, EMPTY_LIST)),
            layout("based", "builtins.ValueError", [], mark(tuple_(tuple_(), EMPTY_DICT))),
            layout("based", "builtins.ValueError", [], tuple_(mark(tuple_(integer(1))), EMPTY_DICT)),
        ],
    ),
    "A content that is none of these": Rule(
        [
            based(value)
            for value in (
                *(NONE, TRUE, known("Date", integer(1)), known("Counter", EMPTY_DICT), shape(["x"], NONE), based(EMPTY_LIST)),
                *(sized("LIST_I8", 1, b"\x01"), sized("TUPLE_BOOL", 1, b"\x01"), tag("ELLIPSIS"), tag("DATETIME", moment())),
            )
        ]
        + [sequence(shape(["x"], NONE), based(instance(0, NONE)))],
        [
            based(value)
            for value in (
                *(EMPTY_LIST, tuple_(), EMPTY_DICT, sized("SET", 0), sized("FROZENSET", 0), sized("BYTEARRAY", 0)),
                *(text("a"), blob(b""), integer(1), ONE, tag("COMPLEX", bytes(16)), known("DefaultDict", NONE, EMPTY_DICT)),
            )
        ],
    ),
    "So a mark before it is not malformed": Rule(
        [layout("based", "builtins.ValueError", [], sequence(tuple_(), EMPTY_DICT))],
        [layout("based", "builtins.ValueError", [], mark(tuple_(tuple_(), EMPTY_DICT))), based(mark(tuple_(tuple_(), EMPTY_DICT)))],
    ),
    "Fewer than the visible fields": Rule(
        [trusted(layout("based", STAT, [], tuple_(*[integer(0)] * count))) for count in (0, 9, 30)],
        [trusted(layout("based", STAT, [], tuple_(*[integer(0)] * 10)))],
        options={"trust": True, "types": ()},
    ),
    "A shape of these kinds with fields": Rule(
        [layout(kind, "a.B", ["x"], text("a"), NONE) for kind in ("enum", "custom")],
        [layout(kind, "a.B", [], text("a")) for kind in ("enum", "custom")],
    ),
    "If there is no instance under that name": Rule(
        elsewhere=["tests/formats/hold/test_page_rules.py::test_instances_that_a_class_does_not_hold"]
    ),
    # --- section 6: known types ---
    "A bool in its place is malformed": Rule(
        [
            *(known(name, TRUE) for name in ("Date", "Timedelta")),
            *(known(name, TRUE, NONE) for name in ("Time", "Timezone")),
            known("Fraction", TRUE, integer(2)),
            known("Fraction", integer(1), TRUE),
            known("Range", FALSE, integer(5), integer(1)),
            known("Range", integer(1), integer(5), TRUE),
            known("Pattern", text("a"), TRUE),
            known("Deque", TRUE, EMPTY_LIST),
            sequence(mark(TRUE), known("Date", reference(1))),
            known("Date", ONE),
            known("Date", layout("based", "a.B", [], integer(1))),
        ],
        [
            sequence(mark(integer(5)), known("Date", reference(1))),
            known("Timedelta", sized("INT_BIG", 1, b"\x05")),
            known("Range", integer(1), integer(5), integer(1)),
        ],
    ),
    "Other texts, and exponents beyond": Rule(
        [
            *decimals("", "-", ".", " 1", "1 ", "1_0", "+1", ".5", "5.", "1E", "1E5", "1E+", "--1", "1.2.3", "0x1", "\u0663"),
            *decimals("nan", "inf", "Inf", "INFINITY", "NaN1_0", "NaN ", "snan", "Infinity1", "1E+99999999999999999999"),
            known("Decimal", blob(b"1")),
            known("Decimal", integer(1)),
        ],
        decimals("0", "-0", "1.50", "1E+3", "1e-3", "1.5E-7", "NaN", "-NaN12", "sNaN", "-sNaN3", "Infinity", "-Infinity", "007"),
    ),
    "In a network, a bit that is set": Rule(
        [known("IPv4Network", text("10.0.0.1/8")), known("IPv6Network", text("2001:db8::1/32"))],
        [
            known("IPv4Network", text("10.0.0.0/8")),
            known("IPv6Network", text("2001:db8::/32")),
            known("IPv4Interface", text("10.0.0.1/8")),
            known("IPv6Interface", text("fe80::1%e/64")),
        ],
    ),
    "Others are malformed.": Rule(
        [
            known("MappingProxy", value)
            for value in (EMPTY_LIST, integer(1), NONE, known("MappingProxy", EMPTY_DICT), layout("object", "a.B", []))
        ],
        [known("MappingProxy", value) for value in (EMPTY_DICT, shape(["x"], NONE), *MAPPINGS)],
    ),
    "Other codes are malformed.": Rule(
        [known("Array", text(code), blob(b"")) for code in ("z", "", "c", "hh", "p")], [known("Array", text("q"), blob(bytes(8)))]
    ),
    "Every other name is malformed": Rule(
        [known("BuiltinType", text(name)) for name in ("exec", "type", "ValueError", "", "Int")]
        + [trusted(known("BuiltinType", text(name))) for name in ("exec", "type", "ValueError")],
        [known("BuiltinType", text("frozenset"))],
    ),
    "other platforms refuse them.": Rule(
        [array(text("<g1"), 1, blob(bytes(16))), array(text("<G0"), 1, blob(bytes(32)))],
    ),
    # --- section 7, where others haven't said it ---
    "an input that ends early": Rule([sized("BYTES", 5, b"abcd"), sequence(NONE) + NONE], elsewhere=[SAFETY + "test_every_prefix"]),
    "tags and codes without a row": Rule(
        [known("Utc")[:1] + bytes([code]) + bytes(40) for code in (0, 33, 255)]
        + [tag(name, NONE, NONE) for name in ("GLOBAL", "PERSISTENT")]
        + [tag("REDUCE", b"\0", NONE, NONE), tag("BUFFER", b"\x04\x00"), tag("CLASS", b"\x04\x01\x00\x01", text(""))],
    ),
    "bytes that are not what their tag says": Rule(elsewhere=["invalid: not ascii", "invalid: run of bools with a 2"]),
    "a reference to an id, or the number": Rule(
        [instance(0), sequence(instance(1), shape(["x"], NONE)), tag("INSTANCE_8", b"\0"), b"\x88"],
        [shape(["x"], instance(0, NONE))],
    ),
    "a reference to an object that is built": Rule(elsewhere=["invalid: frozenset in itself"]),
    "a mark of a mark": Rule(elsewhere=["invalid: mark of a mark", "invalid: first value marked"]),
    "a `NAMED` before what is no text": Rule(
        [sequence(tag("NAMED", value)) for value in (integer(5), EMPTY_LIST, NONE, mark(text("ab")), reference(0), blob(b"ab"))],
        [sequence(tag("NAMED", text("ab")), reference(1))],
    ),
    "a shape with more or fewer names": Rule(
        [
            tag("SHAPE", length(2), length(2), text("x"), NONE, NONE),
            tag("SHAPE", length(0), length(2), text("x")),
            tag("SHAPE", length(1), length(1), integer(5), NONE),
            tag("SHAPE", length(1), length(3), mark(text("x")), NONE),
            tag("SHAPE", length(1), length(3), tag("NAMED", text("x")), NONE),
            sequence(mark(EMPTY_LIST), tag("SHAPE", length(1), length(2), b"\xc1\x01", NONE)),
            tag("CLASS", b"\x00\x01", length(0), length(0)),
        ],
        [shape([])],
    ),
    "a class's name with a lone surrogate": Rule(elsewhere=[NAMES + "test_as_it_was_reported"]),
    "fields of an enumeration": Rule(elsewhere=["tests/formats/hold/test_page_rules.py::test_cases"]),
    "a content of kind based that is shared": Rule(elsewhere=["tests/formats/hold/test_page_rules.py::test_cases"]),
    "a known type with values that it does not take": Rule(
        [
            *(known("Date", integer(value)) for value in (0, -1, 3_652_060, 1 << 70)),
            *(known("Time", integer(value), NONE) for value in (-1, 1 << 38, 24 << 33, 60 << 27)),
            known("Time", integer(0), integer(0)),
            *(known("Timedelta", integer(value)) for value in (DELTA_MIN - 1, DELTA_MAX + 1)),
            *(known("Timezone", integer(value), NONE) for value in (DAY, -DAY)),
            known("Timezone", integer(0), integer(1)),
            known("ZoneInfo", text("no/such/zone")),
            known("ZoneInfo", text("../../etc/passwd")),
            *(known("Fraction", integer(1), integer(below)) for below in (0, -1, -(1 << 80))),
            *(known("Uuid", blob(bytes(size))) for size in (0, 15, 18)),
            known("Uuid", blob(bytes(16) + b"\x01")),
            *(known("IPv4Address", text(one)) for one in ("1.2.3", "01.2.3.4", "256.1.1.1", " 1.2.3.4", "::1", "")),
            *(known("IPv6Address", text(one)) for one in ("1::2::3", "::1%", "::1%a%b", "1.2.3.4", ":::", "")),
            *(known("IPv4Network", text(one)) for one in ("10.0.0.0/33", "10.0.0.0/", "10.0.0.0/-1", "/8")),
            known("PurePosixPath", blob(b"a")),
            *(known("Pattern", value, integer(32)) for value in (text("("), integer(1), blob(b"a"))),
            known("Range", integer(0), integer(1), integer(0)),
            known("Range", ONE, integer(1), integer(1)),
            known("Array", text("h"), blob(b"\x01")),
            known("Array", text("u"), blob(b"abcd")),
            known("Array", text("h"), sized("BYTEARRAY", 2, b"ab")),
            *(known("Deque", most, EMPTY_LIST) for most in (integer(-1), mark(integer(1)), text("1"))),
            *(known("Deque", NONE, items) for items in (mark(EMPTY_LIST), sized("LIST_I8", 0), tuple_())),
            *(known(name, shape(["x"], NONE)) for name in ("OrderedDict", "Counter")),
            *(known(name, mark(EMPTY_DICT)) for name in ("OrderedDict", "Counter")),
            known("DefaultDict", NONE, shape(["x"], NONE)),
            known("DefaultDict", integer(1), EMPTY_DICT),
            array(text("<i8"), 1, blob(bytes(7))),
            array(text("<i8"), 1, mark(blob(bytes(8)))),
            array(mark(text("<i8")), 1, blob(bytes(8))),
            array(text("O"), 1, sized("LIST_I8", 1, b"\x01")),
            known("NdArray", text("<i8"), tuple_(integer(-1)), FALSE, blob(b"")),
            known("NdArray", text("<i8"), sized("TUPLE_I8", 1, b"\x01"), FALSE, blob(bytes(8))),
            known("NdArray", text("<i8"), tuple_(integer(1), integer(1)), tuple_(FALSE, integer(0), integer(0)), blob(bytes(8))),
            known("NumpyScalar", text("<i8"), blob(bytes(7))),
            known("NumpyScalar", text("<i8"), mark(blob(bytes(8)))),
        ],
        [
            *(known("Date", integer(value)) for value in (1, 3_652_059)),
            *(known("Timedelta", integer(value)) for value in (DELTA_MIN, DELTA_MAX)),
            *(known("Timezone", integer(value), NONE) for value in (DAY - 1, 1 - DAY, 0)),
            *(known("Uuid", blob(bytes(16) + last)) for last in (b"", b"\x00", b"\xff")),
            *(known(name, text("a\0b")) for name in ("PurePosixPath", "PureWindowsPath", "PosixPath", "WindowsPath")),
            known("Fraction", integer(2), integer(4)),
            known("Pattern", text("a"), integer(512 | 128 | 32)),
            known("ZoneInfo", tuple_(text("UTC"))),
            array(text("<i8"), 1, blob(bytes(8))),
            array(known("NumpyDtype", text("<i8")), 1, blob(bytes(8))),
            array(mark(known("NumpyDtype", sequence(integer(8), integer(0), text("x"), integer(0), NONE, text("<i8")))), 1, blob(bytes(8))),
            array(text("O"), 1, sequence(mark(sized("LIST_I8", 1, b"\x01")))),
        ],
    ),
    "a key or a set's member that can't be hashed": Rule(elsewhere=["invalid: list for a key", "invalid: the same member twice"]),
    "a frozenset that is part of the hash": Rule([sized("FROZENSET", 1, tuple_(reference(0)))]),
    "a check or a checksum that does not hold": Rule(elsewhere=["files: start flipped", "files: body flipped", FRAMES + "test_every_flipped_bit_is_seen"]),
    "frames of unknown kinds": Rule(elsewhere=["files: message in a frame of a buffer", "files: codec 3"]),
    "compressed bytes that do not unpack": Rule(elsewhere=["files: block that becomes less than it says"]),
    "a body whose frames have more or fewer bytes": Rule(elsewhere=["files: body that is longer than it says"]),
    "a buffer's number that is not the next": Rule(
        elsewhere=["tests/formats/hold/test_page_rules.py::test_numbers_of_buffers", "files: buffer that is missing"]
    ),
    # --- section 8: limits ---
    "refuse a container that breaks this": Rule(
        [sized("LIST", 1 << 40), sequence(sized("LIST", 3), NONE), sized("DICT", 2, NONE, NONE, NONE), b"\x7f"],
        elsewhere=["tests/hostile/test_memory.py::test_claimed_lengths_allocate_nothing"],
    ),
    "The reference reader refuses keys nested deeper": Rule(elsewhere=["tests/hostile/test_budgets.py::test_keys_nested_deep"]),
    # --- section 9: trusted messages ---
    "Other flags are malformed": Rule(
        [trusted(tag("REDUCE", bytes([flags]), OBJECT, tuple_(), EMPTY_DICT, EMPTY_LIST)) for flags in (3, 32, 128)],
        [trusted(tag("REDUCE", b"\x00", OBJECT, tuple_())), trusted(tag("REDUCE", b"\x04", OBJECT, tuple_(), EMPTY_LIST))],
        options={"trust": True},
    ),
    "a reference to it is malformed before": Rule(
        [trusted(tag("REDUCE", b"\x00", OBJECT, tuple_(reference(0))))],
        [trusted(tag("REDUCE", b"\x04", OBJECT, tuple_(), sequence(reference(0))))],
        options={"trust": True},
    ),
    # --- section 12: the index ---
    "**Don't trust the index.**": Rule(elsewhere=[FRAMES + "test_forged_indexes"]),
    "it must not lead anywhere else.": Rule(elsewhere=[FRAMES + "test_forged_at_random"]),
    "A reader that goes forward from a place": Rule(elsewhere=[FRAMES + "test_forged_indexes"]),
}  # fmt: skip


def found(beginning: str) -> list[str]:
    return [rule for rule in rules() if rule.startswith(beginning)]


def test_every_rule_has_a_case() -> None:
    without = [rule for rule in rules() if not any(rule.startswith(beginning) for beginning in CASES)]
    assert not without, "rules of docs/format.md without a case here"
    assert not [beginning for beginning in CASES if len(found(beginning)) != 1], (
        "cases of no rule, or of several"
    )


def load(value: bytes, options: dict[str, Any]) -> Any:
    data = value if value[:1] == bytes([TAG.VERSION_TRUSTED]) else message(value)
    if data is value:
        options = {"trust": True} | options
    return holdall.loads(data, **({"types": holdall.Record} | options))


@pytest.mark.parametrize("rule", CASES, ids=lambda rule: re.sub(r"\W+", "-", rule).strip("-")[:50])
def test_cases(rule: str) -> None:
    case = CASES[rule]
    assert case.refused or case.taken or case.elsewhere
    for value in case.refused:
        with pytest.raises(holdall.DecodeError):
            raise AssertionError(f"{rule}: {value.hex()} is taken as {ascii(load(value, case.options))[:80]}")
    for value in case.taken:
        load(value, case.options)


def exists(place: str) -> bool:
    path, _, name = place.partition("::")
    if path.startswith("tests/"):
        return not name or f"\ndef {name}(" in (REPO / path).read_text(encoding="utf-8")
    group, _, name = place.partition(": ")
    vectors = json.loads((VECTORS / f"{group}.json").read_text(encoding="ascii"))["vectors"]
    return any(one["name"] == name and "error" in one for one in vectors)


def test_the_other_tests_are_there() -> None:
    assert not [place for case in CASES.values() for place in case.elsewhere if not exists(place)]


# --- what needs more than a message ---


def test_messages_that_go_on_with_others() -> None:
    for objects, shapes in ((1, 0), (5, 0), (0, 1)):
        data = bytes([TAG.VERSION_CONTINUED]) + length(objects) + length(shapes) + text("abc")
        with pytest.raises(holdall.DecodeError, match="goes on with messages before it"):
            holdall.loads(data, trust=True)
        with pytest.raises(holdall.DecodeError, match="trusted message"):
            holdall.loads(data)


class Sentinel:
    """A class whose module holds an instance under a name."""

    def __new__(cls) -> Sentinel:
        return super().__new__(cls)


MISSING = Sentinel()


def test_instances_that_a_class_does_not_hold() -> None:
    stored = f"{__name__}.Sentinel"
    taken = holdall.loads(message(layout("enum", stored, [], text("MISSING"))), types=Sentinel)
    assert taken is MISSING
    with pytest.raises(holdall.DecodeError):
        holdall.loads(message(layout("enum", stored, [], text("OTHER"))), types=Sentinel)


def test_numbers_of_buffers() -> None:
    def lent(*numbers: int) -> bytes:
        return message(sequence(*(tag("BUFFER", b"\0", length(number)) for number in numbers)))

    given = [bytearray(b"ab"), bytearray(b"cd")]
    assert holdall.loads(lent(0, 1), buffers=given) == given
    for numbers in ((1,), (0, 0), (1, 0), (0, 2)):
        with pytest.raises(holdall.DecodeError):
            holdall.loads(lent(*numbers), buffers=given)


def test_dates_at_the_ends() -> None:
    assert holdall.loads(message(known("Date", integer(3_652_059)))) == dt.date.max
