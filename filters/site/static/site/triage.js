// Selecting rows, what the keys do with them, and the toast that undoes it.  All of it can be done
// without this, with forms.

import { listen } from "./events.js";
import { KEYS, copiesOf, rowOf } from "./site.js";

const TOAST = 10_000; // Milliseconds for which a toast offers to undo.
const SECOND_KEY = 1500; // Milliseconds within which `i` follows `g`.
const selected = new Map(); // By row, fields of a form that name its messages; kept while the list is drawn again.
let asked = []; // Msgids of the request that is answered.
let last = null; // The box that was ticked last.
let withShift = false;
let goAt = 0;
let timer = 0;

const bulk = () => document.getElementById("bulk");
const isAll = () => Boolean(bulk()?.hasAttribute("data-all"));
const picks = () => [...document.querySelectorAll("#list .pick")];
const openMessage = () => document.querySelector("#reading article.message, main.reading article.message");
const openMsgid = () => openMessage()?.dataset.msgid;
const rowAt = () => document.activeElement?.closest("#list .line")?.querySelector("a.row") ?? null;

// A field names a copy of a message: its audience stands in the name, its msgid is the value.
const isCopy = (name) => name === "id" || name.startsWith("id:");
const keyOf = (pick) => pick.closest(".line").querySelector("a.row").id;

// What is selected is what the row stood for then: what comes to its conversation later is not.
function select(pick) {
  selected.set(keyOf(pick), { name: pick.name, value: pick.value });
}

function say() {
  const place = document.getElementById("chosen");
  if (!place || isAll()) return;
  place.textContent = selected.size ? `${selected.size} selected` : "";
}

// How many messages the list has is known to the list, which is drawn again now and then.
function count() {
  const button = bulk()?.querySelector(".all");
  const number = Number(document.getElementById("list")?.dataset.count);
  if (!button || !number) return;
  button.hidden = number <= selected.size;
  button.querySelector(".number").textContent = number.toLocaleString("en");
}

function draw() {
  for (const pick of picks()) pick.checked = isAll() || selected.has(keyOf(pick));
  count();
  say();
}

// What is taken out of “all” leaves the rows of this page selected.
function keepPage() {
  bulk().removeAttribute("data-all");
  bulk().elements.selection?.remove();
  for (const pick of picks()) if (pick.checked) select(pick);
}

function clear(event) {
  event?.preventDefault();
  selected.clear();
  if (isAll()) keepPage();
  selected.clear();
  draw();
}

function choose(event, pick) {
  if (isAll()) keepPage();
  for (const one of withShift ? between(last, pick) : [pick]) {
    if (pick.checked) select(one);
    else selected.delete(keyOf(one));
  }
  last = pick;
  withShift = false;
  draw();
}

// With Shift, all rows from the one that was chosen last to this one are chosen as this one is.
function between(one, other) {
  const all = picks();
  const [begin, end] = [all.indexOf(one), all.indexOf(other)].sort((a, b) => a - b);
  return begin < 0 ? [other] : all.slice(begin, end + 1);
}

// All rows of the page, or none of them if all are selected.
function selectPage() {
  const all = picks();
  if (!all.length) return;
  if (isAll() || all.every((pick) => pick.checked)) return clear();
  all.forEach(select);
  draw();
}

function closeMenus(event) {
  for (const menu of document.querySelectorAll("details.snooze[open]"))
    if (!menu.contains(event.target)) menu.open = false;
}

// One after another, as its `hx-sync` says: none is dropped, however fast they come.
export const post = (address, values) =>
  htmx.ajax("POST", address, { source: "#toast", target: "#toast", swap: "innerHTML", values });

// What is open with all of its conversation that the list has, else the row that one is at.
function shownCopies() {
  const open = openMessage();
  const shown = open ? (rowOf(open) ?? open) : rowAt();
  return shown ? copiesOf(shown).map(([name, value]) => ({ name, value })) : [];
}

// Those selected, else what is open, else the row that one is at.
function act(action) {
  const address = `/triage/do/${action}/`;
  const own = isAll() && bulk().elements.selection.value;
  const copies = selected.size ? [...selected.values()] : shownCopies();
  const named = {};
  for (const { name, value } of copies) (named[name] ??= []).push(value);
  if (own) post(address, { selection: own });
  else if (copies.length) post(address, named);
}

function isStarred() {
  if (selected.size || isAll()) return false;
  const button = document.getElementById("star");
  if (openMsgid()) return button?.getAttribute("aria-pressed") === "true";
  return Boolean(rowAt()?.querySelector(".starred"));
}

function step(to) {
  document.querySelector(`.conversation a[rel="${to}"]`)?.click();
}

function back() {
  document.querySelector("article.message a.back")?.click();
}

function toggle() {
  const row = rowAt() ?? document.querySelector("#list a.row[aria-current]");
  row?.closest(".line").querySelector(".pick")?.click();
  row?.focus();
}

function toggleTo() {
  withShift = true;
  toggle();
  withShift = false;
}

// The menu of what would be acted on: of those selected, of the open message, or of the row.
function openSnooze() {
  if (!selected.size && !isAll() && !openMessage()) toggle();
  const place = selected.size || isAll() ? bulk() : document.getElementById("actions");
  const menu = place?.querySelector("details.snooze");
  if (!menu) return;
  menu.open = true;
  menu.querySelector("button").focus();
}

// One row alone is chosen, and one is asked until when.
export function snoozeOnly(pick) {
  clear();
  select(pick);
  draw();
  openSnooze();
}

function closeSnooze(event) {
  if (event.key !== "Escape") return;
  const menu = event.target.closest("details.snooze[open]");
  if (!menu) return;
  menu.open = false;
  menu.querySelector("summary").focus();
}

Object.assign(KEYS, {
  o: () => rowAt()?.click(),
  e: () => act("done"),
  s: () => act(isStarred() ? "unstar" : "star"),
  U: () => act("unread"),
  u: back,
  x: toggle,
  X: toggleTo,
  "*": selectPage,
  b: openSnooze,
  m: () => act("mute"),
  z: () => document.getElementById("undo")?.click(),
  n: () => step("next"),
  p: () => step("prev"),
  g: () => (goAt = Date.now()),
  i: () => {
    if (Date.now() - goAt < SECOND_KEY) document.getElementById("list-inbox")?.click();
    goAt = 0;
  },
  "?": () => document.getElementById("keys-sheet").showModal(),
});

// Which messages an answer is about stands in what was asked for, just before it says “acted”.
function noteAsked({ detail }) {
  if (detail.target.id !== "toast") return;
  const fields = [...(detail.requestConfig.formData ?? [])];
  const inside = fields.filter(([name]) => name === "conversation");
  const all = [...fields, ...inside.flatMap(([, value]) => [...new URLSearchParams(value)])];
  asked = all.filter(([name]) => isCopy(name)).map(([, msgid]) => msgid);
}

// The next row is where one goes on from, once this one has left the list.
function goOn(event) {
  const { hides } = event.detail;
  const row = rowAt();
  const acted = new Set(asked);
  const all = [...document.querySelectorAll("#list a.row")];
  if (hides) {
    const next = all.slice(all.indexOf(row) + 1).find((other) => !acted.has(other.dataset.msgid));
    if (row && next) next.focus();
  }
  if (hides && document.getElementById("reading") && acted.has(openMsgid())) back();
  if (hides) clear();
}

function offer() {
  const toast = document.getElementById("toast");
  clearTimeout(timer);
  if (!toast.querySelector("p")) return;
  timer = setTimeout(() => {
    if (toast.matches(":hover, :focus-within")) offer();
    else toast.replaceChildren();
  }, TOAST);
}

function settle(event) {
  draw();
  if (event.detail.target?.id === "toast") offer();
}

function start() {
  for (const pick of picks()) if (pick.checked) select(pick);
  draw();
  offer();
}

listen([
  ["click", "#list .pick", (event) => (withShift ||= event.shiftKey)],
  ["change", "#list .pick", choose],
  ["keydown", "", closeSnooze],
  ["click", ".bulk .clear", clear],
  ["click", "", closeMenus],
  ["htmx:beforeSwap", "", noteAsked],
  ["acted", "", goOn],
  ["htmx:afterSettle", "", settle],
  ["htmx:oobAfterSwap", "", (event) => event.target.id === "toast" && offer()],
  ["DOMContentLoaded", "", start],
]);
