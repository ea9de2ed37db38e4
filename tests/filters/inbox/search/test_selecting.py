"""Results of a search are selected and acted on, one or all, as far as that makes sense."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Sequence

import pytest
from django.test import Client

from filters.authoring.models import Filter
from filters.inbox.models import MessageState, Selection, TriageStep
from filters.inbox.search import selecting
from filters.inbox.search.reading import read_search
from filters.inbox.search.searches import SEARCHES, question
from filters.people import people
from filters.people.models import User
from tapestry.core.clock import wall_clock
from tapestry.tables.delta.log import Tables
from tests.support.lists.listed_mail import find, installed, letters

HTMX = {"HX-Request": "true"}
TEXT = "about letters"
MANY = [f"m{number:03}" for number in range(120)]


@pytest.fixture(autouse=True)
def parts(redis_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REDIS_URL", redis_url)


@pytest.fixture
def jones(tables: Tables, alice: User) -> Filter:
    """A filter of alice's that found three of 120 letters, all of which a search has found."""
    letters(tables, *MANY)
    made = installed(alice, "jones")
    find(tables, made, *MANY[:3])
    keep(alice, MANY)
    return made


def keep(user: User, msgids: Sequence[str], within: Filter | None = None) -> None:
    asked = question(read_search(TEXT, user).asked, within)
    task = str(uuid.uuid4())
    SEARCHES.begin(task, user.pk, asked)
    answer = {"msgids": list(msgids), "audiences": people.audiences(user), "at": wall_clock()}
    SEARCHES.keep(task, user.pk, asked, answer)


def select(client: Client, **more: str) -> str:
    answer = client.post("/search/select/", {"q": TEXT, **more}, headers=HTMX)
    assert answer.status_code == 200
    return answer.content.decode()


def do(client: Client, action: str, **given: object) -> str:
    return client.post(f"/triage/do/{action}/", given, headers=HTMX).content.decode()


def test_a_result_is_a_line_with_a_box_as_in_a_list(
    jones: Filter, alice: User, as_user: Callable
) -> None:
    page = as_user(alice).get("/search/", {"q": TEXT, "page": "2"}).content.decode()
    box = '<input type="checkbox" class="pick" form="bulk" name="id:public" value="m'
    assert page.count(f'<li class="line">{box}') == 50
    assert 'data-count="120"' in page and '<form id="bulk"' in page
    assert 'formaction="/search/select/"' in page and f'name="q" value="{TEXT}"' in page
    assert 'hx-get="/search/?q=about+letters&amp;page=2" hx-trigger="acted from:body"' in page


def test_all_results_are_starred_though_no_filter_found_them(
    jones: Filter, alice: User, as_user: Callable
) -> None:
    client = as_user(alice)
    bulk = select(client)
    assert "All 120 messages in this list are selected" in bulk
    key = Selection.objects.get().pk
    assert f'name="selection" value="{key}"' in bulk and 'formaction="/search/select/"' in bulk
    assert "120 messages starred." in do(client, "star", selection=key)
    assert MessageState.objects.filter(starred_at__isnull=False).count() == 120
    fragment = client.get("/search/", {"q": TEXT}, headers=HTMX).content.decode()
    assert fragment.count('aria-label="starred"') == 50 and "<html" not in fragment


def test_what_is_for_lists_is_done_where_it_can_be_and_the_rest_told(
    jones: Filter, alice: User, as_user: Callable
) -> None:
    client = as_user(alice)
    select(client)
    done = do(client, "done", selection=Selection.objects.get().pk)
    assert "3 messages done. 117 other messages are in none of your lists." in done
    assert MessageState.objects.filter(done_at__isnull=False).count() == 3
    some = do(client, "read", id=[MANY[2], MANY[3]])
    assert "1 message marked read. 1 other message is in none of your lists." in some


def test_nothing_is_done_where_no_filter_found_any(
    jones: Filter, alice: User, as_user: Callable
) -> None:
    client = as_user(alice)
    keep(alice, MANY[50:60])
    select(client)
    answer = do(client, "snooze", selection=Selection.objects.get().pk, until="week")
    assert "they are in none of your lists. You can star them." in answer
    assert "they are in none" in do(client, "mute", id=MANY[50:52])
    assert not MessageState.objects.exists() and not TriageStep.objects.exists()


def test_without_javascript_it_leads_back_to_the_results(
    jones: Filter, alice: User, as_user: Callable
) -> None:
    client = as_user(alice)
    answer = client.post("/search/select/", {"q": TEXT})
    page = client.get(answer.headers["Location"]).content.decode()
    assert "All 120 messages in this list are selected" in page
    assert re.search(r'name="next" value="/search/\?q=about\+letters"', page)


def test_within_a_filter_all_means_what_was_found_there(
    jones: Filter, alice: User, as_user: Callable
) -> None:
    client = as_user(alice)
    keep(alice, MANY[:2], jones)
    assert 'name="in" value="jones"' in select(client, **{"in": "jones"})
    assert Selection.objects.get().count == 2
    assert client.post("/search/select/", {"q": TEXT, "in": "none"}).status_code == 404


def test_only_what_one_may_see_and_has_found_is_selected(
    jones: Filter, tables: Tables, alice: User, bob: User, as_user: Callable
) -> None:
    letters(tables, "hers", audience="user:alice")
    his = as_user(bob).post("/search/select/", {"q": TEXT}, headers=HTMX)
    assert his.status_code == 422 and his["HX-Retarget"] == "#toast"
    assert "no longer here" in his.content.decode() and not Selection.objects.exists()
    keep(bob, ["m001", "hers"])
    select(as_user(bob))
    assert Selection.objects.get().count == 1


def test_too_many_are_refused_in_words(
    jones: Filter, alice: User, as_user: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(selecting, "MOST", 100)
    for headers, status in ((HTMX, 422), ({}, 400)):
        answer = as_user(alice).post("/search/select/", {"q": TEXT}, headers=headers)
        assert answer.status_code == status
        assert "at most 100 results at once. Make the search narrower." in answer.content.decode()
