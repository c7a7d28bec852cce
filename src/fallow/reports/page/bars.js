// Stacked bars: what the energy was used for. Uses differ in colour and in hatching.
const USES = [
  { key: "consumed_train", name: "training", colour: "var(--line-0)" },
  { key: "consumed_tx", name: "sending", colour: "var(--line-1)", hatch: "slanted" },
  { key: "consumed_probe", name: "probing", colour: "var(--line-2)", hatch: "dotted" },
  { key: "overflow", name: "overflow (lost)", colour: "var(--lost)", hatch: "crossed" },
];

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

const usedBy = (runs, use) => mean(runs.map((run) => run.totals[use.key] ?? 0));

function drawBars(host, group, top) {
  host.replaceChildren();
  const width = host.clientWidth;
  const row = 46;
  const space = { left: 2, right: 16, top: 4, bottom: 42 };
  const height = space.top + row * group.lines.length + space.bottom;
  const x = scale(0, top, space.left, width - space.right);
  const svg = draw("svg", {
    class: "chart",
    width,
    height,
    viewBox: `0 0 ${width} ${height}`,
    role: "group",
    "aria-label": `Energy by use${group.panel ? `, ${group.panel}` : ""}`,
  });
  const bottom = height - space.bottom;
  for (const tick of niceTicks(0, top, width / 110)) {
    svg.append(
      draw("line", { class: "grid", x1: x(tick), x2: x(tick), y1: space.top, y2: bottom }),
      draw("text", { x: x(tick), y: bottom + 17, "text-anchor": tick ? "middle" : "start" }, sayTick(tick)),
    );
  }
  svg.append(
    draw(
      "text",
      { class: "title", x: (width - space.right) / 2, y: height - 5, "text-anchor": "middle" },
      "energy (units)",
    ),
  );
  group.lines.forEach(({ line, runs }, place) => {
    const y = space.top + row * place;
    const rows = USES.map((use) => [useSample(use), use.name, say(usedBy(runs, use))]);
    const spent = saySpent(runs);
    const words = `${line}: ${rows.map(([, name, value]) => `${name} ${value}`).join(", ")} units; spent ${spent}`;
    const bar = draw("g", { class: "bar", tabindex: 0, role: "img", "aria-label": words });
    bar.append(
      draw("rect", { x: space.left, y, width: width - space.left - space.right, height: row, fill: "transparent" }),
    );
    bar.append(draw("text", { class: "strong", x: space.left, y: y + 15 }, line));
    let from = 0;
    for (const use of USES) {
      const units = usedBy(runs, use);
      if (units > 0)
        bar.append(
          ...block(use, { x: x(from), y: y + 20, width: Math.max(0.5, x(from + units) - x(from)), height: 17 }).filter(
            Boolean,
          ),
        );
      from += units;
    }
    const show = () => {
      const box = bar.getBoundingClientRect();
      showTip(`${line}: ${spent} units spent`, rows, box.left + box.width / 3, box.top + 10);
    };
    for (const name of ["pointermove", "pointerdown", "focus"]) bar.addEventListener(name, show);
    for (const name of ["pointerleave", "blur"]) bar.addEventListener(name, hideTip);
    svg.append(bar);
  });
  host.append(svg);
}

function saySpent(runs) {
  const spent = runs.map((run) => run.totals.energy_total);
  const range = runs.length > 1 ? ` (${say(Math.min(...spent))} – ${say(Math.max(...spent))})` : "";
  return `${say(mean(spent))}${range}`;
}

function barChart(figure, runs) {
  const groups = grouped(runs);
  const longest = ({ lines }) =>
    Math.max(...lines.map(({ runs: own }) => USES.reduce((sum, use) => sum + usedBy(own, use), 0)));
  const hosts = groups.map((group) => ({ group, host: make("div") }));
  const rows = groups.flatMap(({ panel, lines }) =>
    lines.map(({ line, runs: own }) => [
      line,
      panel || "–",
      ...USES.map((use) => say(usedBy(own, use))),
      saySpent(own),
    ]),
  );
  figure.replaceChildren(
    ...[
      make("figcaption", {}, make("h3", {}, "Energy by use")),
      make(
        "ul",
        { class: "legend" },
        USES.map((use) => make("li", {}, useSample(use), use.name)),
      ),
      make(
        "div",
        { class: "panels" },
        hosts.map(({ group, host }) =>
          make("div", { class: "panel" }, group.panel ? make("h4", {}, group.panel) : null, host),
        ),
      ),
      ownScales(groups),
      lazily("Numbers as a table", () =>
        scrollable(
          "Energy by use",
          table("Energy by use, in units", ["policy", "setting", ...USES.map((use) => use.name), "spent"], rows, 2),
        ),
      ),
    ].filter(Boolean),
  );
  for (const { group, host } of hosts) whenSized(host, () => drawBars(host, group, roomFor(longest(group), 4)));
}
