"""What is made of text: patterns, zones, paths, addresses, numbers; and text itself."""

from __future__ import annotations

import math
from collections.abc import Callable

from tests.complexity.family import copies, family, fill
from tests.support import wire as w

ONE = w.integer(1)
MOST_PATTERN = 65_000


def pattern(text: str, flags: int = 32) -> bytes:
    return w.known("Pattern", w.text(text), w.integer(flags))


def repeated(part: str) -> Callable[[int], str]:
    return lambda size: part * (size // len(part))


# One pattern of that size. What compiling takes is what its parts are, and what they become.
PATTERNS: dict[str, Callable[[int], str]] = {
    "letters": repeated("a"),
    "alternatives": lambda size: "|".join(f"{at:x}" for at in range(size // 5)),
    "alternatives of letters": lambda size: "|".join(chr(97 + at % 26) for at in range(size // 2)),
    "alternatives with one beginning": lambda size: "|".join(
        f"abcdefgh{at % 10}" for at in range(size // 10)
    ),
    "groups": repeated("(a)"),
    "groups with names": lambda size: "".join(f"(?P<a{at}>a)" for at in range(size // 12)),
    "groups in groups": lambda size: "(" * min(size // 2, 90) + ")" * min(size // 2, 90),
    "deep groups": lambda size: "(" * (size // 2) + ")" * (size // 2),
    "deep groups without captures": lambda size: "(?:" * (size // 4) + ")" * (size // 4),
    "references to groups": lambda size: "(a)" + "\\1" * (size // 2),
    "classes": repeated("[a-z]"),
    "full classes": lambda size: "[\x00-\U0010ffff]" * (size // 6),
    "negated classes": repeated("[^a-z]"),
    "categories": repeated("\\w\\d\\s"),
    "negated categories": repeated("[^\\W\\D]"),
    "wide classes of many ranges": lambda size: (
        "[" + "".join(f"{chr(0x4E00 + 2 * at)}" for at in range(min(size // 3, 10_000))) + "]"
    ),
    "one class of many letters": lambda size: "[" + "".join(chr(97 + at % 26) for at in range(size)) + "]",
    "repeats": repeated("a{1,9}"),
    "repeats in repeats": lambda size: "(?:" * 40 + "a" * max(size - 240, 1) + "){2}" * 40,
    "counted repeats of much": lambda size: "(?:" + "a" * max(size - 20, 1) + "){1000,2000}",
    "look ahead": repeated("(?=a)"),
    "look behind": repeated("(?<=a)"),
    "look behind of much": lambda size: "(?<=" + "a" * max(size - 5, 1) + ")",
    "conditions": lambda size: "(a)" + "(?(1)a|b)" * (size // 9),
    "flags in groups": repeated("(?i:k)"),
    "comments": repeated("(?#a)"),
    "escapes": repeated("\\x61"),
    "names of characters": repeated("\\N{DIGIT ONE}"),
    "possessive repeats": repeated("a++"),
    "atomic groups": repeated("(?>a)"),
}

CLASSES: dict[str, str] = {
    "full": "[\x00-\U0010ffff]",
    "full, escaped": "[\\x00-\\U0010ffff]",
    "full but one": "[^a]",
    "half": "[\x00-\u8000]",
    "upper planes": "[\U00010000-\U0010ffff]",
    "many small": "".join(f"[{chr(0x100 + at)}-{chr(0x180 + at)}]" for at in range(10)),
    "categories": "[\\w\\W]",
}


@family("hold", each=PATTERNS, most=1_000_000)
def one_pattern_of(n: int, make: Callable[[int], str]) -> bytes:
    """As large as a reader takes; above that, many of them."""
    part = pattern(make(min(n, MOST_PATTERN)))
    return w.message(w.sequence(*copies(n, part)))


@family(
    "hold",
    each={
        name: PATTERNS[name]
        for name in (
            "letters",
            "classes",
            "alternatives",
            "categories",
            "repeats",
            "groups",
            "counted repeats of much",
        )
    },
    most=1_000_000,
)
def many_patterns_of(n: int, make: Callable[[int], str]) -> bytes:
    """Each another, so that no cache of `re` helps."""
    return w.message(w.sequence(*fill(n, lambda at: pattern(make(60) + f"{at}"))))


@family("hold", each=CLASSES, most=1_000_000)
def case_insensitive_class(n: int, text: str) -> bytes:
    """Every character of the range is looked at for its other case."""
    return w.message(w.sequence(*fill(n, lambda at: pattern(text + str(at), 34))))


@family("hold", each=CLASSES, most=100_000)
def case_insensitive_classes_in_one_pattern(n: int, text: str) -> bytes:
    return w.message(pattern(text * (min(n, MOST_PATTERN) // len(text)), 34))


@family("hold", each=("(?i)", "(?iu)", "(?i:"), most=100_000)
def case_insensitive_class_by_its_own_flag(n: int, flag: str) -> bytes:
    text = flag + "[\x00-\U0010ffff]" + (")" if flag.endswith(":") else "")
    return w.message(w.sequence(*fill(n, lambda at: pattern(text + str(at)))))


@family("hold", most=1_000_000)
def tiny_patterns(n: int) -> bytes:
    return w.message(w.sequence(*fill(n, lambda at: pattern(f"{at:x}"))))


@family("hold")
def equal_patterns(n: int) -> bytes:
    return w.message(w.sequence(*copies(n, pattern("a"))))


@family("hold")
def patterns_that_are_none(n: int) -> bytes:
    return w.message(pattern("(" * min(n, MOST_PATTERN)))


@family("hold")
def pattern_beyond_the_limit(n: int) -> bytes:
    return w.message(pattern("a" * n))


@family("hold")
def pattern_as_keys(n: int) -> bytes:
    members = fill(n, lambda at: pattern(f"{at:x}"))
    return w.message(w.sized("SET", len(members), *members))


# --- zones ---
ZONES: dict[str, Callable[[int], str]] = {
    "of one kind": lambda at: "Europe/Berlin",
    "distinct": lambda at: ("Europe/Berlin", "Europe/Paris", "Asia/Tokyo", "America/New_York", "Africa/Cairo")[at % 5],
    "by case": lambda at: "".join(c.upper() if at >> i & 1 else c.lower() for i, c in enumerate("Europe/Amsterdam")),
    "that are not": lambda at: f"No/Such_{at}",
    "below a package": lambda at: f"evil/sub{at}/x",
    "of dots": lambda at: "./" * 20 + "UTC",
    "of files of another kind": lambda at: "tzdata.zi",
}  # fmt: skip


@family("hold", each=ZONES)
def zones(n: int, name: Callable[[int], str]) -> bytes:
    return w.message(w.sequence(*fill(n, lambda at: w.known("ZoneInfo", w.text(name(at))))))


@family("hold")
def zone_of_a_long_name(n: int) -> bytes:
    return w.message(w.known("ZoneInfo", w.text("Europe/" + "x" * n)))


@family("hold")
def zone_of_many_folders(n: int) -> bytes:
    return w.message(w.known("ZoneInfo", w.text("a/" * (n // 2) + "b")))


# --- large ones ---
LARGE: dict[str, tuple[str, Callable[[int], str]]] = {
    "decimal": ("Decimal", lambda size: "9" * size),
    "decimal with underscores": ("Decimal", lambda size: "9_" * (size // 2) + "1"),
    "decimal of other digits": ("Decimal", lambda size: "٣" * (size // 2)),
    "decimal with an exponent": ("Decimal", lambda size: "9" * (size - 20) + "E-999999999999"),
    "decimal of a long exponent": ("Decimal", lambda size: "1E" + "9" * size),
    "decimal NaN": ("Decimal", lambda size: "NaN" + "9" * size),
    "decimal of spaces": ("Decimal", lambda size: " " * size),
    "path of parts": ("PosixPath", lambda size: "a/" * (size // 2)),
    "path of dots": ("PosixPath", lambda size: "./" * (size // 2)),
    "path of slashes": ("PosixPath", lambda size: "/" * size),
    "path of one part": ("PurePosixPath", lambda size: "a" * size),
    "Windows path": ("PureWindowsPath", lambda size: "a\\" * (size // 2)),
    "Windows path of drives": ("PureWindowsPath", lambda size: "\\\\" + "a" * size),
    "Windows path of colons": ("PureWindowsPath", lambda size: "c:" * (size // 2)),
    "IPv4 address": ("IPv4Address", lambda size: "1." * (size // 2)),
    "IPv4 address of digits": ("IPv4Address", lambda size: "1" * size + ".1.1.1"),
    "IPv6 address": ("IPv6Address", lambda size: "1:" * (size // 2)),
    "IPv6 address with a scope": ("IPv6Address", lambda size: "::1%" + "a" * size),
    "IPv6 interface with a scope": ("IPv6Interface", lambda size: "::1%" + "a" * size + "/64"),
    "IPv4 network": ("IPv4Network", lambda size: "1.0.0.0/" + "0" * size + "8"),
    "IPv6 network": ("IPv6Network", lambda size: "::/" + "0" * size + "8"),
    "builtin type": ("BuiltinType", lambda size: "int" * (size // 3)),
    "dtype": ("NumpyDtype", lambda size: "<U" + "0" * size + "1"),
    "dtype of commas": ("NumpyDtype", lambda size: "i4," * (size // 3)),
    "dtype of parentheses": ("NumpyDtype", lambda size: "(" * size),
}


@family("hold", each=LARGE)
def one_large(n: int, what: tuple[str, Callable[[int], str]]) -> bytes:
    return w.message(w.known(what[0], w.text(what[1](n))))


@family(
    "hold",
    each={
        name: LARGE[name]
        for name in (
            "decimal",
            "path of parts",
            "path of dots",
            "Windows path",
            "IPv6 address",
            "decimal with underscores",
        )
    },
)
def many_of_hundreds(n: int, what: tuple[str, Callable[[int], str]]) -> bytes:
    size = math.isqrt(n)
    return w.message(w.sequence(*fill(n, lambda at: w.known(what[0], w.text(what[1](size))))))


# --- text itself ---
TEXTS: dict[str, bytes] = {
    "UTF-8 of astral characters": "😀".encode(),
    "UTF-8 of ASCII": b"a",
    "UTF-8 of two bytes": "é".encode(),
    "UTF-8 of surrogates": b"\xed\xa0\x80",
}


@family("hold", each=TEXTS)
def text_in(n: int, part: bytes) -> bytes:
    raw = part * (n // len(part))
    return w.message(w.sized("UTF_8", len(raw), raw))


@family("hold")
def one_astral_character_behind_ascii(n: int) -> bytes:
    """Four bytes a character, because of the last one."""
    raw = b"a" * n + "😀".encode()
    return w.message(w.sized("UTF_8", len(raw), raw))


@family("hold")
def many_texts_of_one_astral_character(n: int) -> bytes:
    return w.message(w.sequence(*copies(n, w.sized("UTF_8", 4, "😀".encode()))))


@family("hold")
def surrogates_among_ascii(n: int) -> bytes:
    raw = b"aaaaaaa\xed\xa0\x80" * (n // 10)
    return w.message(w.sized("UTF_8", len(raw), raw))


@family("hold")
def two_byte_text_of_ascii(n: int) -> bytes:
    return w.message(w.sized("UCS_2", n // 2, b"a\0" * (n // 2)))


@family("hold")
def broken_at_its_end(n: int) -> bytes:
    return w.message(w.sized("UTF_8", n, "é".encode() * (n // 2 - 1) + b"\xc3\x28"))


@family("hold")
def distinct_keys_of_text(n: int) -> bytes:
    return w.message(w.dict_(*[part for at in range(n // 8) for part in (w.text(f"{at:x}"), ONE)]))
