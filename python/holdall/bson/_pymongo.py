"""PyMongo's names: those of its module `bson`, with this codec."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

from bson.codec_options import DEFAULT_CODEC_OPTIONS, CodecOptions
from bson.errors import InvalidBSON

from .. import _core

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import IO, BinaryIO

# A document's length, which counts itself.
_LENGTH = struct.Struct("<i")


def encode(
    document: Mapping[str, Any],
    check_keys: bool = False,
    codec_options: CodecOptions[Any] = DEFAULT_CODEC_OPTIONS,
) -> bytes:
    """Store a mapping as a BSON document, as PyMongo's `bson.encode` does: the same bytes for the same options.

    Raises InvalidDocument: a value or key that BSON has no form for, or with `check_keys` one that a server refuses.
    Raises OverflowError: an int beyond 64 bits. Raises TypeError: `document` is no mapping.
    """
    return _core.bson_encode(document, check_keys, codec_options)


def decode(data: Any, codec_options: CodecOptions[Any] | None = None) -> Any:
    """Restore a BSON document, as PyMongo's `bson.decode` does: the same values for the same options.

    data: bytes-like, one document. Raises InvalidBSON: malformed bytes, or a value that the options refuse.
    """
    return _core.bson_decode(data, codec_options or DEFAULT_CODEC_OPTIONS)


def decode_all(data: Any, codec_options: CodecOptions[Any] | None = None) -> list[Any]:
    """Restore documents that stand one behind the other in `data`. Raises InvalidBSON, as `decode`."""
    return _core.bson_decode_all(data, DEFAULT_CODEC_OPTIONS if codec_options is None else codec_options)


def _checked(codec_options: CodecOptions[Any] | None) -> CodecOptions[Any]:
    options = codec_options or DEFAULT_CODEC_OPTIONS
    if not isinstance(options, CodecOptions):
        raise TypeError("codec_options must be an instance of CodecOptions")
    return options


def decode_iter(data: bytes, codec_options: CodecOptions[Any] | None = None) -> Iterator[Any]:
    """Restore documents that stand one behind the other in `data`, one at a time. Raises InvalidBSON, as `decode`."""
    options = _checked(codec_options)
    position = 0
    while position < len(data) - 1:
        # A length that is cut off is a `struct.error`, as in PyMongo.
        (size,) = _LENGTH.unpack_from(data, position)
        yield _core.bson_decode(data[position : position + size], options)
        position += size


def decode_file_iter(
    file_obj: BinaryIO | IO[bytes], codec_options: CodecOptions[Any] | None = None
) -> Iterator[Any]:
    """Restore the documents of a binary file, one at a time. Raises InvalidBSON, as `decode`."""
    options = codec_options or DEFAULT_CODEC_OPTIONS
    while head := file_obj.read(4):
        if len(head) != 4:
            raise InvalidBSON("cut off in middle of objsize")
        (size,) = _LENGTH.unpack(head)
        yield _core.bson_decode(head + file_obj.read(max(0, size - 4)), options)


def is_valid(bson: bytes) -> bool:
    """Whether `bson` is one sound document. Raises TypeError: it isn't of the type bytes."""
    if not isinstance(bson, bytes):
        raise TypeError(f"BSON data must be an instance of a subclass of bytes, not {type(bson)}")
    try:
        _core.bson_decode(bson, DEFAULT_CODEC_OPTIONS)
    except MemoryError:
        raise
    except Exception:
        return False
    return True


def has_c() -> bool:
    """Whether the codec is compiled: always."""
    return True


class BSON(bytes):
    """A document's bytes, with methods; the functions cost less."""

    @classmethod
    def encode(
        cls,
        document: Mapping[str, Any],
        check_keys: bool = False,
        codec_options: CodecOptions[Any] = DEFAULT_CODEC_OPTIONS,
    ) -> BSON:
        """Store a mapping; see the function `encode`."""
        return cls(encode(document, check_keys, codec_options))

    def decode(self, codec_options: CodecOptions[Any] = DEFAULT_CODEC_OPTIONS) -> Any:  # type: ignore[override]
        """Restore it; see the function `decode`."""
        return decode(self, codec_options)
