"""`holdall.bson.install`: what it sets, that its messages are those of PyMongo's C functions, and that nothing is left behind.

`tests/mongo` has the same with a server.
"""

from __future__ import annotations

import importlib
import itertools
import subprocess
import sys
import threading
from types import SimpleNamespace

import bson
import pymongo
import pytest
from bson import CodecOptions, InvalidDocument, decode, decode_all, encode
from bson.raw_bson import RawBSONDocument
from pymongo import message
from pymongo.errors import DocumentTooLarge, InvalidOperation

import holdall.bson
from holdall import _core
from holdall.bson import _install

OPTIONS = bson.DEFAULT_CODEC_OPTIONS
C = getattr(message, "_cmessage", None)
needs_c = pytest.mark.skipif(C is None, reason="this PyMongo has no C extensions")
INSERT, UPDATE, DELETE = range(3)


def names():
    """What every name in PyMongo's modules means."""
    return {
        (module_name, key): value
        for module_name, module in list(sys.modules.items())
        # None stands for a module that must not be found.
        if module_name.partition(".")[0] in ("bson", "gridfs", "pymongo") and module is not None
        for key, value in vars(module).items()
    }


@pytest.fixture(autouse=True)
def as_it_was():
    before = names()
    yield
    holdall.bson.uninstall()
    after = names()
    assert [name for name, value in before.items() if after[name] is not value] == []


@pytest.fixture
def calls(monkeypatch):
    """The names of the native functions that were called, in order."""
    seen = []

    def watch(name):
        native = getattr(_core, name)

        def watched(*arguments):
            seen.append(name)
            return native(*arguments)

        monkeypatch.setattr(_core, name, watched)

    for name in ("bson_encode", "bson_decode", "bson_decode_all"):
        watch(name)
    return seen


def goes_through(calls):
    calls.clear()
    bson.encode({"a": 1})
    return calls == ["bson_encode"]


# --- what is reached ---


def test_names_that_were_imported_before(calls):
    data = encode({"a": 1})
    with holdall.bson.install():
        calls.clear()
        assert encode({"a": 1}) == bson.BSON.encode({"a": 1}) == data
        assert decode(data) == bson.BSON(data).decode() == {"a": 1}
        assert decode_all(data + data) == [{"a": 1}, {"a": 1}]
        assert list(bson.decode_iter(data)) == [{"a": 1}]
        assert bson.is_valid(data)
    assert calls == [*["bson_encode"] * 2, *["bson_decode"] * 2, "bson_decode_all", *["bson_decode"] * 2]
    encode(decode(data))
    assert len(calls) == 7


def test_modules_that_imported_names(calls):
    with holdall.bson.install():
        for (module, key), value in names().items():
            if key in ("_dict_to_bson", "_bson_to_dict", "_decode_all") and module != "bson._cbson":
                assert value is getattr(bson, key), module
        calls.clear()
        message._dict_to_bson({}, False, OPTIONS)
    assert calls == ["bson_encode"]


@needs_c
def test_no_c_function_that_encodes_is_left():
    with holdall.bson.install():
        left = {key for key, value in vars(message).items() if getattr(value, "__self__", None) is C}
    assert left <= {"_get_more_uncompressed"}


def test_a_module_that_is_imported_meanwhile(monkeypatch):
    # It lies elsewhere before 4.9.
    name = "pymongo.synchronous.change_stream"
    if name not in sys.modules:
        name = "pymongo.change_stream"
    monkeypatch.setattr(sys.modules[name.rpartition(".")[0]], "change_stream", None)
    monkeypatch.delitem(sys.modules, name)
    original = bson._bson_to_dict
    with holdall.bson.install():
        late = importlib.import_module(name)
        assert late._bson_to_dict is bson._bson_to_dict is not original
    assert late._bson_to_dict is original


def test_documents_within_code_keep_the_place_of_their_id():
    scope = {"a": 1, "_id": 2}
    original = bson._dict_to_bson
    with holdall.bson.install():
        assert bson._dict_to_bson(scope, False, OPTIONS, False) == original(scope, False, OPTIONS, False)
        assert bson._dict_to_bson(scope, False, OPTIONS) == original(scope, False, OPTIONS)


def test_options_are_passed_on():
    options = CodecOptions(document_class=RawBSONDocument)
    with holdall.bson.install():
        assert type(decode(encode({"a": 1}), options)) is RawBSONDocument
        with pytest.raises(InvalidDocument):
            encode({"$a": 1}, check_keys=True)


def test_it_goes_on_after_failures(calls):
    with holdall.bson.install():
        for _ in range(3):
            with pytest.raises(InvalidDocument):
                encode({"a": object()})
            with pytest.raises(bson.InvalidBSON):
                decode(b"\x05\0\0\0\1")
        assert goes_through(calls)


def test_pymongo_without_c_extensions():
    """In a process of its own, where they seem to be missing."""
    program = """if True:
        import sys
        sys.modules["bson._cbson"] = sys.modules["pymongo._cmessage"] = None
        import bson, holdall.bson
        from bson.codec_options import DEFAULT_CODEC_OPTIONS as options
        from holdall import _core
        from pymongo import message
        from types import SimpleNamespace

        assert not bson.has_c()
        native, calls = _core.bson_encode, []
        _core.bson_encode = lambda *arguments: calls.append(1) or native(*arguments)
        limits = SimpleNamespace(max_bson_size=100, max_write_batch_size=2, max_message_size=1000)
        batch = lambda: message._encode_batched_op_msg(0, {"insert": "c"}, [{"a": n} for n in range(3)], True, options, limits)
        own = batch()
        with holdall.bson.install():
            assert batch() == own
            assert bson.decode(bson.encode({"a": 1})) == {"a": 1}
        bson.encode({})
        print(len(calls))
    """
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (result.stdout.strip(), result.stderr) == ("4", "")


# --- beginning and end ---


def test_twice_is_as_once(calls):
    holdall.bson.install()
    first = names()
    holdall.bson.install()
    second = names()
    assert [name for name in first if first[name] is not second[name]] == []
    assert goes_through(calls)
    holdall.bson.uninstall()
    assert not goes_through(calls)
    holdall.bson.uninstall()
    assert not goes_through(calls)


def test_a_block_ends_with_an_error_too(calls):
    with pytest.raises(KeyError), holdall.bson.install():
        raise KeyError
    assert not goes_through(calls)


def test_a_block_takes_back_its_own_install_alone(calls):
    holdall.bson.install()
    with holdall.bson.install():
        with holdall.bson.install():
            pass
        assert goes_through(calls)
    assert goes_through(calls)
    holdall.bson.uninstall()
    assert not goes_through(calls)


def test_uninstall_within_a_block(calls):
    with holdall.bson.install():
        holdall.bson.uninstall()
        assert not goes_through(calls)
        holdall.bson.install()
    assert goes_through(calls)


def test_a_block_begins_once():
    taken_back = holdall.bson.install()
    holdall.bson.uninstall()
    ended = holdall.bson.install()
    with ended:
        pass
    for installed in (taken_back, ended):
        with (
            pytest.raises(RuntimeError, match="^cannot begin a block with an install that was taken back$"),
            installed,
        ):
            pass


def test_threads_with_blocks_of_their_own():
    original = bson._dict_to_bson
    wrong = []

    def work():
        for _ in range(50):
            with holdall.bson.install():
                if bson._dict_to_bson is original or decode(encode({"a": [1]})) != {"a": [1]}:
                    wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert bson._dict_to_bson is original


# --- what it refuses ---


def test_pymongo_is_not_there():
    program = """if True:
        import sys
        sys.modules["pymongo"] = None
        import holdall.bson
        try:
            holdall.bson.install()
        except ImportError as error:
            print(error)
    """
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (result.stdout, result.stderr) == ("install() is for PyMongo: install `holdall[bson]`\n", "")


def refused():
    before = names()
    with pytest.raises(RuntimeError) as error:
        holdall.bson.install()
    assert names() == before
    start = f"cannot install into PyMongo {pymongo.version}: "
    assert str(error.value).startswith(start)
    return str(error.value)[len(start) :]


def test_an_old_version(monkeypatch):
    monkeypatch.setattr(pymongo, "version_tuple", (4, 5, 0))
    assert refused() == f"expected version 4.6 or newer, found {pymongo.version}"


@pytest.mark.parametrize("name", ["_dict_to_bson", "_bson_to_dict", "_decode_all"])
def test_a_name_that_is_missing(monkeypatch, name):
    monkeypatch.delattr(bson, name)
    assert refused() == f"expected the function bson.{name}, found none"


@needs_c
def test_a_c_function_that_is_missing(monkeypatch):
    monkeypatch.setattr(message, "_batched_op_msg", lambda *arguments: C._batched_op_msg(*arguments))
    assert refused() == "expected the C function _batched_op_msg in pymongo.message, found none"


@needs_c
def test_a_c_function_that_is_not_known(monkeypatch):
    monkeypatch.setattr(message, "_more", C.__dir__, raising=False)
    assert refused() == "expected known C functions in pymongo.message, found __dir__"


@needs_c
def test_messages_that_are_built_in_another_way(monkeypatch):
    native = _core.bson_encode
    monkeypatch.setattr(_core, "bson_encode", lambda doc, *options: native({**doc, "more": 1}, *options))
    assert refused() == "expected messages of _op_msg as they are known, found others"


# --- messages ---

DOCUMENTS = [
    {"_id": 1},
    {"n": 2, "_id": 2, "text": "x" * 50},
    {"a": [1, {"b": None}]},
    RawBSONDocument(encode({"x": 1, "_id": 5})),
    {},
    {"d": b"0" * 20},
    *({"n": n} for n in range(10)),
]
COMMANDS = {INSERT: {"insert": "c", "ordered": True}, UPDATE: {"update": "größe"}, DELETE: {"delete": "c"}}


def limits(size=1000, count=100, message_size=None):
    return SimpleNamespace(
        max_bson_size=size,
        max_message_size=message_size or size,
        max_split_size=message_size or size,
        max_write_batch_size=count,
    )


def outcome(function, *arguments):
    """What it returns, without the number of the request; or the kind of error and its text."""
    try:
        result = function(*arguments)
    except Exception as error:
        return type(error), str(error)
    if isinstance(result[0], int):
        request_id, data, *rest = result
        assert int.from_bytes(data[4:8], "little") == request_id > 0
        assert int.from_bytes(data[:4], "little") == len(data)
        return data[8:], *rest
    return result


@pytest.fixture
def both():
    """The name of a C function and arguments: what it does, after it is sure that both do the same."""
    ours = _install._messages(_core.bson_encode)

    def same(name, *arguments):
        theirs = outcome(getattr(C, name), *arguments)
        result = outcome(ours[name], *arguments)
        assert result == theirs
        return result

    return same


@needs_c
@pytest.mark.parametrize("ack", [True, False])
@pytest.mark.parametrize("operation", COMMANDS)
@pytest.mark.parametrize("name", ["_batched_op_msg", "_encode_batched_op_msg"])
def test_batches_end_where_they_do(both, name, operation, ack):
    ends = set()
    for size in range(20, 600):
        result = both(name, operation, COMMANDS[operation], DOCUMENTS, ack, OPTIONS, limits(200, 100, size))
        ends.add(result[0] if isinstance(result[0], type) else len(result[-1]))
    # Nothing fits; one document more at a time; all fit.
    assert ends == {DocumentTooLarge, *range(1, len(DOCUMENTS) + 1)}
    for count in range(1, len(DOCUMENTS) + 2):
        sent = both(name, operation, COMMANDS[operation], DOCUMENTS, ack, OPTIONS, limits(1000, count))[-1]
        assert sent == DOCUMENTS[:count]
        assert all(map(lambda a, b: a is b, sent, DOCUMENTS))


@needs_c
@pytest.mark.parametrize("operation", COMMANDS)
def test_batches_to_be_encrypted_end_where_they_do(both, operation):
    name = "_encode_batched_write_command"
    ends = set()
    for size in range(20, 700):
        result = both(
            name, "db.$cmd", operation, COMMANDS[operation], DOCUMENTS, OPTIONS, limits(200, 100, size)
        )
        ends.add(len(result[-1]))
    assert ends == {*range(1, len(DOCUMENTS) + 1)}
    for count in range(1, len(DOCUMENTS) + 2):
        sent = both(name, "größe", operation, COMMANDS[operation], DOCUMENTS, OPTIONS, limits(1000, count))[
            -1
        ]
        assert sent == DOCUMENTS[:count]


@needs_c
@pytest.mark.parametrize("over", [-1, 0, 1])
@pytest.mark.parametrize("operation", COMMANDS)
def test_documents_too_large(both, operation, over):
    most = 1000
    command = COMMANDS[operation]
    kinds = []
    for allowed in (most, most + 16382):
        large = {"a": bytes(allowed - len(encode({"a": b""})) + over)}
        assert len(encode(large)) == allowed + over
        for ack in (True, False):
            for size in (1, 1 << 20):
                both("_batched_op_msg", operation, command, [large], ack, OPTIONS, limits(most, 9, size))
                both(
                    "_batched_op_msg", operation, command, [{}, large], ack, OPTIONS, limits(most, 9, 1 << 20)
                )
        result = both(
            "_encode_batched_write_command", "d.$cmd", operation, command, [{}, large], OPTIONS, limits(most)
        )
        kinds.append(result[0] is DocumentTooLarge)
    assert kinds == [False, over > 0]


@needs_c
def test_what_is_no_batch(both):
    for name, *before in (
        ("_batched_op_msg",),
        ("_encode_batched_op_msg",),
        ("_encode_batched_write_command", "d.$cmd"),
    ):
        ack = () if before else (True,)
        assert both(name, *before, 3, {"x": 1}, DOCUMENTS, *ack, OPTIONS, limits())[0] is InvalidOperation
        assert both(name, *before, INSERT, {"x": 1}, [], *ack, OPTIONS, limits())[-1] == []


@needs_c
@pytest.mark.parametrize(
    "docs", [DOCUMENTS, DOCUMENTS[:1], [], iter([{"a": 1}])], ids=["many", "one", "none", "iterator"]
)
@pytest.mark.parametrize("flags", [0, 2, 1 << 16])
def test_commands(both, flags, docs):
    docs = list(docs) if not isinstance(docs, list) else docs
    for identifier, documents in (("", None), ("documents", docs), ("größe", tuple(docs))):
        _, size, largest = both("_op_msg", flags, {"insert": "c", "$db": "d"}, identifier, documents, OPTIONS)
        assert size >= largest >= 0
    assert both("_op_msg", flags, {}, "documents", None, OPTIONS)[0] is TypeError


@pytest.mark.skipif(not hasattr(message, "_query_uncompressed"), reason="this PyMongo has no OP_QUERY")
@needs_c
def test_queries(both):
    for flags, skip, limit, query, fields in itertools.product(
        (0, 4), (0, 5), (-1, 0, 7), ({"hello": 1}, {}), (None, {}, {"a": 1, "b": "x" * 30})
    ):
        both("_query_message", flags, "größe.$cmd", skip, limit, query, fields, OPTIONS)


def test_no_two_messages_have_one_number():
    op_msg = _install._messages(_core.bson_encode)["_op_msg"]
    assert len({op_msg(0, {}, "", None, OPTIONS)[0] for _ in range(1000)}) == 1000


def test_a_message_beyond_31_bits():
    """Its size is known before it is put together; these documents only have a length."""

    class Long(bytes):
        def __len__(self):
            return 1 << 29

    messages = _install._messages(lambda *arguments: Long())
    for count in (3, 4):
        with pytest.raises(
            ValueError, match=r"^message too large: expected at most 2147483647 bytes, found \d+$"
        ):
            messages["_op_msg"](0, {}, "documents", [{}] * count, OPTIONS)
