"use strict";

// What the page does: switches, sorted tables, hidden codecs, the theme; and when plots are drawn.
const Report = (() => {
  const root = document.documentElement;
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const boxes = all(".plot");
  const drawn = new Set();
  const state = { collector: root.dataset.collector, hidden: new Set() };
  const wantsDark = matchMedia("(prefers-color-scheme: dark)");

  // ---- Plots: drawn once they come near the window, and again when something changes --------------------------------

  const draw = (box) => {
    drawn.add(box);
    return Plots.draw(box, state);
  };
  const visible = (box) => box.checkVisibility();
  const redraw = () => {
    for (const box of drawn) {
      if (visible(box)) draw(box);
      else forget(box);
    }
  };
  // What is folded away has no width to be drawn for. It is drawn when it comes into sight.
  const forget = (box) => {
    drawn.delete(box);
    watcher.observe(box);
  };
  const watcher = new IntersectionObserver(
    (entries) => {
      for (const { isIntersecting, target } of entries)
        if (isIntersecting && visible(target)) {
          watcher.unobserve(target);
          draw(target);
        }
    },
    { rootMargin: "600px" },
  );
  for (const box of boxes) watcher.observe(box);

  let width = root.clientWidth;
  addEventListener("resize", () => {
    if (root.clientWidth === width) return;
    width = root.clientWidth;
    redraw();
  });

  // ---- Theme -------------------------------------------------------------------------------------------------------

  const dark = () => (root.dataset.theme ? root.dataset.theme === "dark" : wantsDark.matches);
  const show = (theme) => {
    if (theme) root.dataset.theme = theme;
    else delete root.dataset.theme;
    document.getElementById("theme").title = dark() ? "Light" : "Dark";
    redraw();
  };
  document.getElementById("theme").addEventListener("click", () => show(dark() ? "light" : "dark"));
  wantsDark.addEventListener("change", () => show(root.dataset.theme));

  // Paper is white, and has room for all plots.
  let before;
  addEventListener("beforeprint", () => {
    before = root.dataset.theme;
    show("light");
    boxes.filter((box) => visible(box) && !drawn.has(box)).forEach(draw);
  });
  addEventListener("afterprint", () => show(before));

  // ---- Tables ------------------------------------------------------------------------------------------------------

  const failed = (row) => row.classList.contains("failed");
  const compare = (one, other) => {
    const [left, right] = [Number(one), Number(other)];
    return Number.isNaN(left) || Number.isNaN(right) ? one.localeCompare(other) : left - right;
  };
  /** Sorts by a column. What has no value stays last, whichever way; who failed stays below that. */
  const sort = (title, direction) => {
    const table = title.closest("table");
    const sign = direction === "ascending" ? 1 : -1;
    const value = (row) => row.cells[title.cellIndex].dataset[state.collector];
    const rows = [...table.tBodies[0].rows].sort((one, other) => {
      const [left, right] = [value(one), value(other)];
      return (
        failed(one) - failed(other) ||
        (left === undefined) - (right === undefined) ||
        (left === undefined ? 0 : sign * compare(left, right))
      );
    });
    for (const each of all("thead [aria-sort]", table)) each.setAttribute("aria-sort", each === title ? direction : "none");
    table.tBodies[0].append(...rows);
  };
  for (const title of all(".results [aria-sort]"))
    title.querySelector("button").addEventListener("click", () =>
      sort(title, title.getAttribute("aria-sort") === "ascending" ? "descending" : "ascending"),
    );

  // ---- Switches ----------------------------------------------------------------------------------------------------

  const changes = {
    collector(value) {
      state.collector = root.dataset.collector = value;
      for (const title of all('.results [aria-sort]:not([aria-sort="none"])')) sort(title, title.getAttribute("aria-sort"));
      redraw();
    },
    columns(value) {
      root.dataset.columns = value;
      for (const group of all(".groups > *")) {
        const count = Number(group.dataset[value]);
        group.colSpan = count || 1;
        group.hidden = !count;
      }
    },
  };
  for (const button of all("[data-set]"))
    button.addEventListener("click", () => {
      for (const each of all("button", button.parentElement)) each.setAttribute("aria-pressed", String(each === button));
      changes[button.dataset.set](button.value);
    });

  // ---- Which codecs are shown --------------------------------------------------------------------------------------

  const filter = document.getElementById("filter");
  const checks = all("input", filter);
  const apply = () => {
    state.hidden = new Set(checks.filter((check) => !check.checked).map((check) => Number(check.value)));
    for (const row of all("tr[data-codec]")) row.hidden = state.hidden.has(Number(row.dataset.codec));
    const count = checks.length - state.hidden.size;
    filter.querySelector("summary").textContent = state.hidden.size ? `Codecs: ${count} of ${checks.length}` : "Codecs";
    redraw();
  };
  filter.addEventListener("change", apply);
  for (const button of all("[data-all]", filter))
    button.addEventListener("click", () => {
      for (const check of checks) check.checked = Boolean(button.dataset.all);
      apply();
    });
  document.addEventListener("click", (event) => {
    if (!filter.contains(event.target)) filter.open = false;
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !filter.open) return;
    filter.open = false;
    filter.querySelector("summary").focus();
  });
  // A browser may remember what was unchecked when the page was left.
  apply();

  return { draw: (id) => draw(document.getElementById(id)), show };
})();
