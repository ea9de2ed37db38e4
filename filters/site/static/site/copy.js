// “Copy” puts the text of a field on the clipboard; without a clipboard it selects the text.

import { listen } from "./events.js";

async function copy(event, button) {
  const field = document.getElementById(button.dataset.copy);
  field.select();
  const words = button.textContent;
  try {
    await navigator.clipboard.writeText(field.value);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Selected: copy it";
  }
  setTimeout(() => {
    button.textContent = words;
  }, 2000);
}

listen([["click", "button[data-copy]", copy]]);
