// The overview, the runs and their settings.
const pluck = (runs, key) => runs.map((run) => run.totals[key]);

// What half of the runs needed to reach the target, and how many ever did; one that never does takes for ever.
function sayReached(runs) {
  const evaluated = runs.filter((run) => run.score);
  if (!evaluated.length) return ["–", "–"];
  const half = (key) => {
    const needed = evaluated.map((run) => run.reached?.[key] ?? Infinity).sort((one, other) => one - other);
    const middle = needed[Math.floor((needed.length - 1) / 2)];
    return Number.isFinite(middle) ? whole.format(middle) : "never";
  };
  const reached = evaluated.filter((run) => run.reached).length;
  return [[half("energy"), make("small", {}, `reached by ${reached} of ${evaluated.length}`)], half("epochs")];
}

const ACCURACIES = [
  ["mean", "client_accuracy_mean"],
  ["worst tenth", "client_accuracy_worst_tenth"],
  ["deviation", "client_accuracy_sd"],
  ["Jain’s index", "jain_index_accuracy"],
];

function clientTable(host, runs) {
  const several = contents.panels.length > 1;
  const head = ["policy", ...(several ? ["setting"] : []), ...ACCURACIES.map(([name]) => name)];
  const rows = grouped(runs).flatMap(({ panel, lines }) =>
    lines.map(({ line, runs: own }) => [
      [sampleOf(lineNumber(line)), line],
      ...(several ? [panel] : []),
      ...ACCURACIES.map(([, key]) => saySpread(pluck(own, key))),
    ]),
  );
  host.replaceChildren(scrollable("Accuracy over clients", table(null, head, rows, several ? 2 : 1)));
}

function overview(host, runs) {
  const groups = grouped(runs);
  const learns = runs.some((run) => run.score);
  const several = contents.panels.length > 1;
  const { target } = contents;
  const aims = learns && target !== null;
  const head = [
    "policy",
    ...(several ? ["setting"] : []),
    "seeds",
    ...(learns ? ["F1 at the end", "best F1"] : []),
    ...(aims ? [`units to F1 ${target}`, `epochs to F1 ${target}`] : []),
    "energy spent (units)",
    "trainings",
    contents.thresholds ? "mean age (epochs, own μ)" : "mean age (epochs)",
    "Jain’s index of updates",
  ];
  const rows = groups.flatMap(({ panel, lines }) =>
    lines.map(({ line, runs: own }) => [
      [sampleOf(lineNumber(line)), line],
      ...(several ? [panel] : []),
      new Set(own.map((run) => run.values.seed)).size,
      ...(learns ? [saySpread(pluck(own, "f1")), saySpread(pluck(own, "best_f1"))] : []),
      ...(aims ? sayReached(own) : []),
      saySpread(pluck(own, "energy_total")),
      saySpread(pluck(own, "starts")),
      own.some((run) => run.age) ? saySpread(pluck(own, "mean_age_delivered")) : "not measured",
      saySpread(pluck(own, "jain_index_uploads")),
    ]),
  );
  host.replaceChildren(scrollable("Overview", table(null, head, rows, several ? 2 : 1)));
  at("target-hint").hidden = !aims;
  at("target-hint").textContent =
    `Units and epochs to F1 ${target}: until at least half of the runs had reached it at an evaluation; ` +
    "never, if fewer ever did.";
}

const sayUnfinished = ([name, done, epochs]) => `${name} (${whole.format(done)} of ${count(epochs, "epoch")})`;

function settings(host) {
  const { common, differ, unfinished, runs } = contents;
  const several = runs.length > 1;
  host.replaceChildren(
    unfinished.length
      ? make("p", { class: "note" }, `Not finished, and not drawn: ${unfinished.map(sayUnfinished).join(", ")}.`)
      : "",
    several
      ? lazily(`${count(runs.length, "run")}, and in what they differ`, () =>
          scrollable(
            "Runs",
            table(
              "Runs, and in what they differ",
              ["run", ...differ.keys],
              runs.map((run, number) => [run.name, ...differ.rows[number]]),
              1,
            ),
          ),
        )
      : "",
    lazily(several ? "Settings and versions that all runs share" : "Settings and versions", () =>
      scrollable("Settings", table(several ? "Shared by all runs" : runs[0].name, ["setting", "value"], common, 2)),
    ),
  );
}
