// Line charts with bands. The pointer, or the arrow keys once a chart has the focus, move a cursor that tells values.
const SPACE = { left: 60, right: 14, top: 10, bottom: 42 };

// The lines of all panels, each once.
function legendOf(panels) {
  const names = new Map(panels.flatMap(({ lines }) => lines.map(({ number, line }) => [number, line])));
  const entries = [...names].sort(([one], [other]) => one - other);
  return make(
    "ul",
    { class: "legend" },
    entries.map(([number, line]) => make("li", {}, sampleOf(number), line)),
  );
}

const ownScales = (panels) =>
  panels.length > 1 ? make("p", { class: "hint" }, "Each panel has a scale of its own.") : null;

function axes(svg, { width, height, x, y, xTicks, yTicks, xTitle, yTitle, sayX = sayTick }) {
  const bottom = height - SPACE.bottom;
  for (const tick of yTicks) {
    svg.append(
      draw("line", { class: "grid", x1: SPACE.left, x2: width - SPACE.right, y1: y(tick), y2: y(tick) }),
      draw("text", { x: SPACE.left - 8, y: y(tick) + 4, "text-anchor": "end" }, sayTick(tick)),
    );
  }
  for (const tick of xTicks) {
    svg.append(
      draw("line", { class: "axis", x1: x(tick), x2: x(tick), y1: bottom, y2: bottom + 5 }),
      draw("text", { x: x(tick), y: bottom + 19, "text-anchor": "middle" }, sayX(tick)),
    );
  }
  svg.append(
    draw("line", { class: "axis", x1: SPACE.left, x2: width - SPACE.right, y1: bottom, y2: bottom }),
    draw(
      "text",
      { class: "title", x: (SPACE.left + width - SPACE.right) / 2, y: height - 5, "text-anchor": "middle" },
      xTitle,
    ),
    draw(
      "text",
      { class: "title", "text-anchor": "middle", transform: `translate(13 ${(SPACE.top + bottom) / 2}) rotate(-90)` },
      yTitle,
    ),
  );
}

const pathOf = (points, x, y, key) =>
  points.map((point, place) => `${place ? "L" : "M"}${x(point.x).toFixed(1)},${y(point[key]).toFixed(1)}`).join("");

function drawLine(svg, { number, runs, points }, x, y) {
  if (runs > 1) {
    const back = [...points].reverse();
    const area = `${pathOf(points, x, y, "most")}${pathOf(back, x, y, "least").replace("M", "L")}z`;
    svg.append(draw("path", { class: "band", d: area, fill: colourOf(number), "fill-opacity": 0.16 }));
  }
  svg.append(
    draw("path", {
      class: "line",
      d: pathOf(points, x, y, "mean"),
      fill: "none",
      stroke: colourOf(number),
      "stroke-width": 2,
      "stroke-dasharray": dashOf(number),
      "stroke-linejoin": "round",
    }),
  );
  const step = Math.max(1, Math.ceil(points.length / 7));
  for (let place = (number * 2) % step; place < points.length; place += step) {
    svg.append(markOf(number, x(points[place].x), y(points[place].mean)));
  }
}

function nearest(points, x) {
  if (x > points.at(-1).x + 1e-9 || x < points[0].x - 1e-9) return null;
  return points.reduce((best, point) => (Math.abs(point.x - x) < Math.abs(best.x - x) ? point : best));
}

// Lets pointer and keys walk over the places of a chart; show(place) moves the cursor, hide() takes it away.
function walkable(svg, places, placeOf, show, hide) {
  let current = null;
  const go = (place) => {
    current = Math.max(0, Math.min(places() - 1, place));
    show(current);
  };
  svg.addEventListener("pointermove", (event) => go(placeOf(event)));
  svg.addEventListener("pointerdown", (event) => go(placeOf(event)));
  svg.addEventListener("pointerleave", hide);
  svg.addEventListener("blur", hide);
  svg.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1, PageUp: 10, PageDown: -10, Home: -Infinity, End: Infinity }[event.key];
    if (event.key === "Escape") hide();
    if (step === undefined) return;
    event.preventDefault();
    go(current === null ? (step === Infinity ? places() : 0) : current + step);
  });
}

// Those that a chart names, as many as there is room for, or round numbers.
function ticksOf({ xFrom = 0, xTicks }, right, width) {
  if (!xTicks) return niceTicks(xFrom, right, width / 90);
  const within = xTicks.filter((tick) => tick <= right);
  const step = Math.ceil((within.length * 34) / width);
  return within.filter((_, place) => place % step === 0);
}

function drawPanel(host, panel, chart, top) {
  host.replaceChildren();
  const width = host.clientWidth;
  const height = Math.round(Math.min(340, Math.max(230, width * 0.62)));
  const all = panel.lines.flatMap(({ points }) => points);
  const xs = [...new Set(all.map((point) => point.x))].sort((one, other) => one - other);
  const right = xs.at(-1) > xs[0] ? xs.at(-1) : xs[0] + 1;
  const x = scale(chart.xFrom ?? 0, right, SPACE.left, width - SPACE.right);
  const y = scale(0, top, height - SPACE.bottom, SPACE.top);
  const where = panel.panel ? `, ${panel.panel}` : "";
  const names = panel.lines.map(({ line }) => line).join(", ");
  const words = `${chart.title}${where}: ${names}. Arrow keys read the values.`;
  const svg = draw("svg", {
    class: "chart",
    width,
    height,
    viewBox: `0 0 ${width} ${height}`,
    tabindex: 0,
    role: "img",
    "aria-label": words,
  });
  const xTicks = ticksOf(chart, right, width);
  const { xTitle, yTitle, sayX } = chart;
  axes(svg, { width, height, x, y, xTicks, yTicks: niceTicks(0, top, 5), xTitle, yTitle, sayX });
  for (const line of panel.lines) drawLine(svg, line, x, y);
  const cursor = draw("g", { "aria-hidden": "true" });
  svg.append(cursor);
  host.append(svg);
  const show = (place) => {
    const here = xs[place];
    const found = panel.lines
      .map((line) => [line.number, line, nearest(line.points, here)])
      .filter(([, , point]) => point);
    const values = found.map(([number, line, point]) => {
      const spread = line.runs > 1 ? ` (${say(point.least)} – ${say(point.most)})` : "";
      return [sampleOf(number), line.line, `${say(point.mean)}${spread}`];
    });
    cursor.replaceChildren(
      draw("line", { class: "cursor", x1: x(here), x2: x(here), y1: SPACE.top, y2: height - SPACE.bottom }),
      ...found.map(([number, , point]) => markOf(number, x(point.x), y(point.mean), 5)),
    );
    const box = svg.getBoundingClientRect();
    showTip(
      `${chart.xWord} ${chart.sayX?.(here) ?? say(here, 4)}`,
      values,
      box.left + x(here),
      box.top + SPACE.top + 40,
    );
  };
  const hide = () => {
    cursor.replaceChildren();
    hideTip();
  };
  const placeOf = (event) => {
    const pointer = event.clientX - svg.getBoundingClientRect().left;
    return xs.reduce(
      (best, value, place) => (Math.abs(x(value) - pointer) < Math.abs(x(xs[best]) - pointer) ? place : best),
      0,
    );
  };
  walkable(svg, () => xs.length, placeOf, show, hide);
}

function dataTables(chart, panels) {
  return panels.map(({ panel, lines }) => {
    const xs = [...new Set(lines.flatMap(({ points }) => points.map((point) => point.x)))].sort(
      (one, other) => one - other,
    );
    const byX = lines.map(({ points }) => new Map(points.map((point) => [point.x, point])));
    const cell = (point) =>
      !point
        ? "–"
        : point.least === point.most
          ? say(point.mean)
          : `${say(point.mean)} (${say(point.least)} – ${say(point.most)})`;
    const rows = xs.map((x) => [chart.sayX?.(x) ?? say(x, 4), ...byX.map((points) => cell(points.get(x)))]);
    const name = `${chart.title}${panel ? `, ${panel}` : ""}`;
    return scrollable(name, table(name, [chart.xTitle, ...lines.map(({ line }) => line)], rows));
  });
}

// chart: {title, xTitle, xWord (before a value), yTitle, xFrom, xTicks, sayX, shareTop, controls}
// A whole chart: caption, legend, a panel for each setting, and its numbers as tables.
function lineChart(figure, chart, panels, ...extras) {
  const topOf = (some) => {
    const points = some.flatMap(({ lines }) => lines.flatMap((line) => line.points));
    return roomFor(
      points.reduce((most, point) => Math.max(most, point.most), 0),
      5,
    );
  };
  const hosts = panels.map((panel) => ({ panel, host: make("div") }));
  figure.replaceChildren(
    ...[
      make("figcaption", {}, make("h3", {}, chart.title), ...(chart.controls ?? [])),
      legendOf(panels),
      make(
        "div",
        { class: "panels" },
        hosts.map(({ panel, host }) =>
          make("div", { class: "panel" }, panel.panel ? make("h4", {}, panel.panel) : null, host),
        ),
      ),
      ...extras,
      chart.shareTop ? null : ownScales(panels),
      lazily("Numbers as a table", () => dataTables(chart, panels)),
    ].filter(Boolean),
  );
  for (const { panel, host } of hosts) {
    const top = topOf(chart.shareTop ? panels : [panel]);
    whenSized(host, () => drawPanel(host, panel, chart, top));
  }
}
