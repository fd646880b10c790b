"""`holdall.pickle` in the hands of code that was written for pickle."""

from __future__ import annotations

import collections
import copyreg
import datetime
import functools
import inspect
import io
import marshal
import multiprocessing
import multiprocessing.connection
import multiprocessing.reduction
import operator
import pickle
import shelve
import sys
import threading

import pytest

import holdall
from holdall import pickle as hp
from tests.support.each import each


class Account:
    def __init__(self, owner, friends=()):
        self.owner, self.friends = owner, list(friends)

    def greet(self):
        return f"hello {self.owner}"


class Reduced:
    """Restored by a call, with state, list items and dict items: all five parts of a reduce value."""

    def __init__(self, name):
        self.name, self.items, self.pairs = name, [], {}

    def __reduce__(self):
        return Reduced, (self.name,), {"extra": self.extra}, iter(self.items), iter(self.pairs.items())

    def append(self, item):
        self.items.append(item)

    def extend(self, items):
        self.items.extend(items)

    def __setitem__(self, key, value):
        self.pairs[key] = value


class Unwilling:
    def __reduce_ex__(self, protocol):
        raise RuntimeError("not today")


class Outer:
    class Inner:
        @staticmethod
        def method():
            return "found"


class Foreign:
    """Pickled through copyreg and dispatch tables only."""

    def __init__(self, value):
        self.value = value

    def __reduce_ex__(self, protocol):
        raise AssertionError("a table comes first")


def rebuild_foreign(value):
    return Foreign(("table", value))


def double(value):
    return value * 2


def file_of(*values, cls=hp.Pickler, **options):
    file = io.BytesIO()
    for value in values:
        cls(file, **options).dump(value)
    file.seek(0)
    return file


# --- names and signatures ---


def test_every_name_of_pickle_that_is_not_about_opcodes_is_here():
    ours = set(hp.__all__)
    assert ours <= set(pickle.__all__) | {"DEFAULT_PROTOCOL", "HIGHEST_PROTOCOL"}
    not_opcodes = {name for name in pickle.__all__ if not name.isupper() and not name.startswith("_")}
    assert not_opcodes <= ours
    assert all(hasattr(hp, name) for name in {*ours, *pickle.__all__})


@pytest.mark.parametrize("name", ["dumps", "loads", "dump", "load", "Pickler", "Unpickler"])
def test_signatures_take_what_pickles_take(name):
    def arguments(function):
        # Positional or keyword where ours takes both is no loss; the names and defaults have to be there.
        return {
            parameter.name: parameter.default
            for parameter in inspect.signature(function).parameters.values()
            if parameter.name != "self" and parameter.kind is not parameter.POSITIONAL_ONLY
        }

    theirs = arguments(getattr(pickle, f"_{name}"))
    theirs.pop("data", None)  # positional only in the C version
    ours = arguments(getattr(hp, name))
    assert {name: type(default) for name, default in theirs.items() if name != "buffers"} == {
        name: type(default) for name, default in ours.items() if name != "buffers"
    }
    assert ("buffers" in ours) == ("buffers" in theirs)


def test_the_exceptions_are_pickles():
    assert (hp.PickleError, hp.PicklingError, hp.UnpicklingError) == (
        pickle.PickleError,
        pickle.PicklingError,
        pickle.UnpicklingError,
    )
    assert hp.PickleBuffer is pickle.PickleBuffer


@pytest.mark.parametrize("protocol", [None, -1, 0, 1, 2, 3, 4, 5])
def test_protocol_is_accepted(protocol):
    value = [Account, {"a": 1}]
    assert hp.loads(hp.dumps(value, protocol)) == value
    assert hp.loads(hp.dumps(value, protocol=protocol, fix_imports=False)) == value
    file = io.BytesIO()
    hp.dump(value, file, protocol)
    assert hp.load(io.BytesIO(file.getvalue()), fix_imports=True, encoding="bytes", errors="replace") == value


def test_protocols_that_pickle_refuses():
    for act in (lambda: hp.dumps(1, 6), lambda: hp.Pickler(io.BytesIO(), 6)):
        with pytest.raises(ValueError, match="^pickle protocol must be <= 5$"):
            act()
    with pytest.raises(ValueError, match="^buffer_callback needs protocol >= 5$"):
        hp.dumps(1, 4, buffer_callback=print)


def test_what_is_no_file():
    for cls in (hp.Pickler, hp.Unpickler):
        with pytest.raises(TypeError):
            cls("path")


# --- what pickle can store ---


@pytest.mark.parametrize(
    "value",
    [len, Account, Outer.Inner, Outer.Inner.method, double, collections.OrderedDict, operator.add],
    ids=lambda value: value.__qualname__,
)
def test_classes_and_functions_by_reference(value):
    assert hp.loads(hp.dumps(value)) is value


def test_instances_bound_methods_and_partials():
    account = Account("ann")
    account.friends.append(account)
    loaded, greet, twice = hp.loads(hp.dumps([account, account.greet, functools.partial(double, 21)]))
    assert loaded.friends[0] is loaded
    assert greet() == "hello ann"
    assert greet.__self__ is loaded
    assert twice() == 42


def test_all_parts_of_a_reduce_value():
    value = Reduced("r")
    value.items, value.pairs, value.extra = [1, 2], {"k": "v"}, "more"
    loaded = hp.loads(hp.dumps(value))
    assert vars(loaded) == {"name": "r", "items": [1, 2], "pairs": {"k": "v"}, "extra": "more"}


def test_a_message_is_a_trusted_one():
    message = hp.dumps([1, 2])
    with pytest.raises(holdall.DecodeError):
        holdall.loads(message)
    assert holdall.loads(message, trust=True) == [1, 2]
    assert hp.loads(holdall.dumps([len], trust=True)) == [len]


def test_deeper_than_the_recursion_limit():
    depth = 10 * sys.getrecursionlimit()
    value = functools.reduce(lambda inner, _: [inner], range(depth), [])
    loaded = hp.loads(hp.dumps(value))
    for _ in range(depth):
        (loaded,) = loaded
    assert loaded == []


# --- errors ---


def test_what_cannot_be_stored():
    with pytest.raises(pickle.PicklingError) as caught:
        hp.dumps([lambda: None])
    assert isinstance(caught.value.__cause__, holdall.EncodeError)
    with pytest.raises(RuntimeError, match="^not today$"):
        hp.dumps([Unwilling()])


def test_bytes_that_are_no_message():
    message = hp.dumps({"a": [1, 2.5]})
    for bad in (message[:1], message[:-1], b"\0" + message, pickle.dumps([1])):
        with pytest.raises(pickle.UnpicklingError) as caught:
            hp.loads(bad)
        assert isinstance(caught.value.__cause__, holdall.DecodeError)


def test_no_bytes_at_all():
    for module in (pickle, hp):
        with pytest.raises(EOFError, match="^Ran out of input$"):
            module.loads(b"")


def test_the_end_of_a_file():
    with pytest.raises(EOFError, match="^Ran out of input$"):
        hp.load(io.BytesIO())
    whole = file_of([1, 2]).getvalue()
    for length in range(1, len(whole)):
        with pytest.raises(pickle.UnpicklingError):
            hp.load(io.BytesIO(whole[:length]))


@pytest.mark.parametrize(
    "value", [threading.Lock(), (i for i in ()), sys, sys.__stdin__], ids=lambda value: type(value).__name__
)
def test_what_pickle_raises_of_objects_is_raised_here(value):
    texts = []
    for module in (pickle, hp):
        with pytest.raises(TypeError, match="^cannot pickle ") as caught:
            module.dumps([value])
        texts.append(str(caught.value))
    assert texts[0] == texts[1]


@pytest.mark.parametrize("value", ["text", None, 5, [b"x"]])
def test_data_and_protocols_of_a_wrong_type(value):
    with pytest.raises(TypeError):
        hp.loads(value)
    if value is not None and value != 5:
        with pytest.raises(TypeError):
            hp.dumps(1, value)
    with pytest.raises(TypeError):
        hp.dumps(1, 2.0)


# --- files ---


def test_several_dumps_into_one_file_are_read_by_several_loads(tmp_path):
    values = [1, "two", [3.0], Account, b"four" * 50_000]
    with open(tmp_path / "log", "wb") as file:
        for value in values:
            hp.dump(value, file)
    loaded = []
    with open(tmp_path / "log", "rb") as file, pytest.raises(EOFError):
        while True:
            loaded.append(hp.load(file))
    assert loaded == values


def test_dumps_written_to_a_file_by_hand():
    assert hp.load(io.BytesIO(hp.dumps([Account]))) == [Account]
    assert hp.loads(file_of([Account]).getvalue()) == [Account]


# --- hooks ---


class Database:
    rows = {7: Account("seven"), 8: Account("eight")}


class RowPickler(hp.Pickler):
    def persistent_id(self, obj):
        return next((("row", key) for key, row in Database.rows.items() if row is obj), None)


class RowUnpickler(hp.Unpickler):
    def persistent_load(self, pid):
        kind, key = pid
        if kind != "row" or key not in Database.rows:
            raise pickle.UnpicklingError("no such row")
        return Database.rows[key]


def test_persistent_ids():
    value = {"best": Database.rows[7], "all": [Database.rows[8], Database.rows[7]], "own": Account("new")}
    file = file_of(value, cls=RowPickler)
    loaded = RowUnpickler(file).load()
    assert loaded["best"] is Database.rows[7]
    assert loaded["all"][0] is Database.rows[8]
    assert loaded["all"][1] is Database.rows[7]
    assert loaded["own"].owner == "new"
    file.seek(0)
    with pytest.raises(pickle.UnpicklingError, match="^unsupported persistent id encountered$"):
        hp.Unpickler(file).load()
    with pytest.raises(pickle.UnpicklingError):
        hp.loads(file.getvalue())


def test_a_persistent_load_that_fails():
    file = file_of([Database.rows[7]], cls=RowPickler)
    row = Database.rows.pop(7)
    try:
        with pytest.raises(pickle.UnpicklingError, match="^no such row$"):
            RowUnpickler(file).load()
    finally:
        Database.rows[7] = row


def test_persistent_id_as_an_attribute():
    file = io.BytesIO()
    pickler = hp.Pickler(file)
    pickler.persistent_id = lambda obj: ("row", 7) if obj == "seven" else None
    pickler.dump(["seven", "eight"])
    assert RowUnpickler(io.BytesIO(file.getvalue())).load() == [Database.rows[7], "eight"]


class OnlyAccounts(hp.Unpickler):
    def find_class(self, module, name):
        if name != "Account":
            raise pickle.UnpicklingError(f"{module}.{name} is forbidden")
        return super().find_class(module, name)


def test_find_class_says_what_may_be_loaded():
    assert OnlyAccounts(file_of(Account("ann"))).load().owner == "ann"
    for value in (len, Outer.Inner, [functools.partial(print)]):
        with pytest.raises(pickle.UnpicklingError, match=" is forbidden$"):
            OnlyAccounts(file_of(value)).load()


def test_find_class_may_answer_with_another():
    class Moved(hp.Unpickler):
        def find_class(self, module, name):
            assert (module, name) == (__name__, "Account")
            return Reduced

    assert Moved(file_of(Account)).load() is Reduced


def test_the_own_find_class():
    unpickler = hp.Unpickler(io.BytesIO())
    assert unpickler.find_class(__name__, "Outer.Inner.method") is Outer.Inner.method
    assert unpickler.find_class("collections", "deque") is collections.deque
    with pytest.raises(ModuleNotFoundError):
        unpickler.find_class("no_such_module", "x")
    with pytest.raises(AttributeError):
        unpickler.find_class("collections", "no_such_name")


class Overriding(hp.Pickler):
    def reducer_override(self, obj):
        if isinstance(obj, Account):
            return Account, (obj.owner.upper(),)
        return NotImplemented


def test_reducer_override():
    ann, other = hp.load(file_of([Account("ann"), Reduced], cls=Overriding))
    assert ann.owner == "ANN"
    assert other is Reduced


def test_dispatch_table_of_a_pickler():
    file = io.BytesIO()
    pickler = hp.Pickler(file)
    pickler.dispatch_table = {Foreign: lambda obj: (rebuild_foreign, (obj.value,))}
    pickler.dump([Foreign(1)])
    (loaded,) = hp.load(io.BytesIO(file.getvalue()))
    assert loaded.value == ("table", 1)


def test_dispatch_table_of_a_class():
    class Tabled(hp.Pickler):
        dispatch_table = collections.ChainMap(
            {Foreign: lambda obj: (rebuild_foreign, (obj.value,))}, copyreg.dispatch_table
        )

    assert hp.load(file_of(Foreign(2), cls=Tabled)).value == ("table", 2)


ASKED = [1 + 2j, Ellipsis, NotImplemented, datetime.date(2024, 1, 1), range(3), Account]


def test_reducers_are_asked_about_all_that_pickle_asks_about(monkeypatch):
    """Complex numbers and singletons too; not about what has opcodes in pickle."""

    class Asking(hp.Pickler):
        def reducer_override(self, obj):
            if obj is str:  # what the others are made by
                return NotImplemented
            seen.append(obj)
            return (str, (f"a {type(obj).__name__}",))

    seen, told = [], [f"a {type(value).__name__}" for value in ASKED]
    file = io.BytesIO()
    Asking(file).dump(
        [*ASKED, 1, 1.5, None, True, "text", b"bytes", bytearray(b"b"), [], {}, (), {1}, frozenset([2])]
    )
    assert hp.load(io.BytesIO(file.getvalue()))[: len(ASKED)] == told
    assert all(value in seen for value in ASKED)
    assert not any(
        type(value) in (int, float, bytes, bytearray, list, dict, tuple, set, frozenset) for value in seen
    )
    assert "text" not in seen

    tabled = hp.Pickler(file := io.BytesIO())
    tabled.dispatch_table = {
        type(value): lambda value: (str, (f"a {type(value).__name__}",)) for value in ASKED
    }
    tabled.dump(ASKED)
    assert hp.load(io.BytesIO(file.getvalue())) == [
        *told[:-1],
        Account,
    ]  # a class goes by its name whatever a table says

    monkeypatch.setitem(copyreg.dispatch_table, complex, lambda value: (str, ("a number",)))
    assert hp.loads(hp.dumps([1j])) == ["a number"]
    monkeypatch.undo()
    assert hp.loads(hp.dumps([1j, ..., NotImplemented])) == [1j, ..., NotImplemented]


def test_copyreg(monkeypatch):
    monkeypatch.setitem(copyreg.dispatch_table, Foreign, lambda obj: (rebuild_foreign, (obj.value,)))
    assert hp.loads(hp.dumps(Foreign(3))).value == ("table", 3)


# --- buffers out of band ---


def test_buffers_stay_out_of_the_message():
    payload = bytearray(b"x" * 100_000)
    buffers = []
    message = hp.dumps({"a": hp.PickleBuffer(payload)}, buffer_callback=buffers.append)
    assert len(message) < 200
    assert [buffer.raw().obj for buffer in buffers] == [payload]
    assert bytes(hp.loads(message, buffers=buffers)["a"]) == payload
    with pytest.raises(pickle.UnpicklingError):
        hp.loads(message)
    with pytest.raises(pickle.UnpicklingError):
        hp.loads(message, buffers=[])


def test_buffers_that_the_callback_wants_in_band():
    message = hp.dumps(hp.PickleBuffer(b"x" * 1000), buffer_callback=lambda buffer: True)
    assert len(message) > 1000
    assert hp.loads(message) == b"x" * 1000
    assert hp.loads(hp.dumps(hp.PickleBuffer(bytearray(b"rw")))) == bytearray(b"rw")


def test_arrays_share_the_buffers_they_came_in():
    numpy = pytest.importorskip("numpy")
    array = numpy.arange(50_000.0)
    buffers = []
    message = hp.dumps([array], buffer_callback=buffers.append)
    assert len(message) < 1000
    (loaded,) = hp.loads(message, buffers=buffers)
    assert numpy.array_equal(loaded, array)
    assert numpy.shares_memory(loaded, array)


def test_an_unpickler_deals_its_buffers_out_over_its_loads():
    buffers = []
    file = file_of(hp.PickleBuffer(b"one"), hp.PickleBuffer(b"two"), buffer_callback=buffers.append)
    unpickler = hp.Unpickler(file, buffers=buffers)
    assert [bytes(unpickler.load()), bytes(unpickler.load())] == [b"one", b"two"]


# --- libraries ---


@pytest.fixture
def shelved(monkeypatch):
    if not hasattr(shelve, "Pickler"):
        pytest.skip("since 3.15 a shelf takes functions (tests/versions/test_newer.py)")
    monkeypatch.setattr(shelve, "Pickler", hp.Pickler)
    monkeypatch.setattr(shelve, "Unpickler", hp.Unpickler)


@pytest.mark.usefixtures("shelved")
@pytest.mark.parametrize("writeback", [False, True])
def test_shelve(tmp_path, writeback):
    path = str(tmp_path / "shelf")
    ann = Account("ann")
    with shelve.open(path, writeback=writeback) as shelf:
        shelf["ann"] = ann
        shelf["pair"] = [ann, ann]
        if writeback:
            shelf["ann"].owner = "anna"
    with shelve.open(path) as shelf:
        assert sorted(shelf) == ["ann", "pair"]
        assert shelf["ann"].owner == ("anna" if writeback else "ann")
        first, second = shelf["pair"]
        assert first is second


@pytest.mark.usefixtures("shelved")
def test_a_shelf_over_a_dict_holds_our_bytes():
    store = {}
    with shelve.Shelf(store, protocol=4) as shelf:
        shelf["key"] = {1, 2}
        assert store[b"key"].startswith(b"HOLD")
        assert shelf["key"] == {1, 2}


class ForkingPickler(hp.Pickler):
    """multiprocessing.reduction.ForkingPickler, line by line, over our Pickler."""

    _extra_reducers = multiprocessing.reduction.ForkingPickler._extra_reducers
    _copyreg_dispatch_table = copyreg.dispatch_table

    def __init__(self, *args):
        super().__init__(*args)
        self.dispatch_table = self._copyreg_dispatch_table.copy()
        self.dispatch_table.update(self._extra_reducers)

    @classmethod
    def dumps(cls, obj, protocol=None):
        file = io.BytesIO()
        cls(file, protocol).dump(obj)
        return file.getbuffer()

    loads = hp.loads


@pytest.fixture
def forking(monkeypatch):
    monkeypatch.setattr(multiprocessing.connection, "_ForkingPickler", ForkingPickler)


@pytest.mark.usefixtures("forking")
def test_connection_send_and_recv():
    left, right = multiprocessing.Pipe()
    with left, right:
        for value in ([1, "two"], Account, double, {"big": bytes(1_000_000)}):
            sender = threading.Thread(target=left.send, args=(value,))
            sender.start()
            assert right.recv() == value
            sender.join()
        left.send(Account("ann").greet)
        assert right.recv()() == "hello ann"


@pytest.mark.usefixtures("forking")
@pytest.mark.skipif(sys.platform == "win32", reason="descriptors are passed over a Unix socket")
def test_a_connection_sent_over_a_connection():
    left, right = multiprocessing.Pipe()
    inner, outer = multiprocessing.Pipe()
    with left, right, inner:
        # Connections are reduced by the table of multiprocessing.
        left.send(outer)
        with right.recv() as received:
            outer.close()
            inner.send("through")
            assert received.recv() == "through"


def test_send_bytes_and_recv_bytes():
    left, right = multiprocessing.Pipe()
    with left, right:
        left.send_bytes(hp.dumps([Account, 1]))
        assert hp.loads(right.recv_bytes()) == [Account, 1]


def serve(connection):
    with connection:
        while (job := hp.loads(connection.recv_bytes())) is not None:
            function, argument = job
            connection.send_bytes(hp.dumps(function(argument)))


def test_work_for_another_process():
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=serve, args=(theirs,))
    process.start()
    theirs.close()
    with ours:
        for job, answer in [((double, 21), 42), ((sorted, {3, 1, 2}), [1, 2, 3])]:
            ours.send_bytes(hp.dumps(job))
            assert hp.loads(ours.recv_bytes()) == answer
        ours.send_bytes(hp.dumps(None))
    process.join(60)
    assert process.exitcode == 0


# --- names that libraries take ---

LIBRARIES_TAKE = """
    _getattribute bytes_types whichmodule format_version compatible_formats encode_long decode_long _compat_pickle dispatch_table
    _extension_registry _inverted_registry _extension_cache GLOBAL POP BUILD TUPLE REDUCE STOP MARK EXT1 NEWOBJ_EX LONG1 FRAME
""".split()


@each("name", LIBRARIES_TAKE)
def test_names_that_libraries_pass_on(name):
    """Taken by cloudpickle, dill, joblib, multiprocess and others from "the pickle module"."""
    assert getattr(hp, name) is getattr(pickle, name)


def test_the_twins_in_python():
    assert (hp._dump, hp._dumps, hp._load, hp._loads) == (hp.dump, hp.dumps, hp.load, hp.loads)
    file = io.BytesIO()
    hp._Pickler(file).dump([1])
    assert hp._Unpickler(io.BytesIO(file.getvalue())).load() == [1]
    assert issubclass(hp._Pickler, hp.Pickler)

    class Allowed(hp._Pickler):
        def persistent_id(self, obj):
            return None

        def other(self):
            """A method of its own."""

    Allowed(file).dump(1)


@pytest.mark.parametrize(
    ("base", "name"),
    [("_Pickler", "save"), ("_Pickler", "memoize"), ("_Pickler", "dispatch"), ("_Unpickler", "load_build")],
)
def test_classes_on_top_of_opcodes_are_refused(base, name):
    """As dill and joblib make them: what they override would never be called."""
    with pytest.raises(TypeError, match=f"^Sub overrides `{name}`, which belongs to pickle's own bytes, "):
        type("Sub", (getattr(hp, base),), {"__qualname__": "Sub", name: lambda self, obj: None})
    with pytest.raises(AttributeError, match="^`dispatch` belongs to pickle's own bytes"):
        getattr(hp, base).dispatch.copy()
    # On top of the C classes they have no effect in pickle either.
    type("Sub", (getattr(hp, base[1:]),), {name: lambda self, obj: None})


def test_classes_without_init():
    class NoInit(hp.Pickler):
        def __init__(self):
            pass

    class NoInitEither(hp.Unpickler):
        def __init__(self):
            pass

    with pytest.raises(
        pickle.PicklingError, match=r"^Pickler\.__init__\(\) was not called by NoInit\.__init__\(\)$"
    ):
        NoInit().dump(1)
    with pytest.raises(
        pickle.UnpicklingError,
        match=r"^Unpickler\.__init__\(\) was not called by NoInitEither\.__init__\(\)$",
    ):
        NoInitEither().load()


def test_attributes_of_a_pickler():
    pickler = hp.Pickler(io.BytesIO(), 0)
    assert (pickler.bin, pickler.fast) == (
        pickle.Pickler(io.BytesIO(), 0).bin,
        pickle.Pickler(io.BytesIO()).fast,
    )
    assert hp.Pickler(io.BytesIO()).bin == pickle.Pickler(io.BytesIO()).bin
    assert not hasattr(pickler, "dispatch_table")
    pickler.fast = pickler.bin = True


def test_a_class_as_cloudpickle_makes_it():
    """Functions by value: a reducer for what pickle stores by name, a table for more, and `dump` around pickle's."""

    class ByValue(hp.Pickler):
        dispatch_table = collections.ChainMap(
            {classmethod: lambda obj: (classmethod, (obj.__func__,))}, copyreg.dispatch_table
        )

        def __init__(self, file, protocol=None, buffer_callback=None):
            super().__init__(file, protocol=protocol, buffer_callback=buffer_callback)
            self.globals_ref = {}

        def dump(self, obj):
            try:
                return super().dump(obj)
            except RecursionError as error:
                raise pickle.PicklingError("too deep") from error

        def reducer_override(self, obj):
            if isinstance(obj, type(lambda: None)) and "<lambda>" in obj.__qualname__:
                return make_function, (marshal.dumps(obj.__code__), obj.__defaults__), obj.__dict__
            return NotImplemented

    function = lambda a, b=[2]: a + b[0]  # noqa: E731
    function.note = {"self": function}
    file = io.BytesIO()
    ByValue(file).dump([function, classmethod(double)])
    loaded, method = hp.load(io.BytesIO(file.getvalue()))
    assert loaded(40) == 42
    assert loaded.note["self"] is loaded
    assert method.__func__ is double


def make_function(code, defaults):
    return type(make_function)(marshal.loads(code), globals(), None, defaults)
