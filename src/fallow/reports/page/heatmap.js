// Heat maps: a matrix as an image with axes. Arrow keys walk over its cells.
function decode(matrix) {
  const bytes = Uint8Array.from(atob(matrix.cells), (letter) => letter.charCodeAt(0));
  const view = new DataView(bytes.buffer);
  return Array.from({ length: matrix.rows * matrix.columns }, (_, place) => view.getUint16(place * 2, true));
}

function pictureOf(matrix, cells, top, from) {
  const canvas = make("canvas", { width: matrix.columns, height: matrix.rows });
  const context = canvas.getContext("2d");
  const image = context.createImageData(matrix.columns, matrix.rows);
  cells.forEach((value, place) => {
    image.data.set(from && value === 0 ? [0, 0, 0, 0] : [...shadeOf(value / top, from), 255], place * 4);
  });
  context.putImageData(image, 0, 0);
  return canvas.toDataURL("image/png");
}

function rampOf(top, words, from) {
  const pieces = Array.from({ length: 40 }, (_, place) =>
    draw("rect", { x: place * 3, width: 3.5, height: 12, fill: `rgb(${shadeOf(place / 39, from)})` }),
  );
  return make(
    "ul",
    { class: "legend" },
    make(
      "li",
      {},
      from ? "1" : "0",
      draw("svg", { width: 120, height: 12, "aria-hidden": "true" }, pieces),
      `${say(top)} ${words}`,
    ),
  );
}

// map: {matrix, columnsOf and rowsOf (how many the axes count), xTitle, yTitle, label, unit, tell(row, column, value),
// from (where the shades begin; zeros stay blank then), tallest}
function drawMap(host, map, cells, top) {
  host.replaceChildren();
  const { matrix } = map;
  const width = host.clientWidth;
  const height = Math.round(Math.min(map.tallest ?? 380, Math.max(190, width * 0.55)));
  const [left, upper, right, bottom] = [SPACE.left, SPACE.top, width - SPACE.right, height - SPACE.bottom];
  const x = scale(0, map.columnsOf, left, right);
  const y = scale(0, map.rowsOf, upper, bottom);
  const svg = draw("svg", {
    class: "chart",
    width,
    height,
    viewBox: `0 0 ${width} ${height}`,
    tabindex: 0,
    role: "img",
    "aria-label": `${map.label}. Arrow keys read the cells.`,
  });
  const ticks = (limit, wanted) => niceTicks(0, limit - 1, wanted).filter((tick) => Number.isInteger(tick));
  const middle = 0.5;
  axes(svg, {
    width,
    height,
    x: (tick) => x(tick + middle),
    y: (tick) => y(tick + middle),
    xTicks: ticks(map.columnsOf, width / 80),
    yTicks: ticks(map.rowsOf, 5),
    xTitle: map.xTitle,
    yTitle: map.yTitle,
  });
  const frame = { x: left, y: upper, width: right - left, height: bottom - upper };
  const picture = draw("image", {
    ...frame,
    preserveAspectRatio: "none",
    href: pictureOf(matrix, cells, top, map.from),
  });
  picture.style.imageRendering = "pixelated";
  const cursor = draw("rect", { fill: "none", stroke: "var(--ink)", "stroke-width": 2, visibility: "hidden" });
  svg.append(draw("rect", { ...frame, fill: "var(--shade)" }), picture, cursor);
  host.append(svg);
  const size = [(right - left) / matrix.columns, (bottom - upper) / matrix.rows];
  let [row, column] = [-1, -1];
  const show = (toRow, toColumn) => {
    row = Math.max(0, Math.min(matrix.rows - 1, toRow));
    column = Math.max(0, Math.min(matrix.columns - 1, toColumn));
    const corner = [left + column * size[0], upper + row * size[1]];
    fill(cursor, { x: corner[0], y: corner[1], width: size[0], height: size[1], visibility: "visible" }, []);
    const box = svg.getBoundingClientRect();
    showTip(...map.tell(row, column, cells[row * matrix.columns + column]), box.left + corner[0], box.top + corner[1]);
  };
  const hide = () => {
    cursor.setAttribute("visibility", "hidden");
    hideTip();
  };
  const follow = (event) => {
    const box = svg.getBoundingClientRect();
    const [toColumn, toRow] = [
      Math.floor((event.clientX - box.left - left) / size[0]),
      Math.floor((event.clientY - box.top - upper) / size[1]),
    ];
    if (toColumn < 0 || toRow < 0 || toColumn >= matrix.columns || toRow >= matrix.rows) hide();
    else show(toRow, toColumn);
  };
  for (const name of ["pointermove", "pointerdown"]) svg.addEventListener(name, follow);
  for (const name of ["pointerleave", "blur"]) svg.addEventListener(name, hide);
  svg.addEventListener("keydown", (event) => {
    const move = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] }[event.key];
    if (event.key === "Escape") hide();
    if (!move) return;
    event.preventDefault();
    show(row < 0 ? 0 : row + move[0], column < 0 ? 0 : column + move[1]);
  });
}

function heatMap(figure, map, hint, tableOf) {
  const cells = decode(map.matrix);
  const top = Math.max(
    1,
    cells.reduce((most, value) => Math.max(most, value), 0),
  );
  const host = make("div");
  figure.replaceChildren(
    make("figcaption", {}, make("h3", {}, map.label), rampOf(top, map.unit, map.from)),
    make("p", { class: "hint" }, hint),
    make("div", { class: "panel" }, host),
    lazily("Numbers as a table", () => scrollable(map.label, tableOf(cells))),
  );
  whenSized(host, () => drawMap(host, map, cells, top));
}
