"""What a person uses and may use, on their page and by the API; what a filter is to take."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.test import Client

from filters.api.authentication import make_token
from filters.authoring import lifecycle
from filters.authoring.models import Filter
from filters.authoring.results.cost import cost_words, expected_seconds
from filters.people.budgets import uses
from filters.people.models import User
from filters.site.settings.budgets import KINDS, read_budgets
from tapestry.core.clock import HOUR, wall_clock
from tapestry.tables.delta.log import Tables

SignIn = Callable[[User], Client]

WEEKS = [("2026-11-02", 70), ("2026-11-09", 70)]


def spend(user: User, seconds: float) -> None:
    user.evaluated_hour, user.evaluated_seconds = wall_clock() // HOUR, seconds
    user.save(update_fields=["evaluated_hour", "evaluated_seconds"])


def test_a_person_sees_what_they_use_on_their_page_and_by_the_api(
    mail: Tables, alice: User, as_user: SignIn, settings: Any
) -> None:
    settings.BUDGETS = read_budgets("user:alice:filters=7 seconds=60")
    lifecycle.install(alice, "about lunch", name="lunch")
    spend(alice, 12.5)
    page = as_user(alice).get("/me/")
    assert {use.kind: (use.used, use.budget) for use in page.context["uses"]} == {
        **{kind: (0, usual) for kind, (usual, _) in KINDS.items()},
        "filters": (1, 7),
        "seconds": (12, 60),
    }
    _, secret = make_token(alice, "t", ["read"], 1)
    answer = Client().get("/api/v1/budget", HTTP_AUTHORIZATION=f"Bearer {secret}").json()
    assert {"kind": "filters", "used": 1, "budget": 7} in answer
    assert len(answer) == len(uses(alice))


def test_what_a_filter_is_to_take_and_what_is_left_is_one_sentence(
    carol: User, settings: Any
) -> None:
    settings.BUDGETS = read_budgets("seconds=60 deliveries=5")
    assert cost_words(carol, Filter.Mode.KEEP) == ""
    assert cost_words(carol, Filter.Mode.KEEP, WEEKS) == (
        "What is more than 5 deliveries a day to a place comes hourly."
    )
    spend(carol, 12.5)
    alone = cost_words(carol, Filter.Mode.LIVE, (), 0.42)
    assert alone == (
        "It runs by itself, about 0.4 seconds each time: "
        "48 of your 60 seconds of this hour are left."
    )
    spend(carol, 61)
    over = cost_words(carol, Filter.Mode.WAIT)
    assert over.endswith("seconds of this hour are used, so until the next it runs hourly.")


def test_a_new_filter_is_expected_to_take_what_those_took_that_share_its_plan(
    mail: Tables, carol: User, alice: User
) -> None:
    live = {"mode": Filter.Mode.LIVE}
    took = {"about lunch": 0.25, "about dinner": 0.75, "unanswered": 5.0}
    for text, seconds in took.items():
        made = lifecycle.install(carol, text, **live)
        Filter.objects.filter(pk=made.pk).update(seconds=seconds)
    assert expected_seconds(carol, Filter.Mode.LIVE, "about supper") == 0.5
    assert expected_seconds(carol, Filter.Mode.LIVE, "from jones") == 2.0
    assert expected_seconds(carol, Filter.Mode.WAIT, "about supper") == 0.0
    assert expected_seconds(alice, Filter.Mode.LIVE, "about supper") == 0.0


def test_who_saves_a_filter_is_told_what_it_takes(
    mail: Tables, alice: User, as_user: SignIn
) -> None:
    given = {"text": "about lunch", "mode": "live", "mail": "existing", "visibility": "private"}
    page = as_user(alice).post("/filters/new/", given | {"timeliness_how": ""}, follow=True)
    [message] = page.context["messages"]
    assert message.message.endswith("600 of your 600 seconds of this hour are left.")
