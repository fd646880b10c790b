"""Files and logs of hold with checksums that hold, whatever is in them: frames of every kind, compressed or not, indexes, records."""

from __future__ import annotations

import functools
import io
import random
import struct
from collections.abc import Sequence
from typing import Any

import holdall
from tests.fuzz.grammar_elements import Class
from tests.fuzz.grammar_hold import SHAPE, Message
from tests.fuzz.mutations import LARGEST_INPUT
from tests.support import file_frames as frames
from tests.support.file_frames import Frame
from tests.support.kinds import KINDS
from tests.support.wire import TAG, length, text


def zstd(body: bytes, repeated: int = 0) -> bytes:
    """A frame of Zstandard's (RFC 8878) of one plain block, and one that repeats a byte."""
    block = (len(body) << 3 | (not repeated)).to_bytes(3, "little") + body
    if repeated:
        block += (repeated << 3 | 2 | 1).to_bytes(3, "little") + b"a"
    size = len(body) + repeated
    return struct.pack("<I", size) + b"\x28\xb5\x2f\xfd\xa0" + struct.pack("<I", size) + block


class Files:
    def __init__(self, rng: random.Random, classes: Sequence[Class], wrong: float, values: int) -> None:
        self.rng, self.classes, self.wrong, self.values = rng, classes, wrong, values

    def bad(self) -> bool:
        return self.wrong > 0 and self.rng.random() < self.wrong

    def packed(self, kind: int, body: bytes) -> list[Frame]:
        """A body in one frame or several."""
        rng = self.rng
        codec = rng.choice((0, 0, 0, 1, 2))
        if self.bad():
            body = body[: rng.randrange(len(body) + 1)]
        made = body
        if codec == frames.ZSTD:
            made = zstd(body, rng.choice((0, 0, 5, 100000)) if self.bad() else 0)
        elif codec == frames.LZ4:
            made = frames.packed_lz4(body)
            if self.bad():
                # A match far behind the beginning, or one that goes on and on.
                made = struct.pack("<I", rng.choice((1 << 20, len(body) + 300))) + rng.choice(
                    (b"\x1fa\1\0\xff\xff\xff\0", b"\x0f\xff\xff\xff", b"\xf0")
                )
        if codec and self.bad():
            made = struct.pack("<I", rng.choice((0, 1, 1 << 20, (1 << 20) + 1, (1 << 32) - 1))) + made[4:]
        found = Frame(kind, made, codec)
        if self.bad():
            # Said to go on, with another number of bytes in all.
            total = rng.choice((len(body), len(body) + 3, 0, 1 << 40, 1 << 63))
            return [
                Frame(kind, struct.pack("<Q", total) + made, codec, more=True),
                Frame(rng.choice((frames.REST, kind)), b"abc"),
            ]
        return [found]

    def number(self, near: int) -> bytes:
        near = max(0, near)
        if self.bad():
            near = self.rng.choice((0, 1, near + 1, max(0, near - 1), 255, 1 << 20, 1 << 40, (1 << 63) - 1))
        return length(near)

    def index(self, message: bytes, at: int) -> bytes:
        """An index that could be of the message, with places of its own choice."""
        rng, size = self.rng, len(message)

        def place() -> bytes:
            return self.number(rng.randrange(size) if size else 0)

        made = [
            self.number(at),
            self.number(size),
            self.number(0),
            self.number(0),
            self.number(rng.randrange(8)),
        ]
        for many in (3, 3):
            count = rng.randrange(4)
            made.append(self.number(count))
            for _ in range(count):
                made += [place()] + [self.number(rng.randrange(4)) for _ in range(many - 1)]
        for _ in range(2):
            count = rng.randrange(3)
            made.append(self.number(count))
            for _ in range(count):
                made += [place(), place(), self.number(1), self.number(rng.randrange(3)), place()]
        return b"".join(made)

    def forged(self) -> bytes:
        """A file made of frames."""
        rng = self.rng
        message = Message(rng, self.classes, self.wrong, self.values)
        body = message.message()
        if rng.random() < 0.3:
            return frames.forged(
                frames.MESSAGE_FILE,
                self.packed(frames.MESSAGE, body) if self.bad() else [Frame(frames.MESSAGE, body)],
            )
        many = self.packed(frames.MESSAGE, body)
        for _ in range(message.buffers if not self.bad() else 2):
            many += self.packed(frames.BUFFER, rng.randbytes(rng.choice((0, 8, 64, 100, 5000))))
        if self.bad():
            entries = b"".join(struct.pack("<IQ", rng.getrandbits(32), rng.randrange(99)) for _ in range(3))
            many.append(Frame(frames.KEYS, entries))
        at = len(frames.forged(frames.GRAPH_FILE, many))
        many.append(Frame(frames.INDEX, self.index(body, 8)))
        whole = len(frames.forged(frames.GRAPH_FILE, many)) + 32
        end = struct.pack(
            "<QQ",
            at if not self.bad() else rng.randrange(whole),
            whole if not self.bad() else rng.getrandbits(20),
        )
        many.append(Frame(frames.END, end))
        if self.bad():
            rng.shuffle(many)
        return frames.forged(frames.GRAPH_FILE, many)[:LARGEST_INPUT]

    def damaged(self, pool: Sequence[bytes]) -> bytes:
        """A file as it is written, with a few bytes in its frames changed, and checksums made anew."""
        rng = self.rng
        data = bytearray(rng.choice(pool))
        for _ in range(rng.choice((0, 1, 1, 2, 3))):
            at = (
                rng.randrange(8, len(data))
                if rng.random() < 0.5
                else len(data) - 1 - rng.randrange(min(len(data) - 8, 200))
            )
            data[at] = rng.choice(
                (0, 1, 2, 255, 252, data[at] + 1 & 255, data[at] - 1 & 255, rng.randrange(256))
            )
        return frames.resealed(bytes(data))

    def log(self) -> bytes:
        """Records of a section or more, with what they name."""
        rng, many = self.rng, list[Frame]()
        texts: list[str] = []
        layouts: list[Any] = []
        places: list[int] = []
        restarts = 0
        for records in range(rng.choice((1, 2, 3, 6))):
            if not many or rng.random() < 0.25 or self.bad():
                at = len(frames.forged(frames.LOG_FILE, many))
                before = [
                    places[restarts - step]
                    for step in (1, 2, 4, 8)
                    if restarts >= step and restarts % step == 0
                ]
                if self.bad():
                    before = [rng.getrandbits(rng.choice((4, 10, 63))) for _ in range(rng.randrange(6))]
                count = records if not self.bad() else rng.getrandbits(rng.choice((4, 63)))
                many.append(
                    Frame(frames.RESTART, struct.pack(f"<{2 + len(before)}Q", count, restarts, *before))
                )
                places.append(at)
                restarts += 1
                texts, layouts = [], []
            section, named = restarts - 1, len(texts) + len(layouts)
            message = Message(rng, self.classes, self.wrong, self.values, first=len(texts))
            message.texts = list(range(len(texts)))
            message.layouts = list(layouts)
            body = message.message()
            if self.bad():
                section, named = rng.choice(((section + 1, named), (section, named + 1), (section, 0)))
            many += (
                [Frame(frames.RECORD, length(section) + length(named) + body)]
                if rng.random() < 0.8
                else self.packed(frames.RECORD, length(section) + length(named) + body)
            )
            new = message.layouts[len(layouts) :]
            if rng.random() < 0.6 and (message.lasting or new):
                many.append(Frame(frames.NAMES, self.names(section, named, texts, message.lasting, new)))
            texts, layouts = texts + message.lasting, message.layouts
            if len(many) > 30:
                break
        if self.bad():
            many.append(rng.choice(many))
        return frames.forged(frames.LOG_FILE, many)[:LARGEST_INPUT]

    def names(self, section: int, named: int, texts: list[str], new: list[str], layouts: list[Any]) -> bytes:
        made = [
            length(section),
            length(named),
            self.number(len(new)),
            *map(text_of, new),
            self.number(len(layouts)),
        ]
        known = texts + new
        for kind, names, *_ in layouts:
            block = b""
            for name in names if kind == SHAPE else ("a", *names):
                number = (
                    known.index(name)
                    if name in known and not self.bad()
                    else self.rng.randrange(len(known) + 1)
                )
                block += bytes((TAG.REF_16,)) + struct.pack("<H", number & 0xFFFF)
            if kind == SHAPE:
                made.append(bytes((TAG.SHAPE,)) + self.number(len(names)) + length(len(block)) + block)
            else:
                made.append(
                    bytes((TAG.CLASS, kind))
                    + length(1)
                    + self.number(len(names))
                    + length(len(block))
                    + block
                )
        return b"".join(made)


def text_of(value: str) -> bytes:
    raw = value.encode("utf-8", "surrogatepass")
    return text(value) if value.isascii() else bytes((TAG.UTF_8,)) + length(len(raw)) + raw


@functools.cache
def written() -> list[bytes]:
    """Files and logs as they are written: with an index, tables of keys, buffers, several blocks."""
    found = []
    table = {f"key {n}": [n, {"id": n, "name": f"row {n}"}] for n in range(300)}
    graphs = [
        table,
        {"t": table, "b": b"x" * 5000, "c": [bytearray(6000)] * 2},
        [list(range(3000)), table, (table,)],
    ]
    for graph in graphs:
        for compress in (None, "zstd", "lz4"):
            file = io.BytesIO()
            holdall.dump(graph, file, compress=compress)
            found.append(file.getvalue())
    for at in range(0, len(KINDS), 12):
        file = io.BytesIO()
        with holdall.Writer(file) as log:
            for kind in KINDS[at : at + 12]:
                log.write({"kind": kind.name, "value": kind.make()})
        found.append(file.getvalue())
    return [data for data in found if len(data) <= LARGEST_INPUT]
