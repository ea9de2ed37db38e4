"""Posts to newsgroups: once, mailed beside it, and in the conversation."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from filters.compose import servers
from filters.compose.models import OutgoingMessage
from filters.compose.sending import steps
from filters.people.models import User
from filters.sources.models import Source
from tapestry.compose.transmission import Transmission
from tapestry.tables.delta.log import Tables
from tapestry.tables.read.messages import copies
from tapestry.tables.read.thread import thread
from tests.support.delivery.composed import MINE, answer, put, rows_of, send_due, typed
from tests.support.servers.smtp import SmtpServer


@pytest.fixture
def news(writer: User, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """A news server among alice's sources, and what is posted there."""
    groups = {"folder_patterns": ["comp.*"], "audience": "public"}
    Source.objects.create(owner=writer, kind="nntp", host="news.x.org", port=563, **groups)
    posted: list[Any] = []

    def post(source: Source, raw: bytes) -> Transmission:
        posted.append((source.host, raw))
        return Transmission(accepted=("news",))

    monkeypatch.setattr(steps, "post_news", post)
    return posted


def test_news_is_posted_mailed_and_in_the_conversation(
    browser: Client, news: list[Any], tables: Tables, smtp: SmtpServer
) -> None:
    parent = put(tables, b"Newsgroups: comp.a\nSubject: x\nMessage-ID: <n@x.org>\n\nHi\n", "public")
    row = answer(browser, parent, to="", newsgroups="comp.a")
    other = answer(browser, parent, to="mary@x.org", newsgroups="comp.a, comp.b")
    send_due()
    assert [host for host, _ in news] == ["news.x.org"] * 2 and len(smtp.taken) == 1
    assert b"\r\nNewsgroups: comp.a,comp.b\r\n" in smtp.taken[0] and news[1][1] == smtp.taken[0]
    assert len(thread(tables, parent, MINE)) == 3
    page = browser.get(row.get_absolute_url()).content.decode()
    assert (
        "Posted just now" in page
        and other.get_absolute_url() in browser.get("/drafts/").content.decode()
    )
    # The copy that the news server shows to everybody stands beside one's own.
    row.refresh_from_db()
    put(tables, news[0][1], "public")
    assert len(copies(tables, row.message_id, MINE)) == 2


def test_a_post_is_not_repeated_when_the_mail_of_it_is(
    browser: Client, news: list[Any], tables: Tables, smtp: SmtpServer
) -> None:
    smtp.data = "451 busy"
    browser.post("/compose/", typed(newsgroups="comp.a"))
    send_due()
    row = OutgoingMessage.objects.get()
    assert row.state == "queued" and row.posted_at and row.stored_at
    late = browser.post(f"{row.get_absolute_url()}undo/", follow=True)
    assert "It is too late" in late.content.decode()
    smtp.data = ""
    send_due()
    row.refresh_from_db()
    assert row.state == "sent" and len(news) == 1 and len(smtp.taken) == 1
    assert len(rows_of(tables)) == 1


def test_a_news_server_that_refuses(
    browser: Client, news: list[Any], smtp: SmtpServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    transmission = Transmission(error="news.x.org said: 441 no such group.", is_final=True)
    monkeypatch.setattr(steps, "post_news", lambda *_: transmission)
    browser.post("/compose/", typed(newsgroups="comp.a"))
    send_due()
    row = OutgoingMessage.objects.get()
    assert row.state == "refused" and smtp.taken == []
    assert "441 no such group" in browser.get(row.get_absolute_url()).content.decode()


def test_a_news_source_that_was_deleted_meanwhile(
    browser: Client, writer: User, smtp: SmtpServer
) -> None:
    transmission = servers.post_news(None, b"")
    assert transmission.is_final and "no longer among your sources" in transmission.error
