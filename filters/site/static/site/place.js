// Back leads to the place in the list at which a message was opened: as far down, at its row.
// Without this the list is loaded again, from its beginning.

import { listen } from "./events.js";
import { markOpen } from "./site.js";

const reading = document.getElementById("reading"); // Beside a list; a message alone has none.
let opened = false; // Whether the entry of the history before this one is the list.

const list = () => document.getElementById("list");
const address = () => (list().dataset.here || list().getAttribute("hx-get")).replace(/\?page=1$/, "");
const isOpen = () => new URLSearchParams(location.search).has("open");

// A phone scrolls the page, a wider one its pane.
function scroller() {
  const pane = list().closest(".pane");
  const own = getComputedStyle(pane).overflowY !== "visible";
  return own ? pane : document.scrollingElement;
}

function keep(row) {
  const place = { row: row.id, top: scroller().scrollTop };
  sessionStorage.setItem(`place ${address()}`, JSON.stringify(place));
  sessionStorage.setItem("list", address());
  history.scrollRestoration = "manual"; // Else the browser scrolls too, and later.
}

function restore() {
  const place = JSON.parse(sessionStorage.getItem(`place ${address()}`));
  if (!place || !list().checkVisibility()) return;
  scroller().scrollTop = place.top;
  const row = document.getElementById(place.row);
  if (!row) return;
  row.focus({ preventScroll: true });
  row.scrollIntoView({ block: "nearest" });
}

function close() {
  const wasHidden = !list().checkVisibility(); // On a wide page it is there all along.
  htmx.trigger(reading, "htmx:abort"); // What is asked for is not opened after this.
  reading.replaceChildren();
  opened = false;
  markOpen();
  if (wasHidden) restore();
}

function open(event, row) {
  opened = !isOpen();
  keep(row);
}

function goBack(event) {
  const before = sessionStorage.getItem("list");
  if (!reading && !before) return;
  event.preventDefault();
  if (!reading) {
    sessionStorage.setItem("back", before);
    location.assign(before);
  } else if (opened) history.back();
  else {
    history.pushState({ htmx: true }, "", address());
    close();
  }
}

// The list is still in the page: htmx need not load it again.
function onBack(event) {
  if (!reading || !list() || isOpen() || location.pathname + location.search !== address()) return;
  event.stopImmediatePropagation();
  close();
}

function start() {
  if (!reading || !list()) return;
  const [{ type }] = performance.getEntriesByType("navigation");
  const isBack = type !== "navigate" || sessionStorage.getItem("back") === address();
  sessionStorage.removeItem("back");
  if (isBack) restore();
}

listen(
  [
    ["click", ".conversation a[rel]", () => (opened = false)],
    ["click", "#list a.row", open],
  ],
  document,
  true,
);
listen([
  ["click", "a.back[data-list]", goBack],
  ["DOMContentLoaded", "", start],
]);
listen([["popstate", "", onBack]], window);
