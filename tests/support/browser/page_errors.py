"""What goes wrong on a page in a browser, as its console says."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import ConsoleMessage, Page

LEFT = ("htmx:afterRequest,", "htmx:sendAbort,")
"""What htmx says of a poll that was under way when its page was left; of others it says more."""


def page_errors(page: Page, *kinds: str) -> list[str]:
    """Return a list that fills: with errors in the console, further kinds, and uncaught errors."""
    errors: list[str] = []

    def note(entry: ConsoleMessage) -> None:
        if entry.type in ("error", *kinds) and not entry.text.startswith(LEFT):
            errors.append(entry.text)

    page.on("console", note)
    page.on("pageerror", lambda error: errors.append(str(error)))
    return errors
