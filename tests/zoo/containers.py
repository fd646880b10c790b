"""Containers."""

from __future__ import annotations

from typing import Any, Iterator

from tests.zoo.specimens import zoo


@zoo("immutables")
def immutables_objects() -> Iterator[Any]:
    import immutables

    yield "Map", immutables.Map(a=1, b=[2]), lambda m: sorted(m.items())


@zoo("frozendict")
def frozendict_objects() -> Iterator[Any]:
    from frozendict import frozendict

    yield "frozendict", frozendict(a=1, b=2), lambda d: (dict(d), hash(d) == hash(frozendict(b=2, a=1)))
    yield "as a key", {frozendict(a=1): 2}, lambda d: d[frozendict(a=1)]


@zoo("pyrsistent")
def pyrsistent_objects() -> Iterator[Any]:
    import pyrsistent

    yield (
        "all",
        [
            pyrsistent.v(1, 2),
            pyrsistent.m(a=1),
            pyrsistent.s(1),
            pyrsistent.b(1, 1),
            pyrsistent.dq(1),
            pyrsistent.l(1, 2),
            pyrsistent.freeze({"a": [1]}),
        ],
        lambda p: (p[0].append(3), p[1].set("b", 2)),
    )
    yield "a shared one", [pyrsistent.v(*range(100))], lambda p: p[0][50]


@zoo("sortedcontainers")
def sortedcontainers_objects() -> Iterator[Any]:
    import operator

    from sortedcontainers import SortedDict, SortedKeyList, SortedList, SortedSet

    yield "SortedList", SortedList([3, 1, 2]), lambda s: (list(s), s.bisect(2))
    yield "SortedKeyList", SortedKeyList([3, 1], key=operator.neg), list
    yield "SortedDict", SortedDict(b=1, a=2), lambda d: (list(d), d.peekitem(0))
    yield "SortedSet", SortedSet([3, 1]), lambda s: (list(s), s[0])


@zoo(
    "boltons",
    "boltons.dictutils",
    "boltons.setutils",
    "boltons.cacheutils",
    "boltons.tbutils",
    "boltons.urlutils",
    "boltons.typeutils",
)
def boltons_objects() -> Iterator[Any]:
    from boltons import cacheutils, dictutils, setutils, typeutils, urlutils

    yield (
        "OMD",
        dictutils.OMD([("a", 1), ("a", 2)]),
        lambda d: (d["a"], d.getlist("a"), list(d.iteritems(multi=True))),
    )
    yield "FrozenDict", dictutils.FrozenDict(a=1), dict
    yield "OneToOne", dictutils.OneToOne({1: 2}), lambda d: d.inv[2]
    yield "ManyToMany", dictutils.ManyToMany([(1, 2)]), lambda d: list(d.iteritems())
    yield "IndexedSet", setutils.IndexedSet([3, 1]), lambda s: s[0]
    yield "LRU", cacheutils.LRU(max_size=3, values=[("a", 1)]), lambda c: c["a"]
    yield "URL", urlutils.URL("http://h/p?q=1"), lambda u: u.to_text()
    yield "sentinel", typeutils.make_sentinel("ZOO"), repr


@zoo("more-itertools", "more_itertools")
def more_itertools_objects() -> Iterator[Any]:
    import more_itertools as more

    yield "SequenceView", more.SequenceView([1, 2]), list
    yield "numeric_range", more.numeric_range(1, 3, 0.5), list
    yield "bucket and peekable", [more.peekable([1, 2])], None


@zoo("toolz", "toolz", "toolz.curried")
def toolz_objects() -> Iterator[Any]:
    import operator

    import toolz

    yield "compose", toolz.compose(str, abs), lambda f: f(-3)
    yield "curry", toolz.curry(operator.add)(1), lambda f: f(2)
    yield "juxt and complement", [toolz.juxt(min, max), toolz.complement(bool)], lambda f: f[0]([1, 2])


@zoo("cytoolz", "cytoolz", "cytoolz.curried")
def cytoolz_objects() -> Iterator[Any]:
    import operator

    import cytoolz

    yield "compose", cytoolz.compose(str, abs), lambda f: f(-3)
    yield "curry", cytoolz.curry(operator.add)(1), lambda f: f(2)
    yield "juxt and complement", [cytoolz.juxt(min, max), cytoolz.complement(bool)], lambda f: f[0]([1, 2])


@zoo("multidict")
def multidict_objects() -> Iterator[Any]:
    import multidict

    yield (
        "all",
        [multidict.MultiDict([("a", 1), ("a", 2)]), multidict.CIMultiDict(A=1), multidict.istr("X")],
        lambda m: (m[0].getall("a"), m[1]["a"], type(m[2]).__name__),
    )
    yield "proxy", multidict.MultiDictProxy(multidict.MultiDict(a=1)), dict


@zoo("frozenlist")
def frozenlist_objects() -> Iterator[Any]:
    import frozenlist

    frozen = frozenlist.FrozenList([1, 2])
    frozen.freeze()
    yield "frozen", frozen, lambda f: (list(f), f.frozen)
    yield "open", frozenlist.FrozenList([1]), lambda f: f.frozen


@zoo("bidict")
def bidict_objects() -> Iterator[Any]:
    import bidict

    yield "bidict", bidict.bidict(a=1), lambda b: (b.inverse[1], b.inverse.inverse is b)
    yield (
        "frozen and ordered",
        [bidict.frozenbidict(a=1), bidict.OrderedBidict(a=1)],
        lambda b: [x.inverse[1] for x in b],
    )


@zoo("bitarray")
def bitarray_objects() -> Iterator[Any]:
    import bitarray

    yield (
        "bitarray",
        bitarray.bitarray("10110", endian="little"),
        lambda b: (b.to01(), b.endian() if callable(b.endian) else b.endian),
    )
    yield "frozen", bitarray.frozenbitarray("101"), lambda b: {b: 1}[bitarray.frozenbitarray("101")]
    yield (
        "decodetree",
        bitarray.decodetree({"a": bitarray.bitarray("0"), "b": bitarray.bitarray("1")}),
        lambda d: d.complete(),
    )


@zoo("cachetools")
def cachetools_objects() -> Iterator[Any]:
    import cachetools

    yield (
        "all",
        [
            fill(cachetools.LRUCache(3)),
            fill(cachetools.LFUCache(3)),
            fill(cachetools.FIFOCache(3)),
            fill(cachetools.TTLCache(3, 1e9)),
        ],
        lambda c: [(x["a"], x.currsize, x.maxsize) for x in c],
    )


def fill(cache: Any) -> Any:
    cache["a"], cache["b"] = 1, 2
    return cache


@zoo("pyroaring")
def pyroaring_objects() -> Iterator[Any]:
    import pyroaring

    yield "BitMap", pyroaring.BitMap([1, 5, 9]), list
    yield "FrozenBitMap", pyroaring.FrozenBitMap([1]), lambda b: hash(b) == hash(pyroaring.FrozenBitMap([1]))


@zoo("rpds")
def rpds_objects() -> Iterator[Any]:
    import rpds

    yield (
        "all",
        [rpds.HashTrieMap({"a": 1}), rpds.HashTrieSet({1}), rpds.List([1, 2])],
        lambda r: (r[0]["a"], list(r[2])),
    )


@zoo("lru-dict", "lru")
def lru_objects() -> Iterator[Any]:
    import lru

    yield "LRU", fill(lru.LRU(3)), lambda c: c.items()
