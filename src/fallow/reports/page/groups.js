// Which runs are shown, and what those of one line and panel come to together.
const chosen = new Map(contents.filters.map((filter) => [filter.key, new Set(filter.values)]));
const passes = (run) => contents.filters.every(({ key }) => chosen.get(key).has(run.values[key]));
const shownRuns = () => contents.runs.filter(passes);
const lineNumber = (line) => contents.lines.indexOf(line);

// [{panel, lines: [{line, runs}]}], in the order of the report.
function grouped(runs) {
  return contents.panels
    .map((panel) => ({
      panel,
      lines: contents.lines
        .map((line) => ({ line, runs: runs.filter((run) => run.panel === panel && run.line === line) }))
        .filter(({ runs: own }) => own.length),
    }))
    .filter(({ lines }) => lines.length);
}

function interpolate(xs, ys, x) {
  let low = 0;
  let high = xs.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (xs[middle] <= x) low = middle;
    else high = middle;
  }
  if (xs[high] <= x) return ys[high];
  return xs[high] === xs[low] ? ys[high] : ys[low] + ((x - xs[low]) / (xs[high] - xs[low])) * (ys[high] - ys[low]);
}

// Mean, least and greatest of some curves [{x: […], y: […]}], wherever all of them reach.
function band(curves) {
  const [first, ...others] = curves;
  const together = (x, values) => ({ x, mean: mean(values), least: Math.min(...values), most: Math.max(...values) });
  const shared = others.every(
    ({ x }) => x.length === first.x.length && x.every((value, place) => value === first.x[place]),
  );
  if (shared)
    return first.x.map((x, place) =>
      together(
        x,
        curves.map(({ y }) => y[place]),
      ),
    );
  const end = Math.min(...curves.map(({ x }) => x.at(-1)));
  const begin = Math.min(end, Math.max(...curves.map(({ x }) => x[0])));
  const points = 120;
  return Array.from({ length: points + 1 }, (_, place) => {
    const x = begin + ((end - begin) * place) / points;
    return together(
      x,
      curves.map((curve) => interpolate(curve.x, curve.y, x)),
    );
  });
}

// The panels of a line chart; curveOf gives {x, y}, or null for a run that has no such numbers.
function bands(runs, curveOf) {
  return grouped(runs)
    .map(({ panel, lines }) => ({
      panel,
      lines: lines
        .map(({ line, runs: own }) => ({ line, curves: own.map(curveOf).filter((curve) => curve?.x.length) }))
        .filter(({ curves }) => curves.length)
        .map(({ line, curves }) => ({ line, number: lineNumber(line), runs: curves.length, points: band(curves) })),
    }))
    .filter(({ lines }) => lines.length);
}
