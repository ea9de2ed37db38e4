"""A list in a browser, and answers to its page that come late or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.browser.browsing import open_as

if TYPE_CHECKING:
    from playwright.sync_api import APIResponse, Browser, Locator, Page, Route

SIZES = {"desk": {"width": 1280, "height": 800}, "phone": {"width": 390, "height": 844}}


def open_list(browser: Browser, url: str, size: str, scheme: str = "light") -> Page:
    """Sign terry in, and return his list of what the filter jones found."""
    touch = size == "phone"
    context = browser.new_context(
        viewport=SIZES[size], color_scheme=scheme, has_touch=touch, is_mobile=touch
    )
    page = context.new_page()
    open_as(page, f"{url}/in/jones/")
    return page


def row(page: Page, msgid: str) -> Locator:
    """Return the row of a message."""
    return page.locator(f'#list a.row[data-msgid="{msgid}"]')


def open_row(page: Page, msgid: str) -> None:
    """Open a message beside the list, and wait until the list shows that it was read."""
    row(page, msgid).click()
    page.locator(f'#reading article.message[data-msgid="{msgid}"]').wait_for()
    page.locator(f'#list a.row:not(.unread)[data-msgid="{msgid}"]').wait_for(state="attached")


class LateAnswer:
    """Holds the next answer to an address, as it is when it is asked for, until ``give``."""

    def __init__(self, page: Page, address: str) -> None:
        self._page = page
        self._held: list[tuple[Route, APIResponse]] = []
        page.route(address, self._hold, times=1)

    def wait(self) -> None:
        """Wait until the page has asked."""
        while not self._held:
            self._page.wait_for_timeout(20)

    def give(self) -> None:
        """Let the page have the answer."""
        self.wait()
        route, response = self._held.pop()
        route.fulfill(response=response)

    def _hold(self, route: Route) -> None:
        self._held.append((route, route.fetch()))
