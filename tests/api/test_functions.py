"""The functions' own behaviour: options, reuse, hooks, re-entrancy, threads, buffers."""

from __future__ import annotations

import array
import contextlib
import gc
import inspect
import pickle
import threading
from typing import Any, Callable

import pytest

import holdall
from tests.support import models
from tests.support.each import each
from tests.support.isomorphic import isomorphic
from tests.support.kinds import KINDS, TYPES, Kind, build, shared_things, text


# --- signatures and options ------------------------------------------------------------------------------------------
def test_exceptions_form_a_family() -> None:
    assert issubclass(holdall.HoldallError, ValueError)
    for cls in (holdall.EncodeError, holdall.DecodeError):
        assert cls.__bases__ == (holdall.HoldallError,)
    for name in ("TruncatedError", "ChecksumError", "LimitError", "UnknownTypeError", "ValidationError"):
        assert issubclass(getattr(holdall, name), holdall.DecodeError)


def test_decode_errors_survive_pickle() -> None:
    """They cross process borders in pools and test runners."""
    try:
        holdall.loads(holdall.dumps([models.DPoint(1)]))
    except holdall.UnknownTypeError as error:
        back = pickle.loads(pickle.dumps(error))
        assert str(back) == str(error) and type(back) is type(error)
        assert (back.offset, back.type_name) == (error.offset, error.type_name)


@pytest.mark.parametrize("function", [holdall.dumps, holdall.loads], ids=lambda f: f.__name__)
def test_signatures_can_be_asked_for(function: Callable[..., Any]) -> None:
    names = list(inspect.signature(function).parameters)
    expected = {
        "dumps": ["obj", "refs", "canonical", "trust", "intern", "enc_hook", "buffers", "seal"],
        "loads": [
            "data",
            "type",
            "types",
            "trust",
            "strict",
            "dec_hook",
            "resolver",
            "limits",
            "buffers",
            "seal",
        ],
    }
    assert names == expected[function.__name__]


def test_options_are_keywords_and_known() -> None:
    for call in (
        lambda: holdall.dumps(1, True),  # type: ignore[misc]
        lambda: holdall.dumps(1, nope=True),  # type: ignore[call-arg]
        lambda: holdall.dumps(obj=1),  # type: ignore[call-arg]
        lambda: holdall.loads(b"", ()),  # type: ignore[misc]
        lambda: holdall.Encoder(nope=1),  # type: ignore[call-arg]
        lambda: holdall.Limits(5),  # type: ignore[misc]
        lambda: holdall.dumps(),  # type: ignore[call-arg]
    ):
        with pytest.raises(TypeError):
            call()


@pytest.mark.parametrize("options", [{"enc_hook": 5}, {"buffers": 5}], ids=str)
def test_options_of_wrong_types(options: dict[str, Any]) -> None:
    with pytest.raises(TypeError):
        holdall.dumps([object(), array.array("d", [1.0])], **options)


def test_types() -> None:
    assert holdall.loads(holdall.dumps([1]), type=list[int]) == [1]
    assert holdall.Decoder(type=list[int]).decode(holdall.dumps([1])) == [1]
    for load in (holdall.Decoder(type=str).decode, lambda data: holdall.loads(data, type=str)):
        with pytest.raises(holdall.ValidationError, match=r"^Expected `str`, got `int`$"):
            load(holdall.dumps(1))


def test_limits() -> None:
    limits = holdall.Limits(depth=5, objects=10)
    assert (limits.depth, limits.objects, limits.bytes) == (5, 10, None)
    with pytest.raises(AttributeError):
        limits.depth = 6  # type: ignore[misc]
    for bad in (-1, "5", 1.5):
        with pytest.raises((TypeError, ValueError, OverflowError)):
            holdall.Limits(depth=bad)  # type: ignore[arg-type]


def test_limit_of_objects() -> None:
    data = holdall.dumps([[] for _ in range(100)])
    holdall.loads(data, limits=holdall.Limits(objects=1_000))
    with pytest.raises(holdall.LimitError, match=r"limits\.objects=50\b"):
        holdall.loads(data, limits=holdall.Limits(objects=50))


def test_limit_of_bytes() -> None:
    data = holdall.dumps([text("word") * 10 for _ in range(1_000)])
    holdall.loads(data, limits=holdall.Limits(bytes=10_000_000))
    with pytest.raises(holdall.LimitError, match=r"limits\.bytes=10000\b"):
        holdall.loads(data, limits=holdall.Limits(bytes=10_000))


# --- Encoder and Decoder ---------------------------------------------------------------------------------------------
@each("kind", KINDS, ids=lambda kind: kind.name)
def test_encoder_is_dumps_and_decoder_loads(kind: Kind) -> None:
    obj = kind.make()
    encoder, decoder = holdall.Encoder(), holdall.Decoder(types=TYPES)
    for _ in range(3):
        assert encoder.encode(obj) == holdall.dumps(obj)
        isomorphic(obj, decoder.decode(holdall.dumps(obj)))


def test_options_of_the_encoder() -> None:
    shared = shared_things()
    for options in ({"refs": False}, {"canonical": True}, {"intern": True}, {"trust": True}):
        assert holdall.Encoder(**options).encode(shared) == holdall.dumps(shared, **options)  # type: ignore[arg-type]
    assert holdall.Encoder(enc_hook=str).encode(object)[:1] == holdall.dumps(1)[:1]


def test_encoder_after_an_error() -> None:
    encoder = holdall.Encoder()
    expected = encoder.encode([1, [2]])
    for bad in ([[1], object], {"a": len}):
        with pytest.raises(holdall.EncodeError):
            encoder.encode(bad)
        assert encoder.encode([1, [2]]) == expected


def test_decoder_after_an_error() -> None:
    decoder = holdall.Decoder(types=TYPES)
    data = holdall.dumps([models.DPoint(1, [2])])
    for end in range(len(data)):
        with pytest.raises(holdall.DecodeError):
            decoder.decode(data[:end])
        isomorphic([models.DPoint(1, [2])], decoder.decode(data))


@pytest.mark.parametrize("offset", [0, 1, 5, 100, 5_000])
def test_encode_into(offset: int) -> None:
    encoder = holdall.Encoder()
    for obj in (1, "text", list(range(1_000)), ["x" * 10_000]):
        data = encoder.encode(obj)
        buffer = bytearray(b"\xaa" * 5_000)
        end = encoder.encode_into(obj, buffer, offset)
        assert end == offset + len(data)
        assert buffer[offset:end] == data
        assert buffer[:offset] == b"\xaa" * offset
        assert len(buffer) == end  # what was behind is cut off, as msgspec does


def test_encode_into_wrong_places() -> None:
    encoder = holdall.Encoder()
    for bad_offset in (-1, 11, 1 << 70):
        with pytest.raises((ValueError, OverflowError, IndexError)):
            encoder.encode_into(1, bytearray(10), bad_offset)
    for bad_buffer in (b"bytes", [1], memoryview(bytearray(10)), None):
        with pytest.raises(TypeError):
            encoder.encode_into(1, bad_buffer)  # type: ignore[arg-type]


def test_encode_into_a_buffer_that_is_looked_at() -> None:
    """A bytearray with a view on it can't grow: an error, and the buffer as it was."""
    buffer = bytearray(10)
    with memoryview(buffer), pytest.raises((BufferError, holdall.EncodeError)):
        holdall.Encoder().encode_into("x" * 1_000, buffer)
    assert len(buffer) == 10
    assert holdall.Encoder().encode_into("x" * 1_000, buffer) == len(buffer)


def test_encode_into_leaves_the_buffer_after_an_error() -> None:
    buffer = bytearray(b"\xaa" * 10)
    with pytest.raises(holdall.EncodeError):
        holdall.Encoder().encode_into(["x" * 100, object], buffer)
    assert buffer == b"\xaa" * 10


# --- hooks -----------------------------------------------------------------------------------------------------------
class Unknown:
    """Can't be stored: it has a reducer."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __reduce__(self) -> Any:
        raise AssertionError("not asked for without trust")


def test_enc_hook_replaces() -> None:
    data = holdall.dumps([Unknown(1), {"k": Unknown([2])}], enc_hook=lambda obj: ("unknown", obj.value))
    assert holdall.loads(data) == [("unknown", 1), {"k": ("unknown", [2])}]


def test_enc_hook_may_return_what_needs_it_again() -> None:
    data = holdall.dumps(Unknown(3), enc_hook=lambda obj: Unknown(obj.value - 1) if obj.value else "done")
    assert holdall.loads(data) == "done"


def test_enc_hook_without_end() -> None:
    with pytest.raises(holdall.EncodeError):
        holdall.dumps(Unknown(1), enc_hook=lambda obj: obj)
    with pytest.raises((holdall.EncodeError, RecursionError)):
        holdall.dumps(Unknown(1), enc_hook=lambda obj: [Unknown(obj.value)])


def test_enc_hook_keeps_sharing() -> None:
    shared = Unknown([1])
    back = holdall.loads(
        holdall.dumps([shared, shared, Unknown([1])], enc_hook=lambda obj: {"value": obj.value})
    )
    assert back[0] is back[1] and back[0] is not back[2] and back[0] == {"value": [1]}


def test_replacements_live_long_enough() -> None:
    """Two replacements at one address must not become one object."""
    objects = [Unknown(i) for i in range(2_000)]
    back = holdall.loads(
        holdall.dumps(objects, enc_hook=lambda obj: [[obj.value], text(f"value {obj.value}")])
    )
    assert back == [[[i], f"value {i}"] for i in range(2_000)]


def test_errors_of_hooks_come_through() -> None:
    def hook(obj: Any) -> Any:
        raise ZeroDivisionError("in the hook")

    with pytest.raises(ZeroDivisionError, match="in the hook"):
        holdall.dumps([1, Unknown(1)], enc_hook=hook)
    assert gc.isenabled()


def test_enc_hook_may_use_holdall() -> None:
    encoder = holdall.Encoder(enc_hook=lambda obj: encoder.encode([obj.value]))
    decoder = holdall.Decoder()
    back = decoder.decode(encoder.encode([Unknown(Unknown("deep")), "after", Unknown(2)]))
    assert decoder.decode(decoder.decode(back[0])[0]) == ["deep"]
    assert back[1] == "after" and decoder.decode(back[2]) == [2]


def test_enc_hook_writes_into_the_same_buffer() -> None:
    """The encoder's own buffer is in use: the inner call gets another."""
    buffer = bytearray()
    encoder = holdall.Encoder(enc_hook=lambda obj: encoder.encode_into("inner " * 100, buffer))
    end = encoder.encode_into(["outer", Unknown(1), "more"], buffer)
    assert holdall.loads(bytes(buffer[:end])) == ["outer", len(holdall.dumps("inner " * 100)), "more"]


MUTATIONS: dict[str, Callable[[list[Any]], Any]] = {
    "clear": lambda found: found.clear(),
    "append": lambda found: found.append(1),
    "extend": lambda found: found.extend([[]] * 10_000),
    "pop": lambda found: found.pop(),
    "delete": lambda found: found.__delitem__(slice(0, 2)),
    "replace": lambda found: found.__setitem__(slice(None), [[]] * len(found)),
}


@pytest.mark.parametrize("name", MUTATIONS)
def test_a_list_changed_by_the_hook(name: str) -> None:
    """Refused or stored as it is by then, but no crash and no nonsense."""
    found: list[Any] = [[0], Unknown(1), *([i] for i in range(50))]

    def hook(obj: Any) -> Any:
        MUTATIONS[name](found)
        gc.collect()
        return "replaced"

    try:
        data = holdall.dumps(found, enc_hook=hook)
    except holdall.EncodeError:
        return
    back = holdall.loads(data)
    assert back[:2] == [[0], "replaced"] and len(back) == len(found)


@each("change", ["clear", "add", "delete", "replace"])
@each("kind", ["dict", "attributes", "set", "ordered", "deque"])
def test_a_container_changed_by_the_hook(kind: str, change: str) -> None:
    import collections

    table: Any = {"first": [0], "unknown": Unknown(1), **{f"k{i}": [i] for i in range(20)}}
    obj: Any = table
    if kind == "attributes":
        obj = build(models.PlainDict, **table)
        table = vars(obj)
    elif kind == "set":
        obj = table = {Unknown(1), *range(20)}
    elif kind == "ordered":
        obj = table = collections.OrderedDict(table)
    elif kind == "deque":
        obj = table = collections.deque(table.values())

    def hook(_: Any) -> Any:
        if change == "clear":
            table.clear()
        elif change == "replace" and isinstance(table, dict):
            for key in table:
                table[key] = []
        elif isinstance(table, dict):
            table.update(new=1) if change == "add" else table.pop("k5", None)
        elif isinstance(table, set):
            table.add(1000) if change == "add" else table.discard(5)
        else:
            table.append(1) if change == "add" else table.pop()
        gc.collect()
        return "replaced"

    try:
        data = holdall.dumps([obj, "after"], enc_hook=hook)
    except holdall.EncodeError:
        return
    assert holdall.loads(data, types=TYPES)[1] == "after"


class Meddler:
    """Changes the list that holds it when it is compared as a key."""

    def __init__(self, victim: list[Any]) -> None:
        self.victim = victim

    def __hash__(self) -> int:
        return 1

    def __eq__(self, other: object) -> bool:
        self.victim.clear()
        return self is other


def test_code_of_classes_that_meddles() -> None:
    victim: list[Any] = [[1], [2]]
    table = {}
    for _ in range(3):
        table[Meddler(victim)] = victim
    victim.extend([1, 2, 3])
    data = holdall.dumps([victim, table, victim])
    # its victim may not exist yet: an AttributeError inside __eq__
    with contextlib.suppress(holdall.DecodeError):
        holdall.loads(data, types=[Meddler])


# --- threads ---------------------------------------------------------------------------------------------------------
def test_one_encoder_and_decoder_in_many_threads() -> None:
    encoder, decoder = holdall.Encoder(enc_hook=lambda obj: [obj.value]), holdall.Decoder(types=TYPES)
    problems: list[BaseException] = []

    def work(seed: int) -> None:
        try:
            for i in range(100):
                obj = [models.DPoint(seed, [i]), {"seed": seed, "text": text(f"thread {seed}")}] * 10
                isomorphic(obj, decoder.decode(encoder.encode(obj)))
                assert decoder.decode(encoder.encode([Unknown(i), seed])) == [[i], seed]
        except BaseException as error:
            problems.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []


# --- the collector ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("enabled", [True, False])
def test_the_collector_is_left_as_it_was(enabled: bool) -> None:
    (gc.enable if enabled else gc.disable)()
    try:
        data = holdall.dumps([[], models.DPoint(1)])
        assert gc.isenabled() is enabled
        holdall.loads(data, types=TYPES)
        assert gc.isenabled() is enabled
        with pytest.raises(holdall.DecodeError):
            holdall.loads(data)
        with pytest.raises(holdall.EncodeError):
            holdall.dumps([object])
        holdall.deepcopy([[]])
        assert gc.isenabled() is enabled
    finally:
        gc.enable()


def test_what_is_loaded_is_collected() -> None:
    gc.collect()
    back = holdall.loads(
        holdall.dumps([KINDS[0].make(), [[]], {"a": []}, models.DNode("n", [])]), types=TYPES
    )
    back.append(back)
    for obj in (back, back[1], back[2]["a"], back[3]):
        assert gc.is_tracked(obj)
    del back, obj
    assert gc.collect() > 0


# --- out-of-band buffers ---------------------------------------------------------------------------------------------
def test_buffers_of_pickle_buffer() -> None:
    source = bytearray(b"x" * 10_000)
    buffers: list[Any] = []
    data = holdall.dumps([pickle.PickleBuffer(source), "rest"], buffers=buffers)
    assert len(data) < 100 and len(buffers) == 1 and bytes(buffers[0]) == source
    back = holdall.loads(data, buffers=buffers)
    assert bytes(back[0]) == source and back[1] == "rest"
    with pytest.raises(holdall.DecodeError):
        holdall.loads(data)


def test_pickle_buffer_in_band() -> None:
    back = holdall.loads(holdall.dumps(pickle.PickleBuffer(b"data")))
    assert bytes(back) == b"data"


def test_buffers_in_any_order_of_use() -> None:
    buffers: list[Any] = []
    pieces = [pickle.PickleBuffer(bytearray([i]) * 1_000) for i in range(5)]
    data = holdall.dumps(pieces, buffers=buffers)
    back = holdall.loads(data, buffers=iter(buffers))
    assert [bytes(piece)[:1] for piece in back] == [bytes([i]) for i in range(5)]


# --- deepcopy --------------------------------------------------------------------------------------------------------
@each("kind", KINDS, ids=lambda kind: kind.name)
def test_deepcopy(kind: Kind) -> None:
    obj = kind.make()
    isomorphic(obj, holdall.deepcopy(obj))
    isomorphic([obj, obj], holdall.deepcopy([obj, obj]))


def test_deepcopy_shares_nothing_that_can_change() -> None:
    obj = [{"a": [1]}, models.DSlots([2]), {3}, bytearray(b"x")]
    back = holdall.deepcopy(obj)
    back[0]["a"].append(2)
    back[1].x.append(3)
    back[2].add(4)
    back[3].append(1)
    isomorphic([{"a": [1]}, models.DSlots([2]), {3}, bytearray(b"x")], obj)


def test_deepcopy_memo() -> None:
    inner = [1]
    memo: dict[int, Any] = {}
    back = holdall.deepcopy([inner, inner], memo)
    assert back[0] is back[1] and back[0] is not inner


def test_deepcopy_keeps_code_by_reference() -> None:
    obj = [len, models.DPoint, {"f": text}]
    assert holdall.deepcopy(obj) == obj
