// “Copy” puts the text of a field on the clipboard; without a clipboard it selects the text.
"use strict";

document.addEventListener("click", async (event) => {
  const button = event.target.closest("button[data-copy]");
  if (!button) return;
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
});
