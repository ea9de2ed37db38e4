"""When matches are shown, chosen in a browser: on a desk and on a phone."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from filters.authoring.models import Filter
from filters.people.models import User
from tests.support.browser.browsing import assert_fits, open_as

pytestmark = [pytest.mark.live, pytest.mark.timeout(120)]

SIZES = {"desk": {"width": 1280, "height": 900}, "phone": {"width": 390, "height": 844}}


@pytest.fixture(params=list(SIZES))
def page(request, browser, broker, live_server, transactional_db, settings, tmp_path, monkeypatch):
    """Terry's page about terry, at one of the sizes."""
    settings.DATA = tmp_path
    settings.SECRET_KEY = "of the tests"
    User.objects.create_user("terry", password="secret")
    context = browser.new_context(viewport=SIZES[request.param], timezone_id="UTC")
    opened = context.new_page()
    open_as(opened, f"{live_server.url}/me/")
    return opened


def expect_parts(page: Page, *shown: str) -> None:
    """Expect that these, of minutes, day and time, are shown beside the choice."""
    for label in ("Minutes", "Day of the week", "Time"):
        expect(page.get_by_label(label, exact=True)).to_be_visible(visible=label in shown)


def test_the_zone_of_the_browser_is_offered(browser, page, live_server):
    context = browser.new_context(timezone_id="Europe/Berlin", color_scheme="dark")
    abroad = context.new_page()
    open_as(abroad, f"{live_server.url}/me/")
    abroad.get_by_text("Your browser’s time zone is Europe/Berlin.").wait_for()
    assert_fits(abroad, "zone")
    abroad.get_by_role("button", name="Use it").click()
    expect(abroad.get_by_label("Time zone")).to_have_value("Europe/Berlin")
    expect(abroad.get_by_role("button", name="Use it")).to_be_hidden()
    abroad.get_by_label("Single keys act on messages").uncheck()
    abroad.get_by_role("button", name="Save").click()
    abroad.get_by_text("Saved.").wait_for()
    stored = User.objects.get()
    assert (stored.time_zone, stored.shortcuts) == ("Europe/Berlin", False)


def test_one_chooses_what_is_usual_and_what_a_filter_does(page, live_server):
    expect_parts(page)
    page.get_by_label("How often").select_option("daily at …")
    expect_parts(page, "Time")
    page.get_by_label("Time", exact=True).fill("07:30")
    page.get_by_role("group", name="Quiet hours").get_by_label("from").fill("22:00")
    page.get_by_role("group", name="Quiet hours").get_by_label("until").fill("07:00")
    page.get_by_label("On holiday until").fill("2999-01-31")
    assert_fits(page, "me")
    page.get_by_role("button", name="Save").click()
    page.get_by_text("Saved.").wait_for()
    stored = User.objects.get()
    assert (stored.timeliness, stored.quiet_from, stored.quiet_to) == ("daily at 07:30", 1320, 420)
    assert stored.holiday_until.isoformat() == "2999-01-31"

    page.goto(f"{live_server.url}/filters/new/")
    how = page.get_by_label("How often")
    expect(how.locator("option:checked")).to_have_text("as usual (daily at 07:30)")
    expect_parts(page)
    how.select_option("every … minutes")
    expect_parts(page, "Minutes")
    how.select_option("weekly on …")
    expect_parts(page, "Day of the week", "Time")
    page.get_by_label("Day of the week").select_option("Friday")
    page.get_by_label("Not while it has unread messages").check()
    page.locator("#text").fill("from jones")
    page.locator("#name").fill("jones")
    page.get_by_text("Looking…").wait_for()  # what comes above the button has come
    assert_fits(page, "filter")
    page.locator(".tools").get_by_role("button", name="Create filter").click()
    page.wait_for_url(f"{live_server.url}/in/jones/")
    made = Filter.objects.get()
    assert (made.timeliness, made.while_unread) == ("weekly on Friday at 08:00", True)
