"""Files, with checksums that hold: compressed to next to nothing, cut into many frames, with indexes that lie."""

from __future__ import annotations

import struct
from collections.abc import Callable

from tests.complexity.family import copies, family
from tests.support import file_frames as f
from tests.support import wire as w
from tests.support.file_frames import Frame

MIB = 1 << 20
ONE = w.integer(1)


def zstd_run(byte: int, size: int = MIB) -> bytes:
    """A frame of Zstandard (RFC 8878) of one byte, again and again: blocks of the kind RLE, of 128 KiB."""
    blocks, left = b"", size
    while left:
        one = min(left, 1 << 17)
        left -= one
        blocks += (one << 3 | 1 << 1 | (left == 0)).to_bytes(3, "little") + bytes([byte])
    return bytes.fromhex("28b52ffd") + bytes([0xA0]) + struct.pack("<I", size) + blocks


def lz4_run(byte: int, size: int = MIB) -> bytes:
    """A literal, then a match of all the rest but the last five bytes, which have to be literals."""
    rest = size - 1 - 5 - 4
    return (
        bytes([0x1F, byte])
        + b"\x01\x00"
        + b"\xff" * ((rest - 15) // 255)
        + bytes([(rest - 15) % 255, 0x50])
        + bytes([byte]) * 5
    )


def block(codec: int, byte: int, size: int = MIB) -> bytes:
    return struct.pack("<I", size) + (zstd_run if codec == f.ZSTD else lz4_run)(byte, size)


def graph(frames: list[Frame], index: bytes) -> bytes:
    """A file of kind 2, with its end."""
    data = f.forged(f.GRAPH_FILE, frames)
    at = len(data)
    data += f.framed(Frame(f.INDEX, index), at)
    return data + f.framed(Frame(f.END, struct.pack("<QQ", at, len(data) + 32)), len(data))


def no_index(message_at: int = 8, size: int = 0, blocks: tuple[int, ...] = ()) -> bytes:
    extent = b"".join(map(w.length, (message_at, size, len(blocks), *blocks)))
    return extent + bytes(6)


def unpacked(packed: int) -> Callable[[int], int]:
    return lambda n: max(n // packed, 1) * MIB


def compressed(n: int, codec: int, byte: int) -> bytes:
    """Blocks of a MiB of one byte."""
    packed = block(codec, byte)
    count = max(n // (len(packed) + 16), 1)
    total = struct.pack("<Q", count * MIB)
    if count == 1:
        frames = [Frame(f.MESSAGE, packed, codec)]
    else:
        frames = [Frame(f.MESSAGE, total + packed, codec, True)]
        frames += [Frame(f.REST, packed, codec, True) for _ in range(count - 2)]
        frames += [Frame(f.REST, packed, codec)]
    return graph(frames, no_index(8, count * MIB))


@family(
    "file",
    each={"version bytes": 0xC1, "lists": 0x70, "lists of one": 0x71, "zeros": 0},
    unpacks=unpacked(66),
)
def zstd_of_one_byte(n: int, byte: int) -> bytes:
    return compressed(n, f.ZSTD, byte)


@family("file", each={"version bytes": 0xC1}, unpacks=unpacked(4140), most=100_000)
def lz4_of_one_byte(n: int, byte: int) -> bytes:
    return compressed(n, f.LZ4, byte)


def a_message(n: int, head: Callable[[int], bytes], byte: int, blocks: int) -> bytes:
    """A compressed message that is one: a first block whose beginning is stored as a literal, and blocks of one byte."""
    size = blocks * MIB
    start = head(size)
    # Zstandard: a raw block of the head, then runs.
    left, made = MIB - len(start), (len(start) << 3).to_bytes(3, "little") + start
    while left:
        one = min(left, 1 << 17)
        left -= one
        made += (one << 3 | 1 << 1 | (left == 0)).to_bytes(3, "little") + bytes([byte])
    first = struct.pack("<I", MIB) + bytes.fromhex("28b52ffd") + bytes([0xA0]) + struct.pack("<I", MIB) + made
    rest = block(f.ZSTD, byte)
    if blocks == 1:
        frames = [Frame(f.MESSAGE, first, f.ZSTD)]
    else:
        frames = [Frame(f.MESSAGE, struct.pack("<Q", size) + first, f.ZSTD, True)]
        frames += [Frame(f.REST, rest, f.ZSTD, True) for _ in range(blocks - 2)] + [
            Frame(f.REST, rest, f.ZSTD)
        ]
    return graph(frames, no_index(8, size))


@family("file", each={"ints": 5, "lists": 0x70, "dicts": 0xBD}, most=10_000, unpacks=lambda n: 8 * MIB)
def zstd_of_a_list_of(n: int, byte: int) -> bytes:
    """A list that loads: eight MiB of values in some hundred bytes."""
    return a_message(n, lambda size: w.message(w.sized("LIST", size - 10)) + bytes([byte]) * 3, byte, 8)


@family("file", most=10_000, unpacks=lambda n: 8 * MIB)
def zstd_of_nested_lists(n: int) -> bytes:
    return a_message(n, lambda size: b"\xc1", 0x71, 8)


@family("file", unpacks=unpacked(66), most=10_000)
def buffers_of_zeros(n: int) -> bytes:
    packed = block(f.ZSTD, 0)
    count = max(n // (len(packed) + 20), 1)
    buffers = [w.tag("BUFFER", b"\x02", w.length(at)) for at in range(count)]
    frames = [Frame(f.MESSAGE, w.message(w.sequence(*buffers)))]
    frames += [Frame(f.BUFFER, packed, f.ZSTD) for _ in range(count)]
    return graph(frames, no_index())


@family("file", each={"bytes": 2, "bytearrays": 3, "themselves": 0})
def empty_buffers(n: int, form: int) -> bytes:
    count = max(n // 24, 1)
    buffers = [w.tag("BUFFER", bytes([form]), w.length(at)) for at in range(count)]
    frames = [Frame(f.MESSAGE, w.message(w.sequence(*buffers)))]
    frames += [Frame(f.BUFFER, b"") for _ in range(count)]
    return graph(frames, no_index())


@family("file", each={"bytes": 2})
def padded_buffers(n: int, form: int) -> bytes:
    """Up to 63 zeros in front of each."""
    count = max(n // 160, 1)
    buffers = [w.tag("BUFFER", bytes([form]), w.length(at)) for at in range(count)]
    frames = [Frame(f.MESSAGE, w.message(w.sequence(*buffers)))]
    frames += [Frame(f.BUFFER, bytes(65)) for _ in range(count)]
    return graph(frames, no_index())


@family("file")
def zeros_behind_the_start(n: int) -> bytes:
    return f.begin(f.GRAPH_FILE) + bytes(n)


@family("file")
def zeros_behind_the_message(n: int) -> bytes:
    return f.forged(f.GRAPH_FILE, [Frame(f.MESSAGE, w.message(ONE))]) + bytes(n)


@family("file")
def small_files_one_behind_the_other(n: int) -> bytes:
    one = f.forged(f.MESSAGE_FILE, [Frame(f.MESSAGE, w.message(ONE))])
    return b"".join(copies(n, one))


@family("file")
def empty_blocks(n: int) -> bytes:
    """A body of blocks without bytes."""
    count = max(n // 20, 2)
    frames = [Frame(f.MESSAGE, struct.pack("<Q", 2) + w.message(ONE), f.STORED, True)]
    frames += [Frame(f.REST, b"", f.STORED, True) for _ in range(count - 1)] + [Frame(f.REST, b"")]
    return graph(frames, no_index(8, 2))


@family("file")
def keys_frames(n: int) -> bytes:
    frames = [Frame(f.MESSAGE, w.message(w.tag("DICT_EMPTY")))] + [Frame(f.KEYS, bytes(12))] * max(n // 28, 1)
    return graph(frames, no_index())


# --- indexes ---
def indexed(message: bytes, rest: bytes) -> bytes:
    """rest: what the index says behind the message's extent and the buffers."""
    extent = b"".join(map(w.length, (8, len(message), 1, 8)))
    return graph([Frame(f.MESSAGE, message)], extent + w.length(0) + rest)


def lengths(*values: int) -> bytes:
    return b"".join(map(w.length, values))


@family("file")
def checkpoints_at_one_place(n: int) -> bytes:
    count = n // 8
    message = w.message(w.dict_(w.text("a"), w.sequence(*[ONE] * (n // 2))))
    return indexed(message, lengths(1, 0, count) + lengths(1, 1, 0) * count + lengths(0, 0))


@family("file")
def containers_at_one_place(n: int) -> bytes:
    """Each says that it begins at 1, and ends before it does."""
    count = n // 8
    message = w.message(w.sequence(*[w.EMPTY_LIST] * (n // 2)))
    return indexed(message, lengths(1, 0, 1, 1, 1, 0, count) + lengths(1, 1, 0) * count + lengths(0))


@family("file")
def containers_of_many_points(n: int) -> bytes:
    count = n // 8
    message = w.message(w.sequence(*[w.EMPTY_LIST] * (n // 2)))
    points = b"".join(lengths(0, 2) for _ in range(count))
    return indexed(message, lengths(1, 0, 1, 1, 1, 0, 1, 1, len(message), count) + points + lengths(0))


@family("file")
def a_key_table_of_one_hash(n: int) -> bytes:
    """Every key is looked at for each look-up."""
    keys = [w.text(f"{at:x}") for at in range(n // 24)]
    message = w.message(w.dict_(*[part for key in keys for part in (key, ONE)]))
    data = f.forged(f.GRAPH_FILE, [Frame(f.MESSAGE, message)])
    tables, at = [], len(data)
    place = 2 + len(w.length(len(keys)))
    entries = []
    for key in keys:
        entries.append(struct.pack("<IQ", 5, place))
        place += len(key) + 1
    for first in range(0, len(entries), 4096):
        tables.append((5, at))
        frame = f.framed(Frame(f.KEYS, b"".join(entries[first : first + 4096])), at)
        data, at = data + frame, at + len(frame)
    extent = lengths(8, len(message), 1, 8)
    index = extent + lengths(0, 1, 0, 1, 1, 1, 0, 1, 1, len(message), 0)
    index += lengths(1, 1, 1, len(tables)) + b"".join(lengths(*one) for one in tables)
    data += f.framed(Frame(f.INDEX, index), at)
    return data + f.framed(Frame(f.END, struct.pack("<QQ", at, len(data) + 32)), len(data))


@family("file")
def layouts_at_one_place(n: int) -> bytes:
    """Many layouts, each said to be the first one."""
    count = n // 8
    message = w.message(w.sequence(w.shape(["a"], ONE), *[bytes([w.TAG.INSTANCE_FIX]) + ONE] * (n // 4)))
    return indexed(message, lengths(2, count) + lengths(3, 1, 1) * count + lengths(1, 1, 1, 0, 0, 0))


@family("file", each={"layouts": 1, "checkpoints": 2, "containers": 3, "tables": 4})
def index_that_claims_more(n: int, where: int) -> bytes:
    """A count of what the index would have to hold."""
    message = w.message(w.sequence(*[ONE] * n))
    return indexed(message, bytes(where) + lengths(1 << 40) + bytes(6))


@family("file")
def nested_document(n: int) -> bytes:
    """No index: it is made when the file is opened."""
    message = w.message(bytes([w.TAG.LIST_FIX + 1]) * n + ONE)
    return graph([Frame(f.MESSAGE, message)], no_index(8, len(message)))


@family("file")
def references_far_back(n: int) -> bytes:
    """To find an object by its number, a reader goes over the tokens from a checkpoint on: many members refer to far ones."""
    marked = [w.mark(bytes([w.TAG.LIST_FIX])) for _ in range(n // 16)]
    uses = [w.reference(at * 7919 % (n // 16) + 2) for at in range(n // 16)]
    message = w.message(w.sequence(w.sequence(*marked), w.sequence(*uses)))
    return indexed(message, lengths(n // 16 + 1, 0, 1, 1, 0, 0, 0, 0))
