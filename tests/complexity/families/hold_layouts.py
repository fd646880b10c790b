"""Layouts: keys of dicts and fields of classes, which are written once and take few bytes later."""

from __future__ import annotations

import math

from holdall import Record
from tests.complexity.family import copies, family, fill
from tests.support import wire as w
from tests.support.kinds import TYPES

ONE = w.integer(1)
MODELS = "tests.support.models."
FIRST = bytes([w.TAG.INSTANCE_FIX])
ANY_RECORD = {"types": Record}


@family("hold")
def empty_shapes(n: int) -> bytes:
    return w.message(w.sequence(w.shape([]), *copies(n, FIRST)))


@family("hold", **ANY_RECORD)
def empty_classes(n: int) -> bytes:
    return w.message(w.sequence(w.layout("object", "a.B", []), *copies(n, FIRST)))


@family("hold", each=("PlainDict", "PlainSlots", "DPoint", "MyDict"), types=TYPES)
def empty_instances(n: int, name: str) -> bytes:
    """A byte each; what the class has in memory."""
    return w.message(w.sequence(w.layout("object", MODELS + name, []), *copies(n, FIRST)))


@family("hold")
def shapes_of_one(n: int) -> bytes:
    return w.message(w.sequence(w.shape(["a"], ONE), *copies(n, FIRST + ONE)))


@family("hold", each={"6": 6, "11": 11, "22": 22, "43": 43})
def shapes_that_have_just_grown(n: int, count: int) -> bytes:
    keys = [f"k{at}" for at in range(count)]
    return w.message(w.sequence(w.shape(keys, ONE * count), *copies(n, FIRST + ONE * count)))


@family("hold")
def shapes_used_once(n: int) -> bytes:
    return w.message(w.sequence(*fill(n, lambda at: w.shape([f"k{at}"], ONE))))


@family("hold")
def shapes_without_keys(n: int) -> bytes:
    return w.message(w.sequence(*copies(n, w.shape([]))))


@family("hold")
def classes_used_once(n: int) -> bytes:
    return w.message(w.sequence(*fill(n, lambda at: w.layout("object", f"a.B{at}", ["f"], ONE))))


@family("hold", types=TYPES)
def one_class_written_again(n: int) -> bytes:
    """What a class is, looked up again and again."""
    part = w.layout("object", MODELS + "PlainDict", ["a"], ONE)
    return w.message(w.sequence(*copies(n, part)))


@family("hold", types=TYPES)
def one_class_with_other_fields(n: int) -> bytes:
    return w.message(
        w.sequence(*fill(n, lambda at: w.layout("object", MODELS + "PlainDict", [f"a{at}"], ONE)))
    )


@family("hold", types=TYPES)
def one_class_of_many_versions(n: int) -> bytes:
    return w.message(
        w.sequence(*fill(n, lambda at: w.layout("object", MODELS + "DPoint", ["x"], ONE, version=at)))
    )


@family("hold", types=TYPES)
def an_enumeration_written_again(n: int) -> bytes:
    part = w.layout("enum", MODELS + "Color", [], w.text("RED"))
    return w.message(w.sequence(*copies(n, part)))


@family("hold", types=TYPES)
def members_of_an_enumeration(n: int) -> bytes:
    first = w.layout("enum", MODELS + "Color", [], w.text("RED"))
    return w.message(w.sequence(first, *copies(n, FIRST + w.text("RED"))))


@family("hold", types=TYPES)
def flags_by_value(n: int) -> bytes:
    """Members that are made of others are kept by `enum` for ever."""
    first = w.layout("enum", MODELS + "Access", [], ONE)
    return w.message(w.sequence(first, *fill(n, lambda at: FIRST + w.integer(at))))


@family("hold", each=("DICT", "SHAPE", "CLASS"), **ANY_RECORD)
def a_wide_layout(n: int, name: str) -> bytes:
    keys = [f"k{at}" for at in range(n // 8)]
    if name == "DICT":
        return w.message(w.dict_(*[part for key in keys for part in (w.text(key), ONE)]))
    if name == "SHAPE":
        return w.message(w.shape(keys, ONE * len(keys)))
    return w.message(w.layout("object", "a.B", keys, ONE * len(keys)))


@family("hold", each=("SHAPE", "CLASS"), **ANY_RECORD)
def a_wide_layout_in_itself(n: int, name: str) -> bytes:
    """Each instance claims as many values as there are keys."""
    keys = [f"k{at}" for at in range(math.isqrt(n))]
    head = w.shape(keys) if name == "SHAPE" else w.layout("object", "a.B", keys)
    return w.message(w.sequence(head + FIRST * (n - len(head))))


@family("hold", each=("SHAPE", "CLASS"), **ANY_RECORD)
def a_wide_layout_nested_in_its_first_value(n: int, name: str) -> bytes:
    """Open at once as many instances as there is room for their values."""
    width = max(math.isqrt(n) // 2, 1)
    keys = [f"k{at}" for at in range(width)]
    head = w.shape(keys) if name == "SHAPE" else w.layout("object", "a.B", keys)
    depth = (n - len(head)) // width
    return w.message(w.sequence(head + FIRST * depth + ONE * width + ONE * (width - 1) * depth))


@family("hold", **ANY_RECORD)
def layouts_of_references(n: int) -> bytes:
    """Names by reference: a layout of many costs two bytes a name."""
    count = min(n // 20, 200)
    keys = [f"k{at}" for at in range(count)]
    block = b"".join(w.tag("REF_8", bytes([at + 1])) for at in range(count))
    part = w.tag("SHAPE", w.length(count), w.length(len(block)), block, ONE * count)
    return w.message(w.sequence(w.shape(keys, ONE * count), *copies(n, part)))


@family("hold", **ANY_RECORD)
def classes_of_one_long_name(n: int) -> bytes:
    """The class's name by reference, the same fields: as many classes as three bytes are."""
    name = "a." + "b" * (n // 2)
    part = w.tag("CLASS", b"\x00\x01\x00", w.length(2), w.tag("REF_8", b"\x01"))
    return w.message(w.sequence(w.layout("object", name, []), *copies(n // 2, part)))


@family("hold")
def unknown_class_of_a_long_name(n: int) -> bytes:
    """Told in the error, or cut short there."""
    return w.message(w.layout("object", "a." + "b" * n, []))


@family("hold", types=TYPES)
def class_of_a_long_dotted_name(n: int) -> bytes:
    return w.message(w.layout("object", "a." * (n // 2) + "b", []))


@family("hold", types=TYPES)
def many_long_dotted_names(n: int) -> bytes:
    return w.message(
        w.sequence(*fill(n, lambda at: w.layout("object", "tests.support.models." + "a." * 50 + str(at), [])))
    )


@family("hold", each={"at the end": False, "at the start": True})
def duplicate_in_a_wide_layout(n: int, first: bool) -> bytes:
    keys = [f"k{at}" for at in range(n // 8)]
    keys = [keys[0], *keys] if first else [*keys, keys[0]]
    return w.message(w.shape(keys, ONE * len(keys)))


@family("hold", **ANY_RECORD)
def named_tuples_and_records_in_sets(n: int) -> bytes:
    """Records are compared and hashed by what they are."""
    first = w.layout("object", "a.B", ["x"], ONE)
    parts = fill(n, lambda at: FIRST + w.integer(at * ((1 << 61) - 1)))
    return w.message(w.sized("SET", len(parts) + 1, first, *parts))


@family("hold", types=TYPES)
def frozen_instances_in_sets(n: int) -> bytes:
    """A dataclass hashes the tuple of its fields: ints that collide make tuples that do."""
    first = w.layout("object", MODELS + "DFrozen", ["x", "y"], ONE, ONE)
    parts = fill(n, lambda at: FIRST + w.integer((at + 2) * ((1 << 61) - 1)) + ONE)
    return w.message(w.sized("SET", len(parts) + 1, first, *parts))


@family("hold", types=TYPES)
def one_large_tuple_in_many_frozen_instances(n: int) -> bytes:
    shared = w.mark(w.tuple_(*[ONE] * (n // 2)))
    first = w.layout("object", MODELS + "DFrozen", ["x", "y"], w.reference(1), w.integer(-5))
    parts = fill(n // 2, lambda at: FIRST + w.reference(1) + w.integer(at))
    return w.message(w.sequence(shared, w.sized("SET", len(parts) + 1, first, *parts)))


@family("hold")
def references_to_names_of_another_member(n: int) -> bytes:
    """One member has a layout of many names, another refers to each: who loads the second alone looks for each in the first."""
    count = n // 14
    keys = [f"k{at}" for at in range(count)]
    uses = [w.reference(at + 1) for at in range(count)]
    return w.message(w.sequence(w.shape(keys, ONE * count), w.sequence(*uses)))


@family("hold")
def references_to_objects_of_another_member(n: int) -> bytes:
    count = n // 8
    marked = [w.mark(bytes([w.TAG.LIST_FIX]))] * count
    uses = [w.reference(at * 7919 % count + 1) for at in range(count)]
    return w.message(w.sequence(w.sequence(*marked), w.sequence(*uses)))


@family("hold")
def references_within_references(n: int) -> bytes:
    """Each of the second member's is in the first, and refers to the one before: read one within the other."""
    count = n // 16
    marked = [w.mark(bytes([w.TAG.LIST_FIX + 1]) + (w.reference(at) if at else ONE)) for at in range(count)]
    uses = [w.reference(count - at) for at in range(count)]
    return w.message(w.sequence(w.sequence(*marked), w.sequence(*uses)))
