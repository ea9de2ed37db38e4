"""The words of the pages on which people settle: each says a thing as mail programs say it."""

from __future__ import annotations

import re
from html import unescape

import pytest
from django.contrib.auth.models import User
from django.test import Client

from filters.models import Filter, Match

WORDS = [
    ("/filters/new/", "Create filter"),
    (
        "/filters/",
        "A filter collects every message that ever matches. "
        "A live filter drops it when it stops matching.",
    ),
    ("/sources/new/", "Connection security"),
    ("/sources/new/", "Check for mail every minute"),
    ("/sources/new/", "Test and continue"),
    ("/source/1/", "connection security: none"),
    ("/in/jones/gone/", "No longer in jones"),
    ("/me/", "Your other addresses"),
    ("/me/confirm/", "Please confirm your password. We won’t ask again for ten minutes."),
    ("/forgot/", "We’ll send you a link to choose a new password."),
    ("/offline/", "This page will load by itself once you are connected."),
]


def text_of(page: str) -> str:
    """Return what a page shows, without its tags, with single blanks."""
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", page)).split())


@pytest.mark.parametrize(("address", "words"), WORDS)
def test_the_page_says(
    addresses: dict[str, str], browsers: dict[str, Client], alice: User, address: str, words: str
) -> None:
    alice.sources.update(security="none")
    page = browsers["alice"].get(address)
    assert page.status_code == 200 and words in text_of(page.content.decode())


def test_a_wrong_password(alice: User, client: Client) -> None:
    page = client.post("/sign-in/", {"username": "alice", "password": "guessed"})
    assert "Wrong name or password." in text_of(page.content.decode())


def test_what_left_a_live_filter(addresses: dict[str, str], browsers: dict[str, Client]) -> None:
    Filter.objects.update(mode=Filter.Mode.LIVE)
    Match.objects.update(retracted_at=2)
    assert "1 no longer matches" in text_of(browsers["alice"].get("/filters/").content.decode())
