// Numbers: words for them, ticks, scales and colours.
const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

function say(value, digits = 3) {
  if (value === null || value === undefined) return "–";
  if (Math.abs(value) >= 1000) return whole.format(value);
  return Number.isInteger(value) ? String(value) : value.toPrecision(digits);
}

function sayTick(value) {
  if (Math.abs(value) >= 1e6) return `${Number((value / 1e6).toPrecision(4))} M`;
  if (Math.abs(value) >= 1e4) return `${Number((value / 1e3).toPrecision(4))} k`;
  return Number(value.toPrecision(6)).toLocaleString("en");
}

const count = (number, word, plural = `${word}s`) => `${whole.format(number)} ${number === 1 ? word : plural}`;
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

// The mean, and below it the range where there is one.
function saySpread(values, digits = 3) {
  const known = values.filter((value) => value !== null && value !== undefined);
  if (!known.length) return "–";
  const middle = say(mean(known), digits);
  const [least, most] = [say(Math.min(...known), digits), say(Math.max(...known), digits)];
  return least === most ? middle : [middle, make("small", {}, `${least} – ${most}`)];
}

function niceTicks(low, high, wanted) {
  const span = high - low || 1;
  const rough = span / Math.max(1, wanted);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((one) => one >= rough * 0.999);
  const ticks = [];
  for (let tick = Math.ceil(low / step - 1e-9); tick * step <= high + step * 1e-9; tick += 1) ticks.push(tick * step);
  return ticks;
}

// The top of an axis from zero: the next tick above the greatest value.
function roomFor(most, wanted) {
  if (!(most > 0)) return 1;
  const ticks = niceTicks(0, most, wanted);
  const step = ticks[1] ?? most;
  return Math.ceil(most / step - 1e-9) * step;
}

const scale = (low, high, from, to) => (value) => from + ((value - low) / (high - low || 1)) * (to - from);

// Lines are told apart by colour, dash and mark at once.
const DASHES = [null, "8 4", "2.5 3", "10 3 2.5 3", "10 3 2.5 3 2.5 3"];
const COLOURS = 7;
const colourOf = (number) => `var(--line-${number % COLOURS})`;
const dashOf = (number) => DASHES[number % DASHES.length];

function markOf(number, x, y, size = 3.6) {
  const r = size;
  const paths = [
    `M${x - r},${y}a${r},${r} 0 1,0 ${2 * r},0a${r},${r} 0 1,0 ${-2 * r},0`,
    `M${x - r},${y - r}h${2 * r}v${2 * r}h${-2 * r}z`,
    `M${x},${y - r * 1.25}l${r * 1.2},${r * 2.1}h${-r * 2.4}z`,
    `M${x},${y - r * 1.35}l${r * 1.35},${r * 1.35}l${-r * 1.35},${r * 1.35}l${-r * 1.35},${-r * 1.35}z`,
    `M${x},${y + r * 1.25}l${r * 1.2},${-r * 2.1}h${-r * 2.4}z`,
  ];
  return draw("path", { d: paths[number % paths.length], fill: colourOf(number) });
}

function sampleOf(number) {
  return draw(
    "svg",
    { width: 34, height: 12, viewBox: "0 0 34 12", "aria-hidden": "true" },
    draw("line", {
      x1: 1,
      x2: 33,
      y1: 6,
      y2: 6,
      stroke: colourOf(number),
      "stroke-width": 2,
      "stroke-dasharray": dashOf(number),
    }),
    markOf(number, 17, 6),
  );
}

// Cividis, which is made for eyes of every kind: dark blue is low, yellow is high.
const CIVIDIS = [
  [0, 34, 78],
  [33, 60, 110],
  [77, 86, 108],
  [112, 113, 115],
  [149, 143, 120],
  [189, 174, 107],
  [229, 207, 82],
  [254, 232, 56],
];

// share is between 0 and 1; from lifts the lowest off a dark page.
function shadeOf(share, from = 0) {
  const place = (from + (1 - from) * Math.min(1, Math.max(0, share))) * (CIVIDIS.length - 1);
  const left = Math.min(CIVIDIS.length - 2, Math.floor(place));
  return CIVIDIS[left].map((value, channel) =>
    Math.round(value + (CIVIDIS[left + 1][channel] - value) * (place - left)),
  );
}
