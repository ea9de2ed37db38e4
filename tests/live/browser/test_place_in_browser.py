"""Back leads to the place in the list where a message was opened; signing out on a phone."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from filters.inbox.models import Card, Match
from filters.runs.store.filter_store import DjangoClock
from tapestry.core.clock import wall_clock
from tapestry.core.message import Message
from tapestry.tables.delta.log import Tables
from tapestry.tables.write.append import append_messages
from tests.support.browser.browsing import open_as

pytestmark = [pytest.mark.live, pytest.mark.timeout(600)]

SIZES = {"desk": {"width": 1280, "height": 800}, "phone": {"width": 390, "height": 844}}
TOP = """() => {
  const pane = document.querySelector("#list").closest(".pane");
  return Math.round(pane.scrollTop || document.scrollingElement.scrollTop);
}"""


@pytest.fixture
def jones(jones, settings, tmp_path):
    """A filter of terry's that has found two pages of messages; two of them are a thread."""
    now = wall_clock()
    letters = [
        Message(
            f"m{number}",
            sender="j@x.org",
            subject=f"Plan {number}",
            body="Yes.\n",
            received=now,
            inreplyto="m20" if number == 21 else None,
        )
        for number in range(80)
    ]
    append_messages(Tables(tmp_path / "tables"), DjangoClock(), letters)
    cards = Card.objects.bulk_create(
        Card(
            msgid=letter.msgid,
            audience="public",
            ts=now,
            received=now,
            sender="j@x.org",
            subject=letter.subject,
        )
        for letter in letters
    )
    at = dict.fromkeys(("matched_at", "stored_at", "shown_at", "refreshed_at"), now)
    Match.objects.bulk_create(
        Match(filter=jones, msgid=card.msgid, audience="public", card=card, **at) for card in cards
    )
    return jones


def open_list(browser, live_server, size: str) -> Page:
    """Return terry's second page of the list."""
    opened = browser.new_context(viewport=SIZES[size]).new_page()
    opened.set_default_timeout(60_000)
    open_as(opened, f"{live_server.url}/in/jones/?page=2")
    return opened


def open_row(page: Page, subject: str) -> int:
    """Scroll to a row and open it, until the list knows of it; return how far down it was then."""
    row = page.locator("a.row", has=page.get_by_text(subject, exact=True))
    row.evaluate("row => row.scrollIntoView({ block: 'center' })")
    page.evaluate(f"""() => addEventListener("click", () => (window.top_at_click = ({TOP})()),
        {{ capture: true, once: true }})""")
    row.click()
    page.locator("#reading h1", has_text=subject).wait_for()
    expect(row).not_to_have_class(re.compile("unread"))  # the list is loaded again, once
    top = page.evaluate("top_at_click")
    assert top > 200
    return top


def expect_place(page: Page, top: int, subject: str) -> None:
    """Expect the second page of the list, as far down, at the row that was open."""
    page.wait_for_url("**/in/jones/?page=2")
    expect(page.locator("a.row:focus .subject")).to_have_text(subject)
    assert abs(page.evaluate(TOP) - top) <= 1


def load_again(page: Page) -> None:
    """Have the list loaded once more, as it is when something has come."""
    page.evaluate("""() => new Promise((shown) => {
      addEventListener("htmx:afterSettle", (event) => event.target.id === "listed" && shown());
      htmx.trigger(document.body, "arrived");
    })""")


@pytest.mark.parametrize("way", ["the browser’s Back", "the link"])
def test_on_a_phone_back_leads_to_the_place_in_the_list(browser, jones, live_server, way):
    page = open_list(browser, live_server, "phone")
    for subject in ("Plan 10", "Plan 20"):
        top = open_row(page, subject)
        expect(page.locator("#list")).to_be_hidden()
        if way == "the link":
            page.get_by_role("link", name="Back to the list").click()
        else:
            page.go_back()
        expect_place(page, top, subject)
        expect(page.locator("#reading .message")).to_have_count(0)
        load_again(page)
        expect_place(page, top, subject)


@pytest.mark.parametrize("size", SIZES)
def test_back_from_another_page_leads_to_its_place(browser, jones, live_server, size):
    page = open_list(browser, live_server, size)
    top = open_row(page, "Plan 20")
    page.locator(".conversation a[rel=next]").click()
    page.wait_for_url("**/in/jones/?page=2&open=m21")
    page.locator('#reading article.message[data-msgid="m21"]').wait_for()
    page.keyboard.press("u")
    page.wait_for_url("**/in/jones/?page=2")
    expect(page.locator("#reading .message")).to_have_count(0)
    page.goto(f"{live_server.url}/message/?id=m21")
    page.get_by_role("link", name="Back to the list").click()
    expect_place(page, top, "Plan 20")
    page.goto(f"{live_server.url}/sources/")
    page.go_back()
    expect_place(page, top, "Plan 20")
    page.goto(f"{live_server.url}/in/jones/?page=2")
    assert page.evaluate(TOP) == 0, "a list that is opened anew begins at its beginning"


def test_on_a_wide_page_back_leaves_the_list_where_it_is(browser, jones, live_server):
    page = open_list(browser, live_server, "desk")
    open_row(page, "Plan 20")
    page.locator(".pane.list").evaluate("pane => pane.scrollTop = 100")
    page.go_back()
    page.wait_for_url("**/in/jones/?page=2")
    expect(page.locator("#reading .message")).to_have_count(0)
    assert page.evaluate(TOP) == 100


def test_one_signs_out_on_a_phone(browser, jones, live_server):
    page = open_list(browser, live_server, "phone")
    page.get_by_role("link", name="terry").click()
    page.wait_for_url(f"{live_server.url}/me/")
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url(f"{live_server.url}/sign-in/")
    page.goto(f"{live_server.url}/me/")
    expect(page).to_have_url(f"{live_server.url}/sign-in/?next=/me/")
