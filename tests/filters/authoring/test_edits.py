"""Another text for a filter that has found something: what becomes of that, and what it says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from filters.authoring import lifecycle
from filters.authoring.models import Filter
from filters.inbox.models import Match
from filters.people.models import User
from filters.runs import rounds
from tapestry.core.clock import BEGINNING, HOUR, wall_clock
from tapestry.tables.delta.log import Tables
from tests.support.lists.live_filters import arrive

pytestmark = pytest.mark.usefixtures("engine")

SignIn = Callable[[User], Client]

FIELDS = {"name": "f", "timeliness": "at once", "visibility": "private", "mail": "existing"}


@pytest.fixture
def changed(tables: Tables, carol: User) -> Filter:
    """A filter that has found one message, and another message that it does not find."""
    arrive(tables, "plan")
    arrive(tables, "lunch")
    made = lifecycle.install(carol, "about plan", name="f")
    rounds.run_round()
    Match.objects.update(read_at=1)
    return made


def save(client: Client, text: str, **more: str) -> Any:
    return client.post("/filter/f/edit/", {**FIELDS, "text": text, **more})


def stored() -> dict[str, tuple[str, bool]]:
    """Return what the filter has found: the words that found each message, and if it is read."""
    return {
        match.msgid.partition("@")[0]: (match.explanation, match.read_at is not None)
        for match in Match.objects.all()
    }


def test_saving_asks_what_becomes_of_what_the_old_text_found(
    changed: Filter, carol: User, as_user: SignIn
) -> None:
    response = save(as_user(carol), "about lunch", name="g", timeliness="hourly")
    page = response.content.decode()
    assert response.status_code == 200 and "“about plan” has found 1 message." in page
    assert 'value="keep"' in page and 'value="forget"' in page and ">Save<" not in page
    assert ">about lunch</textarea>" in page and 'value="g"' in page and 'value="hourly"' in page
    changed.refresh_from_db()
    assert (changed.text, changed.name, changed.revision) == ("about plan", "f", 0)


def test_kept_messages_say_the_text_that_found_them(
    changed: Filter, carol: User, as_user: SignIn
) -> None:
    client = as_user(carol)
    assert save(client, "about lunch", found="keep").status_code == 302
    rounds.run_round()
    assert stored() == {"plan": ("about plan", True), "lunch": ("about lunch", True)}
    rows = {row.card.subject: row.text for row in client.get("/in/f/").context["rows"]}
    assert rows == {"plan": "about plan", "lunch": "about lunch"}
    page = client.get("/in/f/").content.decode()
    assert "<span>about plan</span>" in page and "<span>about lunch</span>" in page


def test_what_both_texts_find_is_delivered_once(
    changed: Filter, carol: User, as_user: SignIn
) -> None:
    before = list(Match.objects.values_list("pk", "matched_at", "shown_at"))
    save(as_user(carol), "about plan or about lunch", found="keep")
    assert len(rounds.run_round().matches) == 1
    assert list(Match.objects.order_by("pk").values_list("pk", "matched_at", "shown_at"))[:1] == (
        before
    )
    assert stored()["plan"] == ("about plan", True)


def test_begun_again_it_is_as_if_it_were_new(
    changed: Filter, tables: Tables, carol: User, as_user: SignIn
) -> None:
    arrive(tables, "plan-more")  # a pending window of the old text would find it
    client = as_user(carol)
    assert save(client, "about lunch", found="forget").status_code == 302
    changed.refresh_from_db()
    assert (changed.since, changed.start) == (BEGINNING, None)
    assert stored() == {}
    assert "Looking through your mail…" in client.get("/in/f/").content.decode()
    rounds.run_round()
    assert stored() == {"lunch": ("about lunch", True)}


def test_begun_again_from_now_on_it_takes_no_existing_mail(
    changed: Filter, tables: Tables, carol: User, as_user: SignIn
) -> None:
    save(as_user(carol), "about lunch or about picnic", found="forget", mail="new")
    arrive(tables, "picnic")
    rounds.run_round()
    assert set(stored()) == {"picnic"}


def test_nothing_is_asked_where_nothing_is_at_stake(
    changed: Filter, carol: User, as_user: SignIn
) -> None:
    client = as_user(carol)
    assert save(client, "about plan", timeliness="hourly").status_code == 302
    assert save(client, "about plan frobnicated by").status_code == 400, (
        "first what is wrong is said"
    )
    assert save(client, "about lunch", mode="live").status_code == 302
    assert save(client, "about plan", mode="live").status_code == 302
    Match.objects.all().delete()
    Filter.objects.update(mode="keep")
    assert save(client, "about lunch").status_code == 302


def test_what_waits_to_be_shown_is_asked_about(
    changed: Filter, carol: User, as_user: SignIn
) -> None:
    Match.objects.update(shown_at=wall_clock() + HOUR)
    assert "has found 1 message." in save(as_user(carol), "about lunch").content.decode()


def test_what_came_since_the_last_run_of_a_changed_filter_is_new(
    changed: Filter, tables: Tables
) -> None:
    arrive(tables, "supper")
    arrive(tables, "planning")
    lifecycle.change(changed, "about plan or about lunch or about supper or about planning")
    rounds.run_round()
    read = {name: is_read for name, (_, is_read) in stored().items()}
    assert read == {"plan": True, "lunch": True, "supper": False, "planning": False}


@pytest.mark.parametrize("existing", [True, False])
def test_a_filter_that_is_changed_before_its_first_run_finds_existing_mail_read(
    tables: Tables, carol: User, existing: bool
) -> None:
    arrive(tables, "plan")
    arrive(tables, "lunch")
    made = lifecycle.install(carol, "about plan or about supper", name="f")
    arrive(tables, "supper")
    lifecycle.change(made, "about plan or about lunch", existing=existing)
    rounds.run_round()
    read = {name: is_read for name, (_, is_read) in stored().items()}
    assert read == {"plan": True, "supper": False} | ({"lunch": True} if existing else {})
