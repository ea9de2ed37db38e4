// The time zone of the browser is offered where another one is chosen.  The page works without this.

import { listen } from "./events.js";

const offer = () => document.querySelector(".zone");
const choice = () => document.getElementById("id_time_zone");
const here = () => Intl.DateTimeFormat().resolvedOptions().timeZone;

function show() {
  const isKnown = [...choice().options].some((option) => option.value === here());
  offer().querySelector("b").textContent = here().replaceAll("_", " ");
  offer().hidden = !isKnown || choice().value === here();
}

function use() {
  choice().value = here();
  choice().focus();
  show();
}

listen([
  ["click", ".zone button", use],
  ["change", "#id_time_zone", show],
  ["DOMContentLoaded", "", show],
]);
