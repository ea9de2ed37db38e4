"""Reading a message in a browser: a blank tag, a long one, and whether all can be read."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from filters.inbox.models import Card, Match
from filters.reading.annotations import outbox
from filters.runs.store.filter_store import DjangoClock
from tapestry.core.clock import wall_clock
from tapestry.core.message import Message
from tapestry.tables.delta.log import Tables
from tapestry.tables.write.append import append_messages
from tests.support.browser.browsing import open_as
from tests.support.browser.contrast import too_faint

pytestmark = [pytest.mark.live, pytest.mark.timeout(180)]

SIZES = {"desk": {"width": 1280, "height": 800}, "phone": {"width": 390, "height": 844}}
PAGES = (
    "/",
    "/in/jones/",
    "/filters/",
    "/filters/new/?text=nonsense%20of",
    "/me/",
    "/sources/",
    "/sources/new/",
    "/delivery/",
    "/delivery/new/digest/",
    "/feeds/",
    "/message/?id=m1",
)


@pytest.fixture
def jones(jones, tmp_path):
    """A thread of four messages, which a filter of terry's has found."""
    now = wall_clock()
    for number in range(4):
        letter = Message(
            f"m{number}", sender="j@x.org", sender_name="Mary Jones", subject=f"Plan {number}",
            inreplyto=f"m{number - 1}" if number else None, references=("m0",) if number else (),
            body="> Shall we?\n>> Why\n\nYes, see https://x.org/a.\n-- \nMary\n", received=now,
        )  # fmt: skip
        append_messages(Tables(tmp_path / "tables"), DjangoClock(), [letter])
        card = Card.objects.create(
            msgid=letter.msgid, audience="public", ts=now, received=now, sender="j@x.org",
            sender_name="Mary Jones", subject=letter.subject,
        )  # fmt: skip
        Match.objects.create(
            filter=jones, msgid=letter.msgid, audience="public", card=card, matched_at=now,
            stored_at=now, shown_at=now, refreshed_at=now, explanation="from Mary Jones",
        )  # fmt: skip
    outbox.annotate(jones.owner, "m1", "public", "vote", private=False, number=1.0)
    return jones


def open_page(browser, live_server, size: str, scheme: str = "light") -> Page:
    """Return terry's page of the second message beside the list."""
    context = browser.new_context(viewport=SIZES[size], color_scheme=scheme)
    opened = context.new_page()
    open_as(opened, f"{live_server.url}/in/jones/?open=m1")
    return opened


@pytest.mark.browser_says("status of 422")
@pytest.mark.parametrize("size", [pytest.param("desk", marks=pytest.mark.long), "phone"])
def test_a_blank_tag_is_refused_and_a_long_one_fits(browser, jones, live_server, size):
    page = open_page(browser, live_server, size)
    field = page.get_by_label("Tag", exact=True)
    tag = page.get_by_role("button", name="Tag it")
    tag.click()
    assert field.evaluate("field => field.validity.valueMissing")
    field.fill("  ")
    tag.click()
    expect(page.get_by_role("alert")).to_have_text("Write the tag first: urgent, for example.")
    expect(field).to_have_attribute("aria-invalid", "true")
    field.fill("x" * 100)
    tag.click()
    shown = page.locator(".tag")
    expect(shown).to_contain_text("x" * 100)
    expect(page.get_by_role("alert")).to_have_count(0)
    pane, box = page.locator("#reading").bounding_box(), shown.bounding_box()
    assert pane["x"] <= box["x"] and box["x"] + box["width"] <= pane["x"] + pane["width"]
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize(("size", "scheme"), [("desk", "light"), ("phone", "dark")])
def test_what_one_said_is_taken_back(browser, jones, live_server, size, scheme):
    page = open_page(browser, live_server, size, scheme)
    vote = page.get_by_role("button", name="Vote for")
    expect(vote).to_have_attribute("aria-pressed", "true")
    vote.click()
    expect(vote).to_have_attribute("aria-pressed", "false")
    page.get_by_label("Tag", exact=True).fill("later")
    page.get_by_role("button", name="Tag it").click()
    remove = page.get_by_role("button", name="Remove your tag later")
    expect(remove).to_be_visible()
    page.get_by_label("Priority").select_option("7")
    page.get_by_role("button", name="Set").click()
    expect(page.locator(".priority .tone")).to_have_text("terry: 7")
    page.get_by_text("Add a note").click()
    page.get_by_label("Note", exact=True).fill("Ask Mary first.")
    page.get_by_role("button", name="Save note").click()
    note = page.get_by_role("button", name="Remove your note: Ask Mary first.")
    expect(note).to_be_visible()
    assert too_faint(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.locator("#standing").scroll_into_view_if_needed()
    remove.click()
    expect(page.locator(".tag")).to_have_count(0)
    note.click()
    expect(note).to_have_count(0)
    expect(page.locator("#toast")).to_contain_text("Note removed.")
    page.keyboard.press("z")
    expect(note).to_be_visible()
    expect(page.locator("#toast")).to_have_text("Undone.")


@pytest.mark.browser_says("status of 503")  # no worker answers a preview here
@pytest.mark.parametrize("scheme", [pytest.param("light", marks=pytest.mark.long), "dark"])
def test_all_text_can_be_read(browser, jones, live_server, scheme):
    page = open_page(browser, live_server, "desk", scheme)
    Match.objects.filter(msgid="m2").update(read_at=1)
    page.reload()
    faint = {"open message": too_faint(page)}
    page.locator("a.row[aria-current]").hover()
    faint["row under the pointer"] = too_faint(page)
    for path in PAGES:
        page.goto(live_server.url + path)
        faint[path] = too_faint(page)
    assert {where: found for where, found in faint.items() if found} == {}
