"""The list in a browser: rows hold still under the pointer, and the title counts them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from filters.authoring.models import Filter
from filters.inbox.models import Card, Match
from tapestry.core.clock import MINUTE, wall_clock
from tests.support.browser.browsing import open_as, sign_in

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


@pytest.fixture
def phone(browser, jones, live_server):
    """Terry's list of what the filter found, on a phone."""
    size = {"width": 390, "height": 844}
    opened = browser.new_context(viewport=size, has_touch=True, is_mobile=True).new_page()
    open_as(opened, f"{live_server.url}/in/jones/")
    return opened


@contextmanager
def drawn(page: Page, subject: str, across: int, down: int = 0) -> Iterator[None]:
    """Draw a finger over the row of a subject, by pixels; it leaves the screen at the end."""
    row = page.locator("a.row", has_text=subject)
    expect(page.locator(".htmx-request"), "the list stays as it is").to_have_count(0)
    row.hover(trial=True)
    while (box := row.bounding_box()) is None:  # it is being replaced
        page.wait_for_timeout(50)
    x, y = box["x"] + box["width"] / 2 - across / 2, box["y"] + box["height"] / 2
    touch = page.context.new_cdp_session(page)

    def send(kind: str, *points: dict[str, float]) -> None:
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": list(points)})

    send("touchStart", {"x": x, "y": y})
    for step in range(1, 11):
        send("touchMove", {"x": x + across * step / 10, "y": y + down * step / 10})
    yield
    send("touchEnd")


def draw(page: Page, *row: Any) -> None:
    with drawn(page, *row):
        pass


def ask_for_news(page: Page) -> None:
    """Have the page ask what is new, which it does every few seconds, at once."""
    page.evaluate("htmx.trigger(document.body, 'read')")


def subjects(page: Page) -> list[str]:
    return page.locator("#list .subject").all_inner_texts()


def test_rows_hold_still_under_the_pointer(page, jones):
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


def test_a_row_that_is_drawn_aside_is_done_or_snoozed(phone, jones):
    for number in range(3, 20):
        find(jones, f"More {number}")
    phone.reload()
    rows = phone.locator("a.row")
    expect(rows).to_have_count(20)
    draw(phone, "More 19", 60)
    expect(rows.nth(10)).not_to_be_in_viewport()
    draw(phone, "More 17", 20, -350)
    expect(rows.nth(10)).to_be_in_viewport()
    expect(rows, "a short way, or up and down, is nothing").to_have_count(20)
    phone.evaluate("scrollTo(0, 0)")
    expect(rows.first).to_be_in_viewport()
    with drawn(phone, "More 19", 200):
        expect(phone.locator(".line.enough")).to_have_attribute("data-swipe", "Done")
        find(jones, "More 20")
        ask_for_news(phone)
        expect(rows).to_have_count(21)
        expect(phone.locator(".line.enough"), "the finger holds it").to_contain_text("More 19")
    phone.get_by_text("1 message done.").wait_for()
    expect(rows).to_have_count(20)
    phone.get_by_role("button", name="Undo").click()
    expect(rows).to_have_count(21)
    draw(phone, "More 18", -200)
    menu = phone.locator("#bulk .menu")
    menu.wait_for()
    expect(phone.locator("#chosen")).to_have_text("1 selected")
    menu.get_by_role("button", name="Tomorrow morning").click()
    phone.get_by_text("1 message snoozed until").wait_for()
    expect(phone.locator("a.row", has_text="More 18")).to_have_count(0)
    phone.goto(phone.url.replace("/in/jones/", "/snoozed/"))
    draw(phone, "More 18", -200)
    phone.get_by_text("1 message back in your lists.").wait_for()
    expect(rows).to_have_count(0)
    assert phone.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_row_that_is_drawn_with_a_mouse_stays(page, jones):
    box = page.locator("a.row", has_text="Number 1").bounding_box()
    page.mouse.move(box["x"] + 80, box["y"] + 20)
    page.mouse.down()
    page.mouse.move(box["x"] + 280, box["y"] + 20, steps=5)
    expect(page.locator("[data-swipe]")).to_have_count(0)
    page.mouse.up()
    expect(page.locator("a.row")).to_have_count(3)
