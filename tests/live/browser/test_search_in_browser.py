"""Search in a browser, on a desk and on a phone: the page polls, the queue is Redis."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.urls import reverse
from playwright.sync_api import Page, expect

from filters.authoring.lifecycle import install
from filters.inbox import tasks
from filters.inbox.models import Card, Match
from filters.inbox.search import views
from filters.people.models import User
from filters.runs.store.filter_store import DjangoClock
from filters.site.work.parts import services
from tapestry.celery import app
from tapestry.core.clock import DAY, wall_clock
from tapestry.core.message import Message
from tapestry.tables.delta.log import Tables
from tapestry.tables.write.append import append_messages
from tests.support.browser.page_errors import page_errors
from tests.support.engines.sqlite_engine import SqliteEngine

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]

DESK = {"width": 1280, "height": 800}
PHONE = {"width": 390, "height": 844}


@pytest.fixture
def terry(transactional_db, settings, tmp_path, monkeypatch, broker):
    """Terry, 53 messages about lunch, a message that is not, and a filter that has one of them."""
    settings.DATA = tmp_path
    settings.SECRET_KEY = "of the tests"
    user = User.objects.create_user("terry", "terry@example.org", "secret")
    tables, begin = Tables(tmp_path / "tables"), wall_clock() - 90 * DAY
    messages = [
        Message(
            f"{number}@example.org",
            received=begin + number * DAY,
            sender="mary@example.org",
            sender_name="Mary Jones",
            subject=f"Lunch on Friday, number {number}" if number < 53 else "Something else",
            body="Dear all,\nthe table is booked.\n",
        )
        for number in range(54)
    ]
    append_messages(tables, DjangoClock(), messages)
    rows = {
        name: tables.open(name).to_pyarrow_table().to_pylist()
        for name in ("messages", "annotations")
    }
    monkeypatch.setattr(services, "unproven_engine_on", lambda _, **__: SqliteEngine(rows))
    made = install(user, "about lunch", name="lunches")
    card = Card.objects.create(msgid="7@example.org", audience="public", ts=1, received=1)
    Match.objects.create(
        filter=made, msgid=card.msgid, audience="public", card=card, matched_at=1,
        stored_at=1, shown_at=1, refreshed_at=1,
    )  # fmt: skip
    return user


@pytest.fixture
def opened(browser, terry, live_server):
    """Open the inbox as Terry in a window of some size; what goes wrong on the page is noted."""
    client = Client()
    client.force_login(terry)
    cookies = [
        {"name": name, "value": cookie.value, "url": live_server.url}
        for name, cookie in client.cookies.items()
    ]

    def open_window(viewport, **options) -> Page:
        context = browser.new_context(viewport=viewport, **options)
        context.add_cookies(cookies)
        page = context.new_page()
        page.faults = page_errors(page)
        page.goto(live_server.url)
        return page

    return open_window


def box(page: Page):
    return page.get_by_role("searchbox", name="Search all mail")


def run_next() -> None:
    """Run the task that waits in the queue of the previews, as its worker does."""
    with app.connection() as connection, connection.SimpleQueue("previews") as queue:
        message = queue.get(timeout=20)
        message.ack()
        assert message.headers["task"] == "filters.search"
        tasks.search.apply(message.payload[0], task_id=message.headers["id"])


def search(page: Page, text: str, found: str) -> None:
    box(page).fill(text)
    box(page).press("Enter")
    page.get_by_text("Looking…").first.wait_for()
    run_next()
    page.get_by_text(found).first.wait_for()


def drawn(page: Page) -> None:
    """Wait until the page has worked on the results that it asked for once more."""
    expect(page.locator("#list:not(.htmx-request)")).to_have_count(1)


def test_results_are_read_and_kept_at_the_desk(opened):
    page = opened(DESK)
    page.keyboard.press("/")
    expect(box(page)).to_be_focused()
    search(page, "lunch friday", "53 messages")
    expect(page.get_by_role("status").first).to_have_text("53 messages")
    expect(page.locator("#list a.row")).to_have_count(50)
    first = page.locator("#list a.row").first
    assert first.locator(".subject").inner_html().startswith("<mark>Lunch</mark> on <mark>Friday")
    expect(first).to_contain_text("number 52")
    understood = page.get_by_text("Searched for: mentioning lunch and friday")
    expect(understood).to_be_visible()

    first.focus()
    page.keyboard.press("x")
    expect(page.locator("#chosen")).to_have_text("1 selected")
    page.keyboard.press("s")
    expect(page.locator("#toast")).to_contain_text("1 message starred.")
    expect(page.locator("#list .starred")).to_have_count(1)
    page.get_by_role("button", name="Select all 53 in this list").click()
    expect(page.locator("#chosen")).to_have_text("All 53 messages in this list are selected")
    page.keyboard.press("e")
    expect(page.locator("#toast")).to_contain_text("2 messages done. 51 other messages are in")
    page.keyboard.press("z")
    expect(page.locator("#toast")).to_contain_text("Undone for 2 messages.")
    drawn(page)

    page.get_by_role("link", name="Older").click()
    page.wait_for_url("**page=2")
    expect(page.locator("#list a.row")).to_have_count(3)
    page.locator("#list a.row", has_text="number 1").click()
    page.locator("#reading .letter-text", has_text="the table is booked").wait_for()
    expect(page.locator("#list a.row[aria-current]")).to_have_count(1)
    expect(page).to_have_url(re.compile("open=1%40example.org"))
    page.go_back()
    expect(page.locator("#list a.row")).to_have_count(3)
    expect(page.locator("#reading .letter-text")).to_have_count(0)

    page.get_by_role("link", name="Keep as filter").click()
    kept = page.get_by_role("textbox", name="Filter", exact=True)
    expect(kept).to_have_value("lunch friday")
    assert page.faults == []


@pytest.mark.parametrize("size", [DESK, PHONE])
def test_the_box_completes_and_offers_what_was_asked_before(opened, size):
    page = opened(size)
    box(page).press_sequentially("repl")
    page.get_by_role("option", name="replies by").first.wait_for()
    box(page).press("ArrowDown")
    box(page).press("Enter")
    expect(box(page)).to_have_value(re.compile("^replies"))
    box(page).fill("")
    search(page, "lunch friday", "53 messages")
    box(page).fill("")
    box(page).blur()
    box(page).focus()
    before = page.get_by_role("option", name="lunch friday")
    before.wait_for()
    assert box(page).bounding_box()["width"] > 330
    before.click()
    page.wait_for_url("**/search/?q=lunch+friday")
    page.get_by_text("53 messages").first.wait_for()
    box(page).fill("")
    box(page).blur()
    box(page).focus()
    page.get_by_role("button", name="Clear recent searches").click()
    page.get_by_text("Your recent searches are forgotten.").wait_for()
    expect(page.get_by_role("button", name="Clear recent searches")).to_have_count(0)
    assert page.faults == []


def test_older_results_are_shown_until_there_are_newer_ones(opened, monkeypatch):
    page = opened(DESK)
    search(page, "lunch friday", "53 messages")
    monkeypatch.setattr(views, "FRESH", -1)
    more = Message("new@x.org", received=wall_clock(), subject="Lunch on Friday, once more")
    append_messages(services.tables(), DjangoClock(), [more])
    box(page).press("Enter")
    page.get_by_text("Looking again…").wait_for()
    expect(page.locator("#list a.row")).to_have_count(50)
    run_next()
    expect(page.locator("#again")).to_have_count(0)
    page.get_by_text("found just now").wait_for()
    assert page.faults == []


@pytest.mark.browser_says("status of 400")
def test_what_is_no_filter_is_corrected(opened):
    page = opened(DESK)
    box(page).fill("m.subject HAZ 'lunch'")
    box(page).press("Enter")
    page.locator(".misread").wait_for()
    page.get_by_role("link", name="m.subject HAS 'lunch'").click()
    page.get_by_text("Looking…").first.wait_for()
    run_next()
    page.get_by_text("53 messages").first.wait_for()
    expect(box(page)).to_have_value("m.subject HAS 'lunch'")


def test_what_is_nearly_a_filter_is_looked_for_in_subjects(opened):
    page = opened(DESK)
    search(page, "replies bye jones", "No messages found.")
    page.get_by_role("link", name="replies by jones").click()
    page.get_by_text("Looking…").first.wait_for()
    run_next()
    page.get_by_text("No messages found.").wait_for()
    expect(box(page)).to_have_value("replies by jones")


def test_within_a_filter(opened):
    page = opened(DESK)
    page.locator("#in-lunches").click()
    page.wait_for_url("**/in/lunches/")
    page.get_by_label("only in lunches").check()
    search(page, "table", "1 message")
    expect(page.get_by_role("heading", name="Search in lunches")).to_be_visible()
    expect(page.get_by_label("only in lunches")).to_be_checked()
    expect(page.locator("#list a.row .why mark")).to_have_text("table")


def test_results_are_read_on_a_phone(opened):
    page = opened(PHONE, has_touch=True, color_scheme="dark")
    search(page, "lunch friday", "53 messages")
    expect(page.locator("#list a.row")).to_have_count(50)
    page.locator("#list a.row").first.tap()
    page.locator("#reading .letter-text", has_text="the table is booked").wait_for()
    page.get_by_role("link", name="Back to the list").tap()
    expect(page.locator("#list a.row").first).to_be_visible()
    expect(page).to_have_url(re.compile(r"/search/\?q=lunch\+friday$"))
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    assert page.faults == []


@pytest.mark.browser_says("status of 503", "Response Status Error Code 503")
def test_results_stay_while_a_part_of_the_site_is_away(opened):
    page = opened(DESK)
    search(page, "lunch friday", "53 messages")
    address = page.locator("#list").get_attribute("hx-get")
    away = {"status": 503, "body": "<p>Away.</p>", "headers": {"HX-Reselect": "unset"}}
    page.route(lambda url: url.endswith(address), lambda route: route.fulfill(**away))
    page.locator("#list a.row").first.focus()
    page.keyboard.press("s")
    expect(page.locator("#notice")).to_have_text("Away.")
    expect(page.locator("#list a.row")).to_have_count(50)
    with page.expect_response(lambda answer: reverse("sidebar") in answer.url):
        pass  # What else is answered meanwhile does not end the notice.
    page.wait_for_timeout(100)
    expect(page.locator("#notice")).to_have_text("Away.")
    page.unroute_all()
    page.keyboard.press("s")
    expect(page.locator("#notice")).to_have_count(0)
