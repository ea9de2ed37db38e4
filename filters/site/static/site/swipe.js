// A row that is drawn aside by a finger: to the right it is done, to the left it is snoozed.
// What these do is what the first button and the snooze of the bar of selected rows do: the bar has
// them for whoever has no touch screen.

import { listen } from "./events.js";
import { copiesOf } from "./site.js";
import { post, snoozeOnly } from "./triage.js";

const EDGE = 24; // Pixels at the sides of the screen, from which a browser goes back or forth.
const SLOP = 12; // Pixels that a finger moves before a direction is told from them.
const ENOUGH = 0.3; // Of the width of a row: from there on it is acted on.
let drawn = null; // The row that is drawn: its line, where it began, by how much, and its act.

const bulk = () => document.getElementById("bulk");
const wordsOf = (button) => button.innerText.trim() || button.textContent.trim();

// The acts of a list: to the right its first button, to the left the snooze, or what ends one.
function actOf(isRight) {
  const first = bulk().querySelector(".tools > button[formaction]");
  if (isRight) return { words: wordsOf(first), run: (line) => send(first, line) };
  const snooze = bulk().querySelector("details.snooze");
  if (snooze) return { words: "Snooze", run: (line) => snoozeOnly(line.querySelector(".pick")) };
  const back = bulk().querySelector('button[formaction$="/unsnooze/"]');
  return { words: wordsOf(back), run: (line) => send(back, line) };
}

function send(button, line) {
  const named = {};
  for (const [name, value] of copiesOf(line.querySelector("a.row"))) (named[name] ??= []).push(value);
  line.dataset.swiped = ""; // It is out of sight until the list is drawn again.
  post(button.getAttribute("formaction"), named);
}

function begin(event, row) {
  const line = row.closest(".line");
  const { pointerType, isPrimary, clientX: x, clientY: y, pointerId: id } = event;
  drawn = null;
  if (pointerType !== "touch" || !isPrimary || !bulk() || !line.querySelector(".pick")) return;
  if (x < EDGE || x > innerWidth - EDGE) return;
  drawn = { line, row, x, y, id, by: 0, act: null };
}

// Whether the row under the finger is there still: the list may have been drawn again meanwhile.
function isThere() {
  if (!drawn.line.isConnected) {
    drawn.row = document.getElementById(drawn.row.id);
    drawn.line = drawn.row?.closest(".line");
  }
  if (!drawn.line) drawn = null;
  return drawn !== null;
}

function draw(event) {
  if (event.pointerId !== drawn?.id || !isThere()) return;
  const [by, down] = [event.clientX - drawn.x, event.clientY - drawn.y];
  if (!drawn.act && Math.abs(down) > SLOP) return leave();
  if (!drawn.act && Math.abs(by) <= SLOP) return;
  if (!drawn.act) drawn.row.setPointerCapture(drawn.id);
  if (!drawn.act || by > 0 !== drawn.by > 0) drawn.act = actOf(by > 0);
  drawn.by = by;
  show();
}

// Also when the list was drawn again, which puts its rows back.
function show() {
  if (!drawn?.act || !isThere()) return;
  const { line, act, by } = drawn;
  line.dataset.swipe = act.words;
  line.classList.toggle("left", by < 0);
  line.classList.toggle("enough", isEnough());
  line.style.setProperty("--swipe", `${by}px`);
}

const isEnough = () => Math.abs(drawn.by) >= drawn.line.offsetWidth * ENOUGH;

function end(event) {
  if (event.pointerId !== drawn?.id || !isThere()) return;
  const { act, line } = drawn;
  const run = act && isEnough() ? act.run : null;
  leave();
  run?.(line);
}

// A finger that scrolls, or comes back, leaves the row where it was.
function leave() {
  putBack(drawn.line);
  drawn = null;
}

function putBack(line) {
  for (const name of ["swipe", "swiped"]) delete line.dataset[name];
  line.classList.remove("left", "enough");
  line.style.removeProperty("--swipe");
}

// What was refused is where it was.
function settle({ detail }) {
  if (detail.target.id !== "toast" || detail.successful) return;
  document.querySelectorAll(".line[data-swiped]").forEach(putBack);
}

listen([
  ["pointerdown", "#list .line > a.row", begin],
  ["pointermove", "", draw],
  ["pointerup", "", end],
  ["pointercancel", "", (event) => event.pointerId === drawn?.id && leave()],
  ["htmx:afterRequest", "", settle],
  ["htmx:afterSettle", "", show],
]);
