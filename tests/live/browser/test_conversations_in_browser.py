"""Conversations as lines of a list, in a browser: at a desk, on a phone, by keys."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from filters.inbox.lists.cards import refresh_cards
from filters.inbox.models import Match, MessageState
from filters.people.models import User
from filters.runs.store.filter_store import DjangoClock
from filters.site.work.parts import services
from tapestry.core.clock import HOUR, wall_clock
from tapestry.core.message import Message
from tapestry.tables.write.append import append_messages
from tests.support.browser.browsing import open_as

pytestmark = [pytest.mark.live, pytest.mark.timeout(180)]

SIZES = {"desk": {"width": 1366, "height": 850}, "phone": {"width": 390, "height": 844}}

PEOPLE = (
    ("Mary Jones", "mary@x.org"),
    ("Bill Smith", "bill@x.org"),
    ("Terry", "terry@x.org"),
)


@pytest.fixture
def thread(jones):
    """A thread of nine messages and two others, which the filter jones has found."""
    now = wall_clock()
    User.objects.update(email="terry@x.org")
    letters = [
        Message(
            f"t{number}", sender=PEOPLE[number % 3][1], sender_name=PEOPLE[number % 3][0],
            subject="Heat in the machine room" if not number else "Re: Heat in the machine room",
            body=f"Answer {number}: the fan of rack {number} has stopped, and it is warm.\n" * 12,
            inreplyto=f"t{number - 1}" if number else None,
            references=tuple(f"t{n}" for n in range(number)),
            attachments=int(number == 4), received=now - (20 - number) * HOUR,
        )
        for number in range(9)
    ]  # fmt: skip
    letters += [
        Message(f"o{n}", sender="jo@x.org", sender_name="Jo Hill", subject=f"Lunch {n}",
                body="At noon?", received=now - n * HOUR)
        for n in range(2)
    ]  # fmt: skip
    append_messages(services.tables(), DjangoClock(), letters)
    for letter in letters:
        Match.objects.create(
            filter=jones, msgid=letter.msgid, audience="public", matched_at=now - HOUR,
            stored_at=now - HOUR, shown_at=now - HOUR, read_at=None if letter.msgid > "t4" or
            letter.msgid == "t2" or letter.msgid < "t" else now,
        )  # fmt: skip
    refresh_cards(services.tables())
    return jones


def opened(browser, live_server, size: str, **options) -> Page:
    touch = {"has_touch": True, "is_mobile": True} if size == "phone" else {}
    page = browser.new_context(viewport=SIZES[size], **touch, **options).new_page()
    open_as(page, f"{live_server.url}/in/jones/")
    return page


def is_on_screen(page: Page, selector: str) -> bool:
    box, height = page.locator(selector).bounding_box(), page.viewport_size["height"]
    return box is not None and box["y"] >= 0 and box["y"] + box["height"] <= height


@pytest.mark.parametrize("size", SIZES)
def test_a_line_opens_its_newest_unread_message_with_its_head_on_the_screen(
    browser, thread, live_server, size
):
    page = opened(browser, live_server, size)
    expect(page.locator("#list .line")).to_have_count(3)
    row = page.locator("a.row", has_text="Heat in the machine room")
    expect(row).to_contain_text("Mary, Bill, me")
    expect(row.locator(".number")).to_contain_text("9")
    expect(row.locator(".beginning")).to_contain_text("Answer 8")
    row.click()
    page.locator('article.message[data-msgid="t8"]').wait_for()
    assert is_on_screen(page, "article.message .from")
    assert page.locator("details.folded[open]").count() == 0
    page.goto(f"{live_server.url}/message/?id=t6")
    assert is_on_screen(page, "article.message .from")
    assert page.locator("#before details.folded.unread").count() == 1
    page.set_viewport_size({"width": 720, "height": 360})
    page.goto(f"{live_server.url}/message/?id=t7")
    assert is_on_screen(page, "article.message .from"), "as low as a phone that lies on its side"
    page.set_viewport_size(SIZES[size])
    page.goto(f"{live_server.url}/message/?id=t6")
    page.locator("#before details.folded.unread summary").click()
    page.locator('[data-letter="t5"]').wait_for()
    assert Match.objects.get(msgid="t5").read_at is not None


def test_keys_act_on_all_of_a_line_and_undo_it(browser, thread, live_server):
    page = opened(browser, live_server, "desk")
    row = page.locator("a.row", has_text="Heat in the machine room")
    row.click()
    page.locator('article.message[data-msgid="t8"]').wait_for()
    expect(row).to_have_attribute("aria-current", "true")
    expect(row.locator(".beginning"), "the next unread one").to_contain_text("Answer 7")
    expect(row, "its message is open still").to_have_attribute("aria-current", "true")
    page.keyboard.press("e")
    page.get_by_text("9 messages done.").wait_for()
    expect(page.locator("#list .line")).to_have_count(2)
    assert MessageState.objects.exclude(done_at=None).count() == 9
    page.keyboard.press("z")
    expect(page.locator("#list .line")).to_have_count(3)
    assert not MessageState.objects.exclude(done_at=None).exists()


def test_a_line_is_selected_and_acted_on_without_javascript(browser, thread, live_server):
    page = opened(browser, live_server, "desk", java_script_enabled=False)
    page.get_by_label("Select Re: Heat in the machine room").check()
    page.locator("#bulk").get_by_role("button", name="Star").click()
    page.get_by_text("9 messages starred.").wait_for()
    expect(page.locator("#list .starred")).to_have_count(1)
    page.get_by_role("button", name="Conversations").click()
    expect(page.locator("#list .line")).to_have_count(11)
    expect(page.locator("#list .starred")).to_have_count(9)
