// Inside a run: its timeline, its age map, its label mix.
const detailed = contents.runs.filter((run) => run.detail);
let inside = null;

function chooseInside(runs) {
  const within = detailed.filter((run) => runs.includes(run));
  at("inside-section").hidden = false;
  const few = detailed.length < contents.runs.length;
  at("inside-lead").textContent = few
    ? `${detailed.length} of the ${contents.runs.length} runs are kept in this detail, to keep the page small: ` +
      "the first seed of each line, as far as there is room."
    : "Chosen clients and slots, and how old the news of each client is.";
  const figures = ["timeline", "ages", "mix"].map(at);
  if (!within.length) {
    at("inside-choice").replaceChildren(
      make("p", { class: "hint" }, "None of the runs that are kept in detail passes the filters."),
    );
    for (const figure of figures) figure.hidden = true;
    inside = null;
    return;
  }
  const choice = make(
    "select",
    { id: "inside-run" },
    within.map((run) =>
      make(
        "option",
        { value: contents.runs.indexOf(run) },
        `${run.line}${run.panel ? `, ${run.panel}` : ""}, seed ${run.values.seed}`,
      ),
    ),
  );
  choice.addEventListener("change", () => showInside(contents.runs[Number(choice.value)]));
  at("inside-choice").replaceChildren(make("label", { class: "choice" }, "Run", choice));
  const wanted = within.includes(inside) ? inside : within[0];
  choice.value = String(contents.runs.indexOf(wanted));
  if (wanted !== inside) showInside(wanted);
}

function showInside(run) {
  inside = run;
  const { window: view, ages, why, mix } = run.detail;
  at("timeline").hidden = false;
  if (view) timeline(at("timeline"), { ...view, joules: run.joules, seconds: run.seconds }, why);
  else
    at("timeline").replaceChildren(
      make("figcaption", {}, make("h3", {}, "Slot by slot")),
      make("p", { class: "hint" }, why),
    );
  at("ages").hidden = !ages;
  if (ages) ageMap(run, ages);
  const matrix = contents.mixes[mix];
  at("mix").hidden = !matrix;
  if (matrix) mixMap(matrix);
}

function rangeOf(place, bins, total) {
  const first = Math.ceil((place * total) / bins);
  const last = Math.ceil(((place + 1) * total) / bins) - 1;
  return first >= last ? String(first) : `${first}–${last}`;
}

function ageMap(run, { map: matrix, exact }) {
  const client = (row) => rangeOf(row, matrix.rows, run.clients);
  const epoch = (column) => rangeOf(column, matrix.columns, run.epochs);
  const binned = matrix.rows < run.clients || matrix.columns < run.epochs;
  const map = {
    matrix,
    columnsOf: run.epochs,
    rowsOf: run.clients,
    label: exact ? "Version age of each client" : "Epochs since the last update received",
    unit: "epochs",
    xTitle: "epoch",
    yTitle: "client",
    tell: (row, column, value) => [
      `client ${client(row)}, epoch ${epoch(column)}`,
      [[null, exact ? "version age" : "since the last update", count(value, "epoch")]],
    ],
  };
  const what = exact
    ? "At the end of each epoch, reset when an update is received."
    : "Counted from the beginning until a client’s first update. The events of this run do not tell which changes were " +
      "significant, so this is not the version age.";
  const hint = what + (binned ? " Each cell is the mean of several clients or epochs." : "");
  heatMap(at("ages"), map, hint, (cells) => {
    const rows = Array.from({ length: matrix.rows }, (_, row) => {
      const own = cells.slice(row * matrix.columns, (row + 1) * matrix.columns);
      return [client(row), say(mean(own)), Math.max(...own), own.at(-1)];
    });
    return table(map.label, ["client", "mean", "greatest", "at the end"], rows);
  });
}

function mixMap(matrix) {
  // Stored a row a client; drawn a column a client.
  const cells = decode(matrix);
  const map = {
    matrix: { ...matrix, rows: matrix.columns, columns: matrix.rows, cells: turned(cells, matrix) },
    columnsOf: matrix.rows,
    rowsOf: matrix.columns,
    label: "Samples of each class",
    unit: "samples",
    xTitle: "client",
    yTitle: "class",
    from: 0.3,
    tallest: 260,
    tell: (row, column, value) => [`client ${column}`, [[null, `class ${row}`, count(value, "sample")]]],
  };
  heatMap(at("mix"), map, "What each client learns from; a class that it lacks stays blank.", () => {
    const rows = Array.from({ length: matrix.rows }, (_, client) => [
      client,
      ...cells.slice(client * matrix.columns, (client + 1) * matrix.columns),
    ]);
    return table(
      map.label,
      ["client", ...Array.from({ length: matrix.columns }, (_, label) => `class ${label}`)],
      rows,
    );
  });
}

// Rows become columns, in the same encoding.
function turned(cells, { rows, columns }) {
  const bytes = new Uint8Array(rows * columns * 2);
  const view = new DataView(bytes.buffer);
  for (let row = 0; row < rows; row += 1) {
    for (let column = 0; column < columns; column += 1)
      view.setUint16((column * rows + row) * 2, cells[row * columns + column], true);
  }
  let letters = ""; // one by one: a function takes only so many arguments
  for (const byte of bytes) letters += String.fromCharCode(byte);
  return btoa(letters);
}
