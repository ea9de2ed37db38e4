"""The page of feeds on a phone: make one, copy its address, change it."""

from __future__ import annotations

import pytest
from playwright.sync_api import Error, expect

from filters.models import Destination, Feed

pytestmark = [pytest.mark.live, pytest.mark.timeout(120)]

PHONE = {"width": 390, "height": 844}


@pytest.fixture
def page(browser, jones, live_server, settings):
    """Terry's page of feeds."""
    settings.SITE_URL = live_server.url
    context = browser.new_context(viewport=PHONE, permissions=["clipboard-write"])
    opened = context.new_page()
    opened.set_default_timeout(20_000)
    opened.goto(f"{live_server.url}/feeds/")
    opened.get_by_label("Name", exact=True).fill("terry")
    opened.get_by_label("Password").fill("secret")
    opened.get_by_role("button", name="Sign in").click()
    opened.wait_for_url("**/feeds/")
    return opened


def clipboard(page):
    """What a person pastes elsewhere: the site's own pages may not read the clipboard."""
    elsewhere = page.context.new_page()
    elsewhere.set_content("<textarea autofocus></textarea>")
    elsewhere.locator("textarea").press("Control+V")
    pasted = elsewhere.locator("textarea").input_value()
    elsewhere.close()
    return pasted


def test_a_feed_is_made_copied_and_changed(page, jones, live_server, pictures):
    card = page.get_by_role("article").filter(has_text="from Jones")
    card.get_by_role("button", name="Make a feed").click()
    field = card.get_by_label("Address of the feed")
    address = field.input_value()
    assert address == f"{live_server.url}/feeds/{Feed.objects.get().token}.atom"
    card.get_by_role("button", name="Copy").click()
    card.get_by_role("button", name="Copied").wait_for()
    assert clipboard(page) == address
    page.screenshot(path=pictures / "feeds.png")
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    assert page.request.get(address).status == 200
    card.get_by_role("button", name="Change the address").click()
    expect(field).not_to_have_value(address)
    assert page.request.get(address).status == 404
    card.get_by_role("button", name="Remove the feed").click()
    card.get_by_role("button", name="Make a feed").wait_for()


def test_the_secret_of_a_webhook_is_copied(page, jones, live_server, pictures):
    hook = Destination.objects.create(owner=jones.owner, kind="webhook", name="Our server")
    page.goto(f"{live_server.url}/delivery/webhook/{hook.pk}/secret/")
    page.get_by_role("button", name="Make a new secret").click()
    secret = page.get_by_label("Secret", exact=True).input_value()
    page.get_by_role("button", name="Copy").click()
    page.get_by_role("button", name="Copied").wait_for()
    assert secret.startswith("whsec_") and clipboard(page) == secret
    page.screenshot(path=pictures / "secret.png")


def test_without_a_clipboard_the_address_is_selected(page, jones):
    page.get_by_role("button", name="Make a feed").first.click()
    page.evaluate("delete Navigator.prototype.clipboard")
    with pytest.raises(Error):
        page.evaluate("navigator.clipboard.writeText('')")
    page.get_by_role("button", name="Copy").click()
    page.get_by_role("button", name="Selected: copy it").wait_for()
    selected = page.evaluate("getSelection().toString()")
    assert selected == page.get_by_label("Address of the feed").input_value()
