// Energy: where it went, and its course over a day and over a year.
const JOULES = [
  [1e9, "GJ"],
  [1e6, "MJ"],
  [1e3, "kJ"],
  [1, "J"],
  [1e-3, "mJ"],
  [1e-6, "µJ"],
];

// The prefix that keeps a number of joules short: [its size, its name].
function prefixOf(value) {
  return JOULES.find(([size]) => Math.abs(value) >= size) ?? (value ? JOULES.at(-1) : [1, "J"]);
}

// A number of units as joules.
function sayJoules(units, joules, unit = "J") {
  const [size, name] = prefixOf(units * joules);
  return `${say((units * joules) / size)} ${name.replace("J", unit)}`;
}

// The joules of a unit, where all of some runs state the same; otherwise null.
function joulesOf(runs) {
  const stated = new Set(runs.map((run) => run.joules));
  const [joules] = stated;
  return stated.size === 1 && joules > 0 ? joules : null;
}

const usedBy = (runs, use) => mean(runs.map((run) => run.totals[use.key] ?? 0));

function saySpent(runs, factor = 1) {
  const spent = runs.map((run) => run.totals.energy_total * factor);
  const range = runs.length > 1 ? ` (${say(Math.min(...spent))} – ${say(Math.max(...spent))})` : "";
  return `${say(mean(spent))}${range}`;
}

function energyChart(figure, runs) {
  const groups = grouped(runs);
  const joules = joulesOf(runs);
  const shownUses = USES.filter((use) => runs.some((run) => run.totals[use.key]));
  const totals = runs.map((run) => shownUses.reduce((sum, use) => sum + (run.totals[use.key] ?? 0), 0));
  const [size, unit] = joules ? prefixOf(Math.max(...totals) * joules) : [1, "units"];
  const factor = (joules ?? 1) / size;
  const sayValue = (value) => `${say(value)}${joules ? ` ${unit} (${say(value / factor)} units)` : ""}`;
  const panels = groups.map(({ panel, lines }) => ({
    panel,
    rows: lines.map(({ line, runs: own }) => {
      const values = shownUses.map((use) => usedBy(own, use) * factor);
      const parts = shownUses.map((use, number) => `${use.name} ${say(values[number])}`);
      const spent = saySpent(own, factor);
      return {
        name: line,
        values,
        head: `${line}: ${spent} ${unit} spent`,
        words: `${line}: ${parts.join(", ")} ${unit}; spent ${spent}`,
      };
    }),
  }));
  const tableOf = () => {
    const rows = groups.flatMap(({ panel, lines }) =>
      lines.map(({ line, runs: own }) => [
        line,
        panel || "–",
        ...shownUses.map((use) => say(usedBy(own, use))),
        saySpent(own),
        ...(joules ? [sayJoules(mean(pluck(own, "energy_total")), joules)] : []),
      ]),
    );
    const head = ["policy", "setting", ...shownUses.map((use) => use.name), "spent", ...(joules ? ["in joules"] : [])];
    return table("Energy by use, in units", head, rows, 2);
  };
  const chart = {
    title: "Energy by use",
    parts: shownUses,
    xTitle: `energy (${unit})`,
    tableOf,
    sayValue,
  };
  barFigure(figure, chart, panels, joules ? make("p", { class: "hint" }, `A unit is ${sayJoules(1, joules)}.`) : null);
}

const COURSES = [
  ["harvested", "harvest"],
  ["consumed", "consumption"],
  ["charge", "state of charge"],
];
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const courseKinds = { day: "harvested", year: "harvested" };

// Buttons of which one is chosen; change(value) redraws, and the focus stays.
function radios(name, legend, options, current, change) {
  const buttons = options.map(([value, words]) => {
    const button = make("input", { type: "radio", name, value, checked: value === current });
    button.addEventListener("change", () => {
      change(value);
      document.querySelector(`input[name="${name}"][value="${value}"]`).focus();
    });
    return make("label", { class: "option" }, button, words);
  });
  return make("div", { class: "controls" }, make("fieldset", {}, make("legend", {}, legend), buttons));
}

// What is drawn, in which unit, and by which factor it differs from what the page holds.
function courseScale(kind, known, period) {
  if (kind === "charge") return { factor: 100, yTitle: "state of charge (%)" };
  const what = kind === "harvested" ? "harvest" : "consumption";
  const joules = joulesOf(known);
  if (!joules) return { factor: 1, yTitle: `${what} (units an hour)` };
  const watts = joules / 3600;
  const [size, name] = prefixOf(Math.max(...known.flatMap((run) => run.time[period][kind])) * watts);
  return { factor: watts / size, yTitle: `${what} (${name.replace("J", "W")})` };
}

function courseChart(figure, runs, period) {
  const known = runs.filter((run) => run.time?.[period]);
  figure.hidden = !known.length;
  if (!known.length) return;
  const kind = courseKinds[period];
  const { factor, yTitle } = courseScale(kind, known, period);
  const redraw = (value) => {
    courseKinds[period] = value;
    courseChart(figure, shownRuns(), period);
  };
  const control = radios(`course-${period}`, "Of the mean client:", COURSES, kind, redraw);
  const calendar = known.every((run) => run.time.calendar);
  const clocks = new Set(known.map((run) => run.time.clock));
  const [clock] = clocks;
  const axis =
    period === "day"
      ? {
          title: "Over a day",
          xTitle: calendar
            ? `hour of the day${clocks.size === 1 && clock ? ` (${clock})` : ""}`
            : "hour of the day, the run beginning at 0",
          xWord: "From hour",
          xTicks: [0, 3, 6, 9, 12, 15, 18, 21],
        }
      : {
          title: "Over a year",
          xTitle: calendar ? "month" : "month, the run beginning with the first",
          xWord: calendar ? "In" : "Month",
          xFrom: 1,
          xTicks: MONTHS.map((_, place) => place + 1),
          sayX: calendar ? (month) => MONTHS[month - 1] : String,
        };
  lineChart(
    figure,
    { ...axis, yTitle, shareTop: kind === "charge", controls: [control] },
    bands(known, ({ time }) => ({ x: time[period].at, y: time[period][kind].map((value) => value * factor) })),
  );
}

function timeCharts(runs) {
  const timed = runs.filter((run) => run.time);
  at("time-section").hidden = !timed.length;
  if (!timed.length) return;
  courseChart(at("day"), timed, "day");
  courseChart(at("year"), timed, "year");
  const sentences = new Map();
  for (const run of timed)
    for (const why of [run.time.why_no_day, run.time.why_no_year])
      if (why) sentences.set(why, (sentences.get(why) ?? 0) + 1);
  at("time-hints").replaceChildren(
    ...[...sentences].map(([why, number]) =>
      make("p", { class: "hint" }, number < runs.length ? `${why} (${count(number, "run")})` : why),
    ),
  );
}
