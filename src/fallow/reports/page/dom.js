// Elements. Text goes in as text nodes only, so no name in a config can become markup.
const contents = JSON.parse(document.getElementById("data").textContent);
const at = (id) => document.getElementById(id);
const SVG = document.querySelector("svg").namespaceURI;

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

function make(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function draw(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

// A box that the keyboard can scroll, wherever its content is wider than the page.
function scrollable(label, ...children) {
  return make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": label }, ...children);
}

function table(caption, head, rows, words = 1) {
  const cell = (tag, value, column, scope) =>
    make(
      tag,
      { class: column < words ? "words" : null, scope },
      value instanceof Node || Array.isArray(value) ? value : String(value),
    );
  return make(
    "table",
    {},
    caption ? make("caption", {}, caption) : null,
    make(
      "thead",
      {},
      make(
        "tr",
        {},
        head.map((name, column) => cell("th", name, column, "col")),
      ),
    ),
    make(
      "tbody",
      {},
      rows.map((row) =>
        make(
          "tr",
          {},
          row.map((value, column) => (column ? cell("td", value, column) : cell("th", value, 0, "row"))),
        ),
      ),
    ),
  );
}

// A closed box whose content is made when it is first opened: two hundred tables would make the page slow.
function lazily(summary, build) {
  const box = make("details", { class: "more" }, make("summary", {}, summary));
  box.addEventListener("toggle", () => {
    if (box.open && box.childElementCount === 1) box.append(...[build()].flat());
  });
  return box;
}

const tip = at("tip");

// Shows a few lines near a point of the page: [[mark, words, value], …] below a head.
function showTip(head, rows, x, y) {
  tip.replaceChildren(
    make("p", { class: "head" }, head),
    ...rows.map(([mark, words, value]) => make("p", {}, mark, words, make("span", { class: "value" }, value))),
  );
  tip.hidden = false;
  const margin = 12;
  const width = document.documentElement.clientWidth;
  const right = x + margin + tip.offsetWidth > width - margin;
  tip.style.left = `${window.scrollX + Math.max(margin, right ? x - margin - tip.offsetWidth : x + margin)}px`;
  tip.style.top = `${window.scrollY + Math.max(margin, y - tip.offsetHeight - margin)}px`;
}

function hideTip() {
  tip.hidden = true;
}

// Draws now, and again whenever the width changes, so that letters keep their size. Disconnects with its element.
function whenSized(element, render) {
  let last = 0;
  new ResizeObserver(() => {
    const width = Math.floor(element.clientWidth);
    if (width > 0 && width !== last) {
      last = width;
      render(width);
    }
  }).observe(element);
}
