// The page: filters, theme, and what is drawn when they change.
const AGE_KINDS = [
  ["delivered", "an update is received"],
  ["selected", "selected"],
];
let ageKind = "delivered";

function ageChart(runs) {
  const measured = runs.filter((run) => run.age);
  if (!measured.length) {
    at("age").replaceChildren(make("p", { class: "hint" }, "Version ages were not measured in these runs."));
    return;
  }
  const redraw = (kind) => {
    ageKind = kind;
    ageChart(shownRuns());
  };
  const chart = {
    title: "Mean version age",
    xTitle: "epoch",
    xWord: "Epoch",
    yTitle: "mean age (epochs)",
    controls: [radios("age-kind", "Reset when", AGE_KINDS, ageKind, redraw)],
  };
  const left = runs.length - measured.length;
  const hints = [contents.thresholds, left ? `Left out, since not measured: ${count(left, "run")}.` : null];
  const hint = hints.filter(Boolean).join(" ");
  lineChart(
    at("age"),
    chart,
    bands(measured, ({ age }) => ({ x: age.epoch, y: age[ageKind] })),
    hint ? make("p", { class: "hint" }, hint) : null,
  );
}

function scoreCharts(runs) {
  const learning = runs.filter((run) => run.score);
  at("score-section").hidden = !learning.length;
  if (!learning.length) return;
  const common = { yTitle: "macro F1", shareTop: true };
  lineChart(
    at("f1-epochs"),
    { ...common, title: "F1 against epochs", xTitle: "epoch", xWord: "Epoch" },
    bands(learning, ({ score }) => ({ x: score.epoch, y: score.f1 })),
  );
  lineChart(
    at("f1-energy"),
    { ...common, title: "F1 against energy", xTitle: "energy spent (units)", xWord: "Units spent" },
    bands(learning, ({ score }) => ({ x: score.energy, y: score.f1 })),
    learning.length > 1 ? make("p", { class: "hint" }, "Drawn as far as every seed of a line reaches.") : null,
  );
}

function clientCharts(runs) {
  const scored = runs.filter((run) => run.accuracy);
  at("clients-section").hidden = !scored.length;
  if (!scored.length) return;
  const chart = {
    title: "Accuracy on each client’s own samples",
    xTitle: "clients, the worst first",
    xWord: "Client of rank",
    yTitle: "accuracy",
    xFrom: 1,
    shareTop: true,
  };
  lineChart(
    at("clients"),
    chart,
    bands(scored, ({ accuracy }) => ({ x: accuracy.rank, y: accuracy.accuracy })),
  );
  clientTable(at("clients-table"), scored);
}

function shareChart(runs) {
  const known = runs.filter((run) => run.uploads);
  at("share-section").hidden = !known.length;
  if (!known.length) return;
  const chart = {
    title: "Updates received from each client",
    xTitle: "clients, the busiest first",
    xWord: "Client of rank",
    yTitle: "updates received",
    xFrom: 1,
  };
  const jain = grouped(known).map(({ panel, lines }) => {
    const words = lines.map(
      ({ line, runs: own }) => `${line} ${say(mean(pluck(own, "jain_index_uploads").map((value) => value ?? 0)))}`,
    );
    return make("p", { class: "hint" }, `Jain’s index${panel ? `, ${panel}` : ""}: ${words.join(" · ")}`);
  });
  lineChart(
    at("share"),
    chart,
    bands(known, ({ uploads }) => ({ x: uploads.rank, y: uploads.count })),
    ...jain,
  );
}

function update() {
  hideTip();
  const runs = shownRuns();
  at("shown").textContent = `${runs.length} of ${count(contents.runs.length, "run")}`;
  at("nothing").hidden = runs.length > 0;
  for (const section of document.querySelectorAll("main > section")) section.hidden = !runs.length;
  if (!runs.length) return;
  overview(at("overview"), runs);
  scoreCharts(runs);
  clientCharts(runs);
  ageChart(runs);
  energyChart(at("energy"), runs);
  timeCharts(runs);
  classCharts(runs);
  shareChart(runs);
  chooseInside(runs);
}

function filters(form) {
  form.addEventListener("submit", (event) => event.preventDefault());
  form.replaceChildren(
    ...contents.filters.map(({ key, title, values }) => {
      const options = values.map((value) => {
        const box = make("input", { type: "checkbox", name: key, value, checked: true });
        box.addEventListener("change", () => {
          if (box.checked) chosen.get(key).add(value);
          else chosen.get(key).delete(value);
          update();
        });
        return make("label", { class: "option" }, box, value);
      });
      return make("fieldset", {}, make("legend", {}, title), make("div", { class: "options" }, options));
    }),
  );
  at("reset").addEventListener("click", () => {
    for (const { key, values } of contents.filters) chosen.set(key, new Set(values));
    for (const box of form.querySelectorAll("input")) box.checked = true;
    update();
  });
}

function theme() {
  const name = () => {
    at("theme-name").textContent = document.documentElement.dataset.theme === "dark" ? "Light theme" : "Dark theme";
  };
  at("theme").addEventListener("click", () => {
    window.dispatchEvent(new Event("fallow-theme"));
    name();
  });
  new MutationObserver(name).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  name();
}

function showScope() {
  const distinct = (key) => new Set(contents.runs.map((run) => run.values[key])).size;
  const range = (values) => {
    const [low, high] = [Math.min(...values), Math.max(...values)];
    return low === high ? [low] : [low, high];
  };
  const span = (values, word) => {
    const [low, high] = range(values);
    return high === undefined ? count(low, word) : `${whole.format(low)} to ${count(high, word)}`;
  };
  const words = [
    count(contents.runs.length, "run"),
    count(distinct("line"), "policy", "policies"),
    count(distinct("seed"), "seed"),
    span(
      contents.runs.map((run) => run.clients),
      "client",
    ),
    span(
      contents.runs.map((run) => run.epochs),
      "epoch",
    ),
  ];
  at("scope").textContent =
    words.join(" · ") +
    (contents.unfinished.length ? ` · ${contents.unfinished.length} not finished, and not drawn` : "") +
    (contents.thinned ? ". Long series are thinned to 300 points." : "");
}

document.body.prepend(hatches());
theme();
showScope();
filters(at("filters"));
at("filter-box").open = window.matchMedia("(min-width: 64rem)").matches;
settings(at("settings"));
update();
document.documentElement.dataset.ready = "true";
