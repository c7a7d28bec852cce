// The timeline: epochs and slots from left to right, a row a client, with what it does, harvests and stores.
const STATES = ["idle", "training", "waiting to send", "sending", "asleep"];
const HARVEST = "var(--line-2)";

function stateBlock(state, attributes) {
  if (state === 1) return [draw("rect", { ...attributes, fill: "var(--line-0)", "fill-opacity": 0.55 })];
  if (state === 2)
    return [
      draw("rect", { ...attributes, fill: "var(--lost)" }),
      draw("rect", { ...attributes, fill: "url(#slanted)" }),
    ];
  if (state === 3) return [draw("rect", { ...attributes, fill: "var(--line-1)" })];
  if (state === 4)
    return [draw("rect", { ...attributes, fill: "var(--lost)" }), draw("rect", { ...attributes, fill: "url(#level)" })];
  return [draw("rect", { ...attributes, fill: "var(--shade)" })];
}

// "0011" becomes [[state, first, length], …].
function stretches(states) {
  const found = [];
  [...states].forEach((letter, slot) => {
    const last = found.at(-1);
    if (last && last[0] === Number(letter)) last[2] += 1;
    else found.push([Number(letter), slot, 1]);
  });
  return found;
}

// Units in words, with joules where a unit has any, and watts where a slot has a length too.
function sayEnergy(units, { joules, seconds }, power = false) {
  if (!joules) return count(units, "unit");
  const watts = power && seconds ? `, ${sayJoules(units, joules / seconds, "W")}` : "";
  return `${count(units, "unit")} (${sayJoules(units, joules)}${watts})`;
}

function timelineLegend(hasBattery, sleeps) {
  const box = (state) =>
    draw("svg", { width: 22, height: 12, "aria-hidden": "true" }, stateBlock(state, { width: 22, height: 12, rx: 2 }));
  const picture = (shape) => draw("svg", { width: 22, height: 12, "aria-hidden": "true" }, shape);
  const names = sleeps ? STATES : STATES.slice(0, 4);
  const entries = names.map((name, state) => make("li", {}, box(state), name));
  entries.push(make("li", {}, picture(draw("path", { d: "M7,1h9l-4.5,8z", fill: "var(--ink)" })), "selected"));
  if (hasBattery) {
    entries.push(
      make(
        "li",
        {},
        picture(draw("path", { d: "M4,2v9M11,2v9M18,2v9", stroke: HARVEST, "stroke-width": 2 })),
        "harvest",
      ),
      make("li", {}, picture(draw("path", { class: "battery", d: "M0,10h7v-4h7v-4h8" })), "battery"),
    );
  }
  return make("ul", { class: "legend" }, entries);
}

function drawClient(svg, view, number, top, x) {
  const { states, battery, harvest, selected, capacity, slots, first } = view;
  const [tall, ground] = [44, top + 44];
  const row = draw("g", { class: "client" });
  row.append(draw("text", { class: "strong name", x: x(0), y: top - 13 }, `client ${view.clients[number]}`));
  for (const [state, from, length] of stretches(states[number])) {
    row.append(...stateBlock(state, { x: x(from), y: top, width: x(from + length) - x(from), height: tall }));
  }
  for (const epoch of selected[number])
    row.append(draw("path", { d: `M${x(epoch * slots) + 1},${top - 9}h9l-4.5,8z`, fill: "var(--ink)" }));
  if (harvest) {
    const most = Math.max(1, ...harvest[number]);
    const tick = (units, slot) => `M${x(slot + 0.5).toFixed(1)},${ground + 1}v${Math.max(1.5, (6 * units) / most)}`;
    const ticks = harvest[number].map((units, slot) => (units ? tick(units, slot) : "")).join("");
    row.append(draw("path", { d: ticks, stroke: HARVEST, "stroke-width": Math.max(1, Math.min(3, x(1) - x(0) - 1)) }));
  }
  if (battery) {
    const level = scale(0, capacity[number] || 1, ground, top + 2);
    const steps = battery[number]
      .map((units, slot) => `${slot ? "V" : `M${x(0)},`}${level(units).toFixed(1)}H${x(slot + 1).toFixed(1)}`)
      .join("");
    row.append(draw("path", { class: "battery", d: steps }));
  }
  const active = stretches(states[number]).filter(([state]) => state === 1).length;
  const last = first + states[number].length / slots - 1;
  const told = `epochs ${first} to ${last}: ${count(active, "training")}. Arrow keys read the slots.`;
  const label = `client ${view.clients[number]}, ${told}`;
  fill(row, { tabindex: 0, role: "img", "aria-label": label }, []);
  svg.append(row);
  return row;
}

function drawTimeline(host, view, shown) {
  host.replaceChildren();
  const total = view.states[0].length;
  const left = 4;
  const width = Math.max(host.clientWidth, left + total * 4.4 + 12);
  const [head, rowHeight] = [64, 88];
  const height = head + rowHeight * shown.length + 6;
  const x = scale(0, total, left, width - 8);
  const svg = draw("svg", {
    class: "chart",
    width,
    height,
    viewBox: `0 0 ${width} ${height}`,
    role: "group",
    "aria-label": "Timeline of slots",
  });
  svg.style.width = `${width}px`;
  for (let epoch = 0; epoch <= total / view.slots; epoch += 1) {
    const here = x(epoch * view.slots);
    svg.append(
      draw("line", { stroke: "var(--soft)", "stroke-opacity": 0.45, x1: here, x2: here, y1: 4, y2: height - 6 }),
    );
    if (epoch < total / view.slots) {
      svg.append(
        draw(
          "text",
          { class: "title", x: (here + x((epoch + 1) * view.slots)) / 2, y: 15, "text-anchor": "middle" },
          `epoch ${view.first + epoch}`,
        ),
        draw(
          "text",
          { x: here + 4, y: 29, "font-size": 11 },
          `slot ${whole.format((view.first + epoch) * view.slots)}`,
        ),
      );
    }
  }
  const cursor = draw("line", { class: "cursor", y1: head - 10, y2: height - 6, visibility: "hidden" });
  shown.forEach((number, place) => {
    const top = head + rowHeight * place;
    const row = drawClient(svg, view, number, top, x);
    const show = (slot) => {
      const here = x(slot + 0.5);
      fill(cursor, { x1: here, x2: here, visibility: "visible" }, []);
      const lines = [[null, "does", STATES[Number(view.states[number][slot])]]];
      if (view.harvest) lines.push([null, "harvests", sayEnergy(view.harvest[number][slot], view, true)]);
      if (view.battery) {
        const full = sayEnergy(view.capacity[number], view);
        lines.push([null, "battery after it", `${sayEnergy(view.battery[number][slot], view)} of ${full}`]);
      }
      const box = svg.getBoundingClientRect();
      const global = view.first * view.slots + slot;
      showTip(
        `client ${view.clients[number]}, epoch ${Math.floor(global / view.slots)}, slot ${whole.format(global)}`,
        lines,
        box.left + here,
        box.top + top,
      );
    };
    const hide = () => {
      cursor.setAttribute("visibility", "hidden");
      hideTip();
    };
    const placeOf = (event) =>
      Math.floor(((event.clientX - svg.getBoundingClientRect().left - left) / (width - 8 - left)) * total);
    walkable(row, () => total, placeOf, show, hide);
  });
  svg.append(cursor);
  host.append(svg);
}

function timeline(figure, view, why) {
  const shown = new Set(view.clients.map((_, number) => number).slice(0, 6));
  const host = scrollable("Timeline; scrolls sideways where it is wider than the page");
  const redraw = () =>
    drawTimeline(
      host,
      view,
      [...shown].sort((one, other) => one - other),
    );
  const boxes = view.clients.map((client, number) => {
    const box = make("input", { type: "checkbox", checked: shown.has(number) });
    box.addEventListener("change", () => {
      if (box.checked) shown.add(number);
      else shown.delete(number);
      redraw();
    });
    return make("label", { class: "option" }, box, String(client));
  });
  figure.replaceChildren(
    make("figcaption", {}, make("h3", {}, "Slot by slot")),
    make(
      "p",
      { class: "hint" },
      why ||
        "The line is the battery at the end of a slot: the foot of the row is empty, its top is full. Batteries and " +
          "harvest are computed again from the settings and the seed, and agree with the sums that the run recorded.",
    ),
    timelineLegend(
      view.battery !== null,
      view.states.some((states) => states.includes("4")),
    ),
    make("div", { class: "controls" }, make("fieldset", {}, make("legend", {}, "Clients"), boxes)),
    host,
    lazily("Numbers as a table", () => scrollable("Timeline", timelineTable(view))),
  );
  let first = true;
  whenSized(host, () => {
    redraw();
    if (first) host.scrollLeft = firstTraining(view, host) - 40;
    first = false;
  });
  // The names go along where the timeline is scrolled.
  host.addEventListener("scroll", () => {
    for (const name of host.querySelectorAll("text.name"))
      name.setAttribute("transform", `translate(${host.scrollLeft} 0)`);
  });
}

// Where the first training begins, in pixels: a narrow screen begins there, not in the slots of mere harvest before.
function firstTraining(view, host) {
  const slots = view.states.map((states) => states.indexOf("1")).filter((slot) => slot >= 0);
  return slots.length ? (Math.min(...slots) / view.states[0].length) * host.scrollWidth : 0;
}

function timelineTable(view) {
  const begin = view.first * view.slots;
  const rows = view.clients.flatMap((client, number) =>
    stretches(view.states[number]).map(([state, from, length]) => [
      client,
      STATES[state],
      whole.format(begin + from),
      whole.format(begin + from + length - 1),
      view.battery ? view.battery[number][from + length - 1] : "–",
      ...(view.joules && view.battery ? [sayJoules(view.battery[number][from + length - 1], view.joules)] : []),
    ]),
  );
  return table(
    "What each client does, from slot to slot",
    [
      ...["client", "does", "first slot", "last slot", "battery at the end"],
      ...(view.joules && view.battery ? ["in joules"] : []),
    ],
    rows,
    2,
  );
}
