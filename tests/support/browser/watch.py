"""What goes wrong in a browser whatever its pages are: errors, and requests to other hosts."""

from __future__ import annotations

import faulthandler
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from tests.support.browser.page_errors import LEFT

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import (
        Browser,
        BrowserContext,
        ConsoleMessage,
        Page,
        Request,
        WebError,
    )

SOON = 5_000
"""Milliseconds that a page of a failed test has to say what it shows."""

HERE = ("127.0.0.1", "localhost")
"""The hosts of the sites of tests."""


NOTHING = "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
"""In what Chromium says of an empty style: Playwright leaves that on fields that it took a picture
of, and htmx gives it to the fields that take their place."""


class BrowserWatch:
    """Collects what goes wrong on all pages that are opened with a browser.

    ``expected`` are parts of what may: a fault that contains one of them is none.
    """

    def __init__(self, browser: Browser, expected: Sequence[str] = ()) -> None:
        self.faults: list[str] = []
        self._unanswered: list[Request] = []
        self._expected, self._is_over = expected, False
        self._browser = browser
        self._new_context = browser.new_context
        watched: Any = browser
        watched.new_context, watched.new_page = self._open_context, self._open_page

    def end(self, pictures: Path | None = None) -> str:
        """Take in what was said until now, and nothing later, and close all pages.

        Where the test failed, ``pictures`` is the directory for what the pages show.  Returned are
        then their addresses and texts, and what they still wait for.
        """
        if self._is_over:
            return ""
        for name in ("new_context", "new_page"):
            vars(self._browser).pop(name, None)
        for context in self._browser.contexts:
            context.cookies()  # what was said before the answer is dispatched before it
        self._is_over = True
        shown = self._look(pictures) if pictures is not None else ""
        for context in self._browser.contexts:
            context.close()
        return shown

    def _look(self, directory: Path) -> str:
        lines = _stacks() if self._unanswered else []
        lines += [f"unanswered: {request.method} {request.url}" for request in self._unanswered]
        pages = [page for context in self._browser.contexts for page in context.pages]
        for number, page in enumerate(pages):
            with suppress(Exception):  # a page that is busy has none
                lines += [page.url, page.inner_text("body", timeout=SOON)]
                page.screenshot(path=directory / f"last-{number}.png", timeout=SOON)
        return "\n".join(lines)

    def _open_context(self, **options: Any) -> BrowserContext:
        context = self._new_context(**options)
        context.on("console", self._note)
        context.on("weberror", self._throw)
        context.on("request", self._ask)
        context.on("requestfinished", self._answer)
        context.on("requestfailed", self._answer)
        return context

    def _open_page(self, **options: Any) -> Page:
        return self._open_context(**options).new_page()

    def _note(self, entry: ConsoleMessage) -> None:
        is_noise = entry.text.startswith(LEFT) or NOTHING in entry.text
        if entry.type == "error" and not is_noise:
            self._add(f"{entry.text} ({entry.location['url']})")

    def _throw(self, error: WebError) -> None:
        self._add(f"uncaught: {error.error}")

    def _ask(self, request: Request) -> None:
        self._unanswered.append(request)
        asked = urlsplit(request.url)
        if asked.scheme not in ("data", "blob", "about") and asked.hostname not in HERE:
            self._add(f"request to {request.url}")

    def _answer(self, request: Request) -> None:
        with suppress(ValueError):  # asked for before the page was watched
            self._unanswered.remove(request)

    def _add(self, fault: str) -> None:
        if not self._is_over and not any(part in fault for part in self._expected):
            self.faults.append(fault)


def _stacks() -> list[str]:
    """Return where the threads are that answer requests, if the site is of this process."""
    with tempfile.TemporaryFile("w+") as file:
        faulthandler.dump_traceback(file)
        file.seek(0)
        return [stack for stack in file.read().split("\n\n") if "django/core/handlers" in stack]
