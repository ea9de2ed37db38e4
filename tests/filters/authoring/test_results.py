"""All results of a text, the weeks they are of, and what a filter would have delivered."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape

import pytest
from django.template.loader import render_to_string
from django.test import Client

from filters.authoring import lifecycle, tasks
from filters.authoring.results import backtests, overlap, previews
from filters.authoring.results.weeks import chart_of, count_weeks
from filters.people.models import User
from filters.runs import rounds
from filters.runs.store.filter_store import DjangoClock
from tapestry.core.clock import DAY, WEEK, wall_clock
from tapestry.core.message import Annotation, Message
from tapestry.tables.delta.log import Tables
from tapestry.tables.write.append import append_annotations, append_messages

SignIn = Callable[[User], Client]


@pytest.fixture(autouse=True)
def parts(engine: None, redis_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the tasks where they are asked for."""
    monkeypatch.setenv("REDIS_URL", redis_url)
    for task in (tasks.preview, tasks.backtest):

        def run(arguments: tuple[object, ...], task_id: str, task=task, **_: object) -> None:
            task.apply(arguments, task_id=task_id)

        monkeypatch.setattr(task, "apply_async", run)


def shown(client: Client, address: str, text: str, **more: str) -> str:
    answer = client.get(address, {"text": text, **more})
    assert answer.status_code == 200
    return " ".join(unescape(answer.content.decode()).split())


def rows_in(page: str) -> list[tuple[str, str]]:
    """Return the time and the subject of each line of a list."""
    return re.findall('<time [^>]*>([^<]*)</time> ?<span class="subject">([^<]*)<', page)


class TestAllResults:
    def test_they_are_paged(
        self, tables: Tables, alice: User, as_user: SignIn, django_assert_max_num_queries
    ) -> None:
        now = wall_clock()
        letters = [
            Message(f"m{n}@x", received=now - n * DAY, sender="jo@x.org", subject=f"No {n} <b>")
            for n in range(60)
        ]
        append_messages(tables, DjangoClock(), letters)
        client = as_user(alice)
        page = shown(client, "/filters/preview/all/", "from jo@x.org")
        assert "it would have matched <strong>60</strong> messages" in page
        assert page.count('class="row flat"') == 50 and "No 0 &lt;b&gt;" not in page
        assert "1–50 of 60" in page and re.search("about [67] a week", page)
        with django_assert_max_num_queries(25):
            second = shown(client, "/filters/preview/all/", "from jo@x.org", page="2")
        assert second.count('class="row flat"') == 10 and "No 59 <b>" in second

    def test_the_weeks_are_a_chart_and_a_table(
        self, tables: Tables, alice: User, as_user: SignIn
    ) -> None:
        now = wall_clock()
        letters = [Message(f"{n}@x", received=now - n * WEEK, sender="jo@x.org") for n in range(3)]
        append_messages(tables, DjangoClock(), letters)
        page = shown(as_user(alice), "/filters/preview/all/", "from jo@x.org")
        svg = re.search(r"<svg viewBox.*?</svg>", page)
        assert svg is not None and svg[0].count("<rect") == 3 and "style=" not in svg[0]
        assert 'role="img" aria-label="Messages per week' in svg[0]
        assert page.count('<td class="number">1</td>') == 3 and "about 1 a week" in page

    def test_it_says_which_filters_have_them_already(
        self, mail: Tables, alice: User, bob: User, as_user: SignIn
    ) -> None:
        lifecycle.install(alice, "from mary", title="Mary’s <i>")
        lifecycle.install(bob, "from mary", title="Of Bob")
        text = "about plan"
        lifecycle.install(alice, text, title="Itself")
        rounds.run_round()
        page = as_user(alice).get("/filters/preview/all/", {"text": text}).content.decode()
        found = re.search('<p class="overlap">.*?</p>', page)
        assert found is not None
        assert re.sub("</?[ap].*?>", "", found[0]) == (
            "Already found by your filters: Mary’s &lt;i&gt; (2)"
        )

    def test_it_says_if_only_the_newest_were_compared(
        self, mail: Tables, alice: User, as_user: SignIn, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        lifecycle.install(alice, "from mary", title="Mary’s")
        rounds.run_round()
        monkeypatch.setattr(overlap, "COMPARED", 1)
        page = shown(as_user(alice), "/filters/preview/all/", "about plan")
        assert "it would have matched <strong>3</strong> messages" in page
        assert "Already found by your filters, of the newest 1: <a" in page and "(1)</p>" in page

    def test_they_show_what_they_are_ordered_by(
        self, tables: Tables, alice: User, as_user: SignIn
    ) -> None:
        clock, now = DjangoClock(), wall_clock()
        begin = now - 6 * DAY
        for number, came in enumerate((begin, begin + DAY)):
            letter = Message(
                f"{number}@x", received=came, sender="jo@x.org", subject=f"No {number}"
            )
            append_messages(tables, clock, [letter], now=lambda came=came: came)
        for number, at in ((1, now - 4 * DAY), (0, now - 2 * DAY)):
            vote = Annotation(f"v{number}", f"{number}@x", "ann", "vote", None, 1.0)
            append_annotations(tables, clock, [vote], now=lambda at=at: at)
        text = "voted for by more than 0 people"
        page = shown(as_user(alice), "/filters/preview/all/", text)
        assert rows_in(page) == [("2 d", "No 0"), ("4 d", "No 1")], "by when they matched"
        titles = re.findall('title="received (.*?), matched (.*?)"', page)
        assert len(titles) == 2 and all(came != matched for came, matched in titles)
        assert "The newest match comes first." in page
        page = shown(as_user(alice), "/filters/preview/all/", text, mode="live")
        assert rows_in(page) == [("5 d", "No 1"), ("6 d", "No 0")], "by when they came"
        assert len(re.findall('title="received (.*?), here since (.*?)"', page)) == 2

    def test_nobody_sees_what_is_not_theirs(
        self, mail: Tables, alice: User, carol: User, as_user: SignIn
    ) -> None:
        text = "from mary@example.org"
        assert "For parc" in shown(as_user(alice), "/filters/preview/all/", text)
        page = shown(as_user(carol), "/filters/preview/all/", text)
        assert "For parc" not in page and "between us" not in page
        assert "<strong>1</strong> message<" in page

    @pytest.mark.parametrize("address", ["/filters/preview/all/", "/filters/backtest/"])
    def test_a_text_that_is_no_filter_is_refused(
        self, alice: User, as_user: SignIn, client: Client, address: str
    ) -> None:
        for text, sentence in (("", "Describe the messages"), ("replies bye <b>", "bye")):
            answer = as_user(alice).get(address, {"text": text})
            page = answer.content.decode()
            assert answer.status_code == 400 and sentence in page and "<b>" not in page
        assert client.get(address, {"text": "from x"}).status_code == 302


class TestBacktest:
    def test_votes_and_replies_are_as_they_were_then(
        self, tables: Tables, alice: User, as_user: SignIn
    ) -> None:
        clock, begin = DjangoClock(), wall_clock() - 3 * WEEK
        append_messages(tables, clock, [Message("a@x", subject="Old plan")], now=lambda: begin)
        for day in range(1, 4):
            votes = [Annotation(f"v{day}", "a@x", f"u{day}", "vote", None, 1.0)]
            append_annotations(tables, clock, votes, now=lambda day=day: begin + day * DAY)
        reply = Message("r@x", subject="Re: Old plan", inreplyto="a@x")
        append_messages(tables, clock, [reply], now=lambda: begin + 5 * DAY)
        text = "voted for by more than one person"
        page = shown(as_user(alice), "/filters/backtest/", text, weeks="4")
        assert re.search(
            "If you had created it on [^,]*, it would have delivered <strong>1</strong> message "
            "since then. Votes and replies are as they were then. Imported mail counts from the "
            "day it was imported.",
            page,
        )
        assert 'Old plan</span></a> <span class="tone">delivered, 2 votes for it</span>' in page
        found = tasks.backtest_for(alice, text, "keep", 4)
        assert [(msgid, op) for msgid, op, _ in found["deliveries"]] == [("a@x", "insert")]
        assert 0 < found["deliveries"][0][2] - (begin + 2 * DAY) < DAY

    def test_votes_that_were_taken_back_count_only_while_they_stood(
        self, tables: Tables, alice: User, as_user: SignIn
    ) -> None:
        clock, begin = DjangoClock(), wall_clock() - 3 * WEEK
        append_messages(tables, clock, [Message("a@x", subject="Old plan")], now=lambda: begin)
        happens = [
            Annotation("v1", "a@x", "jo", "vote", None, 1.0),
            Annotation("r1", "a@x", "jo", "retraction", "v1"),
            Annotation("v2", "a@x", "jo", "vote", None, 1.0),
            Annotation("w1", "a@x", "ann", "vote", None, -1.0),
            Annotation("v3", "a@x", "mary", "vote", None, 1.0),  # now two people stand for it
            Annotation("r2", "a@x", "jo", "retraction", "v2"),
            Annotation("r3", "a@x", "ann", "retraction", "w1"),
        ]
        for day, row in enumerate(happens, 1):
            append_annotations(tables, clock, [row], now=lambda day=day: begin + day * DAY)
        text = "voted for by more than one person"
        page = shown(as_user(alice), "/filters/backtest/", text, weeks="4")
        assert '<span class="tone">delivered, 2 votes for it, 1 against it</span>' in page
        page = shown(as_user(alice), "/filters/backtest/", text, weeks="4", mode="live")
        assert '<span class="tone">left the list, 1 vote for it, 1 against it</span>' in page

    def test_what_matched_before_is_not_delivered(self, tables: Tables, alice: User) -> None:
        clock, now = DjangoClock(), wall_clock()
        for number, age in enumerate((6 * WEEK, 2 * WEEK)):
            letter = Message(f"{number}@x", sender="jo@x.org")
            append_messages(tables, clock, [letter], now=lambda age=age: now - age)
        found = tasks.backtest_for(alice, "from jo@x.org", "keep", 4)
        assert [row[0] for row in found["deliveries"]] == ["1@x"]
        assert tasks.backtest_for(alice, "from jo@x.org", "keep", 12)["count"] == 2

    def test_a_live_filter_lets_go(self, tables: Tables, alice: User, as_user: SignIn) -> None:
        clock, begin = DjangoClock(), wall_clock() - 2 * WEEK
        append_messages(tables, clock, [Message("a@x", subject="Open")], now=lambda: begin)
        reply = Message("r@x", inreplyto="a@x", sender="jo@x.org", subject="Re")
        append_messages(tables, clock, [reply], now=lambda: begin + DAY)
        text = "about open with no reply"
        page = shown(as_user(alice), "/filters/backtest/", text, mode="live")
        assert "left the list, 1 reply" in page and "since then, counting those that left" in page
        ops = [row[1] for row in tasks.backtest_for(alice, text, "live", 4)["deliveries"]]
        assert ops == ["delete", "insert"]

    def test_nobody_sees_what_is_not_theirs(
        self, mail: Tables, alice: User, carol: User, as_user: SignIn
    ) -> None:
        text = "from mary@example.org"
        assert "For parc" in shown(as_user(alice), "/filters/backtest/", text)
        page = shown(as_user(carol), "/filters/backtest/", text)
        assert "For parc" not in page and "between us" not in page
        asked = backtests.backtest_question(text, mode="keep", weeks=12)
        kept = backtests.BACKTESTS.of_question(asked, alice.pk)
        assert kept is not None and previews.refusal(kept, carol)
        alice.groups.clear()
        page = shown(as_user(alice), "/filters/backtest/", text)
        assert "The plan" in page and "For parc" not in page


def test_old_mail_has_the_weeks_up_to_its_last() -> None:
    from zoneinfo import ZoneInfo

    weeks = count_weeks([1_000_000_000_000_000], ZoneInfo("Europe/Berlin"), wall_clock())
    assert weeks[-1] == ("2001-09-03", 1) and len(weeks) == 26
    assert chart_of(weeks) is not None and chart_of([("2026-11-16", 0)]) is None


@pytest.mark.parametrize(("count", "advised"), [(700, True), (699, False)])
def test_hourly_is_advised_where_a_hundred_come_a_day(count: int, advised: bool) -> None:
    answer = {"count": count, "rows": [], "chart": chart_of([("2026-11-16", count)])}
    page = render_to_string(
        "authoring/_preview.html", {"task": "1", "answer": answer, "written": {"query": ""}}
    )
    assert ("sent hourly" in page) == advised
