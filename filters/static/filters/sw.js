// The service worker: shows notifications, and opens what they are about.
"use strict";

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

self.addEventListener("push", (event) => {
  const { title, body, url, tag } = event.data.json();
  const options = { body, tag, icon: "/static/filters/icon-192.png", data: { url } };
  event.waitUntil(self.registration.showNotification(title, options));
});

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(show(event.notification.data.url));
});

// The page of a notification, at the address by which this browser knows the site.
function here(url) {
  const { pathname, search } = new URL(url, self.location.origin);
  return new URL(pathname + search, self.location.origin);
}

// A list or a message may give way to another page; where somebody writes it may not.
function mayLeave(window) {
  return /^\/(in\/[^/]+\/(gone\/)?|message\/)?$/.test(new URL(window.url).pathname);
}

async function show(url) {
  const address = here(url).href;
  const windows = await self.clients.matchAll({ type: "window" });
  const window = windows.find((open) => open.url === address) || windows.find(mayLeave);
  if (!window) return self.clients.openWindow(address);
  const shown = window.url === address ? window : await window.navigate(address);
  return shown && shown.focus();
}
