// The keyboard, and which row of the list is open.  All pages work without this.

import { listen } from "./events.js";

const rows = () => [...document.querySelectorAll("#list a.row")];

// The fields of a form, [name, msgid], that name the messages of a row: those of its conversation.
export function copiesOf(row) {
  const { audience, msgid } = row.dataset;
  const pick = row.closest(".line")?.querySelector(".pick");
  if (pick?.name === "conversation") return [...new URLSearchParams(pick.value)];
  return [[audience ? `id:${audience}` : "id", msgid]];
}

// The row of a message, alone or in its conversation.  A list may have several copies of it.
export function rowOf(message) {
  const { audience, msgid } = message.dataset;
  const same = rows().filter((row) => copiesOf(row).some(([, other]) => other === msgid));
  const isCopy = ([name, other]) => other === msgid && name === `id:${audience}`;
  return same.find((row) => copiesOf(row).some(isCopy)) ?? same[0];
}

export function markOpen() {
  const message = document.querySelector("#reading article.message");
  document.body.classList.toggle("has-open", Boolean(message));
  const open = message && rowOf(message);
  for (const row of rows()) {
    if (row === open) row.setAttribute("aria-current", "true");
    else row.removeAttribute("aria-current");
  }
}

function move(step) {
  const all = rows();
  if (!all.length) return;
  let at = all.indexOf(document.activeElement);
  if (at < 0) at = all.findIndex((row) => row.hasAttribute("aria-current"));
  const next = all[Math.min(all.length - 1, Math.max(0, at < 0 ? 0 : at + step))];
  next.focus();
  next.scrollIntoView({ block: "nearest" });
}

function press(id) {
  const button = document.getElementById(id);
  if (button) button.click();
}

function search() {
  const box = document.getElementById("search");
  if (!box) return;
  box.focus();
  box.select();
}

export const KEYS = {
  j: () => move(1),
  k: () => move(-1),
  "+": () => press("vote-for"),
  "-": () => press("vote-against"),
  "/": search,
};

function onKey(event) {
  const typing = event.target.closest("input:not(.pick), textarea, select, [contenteditable], dialog[open]");
  if (document.getElementById("keys-sheet")?.hasAttribute("data-off")) return;
  if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
  const link = document.querySelector(`a[aria-keyshortcuts="${CSS.escape(event.key)}"]`);
  const act = KEYS[event.key] ?? (link && (() => link.click()));
  if (act) {
    event.preventDefault();
    act();
  }
}

// A part of the product that is away, a full disk, or a form that is too large: said on top of the
// page, until the same place is answered.
function notify(event) {
  if (![409, 413, 503, 507].includes(event.detail.xhr.status)) return;
  const notice = document.getElementById("notice") || document.createElement("div");
  notice.id = "notice";
  notice.dataset.target = event.detail.target.id;
  notice.innerHTML = event.detail.xhr.responseText;
  document.body.append(notice);
}

// What has been found stays under that notice.
function keepList({ detail }) {
  if (detail.xhr.status !== 503 || !detail.target.matches("#list[data-here]")) return;
  detail.shouldSwap = false;
  detail.isError = true;
}

function takeNoticeAway(event) {
  const { target, xhr } = event.detail;
  const notice = document.getElementById("notice");
  if (notice?.dataset.target === target.id && xhr.status < 400) notice.remove();
}

listen([
  ["keydown", "", onKey],
  ["htmx:responseError", "", notify],
  ["htmx:beforeSwap", "", keepList],
  ["htmx:afterOnLoad", "", takeNoticeAway],
  ["htmx:afterSettle", "", markOpen],
  ["DOMContentLoaded", "", markOpen],
]);
