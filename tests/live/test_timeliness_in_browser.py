"""When matches are shown, chosen in a browser: on a desk and on a phone."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from filters.models import Filter, Profile

pytestmark = [pytest.mark.live, pytest.mark.timeout(120)]

SIZES = {"desk": {"width": 1280, "height": 900}, "phone": {"width": 390, "height": 844}}


@pytest.fixture(params=list(SIZES))
def page(request, browser, broker, live_server, transactional_db, settings, tmp_path, monkeypatch):
    """Terry's page about terry, at one of the sizes."""
    settings.DATA = tmp_path
    settings.SECRET_KEY = "of the tests"
    User.objects.create_user("terry", password="secret")
    opened = browser.new_context(viewport=SIZES[request.param]).new_page()
    opened.set_default_timeout(20_000)
    opened.goto(f"{live_server.url}/me/")
    opened.get_by_label("Name", exact=True).fill("terry")
    opened.get_by_label("Password").fill("secret")
    opened.get_by_role("button", name="Sign in").click()
    opened.wait_for_url("**/me/")
    return opened


def parts(page: Page) -> list[bool]:
    """Return whether minutes, day and time are shown beside the choice."""
    labels = ("Minutes", "Day of the week", "Time")
    return [page.get_by_label(label, exact=True).is_visible() for label in labels]


def check_that_it_fits(page: Page) -> None:
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_one_chooses_what_is_usual_and_what_a_filter_does(page, live_server, pictures):
    assert parts(page) == [False, False, False]
    page.get_by_label("How often").select_option("daily at …")
    assert parts(page) == [False, False, True]
    page.get_by_label("Time", exact=True).fill("07:30")
    page.get_by_label("Quiet from").fill("22:00")
    page.get_by_label("Quiet until").fill("07:00")
    page.get_by_label("On holiday until").fill("2999-01-31")
    check_that_it_fits(page)
    page.screenshot(path=pictures / "me.png", full_page=True)
    page.get_by_role("button", name="Save").click()
    page.get_by_text("Saved.").wait_for()
    stored = Profile.objects.get()
    assert (stored.timeliness, stored.quiet_from, stored.quiet_to) == ("daily at 07:30", 1320, 420)
    assert stored.holiday_until.isoformat() == "2999-01-31"

    page.goto(f"{live_server.url}/filters/new/")
    how = page.get_by_label("How often")
    expect(how.locator("option:checked")).to_have_text("as usual (daily at 07:30)")
    assert parts(page) == [False, False, False]
    how.select_option("every … minutes")
    assert parts(page) == [True, False, False]
    how.select_option("weekly on …")
    assert parts(page) == [False, True, True]
    page.get_by_label("Day of the week").select_option("Friday")
    page.get_by_label("Not while it has unread messages").check()
    page.locator("#text").fill("from jones")
    page.locator("#name").fill("jones")
    check_that_it_fits(page)
    page.screenshot(path=pictures / "filter.png", full_page=True)
    page.locator(".tools").get_by_role("button", name="Create filter").click()
    page.wait_for_url("**/in/jones/")
    made = Filter.objects.get()
    assert (made.timeliness, made.while_unread) == ("weekly on Friday at 08:00", True)
