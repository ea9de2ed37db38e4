// The installed app: its service worker, and how many are unread on its icon.

import { listen } from "./events.js";

const worker = () => navigator.serviceWorker;

const SIGN_OUT = 'form[action="/sign-out/"]';

function showBadge() {
  const inbox = document.getElementById("list-inbox");
  if (inbox) badge(Number(inbox.dataset.unread));
}

function badge(count) {
  if (!("setAppBadge" in navigator)) return;
  const shown = count ? navigator.setAppBadge(count) : navigator.clearAppBadge();
  shown.catch(() => {}); // An icon that takes no badge is no error.
}

// Signed out: no number, no notification and no place in a list is for whoever sits here next.
function leaveNothing() {
  badge(0);
  sessionStorage.clear();
  closeNotifications().catch(() => {});
}

async function closeNotifications() {
  const registration = worker() && (await worker().getRegistration());
  if (!registration || !registration.getNotifications) return;
  for (const notification of await registration.getNotifications()) notification.close();
}

function start() {
  if (document.querySelector("main.sign-in")) leaveNothing();
  showBadge();
  if (worker() && document.querySelector(SIGN_OUT)) worker().register("/sw.js").catch(() => {});
}

listen([
  ["DOMContentLoaded", "", start],
  ["submit", SIGN_OUT, leaveNothing],
  ["htmx:afterSettle", "", showBadge],
]);
