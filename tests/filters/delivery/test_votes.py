"""One vote a person and message, on pages and by the links of digests, though several at once."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from urllib.parse import urlsplit

import pytest
from django.test import Client

from filters.authoring.models import Filter
from filters.delivery.contents import links
from filters.inbox.models import Match
from filters.people.models import User
from filters.reading.annotations import opinions
from filters.reading.annotations.changes import said_by
from filters.reading.annotations.outbox import append_outbox
from tapestry.core.annotations import standing
from tapestry.tables.delta.log import Tables
from tests.support.delivery.recorded_way import Store
from tests.support.faults.races import race

SignIn = Callable[[User], Client]


def link(match: Match) -> str:
    return urlsplit(links.acts_of()(match.pk, match.filter.owner.username, match.msgid)[0].url).path


def votes(user: User, msgid: str = "m") -> list[float | None]:
    return [row.number for row in standing(said_by(user, msgid)) if row.kind == "vote"]


@pytest.mark.parametrize("appended", [False, True])
def test_a_vote_by_a_link_takes_the_vote_against_back(
    jones: Filter, store: Store, client: Client, tables: Tables, appended: bool
) -> None:
    path = link(store(jones, "m"))
    against = opinions.VOTE_FOR | {"number": -1, "private": True}
    opinions.keep(jones.owner, "m", "public", against)
    assert votes(jones.owner) == [-1.0]
    if appended:
        append_outbox(tables)
    for _ in range(2):
        assert client.post(path).status_code == 200
        assert votes(jones.owner) == [1.0]


@pytest.mark.django_db(transaction=True)
def test_votes_at_once_by_links_and_pages_are_one_vote(
    jones: Filter, store: Store, tables: Tables
) -> None:
    path = link(store(jones, "m"))
    tables.open("messages")
    by_page = partial(opinions.keep, jones.owner, "m", "public", opinions.VOTE_FOR)
    by_link = partial(lambda: Client().post(path).status_code)
    answers = race(*[by_link] * 3, *[by_page] * 3)
    assert answers[:3] == [200] * 3
    assert votes(jones.owner) == [1.0]
