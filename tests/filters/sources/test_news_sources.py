"""Sources of news on their pages: groups by name and pattern."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from filters.people.models import User
from filters.sources import tasks
from filters.sources.models import Folder, Source
from tapestry.tables.delta.log import Tables
from tests.support.people.publishers import let_publish
from tests.support.servers.inn import PASSWORD, USER, Inn

SignIn = Callable[[User], Client]

pytestmark = pytest.mark.live


@pytest.fixture(scope="module")
def server(inn: Inn) -> Inn:
    inn.post(
        article(1, "comp.misc,comp.sys.misc"),
        article(2, "comp.sys.next"),
        article(3, "test.one"),
    )
    return inn


def article(n: int, groups: str) -> bytes:
    head = f"Message-ID: <{n}@x.org>\r\nFrom: Joe <joe@x.org>\r\nSubject: number {n}\r\n"
    return f"{head}Newsgroups: {groups}\r\n\r\nHello\r\n".encode()


def described(server: Inn, **other: Any) -> dict[str, Any]:
    return {
        "kind": "nntp",
        "host": "127.0.0.1",
        "port": server.port,
        "security": "none",
        "user": "",
        "secret": "",
        "audience": "public",
        "every": 300,
        **other,
    }


@pytest.fixture
def source(server: Inn, alice: User, as_user: SignIn) -> Source:
    let_publish(alice)
    response = as_user(alice).post("/sources/new/", described(server))
    assert response.status_code == 302, response.content.decode()
    return Source.objects.get()


def pull(source: Source) -> None:
    tasks.pull_source(source.pk)
    source.refresh_from_db()


def test_groups_are_chosen_by_pattern_and_shown_before(
    source: Source, alice: User, as_user: SignIn, tables: Tables
) -> None:
    client = as_user(alice)
    address = f"/source/{source.pk}/places/"
    shown = client.post(address, {"folders": "comp.*\r\n!comp.sys.next", "show": "1"})
    page = shown.content.decode()
    assert "comp.misc" in page and "comp.sys.misc" in page
    assert "<li>comp.sys.next" not in page and "test.one" not in page
    source.refresh_from_db()
    assert not source.active
    client.post(address, {"folders": "comp.*\r\n!comp.sys.next\r\ntest.one"})
    source.refresh_from_db()
    assert source.active and source.folder_patterns == ["comp.*", "!comp.sys.next", "test.one"]
    pull(source)
    assert source.error == ""
    rows = tables.open("messages").to_pyarrow_table().to_pylist()
    assert {row["msgid"]: row["audience"] for row in rows} == {
        "1@x.org": "public",
        "3@x.org": "public",
    }
    assert [folder.name for folder in Folder.objects.all()] == [
        "comp.misc",
        "comp.sys.misc",
        "test.one",
    ]
    page = client.get(f"/source/{source.pk}/").content.decode()
    assert "comp.sys.misc" in page and "every 5 minutes" in page


@pytest.mark.parametrize("wrong", ["a b", "comp.misc,comp.sys", "x\x01y", "!", "x" * 600])
def test_what_is_no_group_is_refused(
    source: Source, alice: User, as_user: SignIn, wrong: str
) -> None:
    response = as_user(alice).post(f"/source/{source.pk}/places/", {"folders": wrong})
    assert response.status_code == 400
    source.refresh_from_db()
    assert source.folder_patterns == []


def test_a_pattern_that_stands_for_nothing_is_no_error(
    source: Source, alice: User, as_user: SignIn
) -> None:
    as_user(alice).post(f"/source/{source.pk}/places/", {"folders": "alt.*"})
    pull(source)
    assert source.error == "" and source.pulled_at is not None


def test_a_login_needs_a_password(server: Inn, alice: User, as_user: SignIn) -> None:
    let_publish(alice)
    client = as_user(alice)
    response = client.post("/sources/new/", described(server, user=USER))
    assert "Give the password" in response.content.decode()
    response = client.post("/sources/new/", described(server, user=USER, secret="guess"))
    assert "refused the user name or password" in response.content.decode()
    response = client.post("/sources/new/", described(server, user=USER, secret=PASSWORD))
    assert response.status_code == 302


def test_the_form_asks_for_what_news_needs_only(alice: User, as_user: SignIn) -> None:
    page = as_user(alice).get("/sources/new/?kind=nntp").content.decode()
    assert "XOAUTH2" not in page and 'name="user"' in page
    assert "XOAUTH2" in as_user(alice).get("/sources/new/?kind=imap").content.decode()
