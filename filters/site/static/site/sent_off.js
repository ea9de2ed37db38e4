// A form that was sent off: its answer is the next page, wherever a poll of this one would lead.
// What a form does may sign its sender out, and a poll would then go to the page to sign in.
"use strict";

(() => {
  const LONGEST = 30_000; // milliseconds; a form whose answer is a file leads to no page
  let isSentOff = false;

  document.addEventListener("submit", ({ target, defaultPrevented }) => {
    if (defaultPrevented || target.method === "dialog") return; // htmx sends it, or nobody
    isSentOff = true;
    setTimeout(() => (isSentOff = false), LONGEST);
  });
  document.addEventListener("htmx:beforeOnLoad", (event) => {
    if (isSentOff) event.preventDefault();
  });
  addEventListener("pageshow", () => (isSentOff = false)); // come back to by the browser's Back
})();
