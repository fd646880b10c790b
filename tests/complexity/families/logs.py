"""Logs, with checksums that hold: many records, many names, many restarts; and damage that is costly to look behind."""

from __future__ import annotations

import struct
from collections.abc import Callable

from tests.complexity.families.files import MIB, block
from tests.complexity.family import family
from tests.support import file_frames as f
from tests.support import wire as w
from tests.support.file_frames import Frame

ONE = w.integer(1)
RESTART = Frame(f.RESTART, bytes(16))


def record(message: bytes, section: int = 0, named: int = 0) -> Frame:
    return Frame(f.RECORD, w.length(section) + w.length(named) + message)


def log(n: int, make: Callable[[int], Frame | list[Frame]], first: Frame = RESTART) -> bytes:
    """Frames until there are n bytes."""
    data = bytearray(f.begin(f.LOG_FILE))
    data += f.framed(first, len(data))
    number = 0
    while len(data) < n:
        made = make(number)
        for frame in made if isinstance(made, list) else [made]:
            data += f.framed(frame, len(data))
        number += 1
    return bytes(data)


@family("log")
def tiny_records(n: int) -> bytes:
    return log(n, lambda at: record(w.message(w.NONE)))


@family("log")
def records_of_empty_lists(n: int) -> bytes:
    part = record(w.message(w.sequence(*[w.EMPTY_LIST] * 1000)))
    return log(n, lambda at: part)


@family("log")
def restarts(n: int) -> bytes:
    return log(n, lambda at: Frame(f.RESTART, struct.pack("<QQ", 0, at + 1)))


@family("log")
def restarts_that_lead_nowhere(n: int) -> bytes:
    """Each says that the ones before it are where it is, or beyond."""
    return log(n, lambda at: Frame(f.RESTART, struct.pack("<5Q", 1 << 50, at + 1, 40, 40, 40)))


@family("log")
def restarts_that_lead_to_themselves(n: int) -> bytes:
    data = bytearray(f.begin(f.LOG_FILE))
    data += f.framed(RESTART, len(data))
    while len(data) < n:
        data += f.framed(Frame(f.RESTART, struct.pack("<3Q", 1 << 50, 1 << 40, len(data))), len(data))
    return bytes(data)


@family("log")
def names_without_records(n: int) -> bytes:
    return log(n, lambda at: Frame(f.NAMES, w.length(0) + w.length(0) + w.length(0) + w.length(0)))


@family("log")
def a_text_named_by_each_record(n: int) -> bytes:
    """Tables of names that grow with every record: none may be copied for each."""

    def one(at: int) -> list[Frame]:
        text = w.text(f"{at:x}")
        return [
            record(w.message(w.sequence(w.tag("NAMED", text))), named=at),
            Frame(f.NAMES, w.length(0) + w.length(at) + w.length(1) + text + w.length(0)),
        ]

    return log(n, one)


@family("log")
def a_text_named_by_each_record_without_names(n: int) -> bytes:
    return log(n, lambda at: record(w.message(w.sequence(w.tag("NAMED", w.text(f"{at:x}")))), named=at))


@family("log")
def a_layout_by_each_record(n: int) -> bytes:
    def one(at: int) -> Frame:
        return record(w.message(w.shape([f"{at:x}"], ONE)), named=2 * at)

    return log(n, one)


@family("log")
def a_wide_layout_used_by_tiny_records(n: int) -> bytes:
    """Keys that one record has named; each later one is a dict of them."""
    keys = [f"k{at}" for at in range(1000)]

    def one(at: int) -> Frame:
        if at == 0:
            return record(w.message(w.shape(keys, ONE * 1000)))
        return record(w.message(bytes([w.TAG.INSTANCE_FIX]) + ONE * 1000), named=1001)

    return log(n, one)


@family("log")
def a_long_text_used_by_tiny_records(n: int) -> bytes:
    def one(at: int) -> Frame:
        if at == 0:
            return record(w.message(w.sequence(w.tag("NAMED", w.text("x" * (n // 2))))))
        return record(w.message(w.sequence(w.reference(0))), named=1)

    return log(n, one)


@family("log")
def a_long_text_as_paths_in_tiny_records(n: int) -> bytes:
    """What is shared within a section, converted by each record."""

    def one(at: int) -> Frame:
        if at == 0:
            return record(w.message(w.sequence(w.tag("NAMED", w.text("a/" * (n // 4))))))
        return record(w.message(w.sequence(w.known("PosixPath", w.reference(0)))), named=1)

    return log(n, one)


@family("log")
def a_text_as_paths_in_tiny_records(n: int) -> bytes:
    """One that is just short enough to be converted by each record."""

    def one(at: int) -> Frame:
        if at == 0:
            return record(w.message(w.sequence(w.tag("NAMED", w.text("a/" * 600)))))
        return record(w.message(w.known("PosixPath", w.reference(0))), named=1)

    return log(n, one)


@family("log")
def patterns_in_tiny_records(n: int) -> bytes:
    """Sets of characters that take long: in a message by itself each is fine."""

    def one(at: int) -> Frame:
        return record(
            w.message(w.known("Pattern", w.text(f"[\u0100-\u2000{chr(0x4E00 + at % 9000)}]"), w.integer(34)))
        )

    return log(n, one)


@family("log")
def many_names_in_one_record(n: int) -> bytes:
    texts = [w.tag("NAMED", w.text(f"{at:x}")) for at in range(n // 8)]

    def one(at: int) -> Frame:
        return record(w.message(w.sequence(*texts)))

    return log(n, one)


@family("log")
def many_names_and_tiny_records(n: int) -> bytes:
    """A table of names that is there for each record: set up for each, it would cost much."""
    count = n // 16
    texts = [w.tag("NAMED", w.text(f"{at:x}")) for at in range(count)]
    return log(
        n, lambda at: record(w.message(w.sequence(*texts) if at == 0 else ONE), named=count if at else 0)
    )


@family("log")
def names_of_many_layouts(n: int) -> bytes:
    """Layouts whose names are references to few texts: a few bytes each."""
    layouts = b"".join(w.tag("SHAPE", b"\x02\x04\xc1\x00\xc1\x01") for _ in range(n // 8))
    body = w.length(0) + w.length(0) + w.length(2) + w.text("a") + w.text("b") + w.length(n // 8) + layouts

    def one(at: int) -> list[Frame]:
        return [Frame(f.NAMES, body)]

    return log(n, one)


@family("log")
def records_of_lost_sections(n: int) -> bytes:
    return log(n, lambda at: record(w.message(ONE), section=at + 1, named=5))


@family("log")
def sections_that_begin_anew(n: int) -> bytes:
    return log(n, lambda at: record(w.message(ONE), section=at + 1, named=0))


@family("log", unpacks=lambda n: max(n // 80, 1) * MIB, most=100_000)
def compressed_records(n: int) -> bytes:
    """Each becomes a MiB that is no message."""
    body = block(f.ZSTD, 0xC1)
    return log(n, lambda at: Frame(f.RECORD, body, f.ZSTD))


# --- damage ---
def heads(n: int, kind: int, size: Callable[[int, int], int], step: int = 8) -> bytes:
    """Heads whose checks hold, one every `step` bytes; their bodies don't."""
    data = bytearray(f.begin(f.LOG_FILE))
    data += f.framed(RESTART, len(data))
    data += b"\xff" * 16
    while len(data) < n:
        data += f.head(kind, size(len(data), n), len(data)) + b"\xff" * (step - 8)
    return bytes(data[:n])


@family("log", each={"records": f.RECORD, "restarts": f.RESTART, "names": f.NAMES})
def heads_of_all_that_is_left(n: int, kind: int) -> bytes:
    """Each body would reach to the end: a checksum over all of it, for every head."""
    return heads(n, kind, lambda at, end: max(end - at - 16, 0))


@family("log")
def heads_of_half_of_what_is_left(n: int) -> bytes:
    return heads(n, f.RECORD, lambda at, end: max((end - at) // 2 - 16, 0))


@family("log")
def heads_of_more_than_there_is(n: int) -> bytes:
    return heads(n, f.RECORD, lambda at, end: 1 << 39)


@family("log")
def zeros(n: int) -> bytes:
    return f.begin(f.LOG_FILE) + f.framed(RESTART, 8) + bytes(n)


@family("log")
def records_of_broken_bodies(n: int) -> bytes:
    data = bytearray(log(n, lambda at: record(w.message(ONE))))
    for at in range(60, len(data) - 8, 21):
        data[at] ^= 1
    return bytes(data)


@family("log")
def one_record_of_all(n: int) -> bytes:
    return log(n, lambda at: record(w.message(w.blob(bytes(n)))))


@family("log")
def a_record_that_is_cut_off(n: int) -> bytes:
    return log(n, lambda at: record(w.message(w.blob(bytes(n)))))[: n // 2]
