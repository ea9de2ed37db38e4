// What was being written is there again after Back, and after a result was looked at.
"use strict";

(() => {
  const field = document.querySelector("textarea[data-complete]");
  const here = location.pathname + location.search;

  // On a page of results: its link to the writing leads to where that was left in this tab.
  const link = document.querySelector("a.to-writing");
  const writing = sessionStorage.getItem("writing");
  if (link && writing && new URL(writing, location).pathname === link.pathname) {
    link.href = writing;
    link.addEventListener("click", () => sessionStorage.setItem("back", writing));
  }
  if (!field) return;

  const form = field.form;
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

  form.addEventListener("submit", () => {
    sent = true;
    sessionStorage.removeItem(KEY);
  });
  window.addEventListener("pagehide", keep);

  // A message that is opened from here leads back to here, and not to the last list.
  document.addEventListener("click", (event) => {
    if (event.target.closest(".preview a.row")) sessionStorage.setItem("list", here);
  }, true);

  window.addEventListener("pageshow", () => (sent = false));
  const [{ type }] = performance.getEntriesByType("navigation");
  const isBack = type !== "navigate" || sessionStorage.getItem("back") === here;
  if (isBack) {
    sessionStorage.removeItem("back");
    restore();
  } else sessionStorage.removeItem(KEY);
})();
