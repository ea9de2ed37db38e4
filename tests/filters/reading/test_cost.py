"""What a page costs: a part of it that is drawn again reads no more than it shows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from filters.people.models import User
from filters.reading import reading
from tapestry.tables.delta.log import Tables
from tapestry.tables.read import messages as read

HTMX = {"HX-Request": "true"}
PLAN = {"id": "plan@example.org", "in": "public"}
TAG = {"id": "plan@example.org", "audience": "public", "kind": "tag", "value": "later"}

Lookups = list[tuple[str, str]]


@pytest.fixture
def lookups(monkeypatch: pytest.MonkeyPatch) -> Lookups:
    """The lookups by key that have been made since the test began: the table and the column."""
    made: Lookups = []
    by_key = read.by_key

    def count(files: Any, root: Any, table: str, column: str, *rest: Any, **options: Any) -> Any:
        made.append((table, column))
        return by_key(files, root, table, column, *rest, **options)

    monkeypatch.setattr(read, "by_key", count)
    return made


COPIES, ANNOTATIONS = ("messages", "msgid"), ("annotations", "msgid")


def test_a_vote_reads_the_copy_once_and_what_is_said_before_and_after(
    mail: Tables, bob: User, as_user: Callable, lookups: Lookups, django_assert_max_num_queries
) -> None:
    client = as_user(bob)
    with django_assert_max_num_queries(16):
        assert client.post("/message/annotate/", TAG, headers=HTMX).status_code == 200
    assert lookups == [COPIES, ANNOTATIONS, ANNOTATIONS]


def test_the_actions_read_the_copy_alone(
    mail: Tables, bob: User, as_user: Callable, lookups: Lookups
) -> None:
    assert as_user(bob).get("/message/actions/", PLAN, headers=HTMX).status_code == 200
    assert lookups == [COPIES]


def test_a_poll_reads_what_is_said_and_the_copy_only_if_that_is_new(
    mail: Tables, bob: User, as_user: Callable, lookups: Lookups, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = as_user(bob)
    page = client.get("/message/standing/", PLAN, headers=HTMX)
    assert page.status_code == 200 and lookups == [COPIES, ANNOTATIONS, ANNOTATIONS]
    lookups.clear()
    monkeypatch.delattr(reading, "read_copy")
    seen = PLAN | {"seen": page.context["reading"].mark}
    assert client.get("/message/standing/", seen, headers=HTMX).status_code == 204
    assert lookups == [COPIES, ANNOTATIONS]
