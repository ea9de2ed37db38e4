// The page that is shown without a connection: it asks again for what was wanted.

const EVERY = 10_000; // Milliseconds between two tries.

function again() {
  if (document.visibilityState === "visible") location.reload();
}

window.addEventListener("online", again);
setInterval(again, EVERY);
