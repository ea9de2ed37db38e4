// Files that are dropped on the form or pasted into it are put into its field of files.

import { listen } from "./events.js";

const MIB = 1 << 20;

function hint() {
  const hidden = document.querySelector("#drop-hint[hidden]");
  if (hidden) hidden.hidden = false;
}

function add(files) {
  const field = document.getElementById("files");
  const all = new DataTransfer();
  for (const file of [...field.files, ...files]) all.items.add(file);
  field.files = all.files;
  tell();
}

// The limits are those of the server, which looks again.
function tell() {
  const field = document.getElementById("files");
  const told = document.getElementById("chosen-files");
  const files = [...field.files];
  const size = files.reduce((sum, file) => sum + file.size, Number(field.dataset.size));
  const count = files.length + Number(field.dataset.count);
  let fault = "";
  if (count > Number(field.dataset.mostFiles)) fault = `A message may have ${field.dataset.mostFiles} files.`;
  else if (size > Number(field.dataset.mostBytes))
    fault = `The files are ${(size / MIB).toFixed(1)} MiB in total; the limit is ${field.dataset.mostBytes / MIB} MiB.`;
  field.setCustomValidity(fault);
  told.classList.toggle("fault", Boolean(fault));
  const names = files.map((file) => file.name).join(", ");
  told.textContent = fault || (names && `Attached when you save or send: ${names}`);
}

const hasFiles = (event) => event.dataTransfer?.types.includes("Files");

function over(event, form) {
  if (!hasFiles(event)) return;
  event.preventDefault();
  form.classList.add("dropping");
}

function leave(event, form) {
  if (!form.contains(event.relatedTarget)) form.classList.remove("dropping");
}

function drop(event, form) {
  if (!hasFiles(event)) return;
  event.preventDefault();
  form.classList.remove("dropping");
  add(event.dataTransfer.files);
}

// What is copied from a table is text and a picture of it: the text is meant.
function paste(event) {
  const data = event.clipboardData;
  if (!data?.files.length || data.types.includes("text/plain")) return;
  event.preventDefault();
  add(data.files);
}

hint();
listen([
  ["htmx:load", "", hint],
  ["dragover", "#compose", over],
  ["dragleave", "#compose", leave],
  ["drop", "#compose", drop],
  ["paste", "#compose", paste],
  ["change", "#files", tell],
]);
