"""Exports a plot of `holdall bench --html` as pictures for the README, in light and in dark:

python -m bench.targets.picture report.html plot-id out-light.svg out-dark.svg

Each plot's id stands in the page: `plot-<data set>-size`, `plot-<data set>-bound`, `plot-curve-<curve>-dumps`.
"""

from __future__ import annotations

import os
import pathlib
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import unquote

CHROMIUM = pathlib.Path("/usr/bin/chromium")
CHROMEDRIVER = pathlib.Path("/usr/bin/chromedriver")
FLAGS = """--headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --disable-quic --no-first-run
--disable-background-networking --disable-component-update --disable-sync --force-device-scale-factor=1""".split()
# A README's column on a wide screen.
WIDTH, HEIGHT = 1000, 900
PREFIX = "data:image/svg+xml,"
EXPORT = """
const [id, theme, done] = arguments;
(async () => {
  const box = document.getElementById(id);
  for (let each = box.closest("details"); each; each = each.parentElement.closest("details")) each.open = true;
  Report.show(theme);
  await Report.draw(id);
  const { width, height } = box.layout;
  done(await Plotly.toImage(box, { format: "svg", width, height }));
})().catch((error) => done(`error: ${error}`));
"""


@contextmanager
def browser(*flags: str) -> Iterator[Any]:
    """Headless Chromium, driven by selenium. It logs what its console and its network see, and forgets everything."""
    from selenium.webdriver import Chrome, ChromeOptions
    from selenium.webdriver.chrome.service import Service

    options = ChromeOptions()
    options.binary_location = str(CHROMIUM)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        for flag in (*FLAGS, f"--user-data-dir={profile}", *flags):
            options.add_argument(flag)
        # Selenium would look on the net for a driver, were it not told of one.
        driver = Chrome(options, Service(str(CHROMEDRIVER), log_output=os.devnull))
        try:
            yield driver
        finally:
            driver.quit()


def export(driver: Any, plot: str, theme: str) -> str:
    """The plot as SVG, as it is in the open page."""
    found = driver.execute_async_script(EXPORT, plot, theme)
    if not found.startswith(PREFIX):
        raise SystemExit(found)
    return unquote(found.removeprefix(PREFIX))


def main(report: str, plot: str, light: str, dark: str) -> None:
    with browser(f"--window-size={WIDTH},{HEIGHT}") as driver:
        driver.get(pathlib.Path(report).resolve().as_uri())
        for theme, path in (("light", light), ("dark", dark)):
            pathlib.Path(path).write_text(export(driver, plot, theme), "utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 5:
        raise SystemExit(__doc__)
    main(*sys.argv[1:])
