"""From a message to a filter in a browser, at the desk and on a phone; and filters from a file."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from playwright.sync_api import Locator, Page, expect

from filters.authoring import tasks
from filters.authoring.models import Filter
from filters.people.models import User
from filters.runs.store.filter_store import DjangoClock
from filters.site.work.parts import services
from tapestry.core.clock import DAY, WEEK, wall_clock
from tapestry.core.message import Annotation, Message
from tapestry.tables.delta.log import Tables
from tapestry.tables.write.append import append_annotations, append_messages
from tests.support.browser.contrast import too_faint
from tests.support.browser.page_errors import page_errors
from tests.support.engines.sqlite_engine import SqliteEngine

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]

DESK = {"width": 1280, "height": 900}
PHONE = {"width": 390, "height": 844}

SIEVE = """require ["fileinto", "vnd.strange"];
if header :contains "Subject" "[plans]" { fileinto "Plans"; stop; }
if allof (size :over 100K, strange :foo "bar") { discard; }
"""


@pytest.fixture
def terry(transactional_db, settings, tmp_path, monkeypatch, redis_url):
    """Terry, and forty messages of Mary's with votes; tasks run where they are asked for."""
    settings.DATA = tmp_path
    settings.SECRET_KEY = "of the tests"
    monkeypatch.setenv("REDIS_URL", redis_url)
    user = User.objects.create_user("terry", "terry@example.org", "secret")
    tables, clock, begin = Tables(tmp_path / "tables"), DjangoClock(), wall_clock() - 12 * WEEK
    mail = [
        Message(
            f"{number}@example.org",
            received=begin + 2 * number * DAY,
            sender="mary@example.org",
            sender_name="Mary Jones",
            subject=f"{'Plans' if number % 3 else 'Lunch'} for week {number}",
            body="Dear all,\nsee below.\n",
        )
        for number in range(40)
    ]
    for first in range(0, 40, 4):
        letters = mail[first : first + 4]
        append_messages(tables, clock, letters, now=lambda at=letters[-1].received: at)
    votes = [Annotation("v", "38@example.org", "ann", "vote", None, 1.0)]
    append_annotations(tables, clock, votes, now=lambda: begin + 79 * DAY)
    rows = {
        name: tables.open(name).to_pyarrow_table().to_pylist()
        for name in ("messages", "annotations")
    }
    monkeypatch.setattr(services, "unproven_engine_on", lambda _, **__: SqliteEngine(rows))
    for task in (tasks.preview, tasks.backtest, tasks.read_import, tasks.create_imported):
        monkeypatch.setattr(
            task,
            "apply_async",
            lambda given, task_id, task=task, **_: task.apply(given, task_id=task_id),
        )
    return user


@pytest.fixture
def opened(browser, terry, live_server):
    """Open the message in a window of some size; what goes wrong on the page is noted."""
    client = Client()
    client.force_login(terry)
    cookies = [
        {"name": name, "value": cookie.value, "url": live_server.url}
        for name, cookie in client.cookies.items()
    ]

    def open_window(viewport, address, **options) -> Page:
        context = browser.new_context(viewport=viewport, **options)
        context.add_cookies(cookies)
        page = context.new_page()
        page.faults = page_errors(page)
        page.goto(live_server.url + address)
        return page

    return open_window


def text_of(page: Page):
    return page.get_by_role("textbox", name="Filter", exact=True)


def follow(leads: Locator) -> None:
    """Press what leads to another page, and wait until the scripts of that run."""
    with leads.page.expect_navigation():
        leads.click()


def test_from_a_message_to_a_filter(opened):
    page = opened(DESK, "/message/?id=38@example.org")
    follow(page.get_by_role("link", name="Filter messages like this"))
    page.get_by_text("with these words in the subject").click()
    expect(page.locator("#like-text")).to_contain_text('about "Plans for week 38"')
    follow(page.get_by_role("button", name="Continue"))

    expect(text_of(page)).to_have_value('from mary@example.org and about "Plans for week 38"')
    page.locator(".piece summary", has_text="about").click()
    part = page.get_by_role("textbox", name="Part 2")
    part.fill("about plans")
    part.press("Enter")
    expect(text_of(page)).to_have_value("from mary@example.org and about plans")
    page.get_by_label("Name", exact=True).fill("Mary’s plans 計画")
    page.locator("#preview strong", has_text="26").first.wait_for()
    page.locator("#preview svg").wait_for()

    follow(page.locator("#preview a.row").first)
    follow(page.get_by_role("link", name="Back to the list"))
    expect(text_of(page)).to_have_value("from mary@example.org and about plans")
    expect(page.get_by_label("Name", exact=True)).to_have_value("Mary’s plans 計画")

    follow(page.get_by_role("link", name="All 26 results"))
    expect(page.locator(".preview a.row")).to_have_count(26)
    page.go_back()
    expect(page.get_by_label("Name", exact=True)).to_have_value("Mary’s plans 計画")
    follow(page.get_by_role("link", name="What would it have delivered"))
    expect(page.locator(".backtest li").first).to_contain_text("Mary Jones")
    follow(page.get_by_role("link", name="Continue writing the filter"))

    page.get_by_role("button", name="Remove about plans").click()
    expect(text_of(page)).to_have_value("from mary@example.org")
    page.get_by_role("button", name="Create filter").click()
    page.get_by_role("heading", name="Mary’s plans 計画").wait_for()
    expect(page).to_have_url(re.compile("/in/marys-plans/$"))
    assert page.faults == []


def test_from_another_tab_one_goes_on_with_the_same_edit(opened, terry):
    Filter.objects.create(owner=terry, name="mine", title="Mine", text="from mary")
    page = opened(DESK, "/filter/mine/edit/")
    text_of(page).fill("from mary and about plans")
    page.get_by_label("only while it matches").check()
    page.locator("#preview h2", has_text="Now it matches").wait_for()
    with page.context.expect_page() as tab:
        page.get_by_role("link", name="All 26 results").click(modifiers=["Control"])
    results = tab.value
    expect(results.locator(".preview a.row")).to_have_count(26)
    results.get_by_role("link", name="Continue writing the filter").click()
    results.get_by_role("heading", name="Edit Mine").wait_for()
    expect(text_of(results)).to_have_value("from mary and about plans")
    expect(results.get_by_label("only while it matches")).to_be_checked()
    assert page.faults == []


def test_on_a_phone_in_the_dark(opened):
    text = "from%20mary%20and%20about%20plans%20with%20no%20reply"
    phone = opened(PHONE, f"/filters/new/?text={text}", color_scheme="dark", has_touch=True)
    phone.locator("#preview svg").wait_for()
    assert_readable(phone)
    phone.goto(phone.url.partition("/filters/")[0] + "/filters/import/")
    phone.get_by_label("or its text").fill(SIEVE)
    phone.get_by_role("button", name="Show its filters").click()
    phone.get_by_text("nothing like the test “strange”").wait_for()
    assert_readable(phone)
    phone.get_by_role("button", name="Create the ticked filters").click()
    phone.get_by_text("“Plans” created").wait_for()
    assert [made.title for made in Filter.objects.all()] == ["Plans"]
    assert phone.faults == []


def assert_readable(page: Page) -> None:
    """Nothing runs out of the page, and nothing is too faint to be read."""
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert too_faint(page) == []
