"""A reader of hold's files that shares no code with holdall, and a forger of them.

The forger makes whatever it is told to, with checksums that hold: what is wrong with its files only other checks can see.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from tests.support.wire_reader import Malformed, Reader
from tests.support.xxh3 import xxh3

# Kinds of files and of frames, and codecs.
MESSAGE_FILE, GRAPH_FILE, LOG_FILE = 1, 2, 3
MESSAGE, BUFFER, REST, INDEX, END, RECORD, NAMES, RESTART, KEYS, PLACES = range(1, 11)
STORED, ZSTD, LZ4 = 0, 1, 2
HEAD, TAIL, ALIGN, BLOCK = 8, 8, 64, 1 << 20


@dataclass
class Frame:
    kind: int
    body: bytes
    codec: int = STORED
    more: bool = False
    # Where its head and its body begin.
    at: int = 0
    start: int = 0


@dataclass
class File:
    kind: int
    frames: list[Frame] = field(default_factory=list)

    def bodies(self, kind: int) -> list[bytes | None]:
        """Bodies of that kind, whole; None is one that only zstd could tell."""
        return [_joined(run) for run in _runs(self.frames) if run[0].kind == kind]

    @property
    def message(self) -> bytes | None:
        (found,) = self.bodies(MESSAGE)
        return found

    @property
    def buffers(self) -> list[bytes | None]:
        return self.bodies(BUFFER)


def described(data: bytes) -> Any:
    """What the message of a file says, its buffers where they are referred to."""
    file, end = parse(data)
    message, buffers = file.message, file.buffers
    whole = [body for body in buffers if body is not None]
    if end != len(data) or message is None or len(whole) < len(buffers):
        raise Malformed("trailing, or zstd")
    return Reader(message, buffers=whole).message()


def check(data: bytes, at: int) -> bytes:
    return (xxh3(data, at) & 0xFFFF).to_bytes(2, "little")


def begin(kind: int, version: int = 1) -> bytes:
    start = b"HOLD" + bytes([version, kind])
    return start + check(start, 0)


def head(kind: int, size: int, at: int, codec: int = STORED, more: bool = False, spare: int = 0) -> bytes:
    made = bytes([kind | codec << 4 | more << 6 | spare << 7]) + size.to_bytes(5, "little")
    return made + check(made, at)


def tail(head: bytes, body: bytes, at: int) -> bytes:
    return xxh3(body, xxh3(head, at)).to_bytes(8, "little")


def framed(frame: Frame, at: int) -> bytes:
    made = head(frame.kind, len(frame.body), at, frame.codec, frame.more)
    return made + frame.body + tail(made, frame.body, at)


def forged(kind: int, frames: list[Frame], padded: bool = True) -> bytes:
    """The file of these frames, one behind the other; the body of a plain large buffer on a multiple of 64."""
    data = bytearray(begin(kind))
    for frame in frames:
        if (
            padded
            and frame.kind == BUFFER
            and not frame.codec
            and not frame.more
            and len(frame.body) >= ALIGN
        ):
            data += bytes(-(len(data) + HEAD) % ALIGN)
        data += framed(frame, len(data))
    return bytes(data)


def resealed(data: bytes) -> bytes:
    """The same frames, where they stand, with checksums that hold for what is in them now."""
    made = bytearray(data)
    made[6:8] = check(bytes(made[:6]), 0)
    at = 8
    while at < len(made):
        if made[at] == 0:
            at += 1
            continue
        size = int.from_bytes(made[at + 1 : at + 6], "little")
        if at + HEAD + size + TAIL > len(made):
            break
        made[at + 6 : at + 8] = check(bytes(made[at : at + 6]), at)
        before = bytes(made[at : at + HEAD])
        body = bytes(made[at + HEAD : at + HEAD + size])
        at += HEAD + size
        made[at : at + TAIL] = tail(before, body, at - size - HEAD)
        at += TAIL
    return bytes(made)


def parse(data: bytes, offset: int = 0) -> tuple[File, int]:
    """The file that begins there, and where it ends."""
    start = data[offset : offset + 8]
    if len(start) < 8 or start[:4] != b"HOLD" or start[6:] != check(start[:6], 0):
        raise Malformed("start")
    if start[4] != 1 or start[5] not in (MESSAGE_FILE, GRAPH_FILE, LOG_FILE):
        raise Malformed("version or kind")
    file = File(start[5])
    at = 8
    while True:
        frame, at = _frame(data[offset:], at)
        file.frames.append(frame)
        if frame.kind == END:
            index_at, total = struct.unpack("<QQ", frame.body)
            if total != at or not any(one.at == index_at and one.kind == INDEX for one in file.frames):
                raise Malformed("end")
            return file, offset + at
        if file.kind == MESSAGE_FILE:
            if frame.kind != MESSAGE or frame.at != 8:
                raise Malformed("kind")
            return file, offset + at


def _frame(data: bytes, at: int) -> tuple[Frame, int]:
    padding = 0
    while data[at : at + 1] == b"\0":
        at, padding = at + 1, padding + 1
    if padding >= ALIGN:
        raise Malformed("padding")
    before = data[at : at + HEAD]
    if len(before) < HEAD or before[6:] != check(before[:6], at):
        raise Malformed("head")
    size = int.from_bytes(before[1:6], "little")
    start = at + HEAD
    end = start + size
    body = data[start:end]
    if data[end : end + TAIL] != tail(before, body, at):
        raise Malformed("tail")
    kind, codec, more = before[0] & 15, before[0] >> 4 & 3, bool(before[0] & 64)
    if not MESSAGE <= kind <= PLACES or codec > LZ4 or before[0] & 128:
        raise Malformed("kind")
    return Frame(kind, body, codec, more, at, start), end + TAIL


def _runs(frames: list[Frame]) -> Iterator[list[Frame]]:
    """Frames whose bodies go on in one another."""
    run: list[Frame] = []
    for frame in frames:
        if (frame.kind == REST) != bool(run):
            raise Malformed("a body that goes on")
        run.append(frame)
        if not frame.more:
            yield run
            run = []
    if run:
        raise Malformed("a body that goes on")


def _joined(run: list[Frame]) -> bytes | None:
    first = run[0]
    total = None
    if first.more:
        total = struct.unpack_from("<Q", first.body)[0]
        run = [replace(first, body=first.body[8:]), *run[1:]]
    parts = [_block(frame) for frame in run]
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    made = b"".join(known)
    if total is not None and (len(made) != total or any(len(part) != BLOCK for part in known[:-1])):
        raise Malformed("blocks")
    return made


def _block(frame: Frame) -> bytes | None:
    if frame.codec == STORED:
        return frame.body
    (size,) = struct.unpack_from("<I", frame.body)
    if size > BLOCK:
        raise Malformed("block")
    if frame.codec == ZSTD:
        return None
    made = unpacked_lz4(frame.body[4:])
    if len(made) != size:
        raise Malformed("block")
    return made


def unpacked_lz4(data: bytes) -> bytes:
    """A block of LZ4's (https://github.com/lz4/lz4, doc/lz4_Block_format.md)."""
    made = bytearray()
    at = 0

    def length(nibble: int) -> int:
        nonlocal at
        found = nibble
        while nibble == 15:
            byte, at = data[at], at + 1
            found += byte
            if byte < 255:
                break
        return found

    while at < len(data):
        token, at = data[at], at + 1
        literals = length(token >> 4)
        made += data[at : at + literals]
        at += literals
        if at >= len(data):
            break
        back = int.from_bytes(data[at : at + 2], "little")
        at += 2
        if not 0 < back <= len(made):
            raise Malformed("lz4")
        for _ in range(length(token & 15) + 4):
            made.append(made[-back])
    return bytes(made)


def packed_lz4(data: bytes) -> bytes:
    """A block of LZ4's that says `data` as it is: all of it literals."""
    more = len(data) - 15
    sizes = bytes([255]) * (more // 255) + bytes([more % 255]) if more >= 0 else b""
    return struct.pack("<I", len(data)) + bytes([min(len(data), 15) << 4]) + sizes + data
