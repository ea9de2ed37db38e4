// Asks the browser for notifications, and hands its subscription to the site in a form.

import { listen } from "./events.js";

const part = document.getElementById("push");
const ask = document.getElementById("ask-push");
const button = ask.querySelector("button");

// Shows the one sentence of the page that says how this browser stands.
function say(name) {
  for (const sentence of part.querySelectorAll("[data-when]"))
    sentence.hidden = sentence.dataset.when !== name;
  ask.hidden = name !== "ready";
}

function obstacle() {
  if (!window.isSecureContext) return "insecure";
  const phone = /iPhone|iPad/.test(navigator.userAgent);
  if (!("serviceWorker" in navigator) || !("PushManager" in window) || !("Notification" in window))
    return phone ? "not-installed" : "unable";
  return Notification.permission === "denied" ? "denied" : "";
}

function bytes(base64url) {
  const text = atob(base64url.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

async function digest(text) {
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return [...new Uint8Array(hash)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

async function worker() {
  await navigator.serviceWorker.register("/sw.js");
  return navigator.serviceWorker.ready;
}

async function subscription() {
  return (await worker()).pushManager.getSubscription();
}

async function rowOf(own) {
  return own && part.querySelector(`[data-digest="${await digest(own.endpoint)}"]`);
}

// A subscription that has ended, or of another key of the site, is of no use.
async function isOfUse(own) {
  const key = own.options.applicationServerKey;
  const row = await rowOf(own);
  const ended = row && row.hasAttribute("data-ended");
  return !ended && new Uint8Array(key).join() === bytes(ask.dataset.key).join();
}

async function subscribe() {
  if ((await Notification.requestPermission()) !== "granted") {
    say(Notification.permission === "denied" ? "denied" : "ready");
    return;
  }
  const manager = (await worker()).pushManager;
  const before = await manager.getSubscription();
  if (before && !(await isOfUse(before))) await before.unsubscribe();
  const made = await manager.subscribe({
    userVisibleOnly: true,
    applicationServerKey: bytes(ask.dataset.key),
  });
  ask.elements.subscription.value = JSON.stringify(made.toJSON());
  ask.submit();
}

async function submit(event) {
  event.preventDefault();
  button.disabled = true;
  try {
    await subscribe();
  } catch {
    say("failed");
  }
  button.disabled = false;
}

// The browser that is removed here stops by itself as well.
async function remove(event, form) {
  event.preventDefault();
  try {
    await started; // Before that, no row is known to be of this browser.
    const own = form.closest("[data-here]") && (await subscription());
    if (own) await own.unsubscribe();
  } finally {
    form.submit();
  }
}

async function start() {
  const why = obstacle();
  if (why) return say(why);
  const own = Notification.permission === "granted" ? await subscription() : null;
  const row = await rowOf(own);
  if (row) {
    row.dataset.here = "";
    row.querySelector(".here").hidden = false;
  }
  return say(row && (await isOfUse(own)) ? "asked" : "ready");
}

const started = start().catch(() => say("failed"));
listen([
  ["submit", "#ask-push", submit],
  ["submit", "#push form.remove", remove],
]);
