// The service worker: shows notifications, and opens what they are about; and a page that says so
// where the site cannot be reached.  SHELL, which the site writes above, is all that it ever keeps:
// that page and its static files, asked for without cookies.  No page with content is kept.
"use strict";

self.addEventListener("install", (event) => {
  event.waitUntil(keepShell());
  // What a page sends as it is closed is lost if it waits for this worker: it does not pass here.
  const sent = { condition: { requestMethod: "POST" }, source: "network" };
  if (event.addRoutes) event.waitUntil(event.addRoutes(sent));
  self.skipWaiting();
});
self.addEventListener("activate", (event) => event.waitUntil(takeOver()));

async function keepShell() {
  const kept = await caches.open(SHELL.name);
  const anonymous = (address) => new Request(address, { credentials: "omit", cache: "reload" });
  await kept.addAll([SHELL.page, ...SHELL.files].map(anonymous));
}

async function takeOver() {
  for (const name of await caches.keys()) if (name !== SHELL.name) await caches.delete(name);
  await self.clients.claim();
}

const fromShell = async (address) => (await caches.open(SHELL.name)).match(address);

// What was asked for, else the page that says that there is no connection.
async function pageOf(request) {
  try {
    return await fetch(request);
  } catch {
    return (await fromShell(SHELL.page)) || Response.error();
  }
}

// A file of the shell never changes under its name.
const fileOf = async (request) => (await fromShell(request.url)) || fetch(request);

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== "GET" || origin !== self.location.origin) return;
  if (request.mode === "navigate" && request.destination === "document")
    event.respondWith(pageOf(request));
  else if (SHELL.files.includes(pathname)) event.respondWith(fileOf(request));
});

self.addEventListener("push", (event) => {
  const { title, body, url, tag, unread } = event.data.json();
  const options = { body, tag, icon: "/static/site/icon-192.png", data: { url } };
  const shown = self.registration.showNotification(title, options);
  event.waitUntil(Promise.all([shown, badge(unread)]));
});

// The number on the icon, as pages of the site set it (app.js): no page may be open now.
async function badge(count) {
  if (!count || !("setAppBadge" in navigator)) return;
  await navigator.setAppBadge(count).catch(() => {}); // An icon that takes no badge is no error.
}

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(show(event.notification.data.url));
});

// The page of a notification, at the address by which this browser knows the site.
function here(url) {
  const { pathname, search } = new URL(url, self.location.origin);
  return new URL(pathname + search, self.location.origin);
}

// Lists, messages and pages about things may give way to another page; where somebody writes, none.
const MAY_LEAVE = new RegExp(
  `^/(${[
    "(in/[^/]+/)?(by-importance/|gone/)?",
    "(message|search|starred|snoozed|done|muted|drafts|offline)/",
    "(filters|shared|sources|source/[0-9]+|feeds|operator)/",
    "(delivery|mail)/([0-9]+/)?",
  ].join("|")})$`,
);
const mayLeave = (window) => MAY_LEAVE.test(new URL(window.url).pathname);

async function show(url) {
  const address = here(url).href;
  await self.clients.claim(); // A page that was loaded without this worker can be led nowhere.
  const windows = await self.clients.matchAll({ type: "window" });
  const window = windows.find((open) => open.url === address) || windows.find(mayLeave);
  if (!window) return self.clients.openWindow(address);
  const shown = window.url === address ? window : await window.navigate(address);
  return shown && shown.focus();
}
