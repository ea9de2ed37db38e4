"""What every page keeps to in a browser: no error, no other host, and axe finds nothing."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from urllib.parse import urlsplit

from playwright.sync_api import Page, Request

from tests.support.browser.contrast import too_faint
from tests.support.browser.page_errors import page_errors

DESK, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}

_RUN_AXE = """
options => axe
  .run(document, { resultTypes: ["violations"], preload: false, ...options })
  .then(({ violations }) => violations.map(({ id, nodes }) => `${id}: ${nodes[0].html}`))
"""

LINKS = {"runOnly": {"type": "rule", "values": ["link-in-text-block"]}}
"""The rule of axe, beside contrast, of which another colour scheme makes a difference."""

WITHOUT_CONTRAST = {"rules": {"color-contrast": {"enabled": False}}}
"""All but what takes five sixths of the time, and ``too_faint`` finds in a thirtieth of it."""


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


def faults_of_view(page: Page) -> Iterator[str]:
    """Yield what axe finds on a page at a desk and on a phone, in light and dark.

    In the dark the contrast is measured by ``too_faint``, which asks more of large text.
    """
    page.evaluate(axe())
    for size, scheme, options in (
        (DESK, "light", {}),
        (DESK, "dark", LINKS),
        (PHONE, "dark", WITHOUT_CONTRAST),
    ):
        page.set_viewport_size(size)
        page.emulate_media(color_scheme=scheme)
        place = f"{'phone' if size is PHONE else 'desk'}, {scheme}"
        found = page.evaluate(_RUN_AXE, options)
        if scheme == "dark":
            found += too_faint(page)
        yield from (f"{place}: {fault}" for fault in found)
        if size is PHONE and page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            yield f"{place}: wider than the screen"
