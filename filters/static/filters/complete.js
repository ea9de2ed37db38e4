// Phrases complete as one types.  The page works without this.
"use strict";

(() => {
  const field = document.querySelector("textarea[data-complete]");
  const place = document.getElementById("completions");
  const LONGEST = 1500; // Characters: with all of them escaped, a server still takes the address.
  let asked = null; // The request under way, so that an older answer never comes after it.
  let timer = 0;

  const options = () => [...place.querySelectorAll("[role=option]")];
  const chosen = () => place.querySelector("[aria-selected=true]");

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
    place.hidden = true;
    place.replaceChildren();
    field.removeAttribute("aria-controls");
    field.removeAttribute("aria-activedescendant");
  }

  // The server counts characters, the field counts UTF-16 units.
  const toCharacters = (units) => [...field.value.slice(0, units)].length;
  const toUnits = (characters) => [...field.value].slice(0, characters).join("").length;

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
      if (!list.trim()) return close();
      place.innerHTML = list;
      place.hidden = false;
      field.setAttribute("aria-controls", "completions-list");
      choose(chosen());
    } catch (error) {
      if (error.name !== "AbortError") close();
    }
  }

  function accept(option) {
    const [start, end] = [toUnits(option.dataset.start), toUnits(option.dataset.end)];
    close();
    field.focus();
    field.setSelectionRange(start, end);
    // Typed, as it were: so it can be undone, and the page hears of it.
    if (!document.execCommand("insertText", false, option.dataset.text)) {
      field.setRangeText(option.dataset.text, start, end, "end");
      field.dispatchEvent(new Event("input", { bubbles: true }));
    }
  }

  function move(step) {
    const all = options();
    const at = all.indexOf(chosen());
    choose(at < 0 && step < 0 ? all.at(-1) : all[(at + step + all.length) % all.length]);
  }

  field.addEventListener("input", (event) => {
    clearTimeout(timer);
    if (event.isComposing) return;
    timer = setTimeout(() => ask(false), 80);
  });

  field.addEventListener("keydown", (event) => {
    if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (place.hidden) {
      // At its end, where it would go nowhere else, the arrow down asks for a list.
      if (event.key === "ArrowDown" && field.selectionStart === field.value.length) ask(true);
      return;
    }
    const option = chosen();
    if (event.key === "ArrowDown") move(1);
    else if (event.key === "ArrowUp") move(-1);
    else if (event.key === "Escape") close();
    else if ((event.key === "Enter" || event.key === "Tab") && option && !event.shiftKey) accept(option);
    else {
      if (["ArrowLeft", "ArrowRight", "Home", "End", "Enter"].includes(event.key)) close();
      return;
    }
    event.preventDefault();
  });

  place.addEventListener("mousedown", (event) => {
    event.preventDefault(); // The field keeps the focus.
    const option = event.target.closest("[role=option]");
    if (option && event.button === 0) accept(option);
  });

  field.addEventListener("blur", close);
})();
