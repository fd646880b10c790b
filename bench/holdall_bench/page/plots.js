"use strict";

// Draws the plots from the numbers in the page. Sizes, ticks and labels are laid out here, for the width at hand, so
// that a plot is drawn once and no label covers another.
const Plots = (() => {
  const CONTENT = JSON.parse(document.getElementById("content").textContent);
  const OPS = ["dumps", "loads"];
  const SYMBOLS = ["circle", "square", "diamond", "triangle-up", "pentagon", "triangle-down", "hexagon", "star"];
  const DASHES = ["solid", "dash", "dot", "dashdot", "longdash", "longdashdot"];
  const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif';
  const CLEAR = "rgba(0,0,0,0)";
  const CONFIG = { displayModeBar: false, showTips: false };
  // Below so many pixels, what stands side by side stands one below the other.
  const NARROW = 620;
  const LINE = 15;
  // The longest label beside a point. The pointer shows the whole name.
  const MOST = 130;

  // ---- Colours and texts -------------------------------------------------------------------------------------------

  const probe = document.createElement("span");
  probe.hidden = true;
  document.body.append(probe);

  /** The value of a colour of report.css in the theme that is shown. */
  const colour = (name) => {
    probe.style.color = `var(${name})`;
    return getComputedStyle(probe).color;
  };

  const ruler = document.createElement("canvas").getContext("2d");
  const decoder = document.createElement("textarea");

  /** The width of a label in pixels, as it will be shown. */
  const measure = (label, size = 12, bold = false) => {
    ruler.font = `${bold ? "600 " : ""}${size}px ${FONT}`;
    decoder.innerHTML = label;
    return ruler.measureText(decoder.value).width;
  };

  const clean = (value) => parseFloat(value.toPrecision(6));
  const plain = (value) => clean(value).toLocaleString("en", { maximumFractionDigits: 12 }).replaceAll(",", "\u202f");
  const bytes = (value) => {
    const [per, unit] = [[1e9, "GB"], [1e6, "MB"], [1e3, "kB"]].find(([least]) => value >= least) ?? [1, "B"];
    return `${plain(value / per)}\u202f${unit}`;
  };
  const times = (value) => `${plain(value)}×`;
  const rounded = (value) => (value >= 9.95 ? times(Math.round(value)) : `${value.toFixed(value < 0.995 ? 2 : 1)}×`);

  // ---- Axes --------------------------------------------------------------------------------------------------------

  /** From the least to the greatest, as powers of ten, with some room. */
  const fit = (values, room = 0.08) => {
    let [low, high] = [Math.log10(Math.min(...values)), Math.log10(Math.max(...values))];
    const more = Math.max(0, 0.3 - (high - low)) / 2;
    [low, high] = [low - more, high + more];
    const pad = (high - low) * room;
    return [low - pad, high + pad];
  };

  const inside = (range) => (value) => Math.log10(value) >= range[0] - 1e-9 && Math.log10(value) <= range[1] + 1e-9;

  /** Round numbers on a logarithmic axis: as many as fit, from whole powers of ten down to even steps. */
  const ticks = (range, length, apart) => {
    const powers = [];
    for (let power = Math.floor(range[0]); power <= Math.ceil(range[1]); power++) powers.push(power);
    const choices = [6, 4, 3, 2, 1].map((every) => powers.filter((power) => power % every === 0).map((power) => 10 ** power));
    for (const steps of [[1, 3], [1, 2, 5], [1, 1.5, 2, 3, 5, 7]])
      choices.push(powers.flatMap((power) => steps.map((step) => step * 10 ** power)));
    // Within a power of ten the eye takes even steps as they are.
    if (range[1] - range[0] < 1)
      for (const step of [5, 2, 1, 0.5, 0.2, 0.1].map((digit) => digit * 10 ** powers[0])) {
        const first = Math.ceil(10 ** range[0] / step);
        const count = Math.max(0, Math.floor(10 ** range[1] / step) - first + 1);
        choices.push(Array.from({ length: count }, (_, place) => (first + place) * step));
      }
    const least = 10 ** ((apart * (range[1] - range[0])) / length);
    const fits = (choice) => choice.every((value, place) => !place || value / choice[place - 1] >= least);
    const fitting = choices.map((choice) => choice.filter(inside(range))).filter(fits);
    return fitting.reduce((best, choice) => (choice.length > best.length ? choice : best), []);
  };

  const axis = (range, length, format, title, each) => {
    const values = ticks(range, length, each);
    return {
      type: "log", range, tickmode: "array", tickvals: values, ticktext: values.map(format),
      gridcolor: colour("--grid"), linecolor: colour("--axis"), showline: true, zeroline: false, ticks: "",
      fixedrange: true, minor: { showgrid: false, ticks: "" }, title: { text: title, standoff: 8, font: { size: 12 } }, tickfont: { size: 11.5 },
    };
  };

  const layout = (width, height, margin) => ({
    width, height, margin, showlegend: false, dragmode: false, hovermode: "closest", hoverdistance: 24,
    paper_bgcolor: CLEAR, plot_bgcolor: CLEAR,
    font: { family: FONT, size: 12, color: colour("--muted") },
    hoverlabel: {
      bgcolor: colour("--raised"), bordercolor: colour("--axis"), align: "left",
      font: { family: FONT, size: 12.5, color: colour("--text") },
    },
    annotations: [],
  });

  const heading = (text, x, y) => ({
    text: `<b>${text}</b>`, xref: "paper", yref: "paper", x, y, xanchor: "left", yanchor: "bottom", yshift: 6,
    showarrow: false, font: { size: 12.5, color: colour("--text") },
  });

  /** Two areas, beside or above each other: pixels of each, and their shares of the whole. */
  const halves = (wide, high, gap, stacked) => {
    const length = stacked ? high : wide;
    const half = (length - gap) / 2;
    const [first, second] = [[0, half / length], [(half + gap) / length, 1]];
    return stacked
      ? { wide, high: half, x: [[0, 1], [0, 1]], y: [second, first] }
      : { wide: half, high, x: [first, second], y: [[0, 1], [0, 1]] };
  };

  const look = (point) => {
    const codec = CONTENT.codecs[point.codec];
    return { ...codec, paint: colour(codec.colour), own: codec.kind === "own" };
  };

  const symbol = (codec, kept) => {
    if (codec.kind === "bound") return "x";
    return SYMBOLS[codec.symbol % SYMBOLS.length] + (kept ? "" : "-open");
  };

  // ---- Labels ------------------------------------------------------------------------------------------------------

  const SIDES = [
    ["middle right", 1, 0], ["middle left", -1, 0], ["top center", 0, -1], ["bottom center", 0, 1],
    ["top right", 1, -1], ["bottom right", 1, 1], ["top left", -1, -1], ["bottom left", -1, 1],
  ];

  const overlap = (one, other) =>
    one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;

  /** Where each point's label goes so that it covers nothing; null where there is no such place: it is then left out. */
  const places = (points, wide, high) => {
    const radius = 6;
    const markers = points.map(({ px, py }) => ({ left: px - radius, right: px + radius, top: py - radius, bottom: py + radius }));
    const taken = [];
    const order = points.map((_, index) => index).sort((one, other) => points[other].weight - points[one].weight);
    const found = points.map(() => null);
    for (const index of order) {
      const { px, py, shown: label, own } = points[index];
      const [width, height] = [measure(label, 12, own), LINE];
      for (const [name, right, below] of SIDES) {
        const x = right > 0 ? px + radius + 2 : right < 0 ? px - radius - 2 - width : px - width / 2;
        const y = below > 0 ? py + radius : below < 0 ? py - radius - height : py - height / 2;
        const box = { left: x, right: x + width, top: y, bottom: y + height };
        const fits = box.left >= 2 && box.right <= wide && box.top >= 0 && box.bottom <= high;
        if (!fits || taken.some((other) => overlap(box, other))) continue;
        if (markers.some((other, at) => at !== index && overlap(box, other))) continue;
        taken.push(box);
        found[index] = name;
        break;
      }
    }
    return found;
  };

  /** Moves heights apart until there is a line's height between each two, keeping their order. */
  const spread = (heights, lowest) => {
    const order = heights.map((_, index) => index).sort((one, other) => heights[one] - heights[other]);
    const moved = [...heights];
    let least = LINE / 2;
    for (const index of order) {
      moved[index] = Math.max(heights[index], least);
      least = moved[index] + LINE;
    }
    let most = lowest - LINE / 2;
    for (const index of order.reverse()) {
      moved[index] = Math.min(moved[index], most);
      most = moved[index] - LINE;
    }
    return moved;
  };

  const shorten = (label, most, bold) => {
    if (measure(label, 12, bold) <= most) return label;
    decoder.innerHTML = label;
    let text = decoder.value;
    while (text.length > 1 && measure(`${decoder.textContent = text}…`.replaceAll("<", "&lt;"), 12, bold) > most) text = text.slice(0, -1);
    return `${text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")}…`;
  };

  // ---- The three kinds ---------------------------------------------------------------------------------------------

  const size = (spec, width, state) => {
    const stacked = width < NARROW;
    const margin = { l: 62, r: 12, t: 28, b: 48 };
    const height = stacked ? 660 : Math.min(460, Math.max(360, width * 0.4));
    const whole = [width - margin.l - margin.r, height - margin.t - margin.b];
    const area = halves(...whole, stacked ? 62 : 30, stacked);
    const shown = spec.points.filter((point) => !state.hidden.has(point.codec));
    const drawn = OPS.map((op) => shown.filter((point) => point[op][state.collector]));
    const both = drawn.flatMap((points, half) => points.map((point) => point[OPS[half]][state.collector].value));
    const sizes = drawn.flat().map((point) => point.size);
    const made = layout(width, height, margin);
    if (!both.length) return [[], made];
    const [xs, ys] = [fit(sizes, 0.12), fit(both)];
    const data = [];
    OPS.forEach((op, half) => {
      const [x, y] = half ? ["x2", "y2"] : ["x", "y"];
      const names = half ? ["xaxis2", "yaxis2"] : ["xaxis", "yaxis"];
      made[names[0]] = { ...axis(xs, area.wide, bytes, stacked && !half ? "" : "size", 56), domain: area.x[half], anchor: y };
      made[names[1]] = {
        ...axis(ys, area.high, plain, stacked || !half ? `time, ${spec.unit}` : "", 26),
        domain: area.y[half], anchor: x, showticklabels: stacked || !half,
      };
      made.annotations.push(heading(op, area.x[half][0], area.y[half][1]));
      const points = drawn[half].map((point) => {
        const codec = look(point);
        const value = point[op][state.collector].value;
        return {
          ...codec, point, value, shown: shorten(codec.label, MOST, codec.own),
          px: ((Math.log10(point.size) - xs[0]) / (xs[1] - xs[0])) * area.wide,
          py: (1 - (Math.log10(value) - ys[0]) / (ys[1] - ys[0])) * area.high,
          weight: (codec.own ? 4 : 0) + (point.kept ? 2 : 0) - (codec.kind === "bound" ? 1 : 0),
        };
      });
      places(points, area.wide, area.high).forEach((place, index) => {
        const { point, value, paint, own, label, shown: text, ...codec } = points[index];
        data.push({
          type: "scatter", x: [point.size], y: [value], xaxis: x, yaxis: y, name: label, cliponaxis: false,
          mode: place ? "markers+text" : "markers", text: [own ? `<b>${text}</b>` : text], textposition: place ?? "middle right",
          textfont: { color: own ? colour("--own-text") : colour(point.kept ? "--text" : "--muted"), size: 12 },
          marker: {
            symbol: symbol(codec, point.kept), size: own ? 12 : 10, color: paint,
            line: { width: point.kept ? 1 : 2, color: point.kept ? colour("--surface") : paint },
          },
          hovertext: [point[op][state.collector].hover], hoverinfo: "text",
        });
      });
    });
    return [data, made];
  };

  const bound = (spec, width, state) => {
    const stacked = width < NARROW;
    const value = (point, op) => point[op][state.collector]?.value;
    const mean = (point) => {
      const found = OPS.map((op) => value(point, op)).filter(Boolean);
      return found.reduce((sum, each) => sum + Math.log(each), 0) / found.length;
    };
    const rows = spec.points
      .filter((point) => !state.hidden.has(point.codec) && OPS.some((op) => value(point, op)))
      .sort((one, other) => mean(one) - mean(other));
    const most = width * 0.38;
    const labels = rows.map((point) => {
      const { label, own } = look(point);
      const text = shorten(label, most, own);
      return own ? `<b>${text}</b>` : text;
    });
    const margin = { l: Math.ceil(Math.max(40, ...labels.map((label) => Math.min(most, measure(label.replaceAll(/<\/?b>/g, ""), 12, true))))) + 12, r: 12, t: 28, b: 34 };
    const each = rows.length * 21 + 8;
    const gap = stacked ? 62 : 24;
    const height = margin.t + margin.b + (stacked ? 2 * each + gap : each);
    const area = halves(width - margin.l - margin.r, height - margin.t - margin.b, gap, stacked);
    const made = { ...layout(width, height, margin), bargap: 0.34, shapes: [] };
    const all = rows.flatMap((point) => OPS.map((op) => value(point, op)).filter(Boolean));
    if (!all.length) return [[], made];
    // From the bound itself; who is below it gets a bar to the left. To the right there is room for the figures.
    const least = Math.min(...all);
    const below = least < 0.995 ? 40 : 0;
    const [low, high] = [Math.min(0, Math.log10(least)), Math.max(0.3, Math.log10(Math.max(...all)))];
    const pixel = (high - low) / Math.max(60, area.wide - 46 - below);
    const range = [low - below * pixel, high + 46 * pixel];
    const data = OPS.map((op, half) => {
      const [x, y] = half ? ["x2", "y2"] : ["x", "y"];
      const names = half ? ["xaxis2", "yaxis2"] : ["xaxis", "yaxis"];
      made[names[0]] = { ...axis(range, area.wide, times, "", 50), domain: area.x[half], anchor: y, showline: false, tickangle: 0 };
      made[names[1]] = {
        domain: area.y[half], anchor: x, range: [-0.7, rows.length - 0.3], tickvals: rows.map((_, row) => rows.length - 1 - row),
        ticktext: labels, showticklabels: stacked || !half, showgrid: false, zeroline: false, ticks: "", fixedrange: true,
        tickfont: { color: colour("--text"), size: 12 },
      };
      made.annotations.push(heading(op, area.x[half][0], area.y[half][1]));
      const drawn = rows.map((point, row) => ({ point, row })).filter(({ point }) => value(point, op));
      made.shapes.push({
        type: "line", xref: x, yref: `${y} domain`, x0: 1, x1: 1, y0: 0, y1: 1, line: { color: colour("--axis"), width: 1.5 },
      });
      const paints = drawn.map(({ point }) => look(point).paint);
      return {
        type: "bar", orientation: "h", xaxis: x, yaxis: y, cliponaxis: false,
        base: 1, x: drawn.map(({ point }) => value(point, op) - 1), y: drawn.map(({ row }) => rows.length - 1 - row),
        text: drawn.map(({ point }) => rounded(value(point, op))), textposition: "outside",
        textfont: { size: 11.5, color: colour("--text") },
        marker: {
          color: drawn.map(({ point }, index) => (point.kept ? paints[index] : CLEAR)), line: { color: paints, width: 1.5 },
        },
        hovertext: drawn.map(({ point }) => point[op][state.collector].hover), hoverinfo: "text",
      };
    });
    return [data, made];
  };

  const curve = (spec, width, state) => {
    const lines = spec.lines
      .filter((line) => !state.hidden.has(line.codec))
      .map((line) => ({ ...line, ...look(line), points: line.points.filter((point) => point[state.collector]) }))
      .filter((line) => line.points.length);
    const most = width * 0.36;
    for (const line of lines) line.shown = shorten(line.label, most, line.own);
    const widest = Math.max(40, ...lines.map((line) => measure(line.shown, 12, line.own)));
    const margin = { l: 58, r: Math.ceil(widest) + 24, t: 12, b: 48 };
    const height = Math.max(400, lines.length * LINE + margin.t + margin.b);
    const [wide, high] = [width - margin.l - margin.r, height - margin.t - margin.b];
    const made = layout(width, height, margin);
    if (!lines.length) return [[], made];
    const all = lines.flatMap((line) => line.points);
    const [xs, ys] = [fit(all.map((point) => point.volume), 0.03), fit(all.map((point) => point[state.collector].value), 0.05)];
    made.xaxis = axis(xs, wide, bytes, "data", 52);
    made.yaxis = axis(ys, high, plain, "ns per byte", 26);
    const px = (volume) => ((Math.log10(volume) - xs[0]) / (xs[1] - xs[0])) * wide;
    const py = (value) => (1 - (Math.log10(value) - ys[0]) / (ys[1] - ys[0])) * high;
    const ends = lines.map((line) => line.points.at(-1));
    const heights = ends.map((end) => py(end[state.collector].value));
    spread(heights, high).forEach((level, index) => {
      const { shown, own, kind } = lines[index];
      made.annotations.push({
        text: own ? `<b>${shown}</b>` : shown, x: Math.log10(ends[index].volume), y: Math.log10(ends[index][state.collector].value),
        ax: wide + 14 - px(ends[index].volume), ay: level - heights[index], xanchor: "left", align: "left",
        showarrow: true, arrowhead: 0, arrowwidth: 1, arrowcolor: colour("--axis"), standoff: 7, borderpad: 0, opacity: kind === "bound" ? 0.8 : 1,
        font: { size: 12, color: own ? colour("--own-text") : colour("--text") },
      });
    });
    // Ours last, above the others.
    const data = [...lines].sort((one, other) => one.own - other.own).map((line) => ({
      type: "scatter", mode: "lines+markers", name: line.label, cliponaxis: false,
      x: line.points.map((point) => point.volume), y: line.points.map((point) => point[state.collector].value),
      line: { color: line.paint, width: line.own ? 3 : 1.75, dash: line.kind === "bound" ? "dot" : DASHES[line.symbol % DASHES.length] },
      marker: {
        symbol: line.points.map((point) => symbol(line, point.kept)), size: line.own ? 8 : 6.5, color: line.paint,
        line: { width: 1.5, color: line.paint },
      },
      hovertext: line.points.map((point) => point[state.collector].hover), hoverinfo: "text",
    }));
    return [data, made];
  };

  const KINDS = { size, bound, curve };

  /** Draws one plot for the width of its box; `state` has the collector and the set of hidden codecs. */
  const draw = (box, state) => {
    const spec = CONTENT.plots[box.id];
    const [data, made] = KINDS[spec.kind](spec, box.clientWidth, state);
    if (!data.length) made.annotations.push({ text: "nothing to show", xref: "paper", yref: "paper", x: 0.5, y: 0.5, showarrow: false });
    return Plotly.react(box, data, made, CONFIG);
  };

  return { draw };
})();
