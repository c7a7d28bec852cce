// The overview, the runs and their settings.
const pluck = (runs, key) => runs.map((run) => run.totals[key]);

function overview(host, runs) {
  const groups = grouped(runs);
  const learns = runs.some((run) => run.score);
  const several = contents.panels.length > 1;
  const head = [
    "policy",
    ...(several ? ["setting"] : []),
    "seeds",
    ...(learns ? ["F1 at the end", "best F1"] : []),
    "energy spent (units)",
    "trainings",
    "mean age (epochs)",
    "Jain’s index",
  ];
  const rows = groups.flatMap(({ panel, lines }) =>
    lines.map(({ line, runs: own }) => [
      [sampleOf(lineNumber(line)), line],
      ...(several ? [panel] : []),
      new Set(own.map((run) => run.values.seed)).size,
      ...(learns ? [saySpread(pluck(own, "f1")), saySpread(pluck(own, "best_f1"))] : []),
      saySpread(pluck(own, "energy_total")),
      saySpread(pluck(own, "starts")),
      own.some((run) => run.age) ? saySpread(pluck(own, "mean_age_delivered")) : "not measured",
      saySpread(pluck(own, "jain_index_uploads")),
    ]),
  );
  host.replaceChildren(scrollable("Overview", table(null, head, rows, several ? 2 : 1)));
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
