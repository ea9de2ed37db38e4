// Passkeys: a button asks the browser for one, and sends what it answers with its form.

import { listen } from "./events.js";

const supported = window.PublicKeyCredential
  && "parseRequestOptionsFromJSON" in PublicKeyCredential
  && "toJSON" in PublicKeyCredential.prototype;

async function answer(button) {
  const options = JSON.parse(button.dataset.options);
  const credential = button.dataset.passkey === "create"
    ? await navigator.credentials.create({
        publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options),
      })
    : await navigator.credentials.get({
        publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options),
      });
  return JSON.stringify(credential.toJSON());
}

async function use(event, button) {
  const form = button.form;
  const fault = form.querySelector("[data-passkey-fault]");
  if (!form.reportValidity()) {
    return;
  }
  button.disabled = true;
  fault.hidden = true;
  try {
    form.elements.passkey.value = await answer(button);
    form.submit();
  } catch {
    fault.hidden = false;
    button.disabled = false;
    button.focus();
  }
}

for (const button of document.querySelectorAll("[data-passkey]")) {
  button.hidden = !supported;
}
for (const note of document.querySelectorAll("[data-passkey-unsupported]")) {
  note.hidden = Boolean(supported);
}
listen([["click", "[data-passkey]", use]]);
