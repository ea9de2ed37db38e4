// The list holds still under the pointer, and the title counts what is unread in it.
// Rows are put in place by hand: no package of the Python registry has idiomorph.

import { listen } from "./events.js";

let waiting = null; // the newest list, if it is not shown yet
let acts = 0; // how often the person did something
let actsShown = 0; // how many of these times the list that is shown knows of
let hid = false; // whether messages left a list in any of the others
let later = 0; // the timer of a list that could not be had
const opened = new Set(); // ids of rows whose message was opened here: these stay

const RETRY = 3000; // Milliseconds after which a list that could not be had is asked for again.
const list = () => document.getElementById("list");
const ids = (root) => [...root.querySelectorAll("a.row[id]")].map((row) => row.id);

function isPointedAt() {
  const pane = list() && list().closest(".pane");
  return Boolean(pane) && matchMedia("(hover: hover)").matches && pane.matches(":hover");
}

function announce(number) {
  const text = number ? `${number} new` : "";
  document.getElementById("news").textContent = text;
  document.getElementById("news").hidden = !number;
  document.getElementById("news-said").textContent = text;
}

// Rows that stay where they are show at once what has changed of them.
function update(fresh) {
  for (const row of fresh.querySelectorAll("a.row[id]")) {
    const shown = document.getElementById(row.id);
    if (!shown) continue;
    shown.className = row.className;
    if (shown.innerHTML !== row.innerHTML) shown.replaceChildren(...row.childNodes);
  }
}

// Whether mail is still looked through is said in a line that stays as high as it was.
function updateProgress(fresh) {
  const progress = list().querySelector("p.news[role=status]");
  if (progress && !fresh.querySelector("p.news[role=status]"))
    progress.textContent = "Your mail has been looked through.";
}

function keep(newest) {
  waiting = newest;
  if (list()) list().toggleAttribute("data-waiting", newest !== null);
}

function takeIn() {
  if (waiting === null || !list()) return;
  const focused = document.activeElement && document.activeElement.id;
  list().outerHTML = waiting;
  keep(null);
  announce(0);
  htmx.process(list());
  const again = focused && document.getElementById(focused);
  if (again) again.focus({ preventScroll: true });
  htmx.trigger(list(), "htmx:afterSettle", { target: list() }); // What is drawn in a list is drawn.
}

// What leaves the list just after the person did something left by that, unless it had left before.
function stays(row) {
  if (!opened.has(row.id) && !row.hasAttribute("aria-current")) return false;
  return actsShown === acts || (!hid && row.closest("li").hasAttribute("data-kept"));
}

// What one has opened stays in its place, though it has left the list by itself meanwhile.
function keepOpened(fresh) {
  for (const row of list().querySelectorAll("a.row[id]")) {
    if (!stays(row) || fresh.getElementById(row.id)) continue;
    const line = row.closest("li");
    const before = line.previousElementSibling?.querySelector("a.row");
    const place = before && fresh.getElementById(before.id)?.closest("li");
    const kept = line.cloneNode(true);
    kept.dataset.kept = "";
    if (place) place.after(kept);
    else rowsOf(fresh).prepend(kept);
  }
}

// A list that has become empty has no place for rows.
function rowsOf(fresh) {
  const rows = fresh.querySelector("#list ol");
  if (rows) return rows;
  const made = fresh.createElement("ol");
  const empty = fresh.querySelector("#list .empty");
  if (empty) empty.replaceWith(made);
  else fresh.getElementById("list").append(made);
  return made;
}

function countAct(event) {
  acts += 1;
  hid ||= event.detail.hides;
  keep(null);
  announce(0);
}

function hold(event) {
  const { target, xhr } = event.detail;
  if (target.id !== "listed") return;
  if (xhr.status !== 200) {
    event.detail.shouldSwap = false; // The list stays, under the notice of what is away.
    event.detail.isError = xhr.status >= 400;
    return;
  }
  if (xhr.acts < acts) {
    event.detail.shouldSwap = false; // It was asked for before; htmx asks again next.
    return;
  }
  const fresh = new DOMParser().parseFromString(event.detail.serverResponse, "text/html");
  keepOpened(fresh);
  const serverResponse = fresh.getElementById("list").outerHTML;
  event.detail.serverResponse = serverResponse;
  const shown = ids(list());
  const staysInPlace = !shown.length || ids(fresh).join() === shown.join();
  if (staysInPlace || actsShown < acts || !isPointedAt()) {
    actsShown = acts;
    hid = false;
    keep(null);
    announce(0);
    return;
  }
  event.detail.shouldSwap = false;
  keep(serverResponse);
  announce(ids(fresh).filter((id) => !shown.includes(id)).length);
  update(fresh);
  updateProgress(fresh);
}

function askAgain(event) {
  const { status } = event.detail.xhr;
  if (event.target.id !== "listed" || (status && status < 500)) return;
  clearTimeout(later);
  later = setTimeout(() => htmx.trigger(document.body, "arrived"), RETRY);
}

function retitle() {
  const here = document.querySelector("#sidebar a[aria-current]");
  if (!here || !document.querySelector("main[data-counted]")) return;
  const unread = Number(here.dataset.unread);
  document.title = (unread ? `(${unread}) ` : "") + document.title.replace(/^\(\d+\) /, "");
}

listen([
  ["click", "#list a.row[id]", (event, row) => opened.add(row.id)],
  ["click", "#news", takeIn],
  ["htmx:beforeRequest", "", (event) => (event.detail.xhr.acts = acts)],
  ["acted", "", countAct],
  ["htmx:beforeSwap", "", hold],
  ["htmx:afterRequest", "", askAgain],
  ["htmx:afterSettle", "", retitle],
]);
listen([["mouseleave", "", takeIn]], list().closest(".pane"));
