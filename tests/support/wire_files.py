"""A reader of files and logs of the hold format, written from docs/format.md alone: it shares no code with holdall.

The numbers of kinds and codecs are from the page's own tables. It unpacks LZ4, not Zstandard.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.support.page_tables import CODECS, FILES, FRAMES, TAGS
from tests.support.wire_reader import Layout, Malformed, Reader
from tests.support.xxh3 import xxh3

if TYPE_CHECKING:
    from tests.support.neutral import Node

BLOCK = 1 << 20


def check(data: bytes, seed: int = 0) -> bytes:
    return (xxh3(data, seed) & 0xFFFF).to_bytes(2, "little")


def number(data: bytes) -> int:
    return int.from_bytes(data, "little")


def kind_of(file: bytes) -> str:
    """Section 1, "The start"."""
    if len(file) < 8 or file[:4] != b"HOLD" or file[6:8] != check(file[:6]):
        raise Malformed("start")
    if file[4] != 1 or file[5] not in FILES:
        raise Malformed("version")
    return FILES[file[5]]


@dataclass
class Frame:
    kind: str
    codec: str
    more: bool
    at: int
    body: bytes
    end: int


def frame_at(file: bytes, at: int, padded: bool = True) -> Frame:
    """Section 1, "Frames"."""
    start = at
    while padded and at < len(file) and file[at] == 0:
        at += 1
    head = file[at : at + 8]
    if at - start > 63 or len(head) < 8 or head[6:] != check(head[:6], at):
        raise Malformed("head")
    kind, codec = head[0] & 15, head[0] >> 4 & 3
    if kind not in FRAMES or codec not in CODECS or head[0] & 128:
        raise Malformed("frame")
    end = at + 8 + number(head[1:6]) + 8
    body, tail = file[at + 8 : end - 8], file[end - 8 : end]
    if end > len(file):
        raise Malformed("truncated")
    if number(tail) != xxh3(body, xxh3(head, at)):
        raise Malformed("checksum")
    return Frame(FRAMES[kind], CODECS[codec], bool(head[0] & 64), at, body, end)


def unpack(codec: str, body: bytes) -> bytes:
    """Section 1, "Compression": of one frame."""
    if codec == "stored":
        return body
    if number(body[:4]) > BLOCK:
        raise Malformed("block")
    made = lz4(body[4:]) if codec == "lz4" else b""
    if len(made) != number(body[:4]):
        raise Malformed("block")
    return made


def lz4(packed: bytes) -> bytes:
    made, at = bytearray(), 0

    def more(count: int) -> int:
        nonlocal at
        while count >= 15 and (count == 15 or packed[at - 1] == 255):
            count, at = count + packed[at], at + 1
        return count

    while at < len(packed):
        token, at = packed[at], at + 1
        literals = more(token >> 4)
        made += packed[at : at + literals]
        at += literals
        if at >= len(packed):
            break
        back, at = number(packed[at : at + 2]), at + 2
        for _ in range(more(token & 15) + 4):
            made.append(made[-back])
    return bytes(made)


@dataclass
class File:
    """A file of kind FILE_MESSAGE or FILE_GRAPH, read front to back."""

    message: bytes
    buffers: list[bytes] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)
    end: int = 0


def read_file(file: bytes) -> File:
    kind = kind_of(file)
    found, at = File(b""), 8

    def body(wanted: tuple[str, ...]) -> tuple[str, bytes]:
        nonlocal at
        frame = frame_at(file, at)
        if frame.kind not in wanted:
            raise Malformed("order")
        name, total, made = frame.kind, None, b""
        while True:
            found.frames.append(frame)
            at, stored = frame.end, frame.body
            if frame.more and total is None:
                total, stored = number(stored[:8]), stored[8:]
            made += unpack(frame.codec, stored)
            if not frame.more:
                break
            frame = frame_at(file, at)
            if frame.kind != "REST":
                raise Malformed("order")
        if total not in (None, len(made)):
            raise Malformed("total")
        return name, made

    found.message = body(("MESSAGE",))[1]
    rest: tuple[str, ...] = ("BUFFER_FRAME", "KEYS", "PLACES", "INDEX")
    while kind == "FILE_GRAPH":
        name, made = body(rest)
        if name == "END":
            index = next(frame for frame in found.frames if frame.kind == "INDEX")
            if number(made[:8]) != index.at or number(made[8:]) != at or len(made) != 16:
                raise Malformed("end")
            break
        if name == "BUFFER_FRAME":
            found.buffers.append(made)
        rest = {
            "BUFFER_FRAME": rest,
            "KEYS": ("KEYS", "PLACES", "INDEX"),
            "PLACES": ("PLACES", "INDEX"),
            "INDEX": ("END",),
        }[name]
    found.end = at
    return found


class Lengths:
    """A body of lengths."""

    def __init__(self, body: bytes) -> None:
        self.reader = Reader(b"\xc1" + body)

    def one(self) -> int:
        return self.reader.length()

    def many(self, read: Any) -> list[Any]:
        return [read() for _ in range(self.one())]

    def extent(self) -> tuple[int, int, list[int]]:
        return self.one(), self.one(), self.many(self.one)


@dataclass
class Index:
    """Section 12."""

    message: Any
    buffers: list[Any]
    objects: int
    layouts: list[tuple[int, int, int]]
    checkpoints: list[tuple[int, int, int]]
    containers: list[tuple[int, int, list[tuple[int, int]]]]
    tables: list[tuple[int, int, list[tuple[int, int]]]]
    # Of a large message: where its pages are, and of each table's dict how many items it has, and one more than its id.
    pages: list[int] = field(default_factory=list)
    dicts: list[tuple[int, int]] = field(default_factory=list)


@dataclass
class Page:
    """Section 12, "Pages"; with places as an index has them."""

    checkpoints: list[tuple[int, int, int]]
    containers: list[tuple[int, int, list[tuple[int, int]]]]
    tables: list[tuple[int, int, list[tuple[int, int]]]]


def read_page(body: bytes, begins: tuple[int, int, int]) -> Page:
    r = Lengths(body)

    def rising(start: tuple[int, ...]) -> list[Any]:
        found = [start]
        for _ in range(r.one()):
            found.append(tuple(last + r.one() for last in found[-1]))
        return found[1:]

    page = Page(
        rising(begins),
        r.many(lambda: (r.one(), r.one(), rising((0, begins[0])))),
        r.many(lambda: (r.one(), r.one(), r.many(lambda: (r.one(), r.one())))),
    )
    if r.reader.at != len(r.reader.data):
        raise Malformed("left over")
    return page


def read_index(body: bytes) -> Index:
    r = Lengths(body)

    def two() -> tuple[int, int]:
        return r.one(), r.one()

    def three() -> tuple[int, int, int]:
        return r.one(), r.one(), r.one()

    def with_pairs() -> tuple[int, int, list[tuple[int, int]]]:
        return r.one(), r.one(), r.many(two)

    index = Index(
        r.extent(),
        r.many(r.extent),
        r.one(),
        r.many(three),
        r.many(three),
        r.many(with_pairs),
        r.many(with_pairs),
    )
    if r.reader.at != len(r.reader.data):
        index.pages = [r.one() for _ in index.checkpoints]
        index.dicts = [(r.one(), r.one()) for _ in index.tables]
    if r.reader.at != len(r.reader.data):
        raise Malformed("left over")
    return index


class Watched(Reader):
    """Reads a message, and notes what an index of it could say."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self.places: dict[int, tuple[int, int]] = {}
        self.ends: dict[int, int] = {}
        self.layouts_at: list[tuple[int, int]] = []

    def value(self, number: int | None = None) -> Any:
        at = self.at
        if number in (None, 0):
            self.places[at] = (len(self.numbered), len(self.layouts))
        if TAGS[self.data[at]][0] in ("SHAPE", "CLASS"):
            self.layouts_at.append((at, len(self.numbered)))
        found = super().value(number)
        self.ends[at] = self.at
        return found


def key_places(file: bytes, pages: list[tuple[int, int]], text: bytes) -> list[int]:
    """Section 12: where a key may stand whose text is written as `text`."""
    wanted = xxh3(text) & 0xFFFFFFFF
    first = max((at for at, page in enumerate(pages) if page[0] < wanted), default=0)
    places = []
    for hash_, at in pages[first:]:
        if hash_ > wanted:
            break
        body = frame_at(file, at).body
        entries = [body[entry : entry + 12] for entry in range(0, len(body), 12)]
        assert number(entries[0][:4]) == hash_ and len(entries) <= 4096
        places += [number(entry[4:]) for entry in entries if number(entry[:4]) == wanted]
    return places


class Record(Reader):
    """A record's message: section 13."""

    def __init__(self, message: bytes, texts: list[Node], layouts: list[Layout]) -> None:
        super().__init__(message)
        self.numbered += texts
        self.layouts += layouts
        self.known = len(texts)
        self.lasting: list[int] = []

    def message(self) -> Any:
        self.numbered.append(None)
        value = self.value(number=self.known)
        if self.at != len(self.data):
            raise Malformed("left over")
        return value

    def value(self, number: int | None = None) -> Any:
        if number is not None and TAGS[self.data[self.at - 1]][0] == "NAMED":
            assert TAGS[self.data[self.at]][0] in ("ASCII_FIX", "ASCII", "LATIN_1", "UCS_2", "UTF_8")
            self.lasting.append(number)
        return super().value(number)

    def name(self) -> str:
        before = len(self.numbered)
        found = super().name()
        self.lasting += range(before, len(self.numbered))
        return found


@dataclass
class Restart:
    at: int
    record: int
    number: int
    before: list[int]


class Log:
    """A log, read front to back over damage. `by_names`: what records have named is learnt from the frames of names alone."""

    def __init__(self, file: bytes, by_names: bool, at: int = 8) -> None:
        if kind_of(file) != "FILE_LOG":
            raise Malformed("kind")
        self.file, self.by_names = file, by_names
        self.section = 0
        self.texts: list[Node] = []
        self.layouts: list[Layout] = []
        self.restarts: list[Restart] = []
        self.records: list[Any] = []
        self.lost = 0
        while at < len(file):
            try:
                frame = frame_at(file, at, padded=False)
            except Malformed:
                at += 1
                continue
            at = frame.end
            assert not frame.more
            body = unpack(frame.codec, frame.body)
            {"RECORD": self.record, "NAMES": self.names, "RESTART": self.restart}[frame.kind](body, frame.at)

    def record(self, body: bytes, at: int) -> None:
        r = Reader(b"\xc1" + body)
        section, named = r.length(), r.length()
        message = body[r.at - 1 :]
        if not self.has(section, named):
            self.lost += 1
            return
        record = Record(message, self.texts, self.layouts)
        self.records.append(record.message())
        if not self.by_names:
            self.texts = self.texts + [record.numbered[number] for number in record.lasting]
            self.layouts = record.layouts

    def has(self, section: int, named: int) -> bool:
        """Whether that many names of that section are known; a section whose restart is lost begins without."""
        if section != self.section and named == 0:
            self.section, self.texts, self.layouts = section, [], []
        return section == self.section and named == len(self.texts) + len(self.layouts)

    def names(self, body: bytes, at: int) -> None:
        r = Reader(b"\xc1" + body)
        if not self.has(r.length(), r.length()) or not self.by_names:
            return
        self.texts = self.texts + [r.value() for _ in range(r.length())]
        r.numbered, r.layouts = list(self.texts), list(self.layouts)
        for _ in range(r.length()):
            tag = TAGS[r.u8()][0]
            assert tag in ("SHAPE", "CLASS")
            r.layout(tag)
        assert len(r.numbered) == len(self.texts) and r.at == len(r.data)
        self.layouts = r.layouts

    def restart(self, body: bytes, at: int) -> None:
        values = [number(body[place : place + 8]) for place in range(0, len(body), 8)]
        self.restarts.append(Restart(at, values[0], values[1], values[2:]))
        self.section, self.texts, self.layouts = values[1], [], []
