"""The words of the pages on which people settle: each says a thing as mail programs say it."""

from __future__ import annotations

import re
from html import unescape

import pytest
from django.test import Client

from filters.authoring.models import Filter
from filters.inbox.models import Match
from filters.people.models import User
from filters.runs.store.filter_store import DjangoClock
from tapestry.core.message import Message
from tapestry.tables.delta.log import Tables
from tapestry.tables.read.originals import Original
from tapestry.tables.write.append import append_messages

WORDS = [
    ("/filters/new/", "Create filter"),
    ("/importance/", "You can write"),
    (
        "/filters/",
        "A filter collects every message that ever matches. "
        "A live filter drops it when it stops matching.",
    ),
    ("/sources/new/", "Connection security"),
    ("/sources/new/", "Check for mail every minute"),
    ("/sources/new/", "Test and continue"),
    ("/source/1/edit/", "Check for mail every minute"),
    ("/source/1/", "connection security: none"),
    ("/in/open-questions/gone/", "No longer in open-questions"),
    ("/me/", "Your other addresses"),
    ("/me/confirm/", "Please confirm your password. We won’t ask again for ten minutes."),
    ("/forgot/", "We’ll send you a link to choose a new password."),
    ("/offline/", "This page will load by itself once you are connected."),
]

_UNSEEN = re.compile(r'<(\w+)[^>]* (?:aria-hidden="true"|hidden)[^>]*>[^<]*</\1>')


def text_of(page: str) -> str:
    """Return what the main part of a page shows, without its tags, with single blanks."""
    main = page[page.index("<main") : page.index("</main>")] if "<main" in page else page
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", _UNSEEN.sub(" ", main))).split())


@pytest.mark.parametrize(("address", "words"), WORDS)
def test_the_page_says(
    addresses: dict[str, str], browsers: dict[str, Client], alice: User, address: str, words: str
) -> None:
    alice.sources.update(security="none")
    Filter.objects.update(name="open-questions")
    page = browsers["alice"].get(address)
    assert page.status_code == 200 and words in text_of(page.content.decode())


def test_a_wrong_password(alice: User, client: Client) -> None:
    page = client.post("/sign-in/", {"username": "alice", "password": "guessed"})
    assert "Wrong name or password." in text_of(page.content.decode())


def test_a_phrase_that_lacks_a_word(browsers: dict[str, Client]) -> None:
    """The page that writes filters offers corrections instead."""
    page = browsers["alice"].post("/importance/", {"weight": "5", "text": "voted for Jones"})
    assert "Expected “by” here." in text_of(page.content.decode())


def test_the_original_of_a_message(mail: Tables, browsers: dict[str, Client]) -> None:
    kept = [Original(b"Subject: Kept\r\n\r\nHi")]
    append_messages(mail, DjangoClock(), [Message("kept@x", subject="Kept")], originals=kept)
    for address in ("/message/?id=kept@x", "/message/original/?id=kept@x"):
        page = browsers["alice"].get(address)
        assert "Original message" in text_of(page.content.decode()), address


def test_what_left_a_live_filter(addresses: dict[str, str], browsers: dict[str, Client]) -> None:
    Filter.objects.update(mode=Filter.Mode.LIVE)
    Match.objects.update(retracted_at=2)
    assert "1 no longer matches" in text_of(browsers["alice"].get("/filters/").content.decode())
