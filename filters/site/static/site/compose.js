// A draft is saved when its page is left or hidden: what was typed in the last two seconds, too.
// The editor is on a page of its own, or under the message that is answered: then it comes later.

import { listen } from "./events.js";

const LARGEST = 60 * 1024; // Bytes: browsers refuse more than 64 KiB of what outlives its page.
let form = null;
let saved = "";
let isSubmitted = false;

function typed() {
  const data = new FormData(form);
  data.delete("files");
  return new URLSearchParams(data);
}

// What the person has changed: the version is changed by each answer.
function content() {
  const fields = typed();
  fields.delete("version");
  return fields.toString();
}

// What was typed before this ran, or came back with the page, is not saved yet.
const differs = (field) => field.type !== "hidden" && (field.defaultValue ?? field.value) !== field.value;

function begin() {
  const shown = document.getElementById("compose");
  if (!shown || shown === form) return;
  form = shown;
  saved = [...form.elements].some(differs) ? "" : content();
}

async function save() {
  if (!form?.isConnected) return;
  const now = content();
  if (now === saved) return;
  saved = now;
  const editor = form;
  const autosave = document.getElementById("autosave");
  htmx.trigger(autosave, "htmx:abort"); // It has an older text, and may not come after this one.
  const body = typed();
  const keepalive = body.toString().length <= LARGEST;
  const headers = { "HX-Request": "true", "HX-Current-URL": location.href };
  let isSaved = false;
  try {
    const answer = await fetch(autosave.getAttribute("hx-post"), { method: "POST", headers, body, keepalive });
    isSaved = answer.ok;
    const html = await answer.text();
    if (editor.isConnected) show(answer, html);
  } catch {
    isSaved = false; // Tried again when the page is left the next time.
  }
  if (!isSaved && editor === form) saved = "";
}

// Another message, or another answer, comes in place of the editor.
function saveBefore(event) {
  if (event.detail.shouldSwap && event.detail.target?.contains(form)) save();
}

// What is submitted has all that was typed: saved meanwhile, it would be changed as it is sent.
function submit() {
  saved = content();
  isSubmitted = true;
}

// The page may only have been hidden: it shows what its own requests would have shown.
function show(answer, html) {
  const fresh = new DOMParser().parseFromString(html, "text/html").getElementById("saved");
  if (fresh) document.getElementById("saved").replaceWith(fresh);
  const address = answer.headers.get("HX-Replace-Url");
  if (address) history.replaceState(history.state, "", address);
}

// The signature is that of the address: it changes with it, unless it was changed by hand.
function signAnew() {
  const { body, sender, signer } = form.elements;
  const signatures = JSON.parse(sender.dataset.signatures ?? "{}");
  const block = (address) => (signatures[address] ? `\n-- \n${signatures[address]}` : "");
  const old = block(signer.value);
  const at = old ? body.value.indexOf(old) : -1;
  if (at >= 0) body.setRangeText(block(sender.value), at, at + old.length);
  signer.value = sender.value;
}

// A template comes where one writes; without this at the end of what was written.
function insertText(event, button) {
  const body = form.elements.body;
  event.preventDefault();
  body.focus();
  body.setRangeText(button.dataset.text, body.selectionStart, body.selectionEnd, "end");
  body.dispatchEvent(new Event("input", { bubbles: true }));
}

begin();
listen([
  ["htmx:load", "", begin],
  ["htmx:beforeSwap", "", saveBefore],
  ["change", "#id_sender", signAnew],
  ["click", "#compose [data-text]", insertText],
  ["visibilitychange", "", () => document.visibilityState === "hidden" && save()],
  ["submit", "#compose", submit],
  ["htmx:beforeRequest", "#autosave", (event) => isSubmitted && event.preventDefault()],
]);
listen(
  [
    ["pagehide", "", save], // Safari says no more than this of some pages.
    ["pageshow", "", () => (isSubmitted = false)], // One comes back to it.
  ],
  window,
);
