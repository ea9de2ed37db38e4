"""The page of feeds on a phone: make one, copy its address, change it."""

from __future__ import annotations

import pytest
from playwright.sync_api import Error, Page, expect

from filters.delivery.models import Destination, Feed
from tests.support.browser.browsing import open_as

pytestmark = [pytest.mark.live, pytest.mark.timeout(120)]

PHONE = {"width": 390, "height": 844}


@pytest.fixture
def page(browser, jones, live_server, settings):
    """Terry's page of feeds."""
    settings.SITE_URL = live_server.url
    context = browser.new_context(viewport=PHONE, permissions=["clipboard-write"])
    opened = context.new_page()
    open_as(opened, f"{live_server.url}/feeds/")
    return opened


def press_copy(page: Page, said: str) -> None:
    """Press the button that copies, and expect what it says for the two seconds after that."""
    page.wait_for_load_state()  # its script is there
    button = page.get_by_role("button", name="Copy", exact=True)
    button.evaluate("""button => new MutationObserver(() => {
      button.dataset.said ??= button.textContent;
    }).observe(button, { childList: true })""")
    button.click()
    expect(page.locator("[data-said]")).to_have_attribute("data-said", said)


def expect_pasted(page: Page, words: str) -> None:
    """Expect what a person pastes elsewhere: the site's own pages may not read the clipboard."""
    elsewhere = page.context.new_page()
    elsewhere.set_content("<textarea autofocus></textarea>")
    elsewhere.locator("textarea").press("Control+V")
    expect(elsewhere.locator("textarea")).to_have_value(words)
    elsewhere.close()


def test_a_feed_is_made_copied_and_changed(page, jones, live_server):
    card = page.get_by_role("article").filter(has_text="from Jones")
    card.get_by_role("button", name="Make a feed").click()
    field = card.get_by_label("Address of the feed")
    address = field.input_value()
    assert address == f"{live_server.url}/feeds/{Feed.objects.get().token}.atom"
    press_copy(page, "Copied")
    expect_pasted(page, address)
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    assert page.request.get(address).status == 200
    card.get_by_role("button", name="Change the address").click()
    expect(field).not_to_have_value(address)
    assert page.request.get(address).status == 404
    card.get_by_role("button", name="Remove the feed").click()
    card.get_by_role("button", name="Make a feed").wait_for()


def test_the_secret_of_a_webhook_is_copied(page, jones, live_server):
    hook = Destination.objects.create(owner=jones.owner, kind="webhook", name="Our server")
    page.goto(f"{live_server.url}/delivery/webhook/{hook.pk}/secret/")
    page.get_by_role("button", name="Make a new secret").click()
    secret = page.get_by_label("Secret", exact=True).input_value()
    press_copy(page, "Copied")
    assert secret.startswith("whsec_")
    expect_pasted(page, secret)


def test_without_a_clipboard_the_address_is_selected(page, jones):
    page.get_by_role("button", name="Make a feed").first.click()
    page.get_by_role("button", name="Copy", exact=True).wait_for()  # on the page that comes then
    page.evaluate("delete Navigator.prototype.clipboard")
    with pytest.raises(Error):
        page.evaluate("navigator.clipboard.writeText('')")
    press_copy(page, "Selected: copy it")
    selected = page.evaluate("getSelection().toString()")
    assert selected == page.get_by_label("Address of the feed").input_value()
