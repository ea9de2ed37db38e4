"""A filter that acts: its form, its dry run, its log with undo, its notice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from filters.authoring import lifecycle, tasks
from filters.authoring.acts import Acts
from filters.authoring.models import Filter
from filters.inbox.models import Match, MessageState
from filters.people.models import User
from filters.runs import rounds
from tapestry.tables.delta.log import Tables
from tests.support.lists.live_filters import arrive

SignIn = Callable[[User], Client]

SENT = {"text": "from @x.org", "name": "f", "mail": "existing", "visibility": "private"}


@pytest.fixture
def client(alice: User, as_user: SignIn) -> Client:
    return as_user(alice)


def acting(owner: User, names: str = "star", **options: Any) -> Filter:
    return lifecycle.install(owner, "from @x.org", name="f", acts=Acts(names, **options))


def text_of(answer: Any) -> str:
    return " ".join(answer.content.decode().split())


class TestForm:
    def test_a_form_has_a_filter_act_from_now_on(self, client: Client, alice: User) -> None:
        page = text_of(client.get("/filters/new/"))
        assert "Mark it read" in page and "File it as done" in page and "last month?" in page
        client.post("/filters/new/", {**SENT, "acts": ["done", "read"], "acts_a_day": "20"})
        made = Filter.objects.get()
        assert (made.acts, made.acts_a_day) == ("read done", 20)
        assert made.acts_since is not None and made.acts_words == (
            "mark it read and file it as done"
        )
        client.post("/filter/f/edit/", {**SENT, "acts": ["read"], "acts_a_day": "20"})
        same = Filter.objects.get()
        assert (same.acts, same.acts_since) == ("read", made.acts_since)
        client.post("/filter/f/edit/", {**SENT, "acts": ["read"], "acts_existing": "on"})
        again = Filter.objects.get()
        assert (again.acts_a_day, again.acts_since) == (500, None)
        client.post("/filter/f/edit/", SENT)
        assert Filter.objects.get().acts == ""

    def test_a_form_says_with_what_it_tags(self, client: Client) -> None:
        sent = {**SENT, "acts": ["label"]}
        assert "Say which one." in text_of(client.post("/filters/new/", sent))
        for wrong in ("a\nb", "x" * 101):
            answer = client.post("/filters/new/", {**sent, "acts_label": wrong})
            assert answer.status_code == 400
        client.post("/filters/new/", {**sent, "acts_label": " to do "})
        made = Filter.objects.get()
        assert (made.acts_label, made.acts_words) == ("to do", "tag it “to do”")
        assert "tag it “to do”" in text_of(client.get(made.get_absolute_url()))

    def test_a_filter_that_begins_again_acts_from_then_on(self, alice: User) -> None:
        made = acting(alice, on_existing=True)
        assert made.acts_since is None
        lifecycle.change(made, "from mary@x.org")
        assert made.acts == "star" and made.acts_since is not None

    @pytest.mark.parametrize(
        ("sent", "words"),
        [
            ({"acts": "burn"}, "A filter cannot do “burn” with a message."),
            ({"acts_a_day": "0"}, "greater than or equal to 1"),
            ({"acts_a_day": "many"}, "Enter a whole number."),
        ],
    )
    def test_what_cannot_be_done_is_told(
        self, client: Client, sent: dict[str, str], words: str
    ) -> None:
        answer = client.post("/filters/new/", {**SENT, **sent})
        assert answer.status_code == 400 and words in text_of(answer)
        assert answer.context["form"].has_acts, "they are folded while nothing is chosen or wrong"
        assert not client.get("/filters/new/").context["form"].has_acts


class TestDryRun:
    @pytest.mark.usefixtures("engine")
    def test_a_form_leads_to_what_would_have_been_done(
        self,
        tables: Tables,
        client: Client,
        redis_url: str,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        def run(arguments: Any, task_id: str, **_: Any) -> None:
            tasks.backtest.apply(arguments, task_id=task_id)

        monkeypatch.setenv("REDIS_URL", redis_url)
        monkeypatch.setattr(tasks.backtest, "apply_async", run)
        arrive(tables, "a")
        arrive(tables, "b")
        sent = {"text": "from @x.org", "acts": ["read", "star", "burn"], "mode": "live"}
        answer = client.post("/filters/dry-run/", sent)
        address = "/filters/backtest/?text=from+%40x.org&mode=live&acts=read&acts=star&weeks=4"
        assert answer.headers["Location"] == address
        page = text_of(client.get(address))
        assert "What it would have done" in page
        assert "would have <strong>marked 2 messages read and starred them</strong>." in page
        assert page.count('class="subject"') == 2 and not Match.objects.exists()
        assert "/filters/new/?text=from+%40x.org&amp;mode=live&amp;acts=read&amp;acts=star" in page
        back = client.get("/filters/new/?text=from+%40x.org&acts=read")
        assert back.context["form"]["acts"].value() == ["read"]

    @pytest.mark.usefixtures("engine")
    def test_a_dry_run_counts_messages_and_does_nothing(self, tables: Tables, alice: User) -> None:
        arrive(tables, "why")
        arrive(tables, "how")
        arrive(tables, "because", "why")
        found = tasks.backtest_for(alice, "with no reply", "live", 4)
        assert (found["messages"], found["let_go"]) == (3, 1)
        assert not Match.objects.exists() and not MessageState.objects.exists()


@pytest.mark.usefixtures("engine")
class TestLog:
    def test_a_log_lists_each_message_and_undoes_one_or_all(
        self, tables: Tables, client: Client, alice: User, django_assert_max_num_queries: Any
    ) -> None:
        acting(alice, "star read")
        for name in ("a", "b", "c"):
            arrive(tables, name)
        rounds.run_round()
        with django_assert_max_num_queries(24):
            page = text_of(client.get("/filter/f/acts/"))
        assert page.count("marked it read and starred it") == 3 and "Undo all 3" in page
        assert "does this for you: mark it read and star it" in text_of(client.get("/in/f/"))
        assert client.post("/filter/f/acts/", {"id": "nobody"}).status_code == 404
        assert client.post("/filter/f/acts/").status_code == 400
        client.post("/filter/f/acts/", {"id": "a@example.org"})
        assert starred(alice) == {"b", "c"}
        page = text_of(client.get("/filter/f/acts/"))
        assert "undone or changed by you" in page and "Undo all 2" in page
        client.post("/triage/do/unstar/", {"id": "b@example.org"})
        page = text_of(client.post("/filter/f/acts/", {"all": "yes"}, follow=True))
        assert starred(alice) == set() and "Undone for 2 messages." in page
        assert Match.objects.filter(read_at=None).count() == 3

    def test_nobody_else_sees_or_undoes_it(
        self, tables: Tables, alice: User, carol: User, as_user: SignIn
    ) -> None:
        acting(alice)
        arrive(tables, "a")
        rounds.run_round()
        other = as_user(carol)
        assert other.get("/filter/f/acts/").status_code == 404
        assert other.post("/filter/f/acts/", {"all": "yes"}).status_code == 404
        assert starred(alice) == {"a"}

    def test_a_log_says_when_a_filter_has_stopped_for_a_day(
        self, tables: Tables, client: Client, alice: User
    ) -> None:
        acting(alice, a_day=1)
        arrive(tables, "a")
        arrive(tables, "b")
        rounds.run_round()
        page = text_of(client.get("/in/f/"))
        assert "It stopped just now: it had acted on 1 message within a day, the most that" in page
        assert "1 more is shown as an ordinary one." in page and starred(alice) == {"a"}


def starred(user: User) -> set[str]:
    rows = MessageState.objects.filter(owner=user, starred_at__isnull=False)
    return {msgid.partition("@")[0] for msgid in rows.values_list("msgid", flat=True)}
