// What a page answers to is in tables of rows: an event, a selector, and a function.

// The function gets the event, and the nearest element that the selector names; with "" it hears
// of every one.  Rows are in the order in which they are called, modules in that of their page.
export function listen(table, root = document, capture = false) {
  for (const [type, selector, act] of table)
    root.addEventListener(
      type,
      (event) => {
        const place = selector ? event.target.closest?.(selector) : event.target;
        if (place) act(event, place);
      },
      capture,
    );
}
