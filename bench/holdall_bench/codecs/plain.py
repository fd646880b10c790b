"""Formats of plain values: JSON, MessagePack, CBOR, BSON, YAML."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from .base import Codec, Ends, Unsuitable, fields_of, first_that_works
from .ours import in_document, out_of_document
from .structs import structs_of

if TYPE_CHECKING:
    from ..data import Subject


def msgspec(format: Any, subject: Subject) -> Ends:
    needs_tree(subject)
    return Ends(format.Encoder().encode, format.Decoder().decode)


def msgspec_typed(format: Any, subject: Subject) -> Ends:
    """Into the same classes as the data's."""
    needs_tree(subject)
    if subject.data.annotation is None:
        raise Unsuitable("no type is known")
    return Ends(format.Encoder().encode, format.Decoder(subject.data.annotation).decode)


def msgspec_structs(format: Any, subject: Subject) -> Ends:
    """msgspec at its best: with Structs of its own for the dataclasses, as arrays."""
    needs_tree(subject)
    if subject.data.annotation is None or not subject.classes:
        raise Unsuitable("no dataclasses")
    annotation, convert = structs_of(subject.data.annotation)
    return Ends(format.Encoder().encode, format.Decoder(annotation).decode, convert)


def needs_tree(subject: Subject) -> None:
    """Codecs that would not end on a cycle, or end the process."""
    if subject.data.identity and subject.data.deep:
        raise Unsuitable("no cycles")


def ormsgpack(ormsgpack: Any, subject: Subject) -> Ends:
    needs_tree(subject)
    keys, dates, arrays = (
        ormsgpack.OPT_NON_STR_KEYS,
        ormsgpack.OPT_DATETIME_AS_TIMESTAMP_EXT,
        ormsgpack.OPT_SERIALIZE_NUMPY,
    )
    pack, unpack = ormsgpack.packb, ormsgpack.unpackb
    if subject.arrays:
        return Ends(lambda value: pack(value, option=arrays), unpack)
    if has_dates(subject.sample):
        return Ends(lambda value: pack(value, option=dates), lambda data: unpack(data, option=dates))

    def with_keys(value: Any) -> bytes:
        return pack(value, option=keys)  # type: ignore[no-any-return]

    if first_that_works(subject.sample, pack, with_keys) is pack:
        return Ends(pack, unpack)
    return Ends(with_keys, lambda data: unpack(data, option=keys))


def has_dates(sample: Any) -> bool:
    from ..data import classes_in

    return any(cls.__module__ == "datetime" for cls in classes_in(sample))


def msgpack(msgpack: Any, subject: Subject, tuples: bool = False) -> Ends:
    needs_tree(subject)
    packer = msgpack.Packer(
        datetime=has_dates(subject.sample), default=fields_of if subject.classes else None
    )
    unpack, lists = msgpack.unpackb, not tuples
    return Ends(packer.pack, lambda data: unpack(data, strict_map_key=False, timestamp=3, use_list=lists))


def orjson(orjson: Any, subject: Subject) -> Ends:
    needs_tree(subject)
    keys, arrays = orjson.OPT_NON_STR_KEYS, orjson.OPT_SERIALIZE_NUMPY
    dumps = orjson.dumps
    if subject.arrays:
        return Ends(lambda value: dumps(value, option=arrays), orjson.loads)
    return Ends(
        first_that_works(subject.sample, dumps, lambda value: dumps(value, option=keys)), orjson.loads
    )


def cbor2(cbor2: Any, subject: Subject, sharing: bool = False) -> Ends:
    if not sharing:
        needs_tree(subject)

    def default(encoder: Any, value: Any) -> None:
        encoder.encode(fields_of(value))

    hook = {"default": default} if subject.classes else {}
    depth = {"max_depth": DEEPEST} if subject.data.deep else {}
    dumps, loads = cbor2.dumps, cbor2.loads
    if hook or depth:
        return Ends(partial(dumps, value_sharing=sharing, **hook), partial(loads, **depth))
    return Ends(lambda value: dumps(value, value_sharing=sharing), loads)


def bson(bson: Any, subject: Subject) -> Ends:
    """PyMongo's; the outermost value has to be a document."""
    needs_tree(subject)
    if subject.classes:
        raise Unsuitable("no classes")
    options = bson.codec_options.CodecOptions(tz_aware=True)
    decode = bson.decode
    ends = Ends(bson.encode, lambda data: decode(data, codec_options=options))
    if isinstance(subject.sample, dict):
        return ends
    return ends.wrapped(in_document, out_of_document)


def yaml(yaml: Any, subject: Subject) -> Ends:
    if subject.classes:
        raise Unsuitable("no classes, unless by unsafe loading")
    dumper, loader = yaml.CSafeDumper, yaml.CSafeLoader

    def dumps(value: Any) -> bytes:
        made: bytes = yaml.dump(value, Dumper=dumper, encoding="utf-8", allow_unicode=True, sort_keys=False)
        return made

    return Ends(dumps, partial(yaml.load, Loader=loader))


# Where the stack is large; by default cbor2 stops at 400.
DEEPEST = 1_000_000

JSON, MSGPACK = "JSON's values", "trees of MessagePack's values"

PLAIN = (
    Codec(
        "msgspec.msgpack",
        "msgspec",
        "msgspec.msgpack",
        MSGPACK,
        "MessagePack: `Encoder().encode`, `Decoder().decode`",
        msgspec,
    ),
    Codec(
        "msgspec.msgpack typed",
        "msgspec",
        "msgspec.msgpack",
        "trees, by type",
        "`Decoder(type)`, which validates",
        msgspec_typed,
    ),
    Codec(
        "msgspec.msgpack Struct",
        "msgspec",
        "msgspec.msgpack",
        "trees, by type, in classes of its own",
        "Structs in place of the dataclasses, `array_like=True`",
        msgspec_structs,
    ),
    Codec(
        "msgspec.json",
        "msgspec",
        "msgspec.json",
        JSON,
        "JSON: `Encoder().encode`, `Decoder().decode`",
        msgspec,
    ),
    Codec(
        "msgspec.json typed",
        "msgspec",
        "msgspec.json",
        "trees, by type",
        "`Decoder(type)`, which validates",
        msgspec_typed,
    ),
    Codec(
        "ormsgpack",
        "ormsgpack",
        "ormsgpack",
        MSGPACK,
        "`packb`, `unpackb`; options only where the data need them",
        ormsgpack,
    ),
    Codec(
        "msgpack",
        "msgpack",
        "msgpack",
        MSGPACK,
        "`Packer().pack`, `unpackb`; a hook for dataclasses",
        msgpack,
    ),
    Codec(
        "msgpack tuples",
        "msgpack",
        "msgpack",
        MSGPACK,
        "the same with `use_list=False`, its documentation's advice for speed",
        partial(msgpack, tuples=True),
    ),
    Codec(
        "orjson", "orjson", "orjson", JSON, "`dumps`, `loads`; options only where the data need them", orjson
    ),
    Codec(
        "cbor2", "cbor2", "cbor2", "trees of CBOR's values", "`dumps`, `loads`; a hook for dataclasses", cbor2
    ),
    Codec(
        "cbor2 sharing",
        "cbor2",
        "cbor2",
        "graphs of CBOR's values",
        "`dumps(value_sharing=True)`, `loads`",
        partial(cbor2, sharing=True),
    ),
    Codec(
        "bson", "pymongo", "bson", "documents", "`encode`, `decode` with `tz_aware`; its C extension", bson
    ),
    Codec(
        "PyYAML",
        "PyYAML",
        "yaml",
        "graphs of YAML's values",
        "`CSafeDumper`, `CSafeLoader`: libyaml",
        yaml,
    ),
)
