// A form that was sent off: its answer is the next page, wherever a poll of this one would lead.
// What a form does may sign its sender out, and a poll would then go to the page to sign in.

import { listen } from "./events.js";

const LONGEST = 30_000; // milliseconds; a form whose answer is a file leads to no page
let isSentOff = false;

function sendOff({ target, defaultPrevented }) {
  if (defaultPrevented || target.method === "dialog") return; // htmx sends it, or nobody
  isSentOff = true;
  setTimeout(() => (isSentOff = false), LONGEST);
}

listen([["htmx:beforeOnLoad", "", (event) => isSentOff && event.preventDefault()]]);
listen(
  [
    ["submit", "", sendOff], // after all that may prevent it
    ["pageshow", "", () => (isSentOff = false)], // come back to by the browser's Back
  ],
  window,
);
