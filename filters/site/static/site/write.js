// A filter is understood as one types; an error is shown after a pause, and corrected by a button.
// The page works without this.

import { FIELD, replaceText, unitsOf } from "./complete.js";
import { listen } from "./events.js";

const field = document.querySelector(FIELD);
const place = document.getElementById("understood");
const PAUSE = 1200; // Milliseconds without a key after which an error is shown.
let answered = field.defaultValue; // The text for which the answer that is shown was asked.
let timer = 0;

const misread = () => place.querySelector(".misread");

function mark() {
  if (misread()) field.setAttribute("aria-invalid", "true");
  else field.removeAttribute("aria-invalid");
  place.classList.toggle("stale", answered !== field.value);
}

function pause() {
  if (answered !== field.value) field.dispatchEvent(new Event("paused"));
}

function hear() {
  if (misread()) {
    place.replaceChildren();
    answered = ""; // What was refused is asked for again, should it be written again.
  }
  mark();
  clearTimeout(timer);
  timer = setTimeout(pause, PAUSE);
}

// What is asked between two keys is answered only if it is a filter.
function configure(event) {
  if (event.detail.triggeringEvent?.type === "input") event.detail.parameters.typing = "";
}

function answer(event) {
  if (event.detail.xhr.status !== 200) return;
  answered = event.detail.requestConfig.parameters.text;
  mark();
}

function correct(event, button) {
  event.preventDefault();
  const { start, end, text } = button.dataset;
  const range = [start, end].map((count) => unitsOf(field.value, count));
  replaceText(field, text, range);
  field.dispatchEvent(new Event("corrected"));
}

// Enter in the field of a part changes that part; it does not create the filter.
function change(event, input) {
  if (event.key !== "Enter") return;
  event.preventDefault();
  input.parentElement.querySelector("button").click();
}

listen([
  ["input", FIELD, hear],
  ["htmx:configRequest", FIELD, configure],
  ["htmx:afterRequest", FIELD, answer],
  ["click", "#understood button[data-text]", correct],
  ["keydown", "#understood .piece input", change],
]);
// After Back the browser has put the text into the field again.
listen([["pageshow", "", pause]], window);
