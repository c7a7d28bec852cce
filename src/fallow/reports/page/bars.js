// Stacked bars, such as what the energy was used for. Parts differ in colour and in hatching.
const LOOKS = {
  consumed_train: { colour: "var(--line-0)" },
  consumed_tx: { colour: "var(--line-1)", hatch: "slanted" },
  consumed_probe: { colour: "var(--line-2)", hatch: "dotted" },
  consumed_listen: { colour: "var(--line-3)", hatch: "backwards" },
  consumed_download: { colour: "var(--line-4)", hatch: "upright" },
  consumed_idle: { colour: "var(--line-5)", hatch: "level" },
  conversion_loss: { colour: "var(--lost)", hatch: "slanted" },
  leakage: { colour: "var(--lost)", hatch: "dotted" },
  overflow: { colour: "var(--lost)", hatch: "crossed" },
  stored: { colour: "var(--kept)" },
};
const USES = contents.uses.map((use) => ({ ...use, ...LOOKS[use.key] }));

function hatches() {
  const mark = { stroke: "var(--surface)", "stroke-width": 1.2, fill: "none" };
  const pattern = (id, shape) => draw("pattern", { id, width: 6, height: 6, patternUnits: "userSpaceOnUse" }, shape);
  return draw(
    "svg",
    { width: 0, height: 0, "aria-hidden": "true", class: "hatches" },
    draw(
      "defs",
      {},
      pattern("slanted", draw("path", { d: "M-1,1l2,-2M0,6l6,-6M5,7l2,-2", ...mark })),
      pattern("dotted", draw("circle", { cx: 3, cy: 3, r: 1.1, fill: "var(--surface)" })),
      pattern("backwards", draw("path", { d: "M-1,5l2,2M0,0l6,6M5,-1l2,2", ...mark })),
      pattern("upright", draw("path", { d: "M3,0v6", ...mark })),
      pattern("level", draw("path", { d: "M0,3h6", ...mark })),
      pattern("crossed", draw("path", { d: "M0,6l6,-6M0,0l6,6", ...mark })),
    ),
  );
}

function block(use, attributes) {
  return [
    draw("rect", { ...attributes, fill: use.colour }),
    use.hatch ? draw("rect", { ...attributes, fill: `url(#${use.hatch})` }) : null,
  ];
}

function useSample(use) {
  const size = { x: 0, y: 0, width: 22, height: 12, rx: 2 };
  return draw("svg", { width: 22, height: 12, "aria-hidden": "true" }, block(use, size));
}

// rows: [{name, values (one for each part), head (of the tip), words}]; parts: [{name, colour, hatch}]
function drawBars(host, { label, rows, parts, xTitle, top, sayValue = say }) {
  host.replaceChildren();
  const width = host.clientWidth;
  const row = 46;
  const space = { left: 2, right: 16, top: 4, bottom: 42 };
  const height = space.top + row * rows.length + space.bottom;
  const x = scale(0, top, space.left, width - space.right);
  const svg = draw("svg", {
    class: "chart",
    width,
    height,
    viewBox: `0 0 ${width} ${height}`,
    role: "group",
    "aria-label": label,
  });
  const bottom = height - space.bottom;
  for (const tick of niceTicks(0, top, width / 110)) {
    svg.append(
      draw("line", { class: "grid", x1: x(tick), x2: x(tick), y1: space.top, y2: bottom }),
      draw("text", { x: x(tick), y: bottom + 17, "text-anchor": tick ? "middle" : "start" }, sayTick(tick)),
    );
  }
  const middle = (width - space.right) / 2;
  svg.append(draw("text", { class: "title", x: middle, y: height - 5, "text-anchor": "middle" }, xTitle));
  rows.forEach(({ name, values, head, words }, place) => {
    const y = space.top + row * place;
    const bar = draw("g", { class: "bar", tabindex: 0, role: "img", "aria-label": words });
    bar.append(
      draw("rect", { x: space.left, y, width: width - space.left - space.right, height: row, fill: "transparent" }),
      draw("text", { class: "strong", x: space.left, y: y + 15 }, name),
    );
    let from = 0;
    parts.forEach((part, number) => {
      const to = from + values[number];
      const size = { x: x(from), y: y + 20, width: Math.max(0.5, x(to) - x(from)), height: 17 };
      if (values[number] > 0) bar.append(...block(part, size).filter(Boolean));
      from = to;
    });
    const lines = parts
      .map((part, number) => [useSample(part), part.name, sayValue(values[number])])
      .filter((_, number) => values[number] > 0);
    const show = () => {
      const box = bar.getBoundingClientRect();
      showTip(head, lines, box.left + box.width / 3, box.top + 10);
    };
    for (const event of ["pointermove", "pointerdown", "focus"]) bar.addEventListener(event, show);
    for (const event of ["pointerleave", "blur"]) bar.addEventListener(event, hideTip);
    svg.append(bar);
  });
  host.append(svg);
}

// panels: [{panel, rows}]; a whole figure of bars, as lineChart makes one of lines.
function barFigure(figure, chart, panels, ...extras) {
  const { title, parts, tableOf } = chart;
  const total = ({ values }) => values.reduce((sum, value) => sum + value, 0);
  const hosts = panels.map((panel) => ({ ...panel, host: make("div") }));
  figure.replaceChildren(
    ...[
      make("figcaption", {}, make("h3", {}, title)),
      parts.length > 1
        ? make(
            "ul",
            { class: "legend" },
            parts.map((part) => make("li", {}, useSample(part), part.name)),
          )
        : null,
      make(
        "div",
        { class: "panels" },
        hosts.map(({ panel, host }) => make("div", { class: "panel" }, panel ? make("h4", {}, panel) : null, host)),
      ),
      ...extras,
      chart.top ? null : ownScales(panels),
      lazily("Numbers as a table", () => scrollable(title, tableOf())),
    ].filter(Boolean),
  );
  for (const { panel, rows, host } of hosts) {
    const top = chart.top ?? roomFor(Math.max(...rows.map(total)), 4);
    const label = `${title}${panel ? `, ${panel}` : ""}`;
    whenSized(host, () => drawBars(host, { ...chart, label, rows, top }));
  }
}
