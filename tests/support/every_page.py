"""What every page keeps to in a browser: no error, no other host, and axe finds nothing."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import Page, Request

from tests.support.page_errors import page_errors

DESK, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}

_RUN_AXE = """
rules => axe
  .run(document, {
    resultTypes: ["violations"], preload: false,
    ...(rules.length ? { runOnly: { type: "rule", values: rules } } : {}),
  })
  .then(({ violations }) => violations.map(({ id, nodes }) => `${id}: ${nodes[0].html}`))
"""

COLOURS = ["color-contrast", "link-in-text-block"]
"""The rules of axe of which another colour scheme makes a difference."""


@cache
def axe() -> str:
    """Return the script of axe-core."""
    return files("axe_playwright_python").joinpath("axe.min.js").read_text()


class Watch:
    """Collects what pages should never do: errors in the console, requests to other hosts."""

    def __init__(self, page: Page, site: str) -> None:
        self.host, self.wrong = urlsplit(site).netloc, page_errors(page, "warning")
        page.on("request", self._ask)

    def _ask(self, request: Request) -> None:
        asked = urlsplit(request.url)
        if asked.scheme not in ("data", "blob") and asked.netloc != self.host:
            self.wrong.append(f"request to {request.url}")


def faults_of_view(page: Page, pictures: Path, name: str) -> Iterator[str]:
    """Yield what axe finds on a page at a desk and on a phone, in light and dark.

    A picture is kept of the desk in light, and of the phone in dark.
    """
    page.evaluate(axe())
    for size, scheme, rules in (
        (DESK, "light", []),
        (DESK, "dark", COLOURS),
        (PHONE, "dark", []),
    ):
        page.set_viewport_size(size)
        page.emulate_media(color_scheme=scheme)
        place = f"{'phone' if size is PHONE else 'desk'}, {scheme}"
        yield from (f"{place}: {fault}" for fault in page.evaluate(_RUN_AXE, rules))
        if size is PHONE and page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            yield f"{place}: wider than the screen"
        if (size is PHONE) == (scheme == "dark"):
            page.screenshot(path=pictures / f"{name}-{place.replace(', ', '-')}.png")
