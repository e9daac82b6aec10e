"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const picture = document.getElementById("picture");
const about = document.getElementById("about");
const search = document.getElementById("search");
const found = document.getElementById("found");
const tests = document.getElementById("tests");
const layers = [...picture.querySelectorAll("g[data-size]")];
let layer = layers.find((each) => !each.classList.contains("away"));
let box = { x: 0, y: 0, width: 1, height: 1 };
let chosen = null;
let hits = [];
let hit = -1;

const LEAST = 40; // pixels of the picture across the window at the closest

function show() {
  picture.setAttribute("viewBox", `${box.x} ${box.y} ${box.width} ${box.height}`);
}

// The window's part for the picture has changed: keep the scale.
let before = [picture.clientWidth, picture.clientHeight];
function resize() {
  const now = [picture.clientWidth, picture.clientHeight];
  if (!now[0] || !now[1]) return;
  box.width *= now[0] / before[0];
  box.height *= now[1] / before[1];
  before = now;
  show();
}

function scale() {
  return Math.max(box.width / picture.clientWidth, box.height / picture.clientHeight);
}

// Everything, but text no larger than it is meant to be.
function fit() {
  const [width, height] = layer.dataset.size.split(" ").map(Number);
  const least = Math.max(width / picture.clientWidth, height / picture.clientHeight, 1);
  box.width = picture.clientWidth * least;
  box.height = picture.clientHeight * least;
  box.x = (width - box.width) / 2;
  box.y = (height - box.height) / 2;
  show();
}

// Like `fit`, but readable: a picture too large for that begins at its best connected definition, of those
// asked for if there are any.
function begin() {
  fit();
  if (scale() <= 1.6) return;
  box.width = picture.clientWidth * 1.15;
  box.height = picture.clientHeight * 1.15;
  const calls = new Array(data.nodes.length).fill(0);
  for (const [one, other] of data.calls) {
    calls[one] += 1;
    calls[other] += 1;
  }
  const asked = [...layer.querySelectorAll(".match")];
  const among = asked.length ? asked : [...layer.querySelectorAll(".node")];
  const many = (each) => calls[Number(each.dataset.node)];
  centre(among.reduce((best, each) => (many(each) > many(best) ? each : best)));
}

function zoom(factor, at) {
  const area = picture.getBoundingClientRect();
  const x = at ? (at.clientX - area.left) / area.width : 0.5;
  const y = at ? (at.clientY - area.top) / area.height : 0.5;
  const width = Math.max(box.width * factor, LEAST);
  const height = box.height * (width / box.width);
  box = { x: box.x + (box.width - width) * x, y: box.y + (box.height - height) * y, width, height };
  show();
}

function centre(node) {
  if (!node) return;
  resize(); // what is about it may have been opened beside the picture just now
  const own = node.querySelector("rect");
  const half = (name) => own[name].baseVal.value;
  box.x = half("x") + half("width") / 2 - box.width / 2 + 24;
  box.y = half("y") + half("height") / 2 - box.height / 2 + 24;
  show();
}

function nodeOf(number) {
  return layer.querySelector(`.node[data-node="${number}"]`);
}

function make(tag, text, kind) {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  if (kind) element.className = kind;
  return element;
}

function list(title, rows) {
  if (!rows.length) return;
  about.append(make("h3", `${title} (${rows.length})`));
  const entries = make("ul");
  for (const [number, line, likely, path, caller] of rows) {
    const entry = make("li");
    const button = make("button", (likely ? "~" : "") + data.nodes[number].name);
    button.addEventListener("click", () => choose(number, true));
    const place = make("button", `${path}:${line}`, "line");
    place.addEventListener("click", () => {
      if (caller !== chosen) choose(caller, true);
      goTo(line);
    });
    entry.append(button, place);
    entries.append(entry);
  }
  about.append(entries);
}

// Show a line of the code beside the picture; where its code is cut off before it, the end.
function goTo(line) {
  const rows = [...about.querySelectorAll("pre > div")];
  const row = rows[Math.min(line - data.nodes[chosen].first, rows.length - 1)];
  if (!row) return;
  for (const each of rows) each.classList.toggle("here", each === row);
  row.scrollIntoView({ block: "center" });
}

function choose(number, moves) {
  chosen = number;
  about.replaceChildren();
  about.hidden = number === null;
  picture.classList.toggle("choosing", number !== null);
  for (const each of picture.querySelectorAll(".node"))
    each.classList.toggle("chosen", number !== null && each.dataset.node === String(number));
  for (const each of picture.querySelectorAll(".call"))
    each.classList.toggle("near", each.dataset.from === String(number) || each.dataset.to === String(number));
  if (number === null) return;
  const node = data.nodes[number];
  const close = make("button", "×", "close");
  close.title = "Close ( Esc )";
  close.addEventListener("click", () => choose(null));
  about.append(close, make("h2", node.name), make("div", `${node.path}:${node.first}-${node.last}`, "place"));
  if (node.links.length) {
    const links = make("p", undefined, "links");
    for (const [words, address] of node.links) {
      const link = make("a", words);
      link.href = address;
      links.append(link, " ");
    }
    about.append(links);
  }
  const callees = data.calls.filter((each) => each[0] === number);
  const callers = data.calls.filter((each) => each[1] === number);
  if (node.code.length) {
    const code = make("pre");
    const calling = new Set(callees.map((each) => each[2]));
    node.code.forEach((text, index) => {
      const row = make("div", undefined, calling.has(node.first + index) ? "calls-here" : "");
      row.append(make("i", String(node.first + index)), text || " ");
      code.append(row);
    });
    if (node.more) code.append(make("div", `… ${node.more} more lines`));
    about.append(code);
  }
  list("Called by", callers.map(([one, , line, likely]) => [one, line, likely, data.nodes[one].path, one]));
  list("Calls", callees.map(([, other, line, likely]) => [other, line, likely, node.path, number]));
  about.scrollTop = 0;
  if (moves && !nodeOf(number) && tests && !tests.checked) {
    tests.checked = true;
    swap();
  }
  if (moves) centre(nodeOf(number));
}

function swap() {
  layers.forEach((each, place) => each.classList.toggle("away", place !== (tests.checked ? 1 : 0)));
  layer = layers[tests.checked ? 1 : 0];
  begin();
  look();
}

function look() {
  const words = search.value.trim().toLowerCase().split(/\s+/).filter(Boolean);
  hits = [];
  for (const each of layer.querySelectorAll(".node")) {
    const node = data.nodes[Number(each.dataset.node)];
    const text = `${node.path}:${node.first} ${node.name}`.toLowerCase();
    const fits = words.length > 0 && words.every((word) => text.includes(word));
    each.classList.toggle("found", fits);
    if (fits) hits.push(each);
  }
  hit = -1;
  found.value = words.length ? `${hits.length} found` : "";
}

function next(step) {
  if (!hits.length) return;
  hit = (hit + step + hits.length) % hits.length;
  found.value = `${hit + 1} of ${hits.length}`;
  choose(Number(hits[hit].dataset.node), true);
}

let drag = null;
picture.addEventListener("pointerdown", (event) => {
  drag = { x: event.clientX, y: event.clientY, moved: false, id: event.pointerId };
});
picture.addEventListener("pointermove", (event) => {
  if (!drag || drag.id !== event.pointerId) return;
  const x = event.clientX - drag.x;
  const y = event.clientY - drag.y;
  if (!drag.moved && Math.hypot(x, y) < 4) return;
  if (!drag.moved) picture.setPointerCapture(event.pointerId);
  const unit = scale();
  drag = { ...drag, x: event.clientX, y: event.clientY, moved: true };
  picture.classList.add("moving");
  box.x -= x * unit;
  box.y -= y * unit;
  show();
});
function drop() {
  picture.classList.remove("moving");
  const moved = drag && drag.moved;
  drag = null;
  return moved;
}
picture.addEventListener("pointercancel", drop);
picture.addEventListener("pointerup", (event) => {
  if (drop() || event.button !== 0) return;
  const node = event.target.closest(".node");
  choose(node ? Number(node.dataset.node) : null);
});
picture.addEventListener("wheel", (event) => {
  event.preventDefault();
  zoom(Math.exp(Math.max(-60, Math.min(60, event.deltaY)) * 0.004), event);
}, { passive: false });

document.getElementById("closer").addEventListener("click", () => zoom(0.8));
document.getElementById("further").addEventListener("click", () => zoom(1.25));
document.getElementById("whole").addEventListener("click", fit);
document.getElementById("likely").addEventListener("change", (event) =>
  picture.classList.toggle("certain", !event.target.checked));
if (tests) tests.addEventListener("change", swap);
search.addEventListener("input", look);
search.addEventListener("keydown", (event) => {
  if (event.key === "Enter") next(event.shiftKey ? -1 : 1);
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    if (search.value && document.activeElement === search) {
      search.value = "";
      look();
    } else choose(null);
    search.blur();
    return;
  }
  if (event.target === search || event.ctrlKey || event.metaKey || event.altKey) return;
  const node = event.target.closest && event.target.closest(".node");
  const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
  if (event.key === "/") search.focus();
  else if (event.key === "+" || event.key === "=") zoom(0.8);
  else if (event.key === "-") zoom(1.25);
  else if (event.key === "0") fit();
  else if (event.key === "Enter" && node) choose(Number(node.dataset.node));
  else if (step) {
    box.x += step[0] * box.width * 0.1;
    box.y += step[1] * box.height * 0.1;
    show();
  } else return;
  event.preventDefault();
});
new ResizeObserver(resize).observe(picture);
begin();
