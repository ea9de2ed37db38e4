"""The page that says why a message is not in a filter, and what of it nobody else is told."""

from __future__ import annotations

from collections.abc import Callable
from html import unescape

import pytest
from django.core.management import call_command
from django.test import Client

from filters.authoring import lifecycle, tasks
from filters.authoring.models import Filter
from filters.inbox.lists.cards import refresh_cards
from filters.people.models import User
from filters.runs import rounds
from filters.runs.store.filter_store import DjangoClock
from tapestry.core.clock import DAY
from tapestry.core.message import Annotation
from tapestry.tables.delta.log import Tables
from tapestry.tables.write.append import append_annotations

SignIn = Callable[[User], Client]


@pytest.fixture(autouse=True)
def parts(engine: None, redis_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the task where it is asked for."""
    monkeypatch.setenv("REDIS_URL", redis_url)

    def run(arguments: tuple[object, ...], task_id: str, **_: object) -> None:
        tasks.why.apply(arguments, task_id=task_id)

    monkeypatch.setattr(tasks.why, "apply_async", run)


def page_of(client: Client, name: str, msgid: str = "plan@example.org", status: int = 200) -> str:
    answer = client.get("/filters/why/", {"id": msgid, "in": "public", "filter": name})
    assert answer.status_code == status, answer.content.decode()
    return " ".join(unescape(answer.content.decode()).split())


def test_a_filter_says_which_part_is_false_and_what_is_missing(
    mail: Tables, alice: User, as_user: SignIn
) -> None:
    lifecycle.install(alice, "voted for by more than 3 people and from mary", name="liked")
    client = as_user(alice)
    link = 'href="/filters/why/?id=plan%40example.org&in=public"'
    assert link in unescape(client.get("/message/?id=plan@example.org").content.decode())
    form = page_of(client, "")
    assert '<option value="liked" selected>' in form and "One of these" not in form
    page = page_of(client, "liked")
    assert "the message does not match “liked”" in page
    assert "voted for by more than three people" in page
    assert "1 person has voted for it, and 3 more are needed, by anybody but carol" in page
    assert page.index("from mary") < page.index("true</span>"), "the other part is met"
    assert "Time alone does not make it match." in page


def test_a_filter_says_when_time_alone_makes_it_match(
    mail: Tables, alice: User, as_user: SignIn
) -> None:
    lifecycle.install(alice, "m.sender HAS 'mary' AND m.ts < now() - 2 weeks", name="old")
    page = page_of(as_user(alice), "old")
    assert "If nothing else happens, it matches on " in page
    lifecycle.install(alice, "about lunch", name="lunch")
    assert "It can never match" in page_of(as_user(alice), "lunch")


def test_a_filter_that_waits_says_up_to_when_its_sources_are_complete(
    mail: Tables, alice: User, as_user: SignIn
) -> None:
    made = lifecycle.install(
        alice, "one day old with no reply", name="silent", mode=Filter.Mode.WAIT
    )
    client = as_user(alice)
    assert "which are not complete up to any time yet" in page_of(client, "silent")
    Filter.objects.filter(pk=made.pk).update(clock=DAY)
    assert "as they are up to 2 January 1970" in page_of(client, "silent")


def test_what_is_listed_and_what_was_let_go_say_so(
    mail: Tables, alice: User, as_user: SignIn
) -> None:
    lifecycle.install(alice, "about plan", name="kept")
    live = lifecycle.install(alice, "not voted for by bob", name="live", mode=Filter.Mode.LIVE)
    rounds.run_round()
    refresh_cards(mail)
    vote = Annotation("v-2", "plan@example.org", "bob", "vote", None, 1.0)
    append_annotations(mail, DjangoClock(), [vote])
    rounds.run_round()
    client = as_user(alice)
    assert '<option value="live" selected>' in page_of(client, ""), "it is in the other one"
    page = page_of(client, "kept")
    assert "Why is it in kept?" in page and "It is in this filter: it matched at " in page
    page = page_of(client, live.name)
    assert "was let go at " in page and "not true since" in page and "; it was from " in page


def test_nothing_is_told_of_votes_and_mail_that_the_reader_may_not_see(
    mail: Tables, alice: User, bob: User, carol: User, as_user: SignIn
) -> None:
    text = "replied to by mary and voted for by more than 3 people"
    made = lifecycle.install(alice, text, name="hers")
    Filter.objects.filter(pk=made.pk).update(visibility=Filter.Visibility.SHARED)
    before = page_of(as_user(carol), "alice/hers")
    secret = Annotation(
        "v-3", "plan@example.org", "alice", "vote", None, 1.0, audience="user:alice"
    )
    append_annotations(mail, DjangoClock(), [secret])
    after = page_of(as_user(carol), "alice/hers")
    says = "1 person has voted for it, and 3 more are needed, by anybody but carol"
    assert says in before and says in after, "alice alone sees her vote, and Mary’s secret reply"
    assert 'replied to by mary</span> <span class="tone">has not been true so far' in after
    page = page_of(as_user(alice), "hers")
    assert "2 people have voted for it, and 2 more are needed, by anybody but alice" in page
    page_of(as_user(carol), "hers", status=400)
    page_of(as_user(carol), "hers", "secret@example.org", status=404)
    Filter.objects.filter(pk=made.pk).update(visibility=Filter.Visibility.PRIVATE)
    page_of(as_user(carol), "alice/hers", status=400)


def test_a_shared_filter_that_names_another_or_its_owner_is_told_as_a_whole(
    mail: Tables, alice: User, carol: User, as_user: SignIn
) -> None:
    lifecycle.install(alice, "about scandal", name="secret")
    texts = (("over", "m IN secret AND m.size IS NOT NULL"), ("mine", "to me and from mary"))
    for name, text in texts:
        made = lifecycle.install(alice, text, name=name)
        Filter.objects.filter(pk=made.pk).update(visibility=Filter.Visibility.SHARED)
        page = page_of(as_user(carol), f"alice/{name}")
        assert "scandal" not in page and "alice@example.org" not in page
        if name == "over":
            assert "There is no filter secret of alice’s that you may use." in page
        else:
            assert page.count('class="tick"') == 1


def test_the_command_line_says_why_a_message_is_not_in_a_filter(
    mail: Tables, alice: User, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "from mary and voted for by more than 3 people"
    call_command("ask", text, "--user", "alice", "--about", "plan@example.org")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("no   from mary and voted for")
    assert lines[1].startswith("yes    from mary")
    assert "3 more are needed" in lines[2]
