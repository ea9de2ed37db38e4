"""The page of rules, and lists by importance."""

from __future__ import annotations

from collections.abc import Callable
from html import unescape
from typing import Any

import pytest
from django.db import OperationalError
from django.test import Client

from filters.authoring import lifecycle
from filters.inbox.appraisal import upkeep
from filters.inbox.appraisal.rules import MOST_RULES
from filters.inbox.appraisers import forms, views
from filters.inbox.models import Appraiser, AppraiserRule
from filters.people.models import User
from filters.people.requests import PersonRequest
from filters.runs import rounds
from tapestry.tables.delta.log import Tables
from tests.support.lists.live_filters import unfold, vote

SignIn = Callable[[User], Client]

MINUS = "\N{MINUS SIGN}"


def add(client: Client, weight: object, text: str) -> Any:
    return client.post("/importance/", {"weight": weight, "text": text})


def rules(owner: User) -> list[tuple[int, str]]:
    return list(AppraiserRule.objects.filter(owner=owner).values_list("weight", "text"))


def test_rules_are_added_weighed_moved_and_removed(alice: User, as_user: SignIn) -> None:
    client = as_user(alice)
    for weight, text in ((5, "by Jones"), (1, "per vote"), (-3, "older than a week")):
        assert add(client, weight, text).status_code == 302
    assert rules(alice) == [(5, "from Jones"), (1, "per vote"), (-3, "one week old")]
    first, second, third = AppraiserRule.objects.values_list("pk", flat=True)
    client.post(f"/importance/{second}/weigh/", {"weight": "-2"})
    client.post(f"/importance/{third}/move/")
    assert rules(alice) == [(5, "from Jones"), (-3, "one week old"), (-2, "per vote")]
    client.post(f"/importance/{first}/move/")
    assert [text for _, text in rules(alice)] == ["one week old", "per vote", "from Jones"]
    client.post(f"/importance/{second}/remove/")
    assert [text for _, text in rules(alice)] == ["one week old", "from Jones"]
    page = client.get("/importance/").content.decode()
    assert "The rule “per vote” is removed." in page and "Today’s top ten" in page


@pytest.mark.parametrize(
    ("weight", "text", "words"),
    [
        (5, "", "Say which messages"),
        (5, "mentioning spark", "A rule cannot look at the text of messages"),
        (5, "frm jones", "frm"),
        (0, "from Jones", "With 0 points a rule does nothing"),
        (11, "from Jones", "Choose a whole number from -10 to 10."),
        ("many", "from Jones", "Choose a whole number from -10 to 10."),
        (5, "to <b>", "A rule cannot look at the recipients."),
    ],
)
def test_bad_input_is_said_and_nothing_is_lost(
    alice: User, as_user: SignIn, weight: object, text: str, words: str
) -> None:
    answer = add(as_user(alice), weight, text)
    assert answer.status_code == 400
    page = answer.content.decode()
    assert words in page and not rules(alice)
    assert text.replace("<b>", "&lt;b&gt;") in page


def test_a_rule_is_there_once_and_there_are_not_too_many(alice: User, as_user: SignIn) -> None:
    client = as_user(alice)
    add(client, 1, "from Jones")
    assert add(client, 2, "by Jones").status_code == 400
    AppraiserRule.objects.bulk_create(
        AppraiserRule(owner=alice, weight=1, text=f"from {at}") for at in range(1, MOST_RULES)
    )
    answer = add(client, 1, "from Mary")
    assert (
        answer.status_code == 400
        and f"You have {MOST_RULES} rules, the most allowed." in answer.content.decode()
    )


@pytest.mark.parametrize(
    ("others", "words"),
    [
        (["from Jones"], "You have that rule; change its points instead."),
        ([f"from {at}" for at in range(MOST_RULES)], "rules, the most allowed."),
    ],
)
def test_a_rule_that_is_added_twice_at_once_is_there_once(
    alice: User, as_user: SignIn, monkeypatch: pytest.MonkeyPatch, others: list[str], words: str
) -> None:
    real = forms.RuleForm.store

    def store(form: forms.RuleForm) -> bool:
        AppraiserRule.objects.bulk_create(
            AppraiserRule(owner=alice, weight=1, text=text) for text in others
        )
        return real(form)

    monkeypatch.setattr(forms.RuleForm, "store", store)
    answer = add(as_user(alice), 5, "from Jones")
    assert answer.status_code == 400 and words in answer.content.decode()
    assert [text for _, text in rules(alice)] == others


def test_a_rule_is_there_if_its_owner_is_appraised(
    alice: User, as_user: SignIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(_: User) -> None:
        raise OperationalError("the database is away")

    client = as_user(alice)
    with monkeypatch.context() as broken, pytest.raises(OperationalError):
        broken.setattr(forms, "rules_changed", away)
        add(client, 5, "from Jones")
    assert not rules(alice)
    add(client, 5, "from Jones")
    assert Appraiser.objects.filter(owner=alice).exists()


def test_a_bad_weight_of_a_rule_is_said_beside_it(alice: User, as_user: SignIn) -> None:
    client = as_user(alice)
    add(client, 1, "from Jones")
    key = AppraiserRule.objects.get().pk
    answer = client.post(f"/importance/{key}/weigh/", {"weight": "99"})
    assert answer.status_code == 400 and 'value="99"' in answer.content.decode()
    assert rules(alice) == [(1, "from Jones")]


@pytest.mark.parametrize("act", ["weigh", "move", "remove"])
def test_rules_are_their_owners_alone(alice: User, carol: User, as_user: SignIn, act: str) -> None:
    add(as_user(alice), 1, "from Jones")
    path = f"/importance/{AppraiserRule.objects.get().pk}/{act}/"
    assert as_user(carol).post(path, {"weight": "3"}).status_code == 404
    assert Client().post(path).status_code == 302
    assert as_user(alice).get(path).status_code == 405
    assert rules(alice) == [(1, "from Jones")]
    assert "from Jones</span>" not in as_user(carol).get("/importance/").content.decode()


@pytest.mark.parametrize("act", ["weigh", "move", "remove"])
def test_a_rule_that_is_removed_meanwhile_is_gone(
    alice: User, as_user: SignIn, monkeypatch: pytest.MonkeyPatch, act: str
) -> None:
    client = as_user(alice)
    add(client, 1, "from Jones")
    read = views._rule_of

    def removed(request: PersonRequest, pk: int) -> AppraiserRule:
        rule = read(request, pk)
        AppraiserRule.objects.filter(pk=pk).delete()
        return rule

    monkeypatch.setattr(views, "_rule_of", removed)
    key = AppraiserRule.objects.get().pk
    assert client.post(f"/importance/{key}/{act}/", {"weight": "3"}).status_code == 302
    assert not rules(alice)


@pytest.mark.usefixtures("engine")
class TestLists:
    def subjects(self, client: Client, path: str) -> list[str]:
        return [row.card.subject for row in client.get(path).context["rows"]]

    def test_a_list_begins_with_what_matters_and_says_why(
        self, mail: Tables, bob: User, as_user: SignIn, django_assert_max_num_queries: Any
    ) -> None:
        lifecycle.install(bob, "from Jones or from bill or about parc", name="f")
        client = as_user(bob)
        add(client, 5, "from Jones")
        add(client, -2, "about parc")
        add(client, 2, "per vote")
        add(client, -3, "newer than a week")
        rounds.run_round()
        page = client.get("/by-importance/").content.decode()
        assert "Until then, the newest come first." in page
        unfold()
        vote(mail, "alice", "plan")
        upkeep.appraise(mail)
        for path in ("/by-importance/", "/in/f/by-importance/"):
            assert self.subjects(client, path) == ["The plan", "Re: The plan", "For parc"]
            with django_assert_max_num_queries(45):
                page = client.get(path).content.decode()
            why = f"+5 from Jones, +4 for 2 votes, {MINUS}3 newer than one week"
            assert why in page and "Matched today" not in page
        assert self.subjects(client, "/in/f/")[0] != "The plan", "the newest, as ever"
        today = client.get("/importance/").content.decode()
        assert f"+6: {why}" in today and today.index(">The plan<") < today.index(">For parc<")

    def test_pages_and_open_messages_stay_in_the_order(
        self, mail: Tables, bob: User, as_user: SignIn, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("filters.inbox.importance.PAGE", 1)
        lifecycle.install(bob, "from Jones or from bill", name="f")
        client = as_user(bob)
        add(client, -5, "from Jones")
        rounds.run_round()
        upkeep.appraise(mail)
        page = client.get("/in/f/by-importance/").content.decode()
        assert 'href="/in/f/by-importance/?page=2"' in page
        assert 'href="/in/f/by-importance/?open=reply%40example.org' in page
        assert self.subjects(client, "/in/f/by-importance/?page=2") == ["The plan"]

    def test_without_rules_it_offers_to_write_some(
        self, mail: Tables, bob: User, carol: User, as_user: SignIn
    ) -> None:
        lifecycle.install(bob, "from Jones", name="f")
        page = as_user(bob).get("/by-importance/").content.decode()
        assert "You have no rules of importance yet." in page
        assert as_user(carol).get("/in/f/by-importance/").status_code == 404
        assert Client().get("/by-importance/").status_code == 302

    def test_a_rule_that_is_none_any_more_says_so(self, bob: User, as_user: SignIn) -> None:
        AppraiserRule.objects.create(owner=bob, weight=1, text="mentioning x")
        answer = as_user(bob).get("/importance/")
        assert "The rule is ignored until you correct it." in answer.content.decode()


@pytest.mark.usefixtures("engine")
class TestFiltersOfOthers:
    def test_a_rule_may_name_one_that_is_shared_and_counts_as_long_as_it_is(
        self, mail: Tables, alice: User, bob: User, as_user: SignIn
    ) -> None:
        plans = lifecycle.install(alice, "about parc", name="plans", visibility="shared")
        lifecycle.install(bob, "from mary@example.org", name="f")
        client = as_user(bob)
        assert add(client, 3, "in alice's plans").status_code == 302
        assert add(client, 1, "from Jones").status_code == 302
        assert rules(bob) == [(3, "in alice's plans"), (1, "from Jones")]

        def first(path: str = "/in/f/by-importance/") -> str:
            rounds.run_round()
            upkeep.appraise(mail)
            assert "Until then" not in client.get(path).content.decode()
            row = client.get(path).context["rows"][0]
            return f"{row.card.subject}: {row.card.importance.words}"

        assert first() == "For parc: +3 in alice's plans"
        lifecycle.change(plans, "about plan or about wedding", visibility="private")
        assert first() == "The plan: +1 from Jones"
        page = unescape(client.get("/importance/").content.decode())
        assert "There is no filter plans of alice’s that you may use." in page
        assert "The rule is ignored until you correct it." in page
        assert "in alice's plans</span>" in page, "it can be corrected, or removed"
        for path in ("/importance/", "/by-importance/", "/in/f/by-importance/"):
            page = client.get(path).content.decode()
            assert "wedding" not in page and "about parc" not in page
            assert "+3" not in page.partition("Today’s top ten")[2] if path == "/importance/" else 1
        lifecycle.change(plans, "about parc", visibility="shared")
        assert first() == "For parc: +3 in alice's plans"

    @pytest.mark.parametrize("name", ["secret", "nothing"])
    def test_one_that_is_not_shared_is_as_if_it_were_not_there(
        self, alice: User, bob: User, as_user: SignIn, name: str
    ) -> None:
        lifecycle.install(alice, "about budget", name="secret")
        answer = add(as_user(bob), 3, f"in alice's {name}")
        page = unescape(answer.content.decode())
        assert answer.status_code == 400 and not rules(bob) and "budget" not in page
        assert f"There is no filter {name} of alice’s that you may use." in page
