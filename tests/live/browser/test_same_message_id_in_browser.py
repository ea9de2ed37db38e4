"""Two messages with one Message-ID in a browser: marked in the list, each leads to the other."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from filters.authoring.models import Filter
from filters.inbox.models import Card, Match
from filters.people.models import User
from filters.runs.store.filter_store import DjangoClock
from tapestry.core.clock import wall_clock
from tapestry.core.message import Message
from tapestry.tables.delta.log import Tables
from tapestry.tables.read.messages import cards, same_message_id
from tapestry.tables.read.originals import Original
from tapestry.tables.write.append import append_messages
from tests.support.browser.browsing import open_as

pytestmark = [pytest.mark.live, pytest.mark.timeout(120)]

SOURCE = "imaps://list%40x.org@imap.example.org:993/INBOX"
FIELD = b"Authentication-Results: mx.example.org; dkim=%s header.d=bank.example; spf=%s\n\n"


@pytest.fixture
def forged(transactional_db, settings, tmp_path, monkeypatch):
    """Two invoices under one Message-ID, the forged one first; a filter of terry's has both."""
    settings.DATA = tmp_path
    settings.SECRET_KEY = "of the tests"
    settings.AUTHSERV = {("imap.example.org", 993): "mx.example.org"}
    monkeypatch.setenv("REDIS_URL", "redis://127.0.0.1:1/0")
    tables, public = Tables(tmp_path / "tables"), ("public",)
    for account, result in ((666, b"fail"), (111, b"pass")):
        letter = Message(
            "m@x", sender="joe@bank.example", sender_name="Joe", subject=f"Invoice {account}",
            body=f"Please pay to account {account}.\n", source=SOURCE, received=wall_clock(),
        )  # fmt: skip
        raw = Original(FIELD % (result, result) + letter.body.encode())
        append_messages(tables, DjangoClock(), [letter], originals=[raw])
    terry = User.objects.create_user("terry", password="secret")
    made = Filter.objects.create(owner=terry, name="joe", text="from joe", phrase="from Joe")
    others = same_message_id(tables, ["m@x"], public)["m@x"]
    for found in [*cards(tables, ["m@x"], public).values(), *others]:
        card = Card.objects.create(
            msgid=found.msgid, audience="public", ts=found.ts, received=found.received,
            sender=found.sender, sender_name=found.sender_name, subject=found.subject,
        )  # fmt: skip
        Match.objects.create(
            filter=made, msgid=card.msgid, audience="public", card=card, matched_at=card.ts,
            stored_at=card.ts, shown_at=card.ts, refreshed_at=card.ts,
        )  # fmt: skip


def test_both_are_marked_and_lead_to_each_other(browser, forged, live_server, tmp_path):
    page = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
    open_as(page, f"{live_server.url}/in/joe/")
    expect(page.locator("#list .chip", has_text="same Message-ID")).to_have_count(2)
    page.get_by_role("link", name="Invoice 666").first.click()
    banner = page.locator("#same-id")
    expect(banner).to_contain_text("This one came first")
    page.get_by_text("Headers", exact=True).click()
    expect(page.locator("#authentication")).to_contain_text("DKIM fail (bank.example), SPF fail")
    expect(page.locator(".headers dl")).to_contain_text("a mailbox (IMAP)")
    banner.get_by_role("link", name="Invoice 111").click()
    expect(page.locator("h1")).to_have_text("Invoice 111")
    expect(banner).to_contain_text("This one came later")
    page.get_by_text("Headers", exact=True).click()
    expect(page.locator("#authentication")).to_contain_text("DKIM pass (bank.example), SPF pass")
