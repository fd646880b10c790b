"""The HTML report of the benchmark: what stands in it, and what a browser makes of it."""

from __future__ import annotations

import base64
import hashlib
import html.parser
import json
import re
import sys
import xml.etree.ElementTree as ET
from typing import Any

import pytest

from holdall_bench.page import write_page
from holdall_bench.page._text import Names, amount, brief, duration, elapsed, moment, number, unit_for
from holdall_bench.results import CHANGED, COPIES, FAILED, DataSet, Outcome, Run
from tests.support.bench_run import HOSTILE, KEPT, failed, graph, growing, hostile, operation, outcome, sample

pytest.importorskip("plotly")

VOID = {"meta", "input", "br", "img", "link"}


class Parser(html.parser.HTMLParser):
    """A tree of the page; an element that is not closed, or closed twice, is an error."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = ET.Element("document")
        self.open = [self.root]

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        assert len(dict(attrs)) == len(attrs), f"an attribute twice: {tag} {attrs}"
        made = ET.SubElement(self.open[-1], tag, {key: value or "" for key, value in attrs})
        if tag not in VOID:
            self.open.append(made)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop().tag == tag, (self.getpos(), tag)

    def handle_data(self, data: str) -> None:
        ET.SubElement(self.open[-1], "text").text = data


def parse(page: str) -> ET.Element:
    parser = Parser()
    parser.feed(page)
    parser.close()
    assert parser.open == [parser.root]
    return parser.root


def text(element: ET.Element) -> str:
    return "".join(element.itertext())


def having(root: ET.Element, name: str) -> list[ET.Element]:
    """All elements of a class."""
    return [each for each in root.iter() if name in each.get("class", "").split()]


def section(root: ET.Element, name: str) -> ET.Element:
    return next(each for each in root.iter("section") if each.get("id") == name)


def rows(root: ET.Element, name: str = "graph") -> dict[str, ET.Element]:
    """The rows of a data set's table, by codec."""
    (table,) = having(section(root, name), "results")
    return {text(having(row, "name")[0]): row for row in table.findall("tbody/tr")}


@pytest.fixture(scope="module")
def page() -> str:
    return write_page(sample(hostile()))


@pytest.fixture(scope="module")
def tree(page: str) -> ET.Element:
    return parse(page)


@pytest.fixture(scope="module")
def content(tree: ET.Element) -> Any:
    """The numbers behind the plots."""
    (found,) = [each for each in tree.iter("script") if each.get("id") == "content"]
    return json.loads(text(found))


class TestNumbers:
    @pytest.mark.parametrize(
        "value, shown",
        [
            (0, "0"), (0.00012, "0.00012"), (0.0123, "0.0123"), (0.1234, "0.123"), (0.9996, "1.00"), (1.234, "1.23"),
            (9.996, "10.0"), (12.34, "12.3"), (99.96, "100"), (999.4, "999"), (1234.5, "1\u202f234"), (9e6, "9\u202f000\u202f000"),
        ],
    )  # fmt: skip
    def test_three_digits(self, value, shown):
        assert number(value) == shown

    @pytest.mark.parametrize(
        "size, shown",
        [(999, "999 B"), (1000, "1.00 kB"), (1_250_000, "1.25 MB"), (33_600_000_000, "33.6 GB")],
    )
    def test_bytes(self, size, shown):
        assert amount(size) == shown.replace(" ", "\u202f")
        assert brief(size) == shown.replace(" ", "\u202f").replace(".00", "")

    @pytest.mark.parametrize(
        "times, name", [([90.0, 5e9], "ns"), ([120.0], "µs"), ([99_000.0], "µs"), ([1e5], "ms"), ([1e8, 9e9], "s"), ([], "ms")]
    )  # fmt: skip
    def test_one_unit_for_a_table(self, times, name):
        assert unit_for(times).name == name

    def test_a_time_on_its_own(self):
        assert [duration(each) for each in (0.5, 12.0, 950_000.0, 2.5e9)] == [
            "0.500\u202fns", "12.0\u202fns", "950\u202fµs", "2.50\u202fs",
        ]  # fmt: skip

    def test_when(self):
        assert moment("2025-03-04T05:06:07Z") == "2025-03-04, 05:06 UTC"
        assert moment("2025-03-04T05:06:07+02:00") == "2025-03-04, 03:06 UTC"
        assert moment("yesterday") == "yesterday"
        assert (elapsed(59.2), elapsed(61)) == ("59\u202fs", "1\u202fmin 1\u202fs")

    def test_ids_differ_where_names_do(self):
        names = Names()
        assert [names(each) for each in ("a b", "a/b", "a-b-2", "", "ä")] == [
            "a-b",
            "a-b-2",
            "a-b-2-2",
            "x",
            "x-2",
        ]


class TestWritten:
    def test_loads_nothing(self, tree):
        """No address in any attribute but those within the page; no style that imports."""
        for each in tree.iter():
            for key in ("src", "srcset", "action", "data", "poster", "background"):
                assert each.get(key) is None, each.attrib
            assert each.get("href", "#").startswith("#")
            assert each.tag not in ("link", "iframe", "object", "embed", "base", "img")
        for style in tree.iter("style"):
            assert not re.search(r"url\(|@import|https?:", text(style))

    def test_runs_its_own_scripts_only(self, tree):
        (policy,) = [each for each in tree.iter("meta") if each.get("http-equiv")]
        rules = dict(rule.split(maxsplit=1) for rule in policy.get("content", "").split("; "))
        assert rules["default-src"] == "'none'"
        scripts = [text(each) for each in tree.iter("script") if each.get("type") is None]
        hashes = {base64.b64encode(hashlib.sha256(each.encode()).digest()).decode() for each in scripts}
        assert rules["script-src"].split() == [
            f"'sha256-{each}'" for each in sorted(hashes, key=rules["script-src"].index)
        ]
        assert len(scripts) == 3

    def test_ids_are_unique_and_links_lead_somewhere(self, tree):
        ids = [each.get("id") for each in tree.iter() if each.get("id")]
        assert len(ids) == len(set(ids))
        links = {each.get("href", "")[1:] for each in tree.iter("a")}
        assert links - {"top"} <= set(ids)
        assert len(links) > 8

    def test_hostile_names_stay_text(self, tree, page):
        assert not list(tree.iter("img"))
        assert HOSTILE in text(tree)
        found = having(tree, "name")
        assert HOSTILE in [text(each) for each in found]
        # In front of the scripts, each "<" is escaped; the JSON has none at all.
        assert page.count("<img") == 0
        assert page.count("</script>") == 4

    def test_numbers_cannot_end_their_script(self, tree):
        (found,) = [each for each in tree.iter("script") if each.get("id") == "content"]
        assert "<" not in text(found)
        assert r"\u003cbr>" in text(found)

    def test_names_are_escaped_for_plots(self, content):
        """Plotly reads a few tags and references in what it is told to show."""
        labels = [each["label"] for each in content["codecs"]]
        assert [each for each in labels if "<" in each or '"' in each] == []
        assert any("&lt;/script&gt;" in each for each in labels)

    def test_header(self, tree):
        (head,) = tree.iter("header")
        for expected in (
            "2025-03-04, 05:06 UTC", "18 codecs on 10 data sets", "took 12\u202fmin 34\u202fs", "Ryzen 7 5800X", "33.6\u202fGB",
            "CPython 3.13.1", "holdall bench --suite graphs --html report.html", "The processor's clock was not fixed",
        ):  # fmt: skip
            assert expected in text(head)
        (foot,) = tree.iter("footer")
        assert "ujsonnot installed: pip install ujson" in text(foot)
        assert "orjson3.10.15" in text(foot)


class TestTables:
    def cell(self, row: ET.Element, tree: ET.Element, key: str, name: str = "graph") -> ET.Element:
        (table,) = having(section(tree, name), "results")
        keys = [each.get("data-column") for each in table.findall("thead/tr")[1]]
        return list(row)[keys.index(key)]

    def shown(self, cell: ET.Element, collector: str) -> str:
        made = having(cell, f"when-{collector}")
        return text(made[0] if made else cell)

    def test_stars_are_for_those_that_keep_the_data(self, tree):
        """orjson and ormsgpack are faster, and change it."""
        starred = {
            (codec, collector, key)
            for codec, row in rows(tree).items()
            for key in ("dumps", "loads", "size")
            for collector in ("on", "off")
            if "★" in self.shown(self.cell(row, tree, key), collector)
        }
        assert starred == {
            ("holdall typed", "on", "dumps"), ("holdall typed", "off", "dumps"), ("holdall typed", "on", "loads"),
            ("marshal", "off", "loads"), ("holdall typed", "on", "size"), ("holdall typed", "off", "size"),
        }  # fmt: skip

    def test_copies_win_where_sharing_does_not_matter(self, tree):
        row = rows(tree, "records")["msgspec"]
        assert "★" in text(self.cell(row, tree, "dumps", "records"))
        assert "out" not in row.get("class", "").split()
        assert "out" in rows(tree)["msgspec"].get("class", "").split()

    def test_figures(self, tree):
        row = rows(tree)["pickle"]
        shown = {
            key: (self.shown(self.cell(row, tree, key), "on"), self.shown(self.cell(row, tree, key), "off"))
            for key in ("dumps", "dumps-ours", "dumps-bound", "dumps-first", "dumps-collected", "loads-peak", "size", "size-ours")
        }  # fmt: skip
        assert shown == {
            "dumps": ("31.5±3%", "25.2±3%"),
            "dumps-ours": ("3.84", "3.84"),
            "dumps-bound": ("7.88", "7.88"),
            "dumps-first": ("126", "126"),
            "dumps-collected": ("4.7215%", "4.7215%"),
            "loads-peak": ("6.95\u202fMB", "6.95\u202fMB"),
            "size": ("4\u202f871\u202f205", "4\u202f871\u202f205"),
            "size-ours": ("2.28", "2.28"),
        }

    def test_items_are_timed_each(self, tree):
        """21 ms for 10 000 items are 2.1 µs for one."""
        row = rows(tree, "records")["holdall"]
        assert self.shown(self.cell(row, tree, "dumps", "records"), "on") == "2.10±3%"
        assert "µs per item" in text(having(section(tree, "records"), "results")[0])
        assert "timed with 200 of 10\u202f000 items" in text(rows(tree, "records")["yaml"])

    def test_what_changed_is_told(self, tree):
        told = text(self.cell(rows(tree)["orjson"], tree, "fidelity"))
        assert told == "≠changedtuple → list ×1\u202f200$[0].tagsint key → str ×3$[7].scores"
        assert text(self.cell(rows(tree)["ormsgpack"], tree, "fidelity")).startswith("◐sharing lost")
        assert text(self.cell(rows(tree)["pickle"], tree, "fidelity")) == "✓kept"
        assert text(self.cell(rows(tree)["least"], tree, "fidelity")) == "lower bound"

    def test_who_failed_is_last_and_tells_why(self, tree):
        names = list(rows(tree))
        assert names[-2:] == ["cbor2", "protobuf"]
        assert "✕failedRecursionError: maximum" in text(rows(tree)["cbor2"])
        first = [text(self.cell(row, tree, "dumps")) for row in rows(tree).values()]
        assert first[-1] == "–"

    def test_columns_that_nobody_fills_are_left_out(self, tree):
        (table,) = having(section(tree, "records"), "results")
        keys = {each.get("data-column") for each in table.findall("thead/tr")[1]}
        assert "dumps-bound" not in keys
        assert {"dumps-ours", "dumps-peak", "loads-allocated"} <= keys

    def test_winners(self, tree):
        shown = text(having(tree, "winners")[0])
        # With the collector on and off, marshal's loads differ most.
        assert "holdall typed 12.2\u202fmsthen holdall, 1.16×" in shown
        assert "marshal 9.20\u202fmsthen holdall typed, 1.06×" in shown
        assert "holdall in 7 of 7" in text(tree)


class TestOtherRuns:
    def test_collector_never_off(self):
        data = graph()
        for each in data.outcomes:
            for found in (each.dumps, each.loads):
                if found:
                    found.off = None
        tree = parse(write_page(run_of(data)))
        assert next(tree.iter("html")).get("data-collector") == "on"
        assert not [each for each in tree.iter("button") if each.get("data-set") == "collector"]
        assert not having(tree, "when-off")

    def test_collector_only_off(self):
        data = graph()
        for each in data.outcomes:
            for found in (each.dumps, each.loads):
                if found:
                    found.on = None
        tree = parse(write_page(run_of(data)))
        assert next(tree.iter("html")).get("data-collector") == "off"
        assert "25.2" in text(rows(tree)["pickle"])

    def test_everyone_failed(self):
        tree = parse(write_page(run_of(DataSet("x", "s", "t", [failed("a"), failed("b")], 10))))
        assert not having(tree, "plot")
        assert list(rows(tree, "x")) == ["a", "b"]

    def test_nothing_was_measured(self):
        assert "Benchmark" in text(parse(write_page(run_of())))

    def test_without_a_codec_of_ours(self):
        """Nothing is compared with what isn't there."""
        data = DataSet("x", "s", "t", [outcome("pickle", 1, 2, 3), outcome("holdallish", 1, 2, 3)], 10)
        tree = parse(write_page(run_of(data)))
        assert "× " not in text(having(tree, "results")[0])
        assert not having(tree, "own")

    def test_no_size_of_a_bound_and_no_times_of_a_codec(self):
        data = DataSet(
            "x", "s", "t", [Outcome("a", KEPT, 5), Outcome("b", KEPT, None, operation(1), None)], 10
        )
        tree = parse(write_page(run_of(data)))
        assert not having(tree, "plot")
        assert "smallest" in text(having(tree, "winners")[0])

    def test_plotly_is_needed(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "plotly.offline", None)
        with pytest.raises(ModuleNotFoundError, match="plotly"):
            write_page(run_of())


def run_of(*data_sets: DataSet) -> Run:
    run = sample()
    run.data_sets = list(data_sets)
    return run


class TestPlots:
    """The numbers that plots.js draws."""

    def test_a_plot_for_each_data_set_and_curve(self, content):
        names = list(content["plots"])
        assert {"plot-graph-size", "plot-graph-bound", "plot-records-size", "plot-log-6-size"} <= set(names)
        assert {"plot-curve-Log-entries-dumps", "plot-curve-Log-entries-loads"} <= set(names)
        assert "plot-records-bound" not in names

    def test_points(self, content):
        codecs = [each["label"] for each in content["codecs"]]
        points = {codecs[each["codec"]]: each for each in content["plots"]["plot-graph-size"]["points"]}
        assert set(points) == {each.codec for each in graph().outcomes if each.dumps and each.size}
        assert points["pickle"]["dumps"]["on"]["value"] == pytest.approx(31.5)
        assert points["pickle"]["loads"]["off"]["value"] == pytest.approx(27.8 * 0.8)
        hollow = {codec for codec, each in points.items() if not each["kept"]}
        assert hollow == {
            each.codec for each in graph().outcomes if each.fidelity.verdict in (CHANGED, COPIES)
        }

    def test_ratios(self, content):
        codecs = [each["label"] for each in content["codecs"]]
        points = {codecs[each["codec"]]: each for each in content["plots"]["plot-graph-bound"]["points"]}
        assert "least" not in points
        assert points["holdall"]["loads"]["on"]["value"] == pytest.approx(14.1 / 7.5)

    def test_lines(self, content):
        codecs = [each["label"] for each in content["codecs"]]
        lines = {
            codecs[each["codec"]]: each["points"]
            for each in content["plots"]["plot-curve-Log-entries-dumps"]["lines"]
        }
        assert [point["volume"] for point in lines["holdall"]] == [10**power for power in range(3, 10)]
        assert [point["volume"] for point in lines["yaml"]] == [10**3, 10**4, 10**5, 10**6]
        assert lines["holdall"][3]["on"]["value"] == pytest.approx(1.4 * 1.002 * 1.3)
        failures = [each for data in growing() for each in data.outcomes if each.fidelity.verdict == FAILED]
        assert len(failures) == 3

    def test_colours(self, content):
        """Ours in their own; two others never alike in both colour and symbol."""
        looks = {each["label"]: (each["kind"], each["colour"], each["symbol"]) for each in content["codecs"]}
        assert looks["holdall"][:2] == looks["holdall typed"][:2] == ("own", "--own")
        assert looks["least"][0] == "bound"
        assert len(set(looks.values())) == len(looks)
