"""The list in a browser: rows hold still under the pointer, and the title counts them."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from filters.authoring.models import Filter
from filters.inbox.models import Card, Match
from tapestry.core.clock import MINUTE, wall_clock
from tests.support.browsing import open_as, sign_in

pytestmark = [pytest.mark.live, pytest.mark.timeout(120)]


@pytest.fixture
def jones(jones):
    """A filter of terry's that has found three messages."""
    for number in range(3):
        find(jones, f"Number {number}")
    return jones


def find(filter_: Filter, subject: str) -> None:
    now = wall_clock() - MINUTE
    card = Card.objects.create(
        msgid=subject, audience="public", ts=now, received=now, sender="j@x.org", subject=subject
    )
    Match.objects.create(
        filter=filter_, msgid=subject, audience="public", card=card, matched_at=now,
        stored_at=now, shown_at=now, refreshed_at=now,
    )  # fmt: skip


@pytest.fixture
def page(browser, jones, live_server):
    """Terry's list of what the filter found."""
    opened = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
    open_as(opened, f"{live_server.url}/in/jones/")
    return opened


def ask_for_news(page: Page) -> None:
    """Have the page ask what is new, which it does every few seconds, at once."""
    page.evaluate("htmx.trigger(document.body, 'read')")


def subjects(page: Page) -> list[str]:
    return page.locator("#list .subject").all_inner_texts()


def test_rows_hold_still_under_the_pointer(page, jones, pictures):
    expect(page).to_have_title("(3) jones · Tapestry")
    before = ["Number 2", "Number 1", "Number 0"]
    assert subjects(page) == before
    row = page.locator("a.row", has_text="Number 1")
    row.hover()
    box = row.bounding_box()
    for number in (3, 4):
        find(jones, f"Number {number}")
    Match.objects.filter(msgid="Number 0").update(read_at=1, refreshed_at=wall_clock())
    ask_for_news(page)
    news = page.get_by_role("button", name="2 new")
    news.wait_for()
    expect(page).to_have_title("(4) jones · Tapestry")
    read = page.locator("a.row", has_text="Number 0")
    expect(read, "rows show what has changed of them").not_to_have_class(re.compile("unread"))
    assert subjects(page) == before and row.bounding_box() == box
    page.screenshot(path=pictures / "two-new.png")
    news.click()
    expect(page.locator("#list .subject").first).to_have_text("Number 4")
    expect(page.locator("#list .subject")).to_have_count(5)
    expect(news).to_be_hidden()


def test_the_end_of_the_first_run_is_said_in_place(page, jones):
    Filter.objects.update(begun_at=1, since=0)
    ask_for_news(page)
    page.get_by_text("Looking through your mail…").wait_for()
    row = page.locator("a.row", has_text="Number 1")
    row.hover()
    box = row.bounding_box()
    find(jones, "Number 3")
    Filter.objects.update(since=1)
    ask_for_news(page)
    page.get_by_text("Your mail has been looked through.").wait_for()
    assert row.bounding_box() == box


def test_news_is_taken_in_when_the_pointer_leaves(page, jones):
    page.locator("a.row", has_text="Number 1").hover()
    find(jones, "Number 3")
    ask_for_news(page)
    page.get_by_role("button", name="1 new").wait_for()
    page.locator(".rail .brand").hover()
    expect(page.locator("#list .subject").first).to_have_text("Number 3")
    find(jones, "Number 4")
    ask_for_news(page)
    expect(page.locator("#list .subject").first).to_have_text("Number 4")
    expect(page.locator("#news")).to_be_hidden()


def test_signed_out_elsewhere_the_page_goes_to_sign_in_and_back(page, jones, live_server):
    page.context.clear_cookies(name="tapestry_session")  # it asks for news within three seconds
    page.wait_for_url(f"{live_server.url}/sign-in/?next=%2Fin%2Fjones%2F")
    expect(page.locator("#sidebar")).to_have_count(0)
    sign_in(page)
    page.wait_for_url(f"{live_server.url}/in/jones/")
    expect(page.locator("#list .subject")).to_have_count(3)
