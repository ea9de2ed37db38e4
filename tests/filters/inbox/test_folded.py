"""What a new filter finds in mail of before is one line of the inbox, until that is opened."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from filters.authoring import lifecycle
from filters.authoring.models import Filter
from filters.inbox.lists.past import Past
from filters.people.models import User
from tapestry.core.clock import wall_clock
from tapestry.tables.delta.log import Tables
from tests.filters.authoring.test_ready_made import send
from tests.support.lists.live_filters import run

SignIn = Callable[[User], Client]

pytestmark = pytest.mark.usefixtures("engine")


@pytest.fixture
def person(tables: Tables, alice: User, as_user: SignIn) -> Client:
    """Alice, who had three messages as she made the filter f."""
    for name in ("a", "b", "c"):
        send(tables, name)
    lifecycle.install(alice, "from al@example.com", name="f")
    run()
    return as_user(alice)


def listed(client: Client, address: str = "/") -> tuple[int, bool]:
    """Return how many lines a list has, and whether it says what is folded."""
    page = client.get(address).content.decode()
    return len(re.findall('class="line"', page)), "found by f" in page


@pytest.mark.parametrize("conversations", [True, False])
def test_mail_of_before_is_one_line_until_it_is_opened(
    person: Client, tables: Tables, alice: User, conversations: bool
) -> None:
    User.objects.update(conversations=conversations)
    assert "3 messages" in person.get("/").content.decode()
    assert listed(person) == (0, True)
    assert listed(person, "/by-importance/") == (0, True)
    assert listed(person, "/in/f/") == (3, False)
    send(tables, "d")
    run()
    assert listed(person) == (1, True)
    before = wall_clock()
    assert person.post("/unfold/", {"filter": "f"}).url == "/"
    assert listed(person) == (4, False)
    assert len(Past(alice, before).page(0, 10)) == 1
    opened = wall_clock()
    assert len(Past(alice, opened).page(0, 10)) == 4
    for page, lines in (("/in/f/", 4), ("/", 1)):
        assert "Make it one line" in person.get(page).content.decode()
        assert person.post("/fold/", {"filter": "f", "next": page}).url == page
        assert listed(person, page) == (lines, page == "/")
        assert "Make it one line" not in person.get(page).content.decode()
        assert person.post("/fold/", {"filter": "f"}).url == "/", "it is one line already"
        for at, then in ((before, 1), (opened, 4), (wall_clock(), 1)):
            assert len(Past(alice, at).page(0, 10)) == then
        person.post("/unfold/", {"filter": "f"})
    assert listed(person) == (4, False)
    lifecycle.change(alice.filters.get(), "from al@example.com", forget=True)
    run()
    assert listed(person) == (0, True)


def test_another_filter_shows_it_all_the_same(person: Client, tables: Tables, alice: User) -> None:
    Filter.objects.update(folds_before=None)
    lifecycle.install(alice, "from al@example.com and newer than a year", name="g")
    run()
    assert listed(person)[0] == 3
    assert len(Past(alice, wall_clock()).page(0, 10)) == 3


def test_what_waits_for_days_is_not_of_before(alice: User) -> None:
    made = lifecycle.install(
        alice, "from al@example.com", name="w", timeliness="after 3 working days"
    )
    assert made.folds_before is None
    made = lifecycle.install(alice, "from al@example.com", name="n", existing=False)
    assert made.folds_before is None


def test_many_filters_cost_no_more_queries(person: Client, alice: User) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as made:
            person.get("/")
        return len(made)

    person.get("/")
    one = queries()
    for number in range(4):
        lifecycle.install(alice, "from al@example.com", name=f"g{number}")
    run()
    person.get("/")
    assert queries() == one
    assert "5 new filters found mail from before" in person.get("/").content.decode()
    for act in ("unfold", "fold"):
        assert person.post(f"/{act}/", {"filter": "nobody"}).status_code == 404
