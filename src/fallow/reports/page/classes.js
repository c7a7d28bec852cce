// Outage, and what each class of devices stores.
function outageChart(runs) {
  const known = runs.filter((run) => run.outage);
  at("outage").hidden = !known.length;
  if (!known.length) return;
  const chart = {
    title: "Epochs without the energy to train",
    xTitle: "clients, the worst first",
    xWord: "Client of rank",
    yTitle: "share of epochs (%)",
    xFrom: 1,
    shareTop: true,
  };
  lineChart(
    at("outage"),
    chart,
    bands(known, ({ outage }) => ({ x: outage.rank, y: outage.share.map((value) => 100 * value) })),
  );
}

// One panel for each policy and setting: [{panel, runs}].
function byPolicy(runs) {
  return grouped(runs).flatMap(({ panel, lines }) =>
    lines.map(({ line, runs: own }) => ({ panel: [line, panel].filter(Boolean).join(", "), runs: own })),
  );
}

function classCharts(runs) {
  const known = runs.filter((run) => run.classes);
  for (const name of ["charge", "class-outage"]) at(name).hidden = !known.length;
  at("shortage-section").hidden = !runs.some((run) => run.classes || run.outage);
  outageChart(runs);
  if (!known.length) return;
  const names = [...new Set(known.flatMap((run) => run.classes.devices.map(({ name }) => name)))];
  const panels = byPolicy(known);
  const devicesOf = (own, name) =>
    own.flatMap((run) =>
      run.classes.devices
        .filter((device) => device.name === name)
        .map((device) => ({ ...device, epoch: run.classes.epoch })),
    );
  const chart = {
    title: "State of charge by device class",
    xTitle: "epoch",
    xWord: "Epoch",
    yTitle: "state of charge (%)",
    shareTop: true,
  };
  lineChart(
    at("charge"),
    chart,
    panels.map(({ panel, runs: own }) => ({
      panel,
      lines: names
        .map((line, number) => ({ line, number, devices: devicesOf(own, line) }))
        .filter(({ devices }) => devices.length)
        .map(({ line, number, devices }) => ({
          line,
          number,
          runs: devices.length,
          points: band(devices.map(({ epoch, charge }) => ({ x: epoch, y: charge.map((value) => 100 * value) }))),
        })),
    })),
  );
  classOutage(panels, names, devicesOf);
}

function classOutage(panels, names, devicesOf) {
  const percent = (devices, key) => {
    const values = devices.map((device) => device[key]).filter((value) => value !== null);
    return values.length ? 100 * mean(values) : null;
  };
  const filled = panels.map(({ panel, runs: own }) => ({
    panel,
    rows: names
      .map((name) => ({ name, devices: devicesOf(own, name) }))
      .filter(({ devices }) => devices.length)
      .map(({ name, devices }) => {
        const [outage, asleep] = [percent(devices, "outage"), percent(devices, "asleep")];
        const slept = asleep === null ? "" : `; asleep in ${say(asleep)} % of all slots`;
        const head = `${name}, ${count(devices[0].clients, "client")}`;
        const words = `${head}: without the energy to train in ${say(outage)} % of all epochs${slept}`;
        return { name, values: [outage], head, words, clients: devices[0].clients, outage, asleep };
      }),
  }));
  const tableOf = () => {
    const rows = filled.flatMap(({ panel, rows: own }) =>
      own.map(({ name, clients, outage, asleep }) => [name, panel, clients, say(outage), say(asleep)]),
    );
    return table(
      "Outage by device class",
      ["class", "policy", "clients", "epochs without the energy to train (%)", "slots asleep (%)"],
      rows,
      2,
    );
  };
  const chart = {
    title: "Outage by device class",
    parts: [{ name: "without the energy to train", colour: "var(--line-1)", hatch: "slanted" }],
    xTitle: "share of epochs (%)",
    top: roomFor(Math.max(...filled.flatMap(({ rows }) => rows.map(({ outage }) => outage))), 4),
    tableOf,
    sayValue: (value) => `${say(value)} %`,
  };
  barFigure(at("class-outage"), chart, filled);
}
