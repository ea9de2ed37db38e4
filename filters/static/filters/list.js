// The list holds still under the pointer, and the title counts what is unread in it.
"use strict";

let waiting = null; // the newest list, if it is not shown yet
let acted = 0; // when the person did something that no list shows yet
const opened = new Set(); // ids of rows whose message was opened here: these stay

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

function takeIn() {
  if (waiting === null || !list()) return;
  const focused = document.activeElement && document.activeElement.id;
  list().outerHTML = waiting;
  waiting = null;
  announce(0);
  htmx.process(list());
  const again = focused && document.getElementById(focused);
  if (again) again.focus({ preventScroll: true });
  markOpen();
}

// What one has opened stays in its place, though it has left the list meanwhile.
function keepOpened(fresh) {
  for (const row of list().querySelectorAll("a.row[id]")) {
    const stays = opened.has(row.id) || row.hasAttribute("aria-current");
    if (!stays || fresh.getElementById(row.id)) continue;
    const line = row.closest("li");
    const before = line.previousElementSibling?.querySelector("a.row");
    const place = before && fresh.getElementById(before.id)?.closest("li");
    if (place) place.after(line.cloneNode(true));
    else rowsOf(fresh).prepend(line.cloneNode(true));
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

document.addEventListener("click", (event) => {
  const row = event.target.closest("#list a.row[id]");
  if (row) opened.add(row.id);
});

document.addEventListener("htmx:beforeRequest", (event) => {
  event.detail.xhr.startedAt = Date.now();
});

document.addEventListener("acted", (event) => {
  acted = Date.now();
  if (!event.detail.hides) return;
  opened.clear();
  document.querySelector("#list a.row[aria-current]")?.removeAttribute("aria-current");
});

document.addEventListener("htmx:beforeSwap", (event) => {
  const { target, xhr } = event.detail;
  if (!list() || target !== list() || xhr.status !== 200) return;
  const fresh = new DOMParser().parseFromString(event.detail.serverResponse, "text/html");
  keepOpened(fresh);
  const serverResponse = fresh.getElementById("list").outerHTML;
  event.detail.serverResponse = serverResponse;
  const shown = ids(list());
  const staysInPlace = !shown.length || ids(fresh).join() === shown.join();
  if (staysInPlace || acted || !isPointedAt()) {
    if (xhr.startedAt >= acted) acted = 0; // An answer that was asked for before is of no use.
    waiting = null;
    announce(0);
    return;
  }
  event.detail.shouldSwap = false;
  waiting = serverResponse;
  announce(ids(fresh).filter((id) => !shown.includes(id)).length);
  update(fresh);
  updateProgress(fresh);
});

function retitle() {
  const here = document.querySelector("#sidebar a[aria-current]");
  if (!here || !document.querySelector("main[data-counted]")) return;
  const unread = Number(here.dataset.unread);
  document.title = (unread ? `(${unread}) ` : "") + document.title.replace(/^\(\d+\) /, "");
}

document.addEventListener("htmx:afterSettle", retitle);
document.addEventListener("DOMContentLoaded", () => {
  document.getElementById("news").addEventListener("click", takeIn);
  list().closest(".pane").addEventListener("mouseleave", takeIn);
});
