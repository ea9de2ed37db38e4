"""To bring mail for everybody or for a group is a permission."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission
from django.test import Client

from filters.people.models import User
from filters.sources import tasks
from filters.sources.models import Source
from tapestry.tables.delta.log import Tables
from tests.support.people.publishers import let_publish
from tests.support.servers.fake_servers import FakeNews, letter

SignIn = Callable[[User], Client]

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def news() -> Iterator[FakeNews]:
    with FakeNews({"a.b": {1: letter(1)}}) as server:
        yield server


def described(server: Any, audience: str) -> dict[str, Any]:
    place = {"kind": "nntp", "host": "127.0.0.1", "port": server.port, "security": "none"}
    return {**place, "audience": audience, "every": 60}


def at(server: Any, owner: User, audience: str) -> Source:
    place = {"kind": "nntp", "host": "127.0.0.1", "port": server.port, "security": "none"}
    return Source.objects.create(
        owner=owner, audience=audience, folder_patterns=["a.b"], active=True, **place
    )


def stored(tables: Tables) -> list[str]:
    return list(tables.open("messages").to_pyarrow_table().column("audience").to_pylist())


def test_without_it_one_is_offered_only_oneself(
    news: FakeNews, alice: User, as_user: SignIn
) -> None:
    client = as_user(alice)
    page = client.get("/sources/new/?kind=nntp").content.decode()
    assert 'value="user:alice"' in page
    assert 'value="public"' not in page and 'value="group:parc"' not in page
    assert "ask an administrator for permission" in page
    for audience in ("public", "group:parc"):
        answer = client.post("/sources/new/", described(news, audience))
        assert answer.status_code == 400 and not Source.objects.exists()
        assert f"{audience} is not one of yours." in answer.content.decode()


def test_a_source_is_not_changed_to_publish(news: FakeNews, alice: User, as_user: SignIn) -> None:
    source = at(news, alice, "user:alice")
    answer = as_user(alice).post(f"/source/{source.pk}/edit/", described(news, "public"))
    source.refresh_from_db()
    assert (answer.status_code, source.audience) == (400, "user:alice")


@pytest.mark.parametrize("how", ["person", "group", "superuser"])
def test_with_it_one_publishes(
    news: FakeNews, alice: User, as_user: SignIn, tables: Tables, how: str
) -> None:
    if how == "person":
        let_publish(alice)
    elif how == "group":
        Group.objects.get(name="parc").permissions.add(Permission.objects.get(codename="publish"))
    else:
        User.objects.filter(pk=alice.pk).update(is_superuser=True)
    client = as_user(alice)
    page = client.get("/sources/new/?kind=nntp").content.decode()
    assert 'value="public" selected' in page and 'value="group:parc"' in page
    assert "ask an administrator" not in page
    assert client.post("/sources/new/", described(news, "public")).status_code == 302
    Source.objects.update(folder_patterns=["a.b"], active=True)
    tasks.pull_source(Source.objects.get().pk)
    assert stored(tables) == ["public"]


def test_if_it_is_taken_away_the_source_stops_in_words(
    news: FakeNews, alice: User, tables: Tables
) -> None:
    source = at(news, alice, "public")
    tasks.pull_source(source.pk)
    source.refresh_from_db()
    assert source.error == "alice may not bring mail for public any more."
    assert "ask an administrator" in source.hint
    assert stored(tables) == []
    let_publish(alice)
    tasks.pull_source(source.pk)
    source.refresh_from_db()
    assert (source.error, stored(tables)) == ("", ["public"])
