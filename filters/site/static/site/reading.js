// The open message: steps through the list, the typeface, and votes that do not come while one types.
// The page works without this.

import { listen } from "./events.js";
import { rowOf } from "./site.js";

const article = () => document.querySelector("article.message");
const listed = () => [...document.querySelectorAll("#list a.row")];

function neighbour(step) {
  const all = listed();
  const at = all.indexOf(rowOf(article()));
  return at < 0 ? undefined : all[at + step];
}

// A part of the page that htmx has loaded does not know the list beside it.
function showSteps() {
  if (!article() || !listed().length) return;
  for (const link of article().querySelectorAll("a[data-step]")) {
    const row = neighbour(Number(link.dataset.step));
    link.hidden = !row;
    if (row) link.href = row.href;
  }
}

function step(event, link) {
  const row = neighbour(Number(link.dataset.step));
  if (!row || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  row.click();
}

// A frame is as high as the mail in it, which may be seen without a bar of its own.
const HIGHEST = 30_000; // Pixels.
function fit(event, frame) {
  const page = frame.contentDocument?.documentElement;
  if (!page) return;
  const bar = page.scrollWidth > page.clientWidth ? 18 : 0;
  frame.style.height = `${Math.min(HIGHEST, Math.ceil(page.getBoundingClientRect().height) + bar + 2)}px`;
}

function fitAll() {
  for (const frame of document.querySelectorAll("iframe.as-sent")) fit(null, frame);
}

function showTypeface(event) {
  if (!event.detail.successful) return;
  const isMono = article().classList.toggle("mono");
  for (const button of document.querySelectorAll(".typeface button")) {
    button.value = isMono ? "proportional" : "mono";
    button.setAttribute("aria-pressed", isMono);
  }
}

// What was opened is on the screen at its head, however many lines of its conversation stand above.
function showHead(event) {
  const head = document.querySelector("article.message .from");
  const target = event.detail?.target;
  if (!head || (target && target.id !== "reading")) return;
  if (head.getBoundingClientRect().bottom > innerHeight) head.scrollIntoView({ block: "start" });
}

function isInUse(part) {
  const isChanged = (field) => {
    if (field.type === "checkbox") return field.checked !== field.defaultChecked;
    if (field.options) return [...field.options].some((option) => option.selected !== option.defaultSelected);
    return field.value !== field.defaultValue;
  };
  const fields = [...part.querySelectorAll("input:not([type=hidden]), select, textarea")];
  return part.contains(document.activeElement) || fields.some(isChanged);
}

function keepInUse(event) {
  const { target, requestConfig } = event.detail;
  const isPolled = target.id === "standing-of" && requestConfig.elt === target;
  if (isPolled && isInUse(target)) event.detail.shouldSwap = false;
}

listen([
  ["click", "a[data-step]", step],
  ["htmx:afterRequest", "form.typeface", showTypeface],
  ["htmx:beforeSwap", "", keepInUse],
  ["htmx:afterSettle", "", showSteps],
  ["htmx:afterSettle", "", showHead],
  ["DOMContentLoaded", "", showSteps],
  ["DOMContentLoaded", "", fitAll],
  ["DOMContentLoaded", "", showHead],
]);
listen([["load", "iframe.as-sent", fit]], document, true);
listen([["resize", "", fitAll]], window);
