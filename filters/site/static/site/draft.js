// What was being written is there again after Back, and after a result was looked at.

import { listen } from "./events.js";

const field = document.querySelector("textarea[data-complete]");
const here = location.pathname + location.search;

// On a page of results: its link to the writing leads to where that was left in this tab.
const link = document.querySelector("a.to-writing");
const writing = sessionStorage.getItem("writing");
if (link && writing && new URL(writing, location).pathname === link.pathname) {
  link.href = writing;
  listen([["click", "a.to-writing", () => sessionStorage.setItem("back", writing)]]);
}

const form = field?.form;
const KEY = `draft ${location.pathname}`;
const OWN = ["csrfmiddlewaretoken", "notation", "piece", "was", "create", "rejoin"];
let sent = false;

const fields = () => [...form.elements].filter((control) => control.name && !OWN.includes(control.name) && control.type !== "submit");
const isTick = (control) => control.type === "radio" || control.type === "checkbox";

function keep() {
  if (sent) return;
  const values = fields().map((control) => (isTick(control) ? control.checked : control.value));
  sessionStorage.setItem(KEY, JSON.stringify(values));
  sessionStorage.setItem("writing", here);
}

function restore() {
  const values = JSON.parse(sessionStorage.getItem(KEY));
  const all = fields();
  if (!values || values.length !== all.length) return;
  all.forEach((control, at) => {
    if (isTick(control)) control.checked = values[at];
    else control.value = values[at];
  });
}

function send() {
  sent = true;
  sessionStorage.removeItem(KEY);
}

function start() {
  const [{ type }] = performance.getEntriesByType("navigation");
  const isBack = type !== "navigate" || sessionStorage.getItem("back") === here;
  if (!isBack) return sessionStorage.removeItem(KEY);
  sessionStorage.removeItem("back");
  restore();
}

if (form) {
  listen([["submit", "form.write", send]]);
  // A message that is opened from here leads back to here, and not to the last list.
  listen([["click", ".preview a.row", () => sessionStorage.setItem("list", here)]], document, true);
  listen(
    [
      ["pagehide", "", keep],
      ["pageshow", "", () => (sent = false)],
    ],
    window,
  );
  start();
}
