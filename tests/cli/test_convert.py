"""`holdall convert`: what comes of each format in another, and what stays as it was."""

from __future__ import annotations

import collections
import json
import os
import pathlib
import pickle
import stat
import types

import pytest

pytest.importorskip("click")

import holdall
from holdall._cli import _convert_file
from holdall._cli._weigh import Weight
from tests.complexity.families.julia import type_parameters_by_reference
from tests.support.cli import invoke, run, write_all, write_log


@pytest.fixture(autouse=True)
def here(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NO_COLOR", raising=False)
    return tmp_path


class Point:
    def __init__(self, x, y):
        self.x, self.y = x, y


NAME = f"{__name__}.Point"


@pytest.mark.parametrize("target", ["hold", "bson", "msgpack", "json", "julia"])
def test_convert_between_all_formats(target):
    content = {"a": [1, None, 2.5], "b": {"c": "é"}}
    for path in write_all(content):
        assert invoke("convert", path, f"new.{target}", "--to", target, "--force") == (0, "", "")
        assert (
            invoke("cat", f"new.{target}", "--from", target).out == "{'a': [1, None, 2.5], 'b': {'c': 'é'}}\n"
        )


def test_convert_keeps_what_json_lacks_in_json():
    shared = [1, (2, {3})]
    content = {"x": shared, "y": shared, 5: b"k", "p": Point(1, 2)}
    content["me"] = content
    holdall.dump(content, "v.hold")
    assert invoke("convert", "v.hold", "v.json").code == 0
    assert invoke("convert", "v.json", "w.hold").code == 0
    assert invoke("diff", "v.hold", "w.hold") == (0, "", "")
    again = holdall.load("w.hold", types=holdall.Record)
    assert again["x"] is again["y"] and again["me"] is again


def test_convert_of_pickles():
    content = {"a": (1, {2}), "b": [b"x", 2**70]}
    content["me"] = content
    for protocol in range(6):
        with open("v.pickle", "wb") as file:
            pickle.dump(content, file, protocol)
        assert invoke("convert", "v.pickle", "v.hold", "--force") == (0, "", "")
        found = holdall.load("v.hold")
        assert found["a"] == content["a"] and found["b"] == content["b"] and found["me"] is found


def test_convert_never_runs_a_pickle(capfd):
    with open("evil.pickle", "wb") as file:
        file.write(b"cos\nsystem\n(S'echo should not run; touch ran'\ntR.")
    done = invoke("convert", "evil.pickle", "v.hold", "--records")
    assert done == (
        2,
        "",
        "holdall: evil.pickle: `os.system` would have to be imported and called, which is never done (offset 0)\n",
    )
    assert os.listdir() == ["evil.pickle"] and capfd.readouterr().out == ""


def test_convert_of_records():
    records = [{"n": n, "t": "x"} for n in range(3)]
    write_log(*records)
    paths = ["log.bson", "log.msgpack", "log.jsonl", "log2.hold"]
    for source in ["log.hold", *paths]:
        for target in paths:
            if source != target:
                assert invoke("convert", source, target, "--force") == (0, "", "")
                assert [
                    json.loads(line) for line in invoke("cat", target, "--json").out.splitlines()
                ] == records
    assert invoke("convert", "log.bson", "list.json") == (0, "", "")
    with open("list.json") as file:
        assert json.load(file) == records
    done = invoke("convert", "log.bson", "new.x", "--to", "julia")
    assert done.code == 2 and "one document" in done.err and not os.path.exists("new.x")


def test_convert_replaces_only_when_told_and_when_all_is_written():
    holdall.bson.dump({"a": 1}, "v.bson")
    with open("out.json", "w") as file:
        file.write("old")
    os.chmod("out.json", 0o640)
    assert invoke("convert", "v.bson", "out.json") == (
        2,
        "",
        "holdall: out.json: it exists; --force replaces it\n",
    )
    with open("out.json") as file:
        assert file.read() == "old"
    os.symlink("out.json", "link.json")
    assert invoke("convert", "v.bson", "link.json", "--force").code == 0
    assert os.path.islink("link.json")
    with open("out.json") as file:
        assert file.read() == '{"a": 1}\n'
    assert stat.S_IMODE(os.stat("out.json").st_mode) == 0o640
    # The second record is no good: the target stays, and nothing lies beside it.
    with open("two.bson", "wb") as file:
        file.write(holdall.bson.dumps({"a": 1}) + holdall.bson.dumps({"a": 1})[:-1] + b"x")
    before = sorted(os.listdir())
    done = invoke("convert", "two.bson", "out.json", "--force")
    assert done.code == 2 and done.err.startswith("holdall: two.bson: ")
    with open("out.json") as file:
        assert file.read() == '{"a": 1}\n'
    assert sorted(os.listdir()) == before


@pytest.mark.parametrize(
    "content, target, parts",
    [
        ({"a": [1, {"b": 2**70}]}, "bson", ["int beyond 64 bits", "`$.a[1].b` (`int`)", "convert to hold"]),
        ({"a": {"x y": [2**70]}}, "msgpack", ["int beyond 64 bits", '`$.a["x y"][0]` (`int`)', "or to json"]),
        ([1], "bson", ["root that is no dict", "`$` (`list`)"]),
        ([1], "julia", ["must be a dict of names", "`$` (`list`)"]),
        ({"a": [Point(1, 2)]}, "julia", ["`Record`", "`$.a[0]` (`Record`)", "holdall.julia.struct"]),
    ],
)
def test_convert_says_what_the_target_can_not_hold(content, target, parts):
    holdall.dump(content, "v.hold")
    with open("out.x", "w") as file:
        file.write("old")
    done = invoke("convert", "v.hold", "out.x", "--to", target, "--force")
    assert done.code == 2 and done.out == "" and done.err.count("\n") == 1
    assert done.err.startswith("holdall: out.x: ")
    for part in parts:
        assert part in done.err
    with open("out.x") as file:
        assert file.read() == "old"
    assert sorted(os.listdir()) == ["out.x", "v.hold"]


def test_convert_says_where_a_cycle_is():
    content = {"a": [1]}
    content["a"].append(content["a"])
    holdall.dump(content, "v.hold")
    done = invoke("convert", "v.hold", "v.msgpack")
    assert done.code == 2 and "holds itself" in done.err and "`$.a[1]` (`list`)" in done.err


def doubled(times, make, last):
    for _ in range(times):
        last = make(last)
    return last


def proxies(d):
    """Two views of one dict, of which the next one has two."""
    return {"a": types.MappingProxyType(d), "b": types.MappingProxyType(d)}


MANY = [
    lambda: doubled(60, lambda x: [x, x], []),
    lambda: doubled(60, lambda x: (x, x), ()),
    lambda: doubled(60, lambda x: {"a": x, "b": x}, {}),
    lambda: doubled(60, proxies, {}),
    lambda: doubled(60, lambda x: collections.OrderedDict(a=x, b=x), {}),
    lambda: doubled(60, lambda x: collections.deque([x, x]), []),
    lambda: doubled(60, lambda x: Point(x, x), 1),
    lambda: doubled(60, lambda x: [[[x]], {"b": x}], ["x" * 100]),
    lambda: ["x" * (1 << 20)] * 1000,
    lambda: [[b"x" * (1 << 20)]] * 1000,
    lambda: [pathlib.PurePosixPath("x" * (1 << 20))] * 1000,
]


@pytest.mark.parametrize("target", ["msgpack", "bson"])
def test_convert_refuses_what_is_exponential_as_a_tree(target, monkeypatch):
    encoded = []
    monkeypatch.setattr(_convert_file, "encoder", lambda to: encoded.append)
    for make in MANY:
        holdall.dump({"v": make()}, "v.hold")
        done = invoke("convert", "v.hold", f"out.{target}")
        assert done == (
            2,
            "",
            f"holdall: out.{target}: {target} has no references, and what is shared would take more than 64 times of what "
            "there is if it were written at each of its places; convert to hold or json, which have them\n",
        )
    # Nothing was begun.
    assert encoded == [] and os.listdir() == ["v.hold"]


def test_convert_refuses_texts_at_too_many_places(monkeypatch):
    """Julia's files have references to containers alone."""
    for make in MANY[:2]:
        holdall.dump({"v": make()}, "v.hold")
        assert invoke("convert", "v.hold", "v.x", "--to", "julia", "--force") == (0, "", "")
    monkeypatch.setattr(_convert_file, "encoder", lambda to: None)
    for make in (lambda: ["x" * (1 << 20)] * 1000, lambda: [[b"x" * (1 << 20)] * 1000]):
        holdall.dump({"v": make()}, "v.hold")
        done = invoke("convert", "v.hold", "w.x", "--to", "julia")
        assert done.code == 2 and "julia has no references to texts, and what is shared" in done.err
        assert done.err.endswith("convert to hold, which has them\n")


def test_convert_refuses_records_that_are_too_much_together():
    """Each of them would do."""
    one = doubled(18, lambda x: [x, x], [])
    write_log(*[{"v": one}] * 10)
    done = invoke("convert", "log.hold", "log.msgpack")
    assert done.code == 2 and "log.msgpack: msgpack has no references" in done.err
    assert os.listdir() == ["log.hold"]


@pytest.mark.parametrize("target", ["msgpack", "bson"])
def test_convert_of_what_honest_files_share(target):
    table = {f"column {n}": list(range(10)) for n in range(10)}
    content = {"rows": [{"n": n, "table": table, "text": "x" * 100} for n in range(3000)]}
    holdall.dump(content, "v.hold")
    assert invoke("convert", "v.hold", f"v.{target}") == (0, "", "")
    assert getattr(holdall, target).load(f"v.{target}") == content


def test_weight_counts_trees():
    def of(value):
        weight = Weight()
        weight.add(value)
        return weight.once // 8, weight.whole // 8

    shared = [1, 2, 3]
    assert of(1) == (1, 1)
    assert of([1, [2], {3: 4}]) == (7, 7)
    assert of([shared, shared, shared]) == (7, 13)
    assert of({(1, 2): "x" * 16}) == (7, 7)
    assert of(["x" * 16, "y" * 8]) == (5, 5)
    text = "x" * 80
    assert of([text, text]) == (13, 23)
    # What holds itself is nothing there, and what it shares is counted all the same.
    shared.append(shared)
    assert of([shared, shared]) == (7, 11)
    # At any depth; and no sum grows beyond what a machine counts.
    assert of(doubled(20_000, lambda x: [x], [])) == (20_001, 20_001)
    once, whole = of(doubled(20_000, lambda x: [x, x], []))
    assert once == 40_001 and whole == 1 << 57


@pytest.mark.parametrize("depth", [3, 3000])
def test_convert_does_not_search_for_long_what_is_wrong(depth, monkeypatch):
    """Each step of the way to a value encodes what is below it again."""
    sizes = []
    encoder = _convert_file.encoder

    def counting(to):
        encode = encoder(to)

        def counted(value):
            sizes.append(weight(value))
            return encode(value)

        def weight(value):
            found = Weight()
            found.add(value)
            return found.whole

        return counted

    monkeypatch.setattr(_convert_file, "encoder", counting)
    content = [[0] * 1000, doubled(depth, lambda x: [x, [0] * 100], [2**70])]
    holdall.dump(content, "v.hold")
    done = invoke("convert", "v.hold", "v.msgpack")
    assert done.code == 2 and "int beyond 64 bits" in done.err
    if depth == 3:
        assert "`$[1][0][0][0][0]` (`int`)" in done.err
    whole = Weight()
    whole.add(content)
    assert sum(sizes) < (1 << 20) + 7 * whole.once


def test_convert_compresses_no_log():
    write_log({"n": 1})
    done = invoke("convert", "log.hold", "new.hold", "--compress", "zstd")
    assert done.code == 2 and done.err.startswith("holdall: new.hold: several records become a log")


def test_convert_of_values_of_databases():
    bson = pytest.importorskip("bson")
    made = {
        "_id": bson.ObjectId(b"x" * 12), "re": bson.Regex("a", 2), "d": bson.Decimal128("1.50"), "c": bson.Code("f()", {"x": 1}),
        "n": bson.Int64(5), "t": bson.Timestamp(1, 2), "least": bson.MinKey(), "most": bson.MaxKey(), "b": bson.Binary(b"x", 5),
        "ref": bson.DBRef("a", 1, "db", x=1),
    }  # fmt: skip
    data = bson.encode(made)
    with open("v.bson", "wb") as file:
        file.write(data)
    assert run("convert", "v.bson", "v.hold") == (0, "", "")
    assert run("convert", "v.hold", "w.bson") == (0, "", "")
    with open("w.bson", "rb") as file:
        assert bson.decode(file.read()) == bson.decode(data)
    assert run("diff", "v.bson", "v.hold") == (0, "", "")
    assert run("get", "v.hold", "_id").out == f"ObjectId('{'78' * 12}')\n"


def test_convert_of_julias_values():
    julia = holdall.julia
    made = {"ref": julia.Ref(5), "pair": julia.Pair("a", 1), "f": julia.Float32(1.5), "days": julia.Period(3, "Day"),
            "missing": julia.missing, "expr": julia.JuliaStruct("Expr", [julia.Symbol("call"), [1]])}  # fmt: skip
    julia.dump(made, "v.bson")
    assert run("convert", "v.bson", "v.hold") == (0, "", "")
    assert run("convert", "v.hold", "w.bson", "--to", "julia") == (0, "", "")
    for path in ("v.hold", "w.bson"):
        assert run("diff", "v.bson", path) == (0, "", "")
    assert repr(julia.load("w.bson")) == repr(julia.load("v.bson"))


def test_parameters_of_julias_types_are_written_again():
    """Each type has the one before as a parameter, twice."""
    with open("v.bson", "wb") as file:
        file.write(type_parameters_by_reference(20_000))
    done = invoke("convert", "v.bson", "v.msgpack", "--from", "julia")
    assert done.code == 2 and "what is shared" in done.err
    assert invoke("convert", "v.bson", "v.hold", "--from", "julia").code == 0


def test_types_count_with_the_values_that_say_them():
    """As fields, in formats that know no types of Julia's."""
    julia = holdall.julia
    of = julia.Type(("Core", "Int64"))
    for _ in range(10):
        of = julia.Type(("Main", "Foo"), (of, of))
    rational = julia.Rational(1, 2)
    rational.type = of
    bits = julia.JuliaStruct.of_bytes(of, bytes(8))
    for value in (of, bits, rational, julia.JuliaStruct(of, [1]), julia.Ref(of), julia.SimpleVector([of])):
        weight = Weight()
        weight.add([value])
        assert weight.whole >= len(holdall.msgpack.dumps(value)) > 10 * weight.once
    # What is a text is written as that, without the one that it is a part of.
    text = "x" * 100_000
    weight = Weight()
    weight.add([julia.SubString(text, at, 3) for at in range(50)])
    assert weight.whole < len(text)


def test_convert_of_an_extension_that_only_msgpack_has():
    holdall.msgpack.dump({"a": holdall.msgpack.Ext(5, b"x")}, "v.msgpack")
    assert invoke("convert", "v.msgpack", "v.hold").code == 0
    assert invoke("convert", "v.hold", "w.msgpack").code == 0
    assert invoke("diff", "v.msgpack", "w.msgpack") == (0, "", "")
    assert invoke("convert", "v.msgpack", "v.bson").code == 2
    assert not os.path.exists("v.bson")


def test_convert_says_in_which_record():
    write_log({"n": 1}, {"n": [2**70]})
    done = invoke("convert", "log.hold", "log.msgpack")
    assert done.code == 2 and "`$[1].n[0]` (`int`)" in done.err
    assert os.listdir() == ["log.hold"]


@pytest.mark.parametrize(
    "args, message",
    [
        ("v.bson out", "out: its extension says no format: say which with --to"),
        ("v.bson out.pickle", "out.pickle: pickles are read, not written"),
        ("v.bson out.json --compress zstd", "out.json: --compress is for hold files"),
        ("v.bson missing/out.json", "missing: no such file or directory"),
    ],
)
def test_convert_refuses(args, message):
    holdall.bson.dump({"a": 1}, "v.bson")
    done = invoke("convert", *args.split())
    assert done.code == 2 and message in done.err
    assert os.listdir() == ["v.bson"]


def test_convert_compresses():
    holdall.msgpack.dump(["the same text"] * 1000 + [{"k" * 50: n} for n in range(100)], "v.msgpack")
    for name in ("zstd", "lz4"):
        assert invoke("convert", "v.msgpack", f"{name}.hold", "--compress", name) == (0, "", "")
        assert holdall.load(f"{name}.hold") == holdall.msgpack.load("v.msgpack")
    assert invoke("convert", "v.msgpack", "none.hold") == (0, "", "")
    assert os.path.getsize("zstd.hold") < os.path.getsize("none.hold")
