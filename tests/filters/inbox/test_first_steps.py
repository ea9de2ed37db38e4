"""The empty inbox of a person without filters: what is done, and what comes next."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape
from typing import Any

import pytest
from django.test import Client

from filters.authoring.models import Filter
from filters.inbox.first_steps import first_steps
from filters.people.models import User
from filters.runs.store.filter_store import DjangoClock
from filters.site.templatetags import accounts
from filters.sources.models import Folder, Pull, Source
from tapestry.core.message import Message
from tapestry.tables.write.append import append_messages

SignIn = Callable[[User], Client]


def text_of(client: Client, address: str = "/first-steps/") -> str:
    page = client.get(address).content.decode()
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", page)).split())


def test_each_step_follows_the_one_before(carol: User, as_user: SignIn) -> None:
    client = as_user(carol)
    assert first_steps(carol).next == "source" and "Add your mailbox" in text_of(client, "/")
    source = Source.objects.create(
        owner=carol, kind="imap", host="mail.example.org", port=993, audience="user:carol"
    )
    assert first_steps(carol).next == "folders"
    assert "mail.example.org answers. Say which folders are to be read." in text_of(client)
    Source.objects.update(folder_patterns=["INBOX"], active=True)
    assert first_steps(carol).next == "mail"
    assert "Reading mail.example.org… The first messages" in text_of(client)
    Source.objects.update(error="It cannot be reached.", hint="Check the name.")
    assert "It cannot be reached. Check the name. See what is wrong" in text_of(client)
    Folder.objects.create(source=source, name="INBOX", added=1200, reached=1300, total=9000)
    assert first_steps(carol).next == "filter"
    shown = "1,200 messages have come; the rest follows, newest first: 1,300 of 9,000 read."
    assert shown in text_of(client)


def test_mail_that_is_here_already_is_enough(mail: Any, carol: User, as_user: SignIn) -> None:
    assert first_steps(carol).next == "filter"
    assert "There is mail here already that you may see." in text_of(as_user(carol), "/")


def test_mail_of_others_is_no_mail(tables: Any, carol: User) -> None:
    append_messages(tables, DjangoClock(), [Message("secret@x", audience="user:alice")])
    assert first_steps(carol).next == "source"


def test_sources_of_others_do_not_count(alice: User, carol: User, as_user: SignIn) -> None:
    Source.objects.create(owner=alice, kind="imap", host="x", port=993, audience="user:alice")
    assert first_steps(carol).source is None


def test_the_page_of_a_source_leads_to_the_first_filter(alice: User, as_user: SignIn) -> None:
    source = Source.objects.create(
        owner=alice, kind="imap", host="x", port=993, audience="user:alice"
    )
    client, words = as_user(alice), "Write your first filter"
    assert words not in text_of(client, f"/source/{source.pk}/")
    Pull.objects.create(source=source, started_at=1, ended_at=2, added=1)
    assert words in text_of(client, f"/source/{source.pk}/")
    Filter.objects.create(owner=alice, name="jones", text="from jones")
    assert words not in text_of(client, f"/source/{source.pk}/")
    assert "Three steps" not in text_of(client, "/")


def test_the_sign_in_page_says_how_the_first_account_is_made(
    client: Client, db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "manage.py createsuperuser" in text_of(client, "/sign-in/")
    with monkeypatch.context() as installed:
        installed.setattr(accounts, "is_checkout", lambda: False)
        assert "tapestry createsuperuser" in text_of(client, "/sign-in/")
    User.objects.create_user("alice")
    assert "createsuperuser" not in text_of(client, "/sign-in/")


def test_an_inbox_without_filters_offers_nothing_to_do_with_messages(
    carol: User, as_user: SignIn
) -> None:
    client = as_user(carol)
    shown = text_of(client, "/")
    assert "Your e-mail address and your password are enough for most." in shown
    assert "The messages that your filters find are read here." in shown
    for words in ("Mark all read", "By importance", "Choose a message"):
        assert words not in shown
    Filter.objects.create(owner=carol, name="jones", text="from jones")
    shown = text_of(client, "/")
    for words in ("Mark all read", "By importance", "Choose a message"):
        assert words in shown


def test_each_page_of_a_source_says_what_goes_on_and_what_comes_next(
    carol: User, as_user: SignIn
) -> None:
    client = as_user(carol)
    source = Source.objects.create(
        owner=carol, kind="imap", host="x.org", port=993, audience="user:carol"
    )
    folders = text_of(client, f"/source/{source.pk}/places/")
    assert "Start reading" in folders
    Source.objects.update(folder_patterns=["INBOX"], active=True)
    shown = text_of(client, f"/source/{source.pk}/")
    assert "Reading x.org… The first messages are here in a moment." in shown
    assert "not checked yet" not in shown
    Source.objects.update(pulled_at=1)
    assert "Reading x.org…" not in text_of(client, f"/source/{source.pk}/")
