// Phrases complete as one types.  The page works without this.

import { listen } from "./events.js";

export const FIELD = "textarea[data-complete]";

// Replaces a part of a field as if it were typed: it can be undone, and the page hears of it.
export function replaceText(field, text, [start, end]) {
  field.focus();
  field.setSelectionRange(start, end);
  const command = text ? "insertText" : "delete";
  if (start === end && !text) return;
  if (document.execCommand(command, false, text)) return;
  field.setRangeText(text, start, end, "end");
  field.dispatchEvent(new Event("input", { bubbles: true }));
}

// The server counts characters, a field counts UTF-16 units.
export const unitsOf = (text, characters) => [...text].slice(0, characters).join("").length;

const ANY = "[data-complete]"; // The box of searches is completed, too.
let field = null; // The one that is written in; its list stands in the element after it.
const LONGEST = 1500; // Characters: with all of them escaped, a server still takes the address.
let asked = null; // The request under way, so that an older answer never comes after it.
let offered = ""; // The text for which the list that is shown was asked.
let timer = 0;

const place = () => field.nextElementSibling;
const options = () => [...place().querySelectorAll("[role=option]")];
const chosen = () => place().querySelector("[aria-selected=true]");
const isSearch = () => field.type === "search";

function choose(option) {
  for (const each of options()) each.setAttribute("aria-selected", String(each === option));
  if (option) field.setAttribute("aria-activedescendant", option.id);
  else field.removeAttribute("aria-activedescendant");
  if (option) option.scrollIntoView({ block: "nearest" });
}

function close() {
  clearTimeout(timer);
  if (asked) asked.abort();
  asked = null;
  if (!field) return;
  place().hidden = true;
  place().replaceChildren();
  field.removeAttribute("aria-controls");
  field.removeAttribute("aria-activedescendant");
}

const toCharacters = (units) => [...field.value.slice(0, units)].length;

async function ask(all) {
  clearTimeout(timer);
  if (asked) asked.abort();
  const at = field.selectionStart;
  const text = field.value;
  if ((!text.trim() && !all) || text.length > LONGEST || at !== field.selectionEnd) return close();
  const mine = (asked = new AbortController());
  const query = new URLSearchParams({ text, at: toCharacters(at) });
  if (all) query.set("all", "");
  try {
    const answer = await fetch(`${field.dataset.complete}?${query}`, { signal: mine.signal });
    const list = answer.ok && !answer.redirected ? await answer.text() : "";
    if (mine !== asked || document.activeElement !== field) return;
    if (!list.trim()) return field.value === text && close(); // Else the next list is asked for.
    offered = text;
    place().innerHTML = list;
    place().hidden = false;
    field.setAttribute("aria-controls", "completions-list");
    choose(chosen());
  } catch (error) {
    if (error.name !== "AbortError") close();
  }
}

// What an option replaces, as [start, end].  Text written since the list was asked for goes
// with the word it continues; null when the option is no longer what is being written.
function replaced(option) {
  const now = field.value;
  const start = unitsOf(offered, option.dataset.start);
  const after = offered.slice(unitsOf(offered, option.dataset.end));
  const end = now.length - after.length;
  if (now === offered) return [start, end];
  const around = now.startsWith(offered.slice(0, start)) && now.endsWith(after) && start <= end;
  const word = now.slice(start, end).toLowerCase();
  return around && option.dataset.text.toLowerCase().includes(word) ? [start, end] : null;
}

function accept(option) {
  const range = replaced(option);
  if (!range) return false;
  close();
  replaceText(field, option.dataset.text, range);
  if ("whole" in option.dataset) field.form.requestSubmit();
  return true;
}

function move(step) {
  const all = options();
  const at = all.indexOf(chosen());
  choose(at < 0 && step < 0 ? all.at(-1) : all[(at + step + all.length) % all.length]);
}

function enter(event, other) {
  if (field && field !== other) close();
  field = other;
}

// An empty box of searches shows those that were asked before.
function askAtFirst() {
  if (isSearch() && !field.value) ask(true);
}

function askSoon(event) {
  clearTimeout(timer);
  if (event.isComposing) return;
  timer = setTimeout(() => ask(false), 80);
}

function onKey(event) {
  if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
  if (place().hidden) {
    // At its end, where it would go nowhere else, the arrow down asks for a list.
    if (event.key === "ArrowDown" && field.selectionStart === field.value.length) ask(true);
    else if (event.key === "Escape") close(); // No list comes that was asked for before.
    return;
  }
  const option = chosen();
  if (event.key === "ArrowDown") move(1);
  else if (event.key === "ArrowUp") move(-1);
  else if (event.key === "Escape") close();
  else if (!["Enter", "Tab"].includes(event.key) || !option || event.shiftKey || !accept(option)) {
    if (["ArrowLeft", "ArrowRight", "Home", "End", "Enter"].includes(event.key)) close();
    return;
  }
  event.preventDefault();
}

function press(event) {
  event.preventDefault(); // The field keeps the focus.
  const option = event.target.closest("[role=option]");
  if (option && event.button === 0) accept(option);
}

// A list that closes moves what is below it: not before a press there has become a click.
let pressed = false;
let left = false;
function release() {
  if (left) setTimeout(close);
  pressed = left = false;
}
function leave() {
  left = pressed;
  if (!pressed) close();
}

listen([
  ["focusin", ANY, enter],
  ["focusin", ANY, askAtFirst],
  ["input", ANY, enter],
  ["input", ANY, askSoon],
  ["keydown", ANY, enter],
  ["keydown", ANY, onKey],
  ["mousedown", `${ANY} + *`, press],
]);
listen(
  [
    ["pointerdown", "", () => (pressed = true)],
    ["pointerup", "", release],
    ["pointercancel", "", release],
    ["blur", ANY, leave],
    ["corrected", FIELD, close],
  ],
  document,
  true,
);
