"""The benchmark's HTML report in a real browser: headless Chromium, one for all tests."""

from __future__ import annotations

import json
import pathlib
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest

from bench.targets import picture
from holdall_bench.page import write_page
from tests.support.bench_run import HOSTILE, graph, growing, hostile, sample

pytestmark = pytest.mark.xdist_group("browser")


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    for library in ("selenium", "plotly"):
        pytest.importorskip(library)
    for program in (picture.CHROMIUM, picture.CHROMEDRIVER):
        if not program.exists():
            pytest.skip(f"no {program}: Debian has it in chromium and chromium-driver")
    with ExitStack() as stack:
        with no_limit():
            driver = stack.enter_context(picture.browser())
        driver.set_script_timeout(60)
        yield driver


@contextmanager
def no_limit() -> Iterator[None]:
    """Chromium reserves more addresses than conftest.py allows a test; it gets them as it is started."""
    import resource

    limit = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (limit[1], limit[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limit)


@pytest.fixture(scope="session")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    pytest.importorskip("plotly")
    file = tmp_path_factory.mktemp("page") / "report.html"
    file.write_text(write_page(sample(hostile())), "utf-8")
    return file.as_uri()


class Page:
    """The report, open in the browser."""

    def __init__(self, driver: Any, address: str) -> None:
        self.driver = driver
        self.address = address

    def open(self, width: int = 1400, scheme: str = "light") -> None:
        screen = {"width": width, "height": 1000, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
        self.prefer(scheme)
        self.driver.get("about:blank")
        for log in ("browser", "performance"):
            self.driver.get_log(log)
        self.driver.get(self.address)

    def prefer(self, scheme: str) -> None:
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def run(self, script: str, *arguments: Any) -> Any:
        return self.driver.execute_script(script, *arguments)

    def find(self, selector: str) -> Any:
        return self.driver.find_element("css selector", selector)

    def wait(self, script: str, *arguments: Any) -> None:
        """Until it is true."""
        from selenium.webdriver.support.ui import WebDriverWait

        WebDriverWait(self.driver, 20, 0.05).until(lambda _: self.run(script, *arguments))

    def draw(self, plot: str) -> None:
        """Scrolls to it: it is drawn as it comes into sight."""
        self.run("document.getElementById(arguments[0]).scrollIntoView({block: 'center'})", plot)
        self.wait("return document.getElementById(arguments[0]).querySelector('.main-svg') !== null", plot)

    def traces(self, plot: str) -> list[dict[str, Any]]:
        self.draw(plot)
        return self.run(
            """return document.getElementById(arguments[0]).data.map(
            ({name, x, y, xaxis, marker, line}) => ({name, x, y, xaxis, marker, line}))""",
            plot,
        )

    def column(self, key: str, table: str = "graph") -> list[str]:
        """What a column shows, from top to bottom."""
        return self.run(
            """const table = document.querySelector(`#${arguments[0]} .results`);
            const place = table.querySelector(`[data-column="${arguments[1]}"]`).cellIndex;
            return [...table.tBodies[0].rows].filter((row) => !row.hidden).map((row) => row.cells[place].innerText.trim());""",
            table,
            key,
        )

    def codecs(self, table: str = "graph") -> list[str]:
        return [each.split("\n")[0] for each in self.column("codec", table)]

    def press(self, key: str, table: str = "graph") -> str:
        """Presses a column's button and gives how the table is sorted then."""
        title = self.find(f'#{table} .results [data-column="{key}"]')
        self.run("arguments[0].scrollIntoView({block: 'center', inline: 'center'})", title)
        title.find_element("css selector", "button").click()
        return title.get_attribute("aria-sort")

    def background(self) -> str:
        return self.run("return getComputedStyle(document.body).backgroundColor")


@pytest.fixture
def page(chromium: Any, address: str) -> Page:
    found = Page(chromium, address)
    found.open()
    return found


def figure(shown: str) -> float:
    """The number in a cell, without star and spread."""
    return float(shown.replace("★", "").split("±")[0].replace("\u202f", "").strip())


class TestOpened:
    def test_nothing_is_asked_of_the_net_and_nothing_complains(self, page):
        for plot in page.run(
            "return [...document.querySelectorAll('.plot')].filter((box) => box.checkVisibility()).map((box) => box.id)"
        ):
            page.draw(plot)
        assert page.driver.get_log("browser") == []
        messages = [json.loads(each["message"])["message"] for each in page.driver.get_log("performance")]
        asked = [
            each["params"]["request"]["url"]
            for each in messages
            if each["method"] == "Network.requestWillBeSent"
        ]
        assert page.address in asked
        assert [
            each for each in asked if each != page.address and not each.startswith(("data:", "blob:"))
        ] == []

    def test_the_page_may_not_ask_the_net(self, page):
        """The policy refuses what nothing in the page tries."""
        page.run("fetch('http://127.0.0.1:9/').catch(() => {})")
        page.wait("return true")
        assert any("Content Security Policy" in each["message"] for each in page.driver.get_log("browser"))

    def test_hostile_names_do_nothing(self, page):
        page.traces("plot-graph-size")
        names = page.run("return [...document.querySelectorAll('.name')].map((each) => each.textContent)")
        assert HOSTILE in names
        plot = page.run("return [...document.querySelectorAll('.plot')].at(-1).id")
        page.draw(plot)
        drawn = page.run("return document.getElementById(arguments[0]).textContent", plot)
        assert "</script><img src=x" in drawn
        assert page.run("return document.images.length") == 0
        assert page.driver.title == "holdall bench"

    @pytest.mark.parametrize("width", [400, 800, 1400])
    @pytest.mark.parametrize("columns", ["few", "all"])
    def test_only_tables_scroll_sideways(self, page, width, columns):
        page.open(width)
        page.find(f'[data-set="columns"][value="{columns}"]').click()
        for each in page.driver.find_elements("css selector", "details:not(.filter)"):
            page.run("arguments[0].open = true", each)
        page.draw("plot-graph-size")
        page.draw("plot-curve-Log-entries-loads")
        seen, whole = page.run(
            "const root = document.documentElement; return [root.clientWidth, root.scrollWidth]"
        )
        assert whole <= seen
        if width == 400:
            assert page.run(
                "const box = document.querySelector('#graph .scroll'); return box.scrollWidth > box.clientWidth"
            )

    def test_the_main_columns_need_no_scrolling(self, page):
        for table in ("graph", "records"):
            box = f"const box = document.querySelector('#{table} .scroll'); return [box.scrollWidth, box.clientWidth]"
            whole, seen = page.run(box)
            assert whole <= seen, table

    def test_a_link_opens_what_it_leads_to(self, page):
        assert not page.find("#log-6").is_displayed()
        page.run("document.querySelector('a[href=\"#log-6\"]').click()")
        page.wait("return document.getElementById('log-6').checkVisibility()")
        page.traces("plot-log-6-size")


class TestTables:
    def test_sorted_by_dumps_at_first(self, page):
        assert page.find('#graph [data-column="dumps"]').get_attribute("aria-sort") == "ascending"
        times = [figure(each) for each in page.column("dumps")[:-2]]
        assert times == sorted(times)
        assert len(times) == 14

    @pytest.mark.parametrize("key", ["loads", "size", "dumps-ours", "loads-bound"])
    def test_sorts_by_a_number_both_ways(self, page, key):
        """Who has no number stays below, and who failed at the bottom."""
        for direction in ("ascending", "descending"):
            assert page.press(key) == direction
            shown = page.column(key)
            numbers = [figure(each) for each in shown if each != "–"]
            assert len(numbers) >= 13
            assert numbers == sorted(numbers, reverse=direction == "descending")
            assert numbers[0] != numbers[-1]
            assert shown[len(numbers) :] == ["–"] * (len(shown) - len(numbers))
            assert set(page.codecs()[-2:]) == {"cbor2", "protobuf"}
        sorted_by = page.driver.find_elements("css selector", "#graph [aria-sort]:not([aria-sort=none])")
        assert [each.get_attribute("data-column") for each in sorted_by] == [key]

    def test_sorts_by_name(self, page):
        assert page.press("codec") == "ascending"
        assert page.codecs()[:3] == ["bson", "cloudpickle", "holdall"]
        assert page.press("codec") == "descending"
        assert page.codecs()[:2] == ["yaml", "pyfory"]

    def test_other_tables_stay_as_they_are(self, page):
        before = page.codecs("records")
        page.press("size")
        assert page.codecs("records") == before

    def test_sorts_from_the_keyboard(self, page):
        from selenium.webdriver import Keys

        page.find('#graph [data-column="size"] button').send_keys(Keys.ENTER)
        assert page.codecs()[0] == "holdall typed"
        page.find('#graph [data-column="size"] button').send_keys(Keys.SPACE)
        assert page.codecs()[0] == "yaml"

    def test_more_columns(self, page):
        assert not page.find('#graph [data-column="loads-peak"]').is_displayed()
        span = page.find("#graph .groups .loads")
        assert span.get_attribute("colSpan") == "3"
        page.find('[data-set="columns"][value="all"]').click()
        assert page.find('#graph [data-column="loads-peak"]').is_displayed()
        assert span.get_attribute("colSpan") == "7"
        assert page.press("loads-peak") == "ascending"
        assert page.codecs()[0] == "least"

    def test_what_changed_unfolds(self, page):
        row = page.find("#graph tr.changed")
        assert not row.find_element("css selector", "code").is_displayed()
        row.find_element("css selector", "summary").click()
        assert row.find_element("css selector", "code").text == "$[0].tags"


class TestSwitches:
    def test_collector(self, page):
        """Figures, their order, winners and plots; marshal is the fastest where it is off."""
        assert figure(page.column("loads")[page.codecs().index("marshal")]) == 21.0
        place = page.codecs().index("marshal")
        traces = page.traces("plot-graph-size")
        points = {each["name"]: each["y"] for each in traces if each["xaxis"] == "x2"}
        assert points["marshal"] == [21.0]
        assert "holdall typed" in page.find(".winners").text and "marshal" not in page.find(".winners").text

        page.find('[data-set="collector"][value="off"]').click()
        assert page.find('[data-set="collector"][value="off"]').get_attribute("aria-pressed") == "true"
        assert page.find('[data-set="collector"][value="on"]').get_attribute("aria-pressed") == "false"
        shown = page.column("loads")[page.codecs().index("marshal")]
        assert figure(shown) == 9.2
        assert "★" in shown
        assert page.codecs().index("marshal") == place - 1
        points = {each["name"]: each["y"] for each in page.traces("plot-graph-size") if each["xaxis"] == "x2"}
        assert points["marshal"] == [9.2]
        assert "marshal 9.20" in page.find(".winners").text

    def test_who_has_no_figure_for_it_sorts_last(self, page):
        page.press("dumps", "records")
        assert page.codecs("records")[0] == "yaml"
        page.find('[data-set="collector"][value="off"]').click()
        assert page.codecs("records") == ["pickle", "holdall", "msgspec", "orjson", "yaml", "marshal"]
        assert page.column("dumps", "records")[-2:] == ["–", "–"]
        assert "yaml" not in [each["name"] for each in page.traces("plot-records-size")]

    def test_hidden_codecs(self, page):
        page.traces("plot-graph-size")
        page.traces("plot-graph-bound")
        page.find("#filter summary").click()
        page.run(
            "[...document.querySelectorAll('#filter label')].find((each) => each.textContent === 'yaml').click()"
        )
        assert "yaml" not in page.codecs() + page.codecs("records")
        assert "yaml" not in [each["name"] for each in page.traces("plot-graph-size")]
        assert "yaml" not in page.find("#plot-graph-bound").text
        assert "yaml" not in [each["name"] for each in page.traces("plot-curve-Log-entries-dumps")]
        page.find('#filter [data-all=""]').click()
        assert page.codecs() == []
        page.find('#filter [data-all="1"]').click()
        assert "yaml" in page.codecs()
        assert "yaml" in [each["name"] for each in page.traces("plot-graph-size")]

    def test_theme(self, page):
        def colours() -> tuple[str, str, str]:
            drawn = page.traces("plot-graph-size")
            ours = next(each["marker"]["color"] for each in drawn if each["name"] == "holdall")
            grid = "return getComputedStyle(document.querySelector('#plot-graph-size .xgrid')).stroke"
            return page.background(), ours, page.run(grid)

        light = colours()
        page.find("#theme").click()
        dark = colours()
        assert all(one != other for one, other in zip(light, dark, strict=True))
        page.find("#theme").click()
        assert colours() == light

    def test_theme_of_the_system(self, page):
        light = page.background()
        page.prefer("dark")
        page.wait("return getComputedStyle(document.body).backgroundColor !== arguments[0]", light)
        dark = page.background()
        page.find("#theme").click()
        assert page.background() == light
        page.open(scheme="dark")
        assert page.background() == dark

    def test_contrast(self, page):
        """All texts and all colours of codecs can be told from what is behind them, in both themes."""
        for _ in range(2):
            shown = page.run(
                """const probe = document.body.appendChild(document.createElement("i"));
                const value = (name) => {
                  probe.style.color = `var(${name})`;
                  return getComputedStyle(probe).color.match(/[0-9.]+/g).slice(0, 3).map(Number);
                };
                return Object.fromEntries(arguments[0].map((name) => [name, value(name)]));""",
                ["--surface", "--page", "--own-tint", *TEXTS, *PAINTS],
            )
            for name in TEXTS:
                assert (
                    min(contrast(shown[name], shown[behind]) for behind in ("--surface", "--page")) >= 4.5
                ), name
            assert contrast(shown["--own-text"], shown["--own-tint"]) >= 4.5
            for name in PAINTS:
                assert contrast(shown[name], shown["--surface"]) >= 3, name
            page.find("#theme").click()


TEXTS = ["--text", "--muted", "--link", "--good", "--warn", "--bad", "--own-text"]
PAINTS = ["--own", "--bound", *(f"--other-{number}" for number in range(8))]


def contrast(one: list[float], other: list[float]) -> float:
    """As WCAG counts it."""

    def light(colour: list[float]) -> float:
        parts = [part / 255 for part in colour]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((light(one), light(other)))
    return (high + 0.05) / (low + 0.05)


def overlapping(boxes: list[list[float]]) -> list[tuple[int, int]]:
    """Pairs of left, top, right, bottom with more than a pixel in common."""
    return [
        (one, other)
        for one, (left, top, right, bottom) in enumerate(boxes)
        for other, (left2, top2, right2, bottom2) in enumerate(boxes[:one])
        if min(right, right2) - max(left, left2) > 1 and min(bottom, bottom2) - max(top, top2) > 1
    ]


class TestPlots:
    def boxes(self, page: Page, selector: str) -> list[list[float]]:
        return page.run(
            """return [...document.querySelectorAll(arguments[0])].map((each) => each.getBoundingClientRect())
            .map(({left, top, right, bottom}) => [left, top, right, bottom])""",
            selector,
        )

    def test_a_point_for_each_codec(self, page):
        page.draw("plot-graph-size")
        drawn = sum(1 for each in graph().outcomes if each.dumps and each.size)
        assert len(self.boxes(page, "#plot-graph-size .scatterlayer .points path")) == 2 * drawn

    def test_hollow_points_changed_the_data(self, page):
        kept = {each.codec: graph().keeps(each) for each in graph().outcomes}
        for each in page.traces("plot-graph-size"):
            assert each["marker"]["symbol"].endswith("-open") != kept[each["name"]], each["name"]

    def test_bars(self, page):
        page.draw("plot-graph-bound")
        drawn = sum(1 for each in graph().outcomes if each.dumps and not each.bound)
        bars = self.boxes(page, "#plot-graph-bound .bars .point path")
        assert len(bars) == 2 * drawn
        assert all(right - left > 0.5 for left, _, right, _ in bars)
        assert "1.7×" in page.find("#plot-graph-bound").text

    @pytest.mark.parametrize("op", ["dumps", "loads"])
    def test_lines(self, page, op):
        plot = f"plot-curve-Log-entries-{op}"
        lines = {each["name"]: each for each in page.traces(plot)}
        assert lines["holdall"]["x"] == [10**power for power in range(3, 10)]
        assert lines["holdall"]["line"]["width"] > lines["pickle"]["line"]["width"]
        measured = sum(each.dumps is not None for data in growing() for each in data.outcomes)
        assert len(self.boxes(page, f"#{plot} .scatterlayer .points path")) == measured
        assert len(self.boxes(page, f"#{plot} .scatterlayer path.js-line")) == len(growing()[0].outcomes)

    def test_colours_stay_the_same(self, page):
        """Of each codec in all plots."""
        points = {each["name"]: each["marker"]["color"] for each in page.traces("plot-graph-size")}
        lines = {
            each["name"]: each["marker"]["color"] for each in page.traces("plot-curve-Log-entries-loads")
        }
        assert {name: points[name] for name in lines} == lines
        assert points["holdall"] == points["holdall typed"] != points["pickle"]

    @pytest.mark.parametrize("width", [400, 1400])
    def test_no_text_covers_another(self, page, width):
        page.open(width)
        for plot in (
            "plot-graph-size",
            "plot-graph-bound",
            "plot-records-size",
            "plot-curve-Log-entries-dumps",
        ):
            page.draw(plot)
            boxes = self.boxes(page, f"#{plot} svg text:not(:empty)")
            assert len(boxes) > 10
            assert overlapping(boxes) == [], plot

    def test_every_label_is_within_its_plot(self, page):
        for plot in ("plot-graph-size", "plot-graph-bound", "plot-curve-Log-entries-dumps"):
            page.draw(plot)
            (around,) = self.boxes(page, f"#{plot}")
            for left, top, right, bottom in self.boxes(page, f"#{plot} svg text:not(:empty)"):
                assert left >= around[0] - 1 and right <= around[2] + 1, plot
                assert top >= around[1] - 1 and bottom <= around[3] + 1, plot

    def test_drawn_anew_for_another_width(self, page):
        page.draw("plot-graph-size")
        wide = self.boxes(page, "#plot-graph-size .main-svg")[0]
        screen = {"width": 700, "height": 1000, "deviceScaleFactor": 1, "mobile": False}
        page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
        page.wait("return document.querySelector('#plot-graph-size .main-svg').clientWidth < 700")
        (around,) = self.boxes(page, "#plot-graph-size")
        narrow = self.boxes(page, "#plot-graph-size .main-svg")[0]
        assert narrow[2] - narrow[0] == pytest.approx(around[2] - around[0], abs=1)
        assert wide[2] - wide[0] > 1000

    def test_the_pointer_shows_what_a_point_is(self, page):
        from selenium.webdriver import ActionChains

        page.draw("plot-records-size")
        points = page.driver.find_elements("css selector", "#plot-records-size .scatterlayer .points path")
        ActionChains(page.driver).move_to_element(points[0]).perform()
        page.wait("return document.querySelector('#plot-records-size .hoverlayer text') !== null")
        assert "holdall" in page.find("#plot-records-size .hoverlayer").text
        assert "2.10\u202fµs per item" in page.find("#plot-records-size .hoverlayer").text


class TestPicture:
    """`python -m bench.picture`."""

    @pytest.mark.parametrize("plot", ["plot-graph-size", "plot-log-6-size", "plot-curve-Log-entries-loads"])
    def test_of_a_plot_in_both_themes(self, page, plot):
        page.open(1000)
        found = {theme: picture.export(page.driver, plot, theme) for theme in ("light", "dark")}
        for theme, svg in found.items():
            root = ET.fromstring(svg)
            assert root.tag == "{http://www.w3.org/2000/svg}svg"
            texts = {"".join(each.itertext()) for each in root.iter("{http://www.w3.org/2000/svg}text")}
            assert {"holdall", "pickle"} <= texts, theme
        assert found["light"] != found["dark"]

    def test_of_no_plot(self, page):
        with pytest.raises(SystemExit, match="error"):
            picture.export(page.driver, "plot-of-nothing", "light")

    def test_the_command(self, monkeypatch, chromium, address, tmp_path):
        @contextmanager
        def opened(*_: str) -> Iterator[Any]:
            yield chromium

        monkeypatch.setattr(picture, "browser", opened)
        report = pathlib.Path(address.removeprefix("file://"))
        picture.main(str(report), "plot-graph-size", str(tmp_path / "light.svg"), str(tmp_path / "dark.svg"))
        assert "<svg" in (tmp_path / "light.svg").read_text("utf-8")
        assert (tmp_path / "light.svg").read_bytes() != (tmp_path / "dark.svg").read_bytes()
