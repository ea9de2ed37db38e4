"""Pages of results wait for the worker: they poll one task, say what failed, and never ask twice.

The tasks run between two polls, as they do in a worker; nothing runs where it is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from html import unescape
from typing import Any

import pytest
import redis
from django.test import Client

from filters.authoring import tasks
from filters.people.models import User
from filters.runs.models import SetAside
from filters.site.work.queues.answers import Answers
from tapestry.plan.engine import TooSlowError
from tapestry.tables.delta.log import Tables
from tests.support.faults.set_asides import Planted

SignIn = Callable[[User], Client]

ALL, BACKTEST = "/filters/preview/all/", "/filters/backtest/"
FOUND = {ALL: "it would have matched", BACKTEST: "it would have delivered"}
BOTH = pytest.mark.parametrize("address", [ALL, BACKTEST])
TEXT = "from mary@example.org"


@dataclass
class Worker:
    """A queue of tasks, and how often one was sent; they run when the test says so."""

    queue: list[tuple[Any, Any, str]] = field(default_factory=list)
    sent: int = 0

    def work(self) -> None:
        while self.queue:
            task, arguments, task_id = self.queue.pop(0)
            task.apply(arguments, task_id=task_id)


@pytest.fixture
def worker(engine: None, redis_url: str, monkeypatch: pytest.MonkeyPatch) -> Worker:
    monkeypatch.setenv("REDIS_URL", redis_url)
    worker = Worker()
    for task in (tasks.preview, tasks.backtest):

        def send(arguments: Any, task_id: str, task: Any = task, **_: object) -> None:
            worker.queue.append((task, arguments, task_id))
            worker.sent += 1

        monkeypatch.setattr(task, "apply_async", send)
    return worker


class Tab:
    """A page of results in a tab of a browser, which polls as htmx does."""

    def __init__(self, client: Client, address: str, text: str = TEXT) -> None:
        self.client = client
        self.page = self.read(address, {"text": text})

    def read(self, address: str, data: dict[str, str] | None = None) -> str:
        answer = self.client.get(address, data)
        assert answer.status_code == 200
        self.page = answer.content.decode()
        return self.page

    @property
    def polls(self) -> str:
        found = re.search(r'<div id="results" hx-get="([^"]*)"', self.page)
        return unescape(found[1]) if found else ""

    def poll(self) -> str:
        assert "Looking…" in self.page
        return self.read(self.polls)


@BOTH
def test_it_polls_for_one_task_until_that_has_answered(
    worker: Worker, mail: Tables, alice: User, as_user: SignIn, address: str
) -> None:
    tab = Tab(as_user(alice), address)
    assert "task=" in tab.polls and "turn=2" in tab.polls
    for _ in range(3):
        tab.poll()
    assert worker.sent == 1 and "turn=5" in tab.polls
    worker.work()
    assert FOUND[address] in tab.poll() and not tab.polls
    assert worker.sent == 1
    assert FOUND[address] in Tab(as_user(alice), address).page and worker.sent == 1, "it is kept"


@BOTH
def test_what_is_too_slow_is_said_and_begins_again_only_if_asked(
    worker: Worker,
    mail: Tables,
    alice: User,
    as_user: SignIn,
    address: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def too_slow(*_: object, **__: object) -> None:
        raise TooSlowError("It takes more than 20 seconds to run.")

    with monkeypatch.context() as patched:
        patched.setattr("tapestry.run.ask.execute", too_slow)
        patched.setattr("tapestry.run.backtest.execute", too_slow)
        tab = Tab(as_user(alice), address)
        worker.work()
        page = tab.poll()
    assert "takes more than 20 seconds over the mail" in page and "Looking…" not in page
    assert not tab.polls and worker.sent == 1
    again = re.search(r'<a class="button" href="([^"]*)">Try again</a>', page)
    assert again is not None
    tab.read(unescape(again[1]))
    worker.work()
    assert FOUND[address] in tab.poll()


@BOTH
def test_an_error_that_nobody_foresaw_is_said_in_general(
    worker: Worker,
    mail: Tables,
    alice: User,
    as_user: SignIn,
    address: str,
    monkeypatch: pytest.MonkeyPatch,
    set_asides: Planted,
) -> None:
    set_asides.expect()
    monkeypatch.setattr(tasks, "latest_instant", lambda: 1 / 0)
    tab = Tab(as_user(alice), address)
    worker.work()
    page = tab.poll()
    number = SetAside.objects.get().pk
    assert f"An error of this site (number {number})" in page and "Try again</a>" in page


@BOTH
def test_two_tabs_take_turns_and_do_not_displace_each_other_at_each_poll(
    worker: Worker, mail: Tables, alice: User, as_user: SignIn, address: str
) -> None:
    client = as_user(alice)
    first, second = Tab(client, address), Tab(client, address, "about parc")
    for _ in range(3):
        first.poll()
        second.poll()
    assert worker.sent == 2
    worker.work()  # the first was displaced, and is dropped
    first.poll()
    assert worker.sent == 3
    second.poll()
    assert FOUND[address] in second.page and "For parc" in second.page
    worker.work()
    assert FOUND[address] in first.poll() and "The plan" in first.page
    assert worker.sent == 3


def test_a_task_that_lost_its_page_is_not_said_to_be_too_slow(
    worker: Worker,
    mail: Tables,
    alice: User,
    as_user: SignIn,
    redis_url: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tab = Tab(as_user(alice), ALL)
    task = re.search("task=([-0-9a-f]*)", tab.polls)
    assert task is not None

    def given_up(*_: object, **__: object) -> None:
        with redis.Redis.from_url(redis_url) as server:
            server.delete(f"tapestry:preview:open:{task[1]}")
        raise TooSlowError("It takes more than 20 seconds to run.")

    with monkeypatch.context() as patched:
        patched.setattr("tapestry.run.ask.execute", given_up)
        worker.work()
    tab.poll()
    worker.work()
    assert worker.sent == 2 and FOUND[ALL] in tab.poll()


@BOTH
def test_its_patience_ends(
    worker: Worker, alice: User, as_user: SignIn, address: str, mail: Tables
) -> None:
    tab = Tab(as_user(alice), address)
    page = tab.read(re.sub("turn=[0-9]+", "turn=60", tab.polls))
    assert "This is taking too long. Try again in a minute." in page
    assert not tab.polls and "Try again</a>" in page


@BOTH
def test_without_javascript_the_page_reloads_for_the_same_task(
    worker: Worker, alice: User, as_user: SignIn, address: str, mail: Tables
) -> None:
    tab = Tab(as_user(alice), address)
    head = tab.page.partition("</head>")[0]
    reload = re.search(r'<noscript><meta http-equiv="refresh" content="2; url=([^"]*)">', head)
    assert reload is not None and unescape(reload[1]) == tab.polls
    assert f'<a href="{reload[1]}">Look again</a>' in tab.page
    worker.work()
    assert "http-equiv" not in tab.read(unescape(reload[1]))


@BOTH
def test_an_answer_for_other_groups_is_refused_and_asked_anew(
    worker: Worker, mail: Tables, alice: User, as_user: SignIn, address: str
) -> None:
    tab = Tab(as_user(alice), address)
    worker.work()
    alice.groups.clear()
    page = tab.poll()
    assert "Your groups have changed. Please try again." in page and "For parc" not in page
    again = Tab(as_user(alice), address)
    worker.work()
    assert FOUND[address] in again.poll() and "For parc" not in again.page


@BOTH
def test_a_task_that_is_none_begins_anew(
    worker: Worker, mail: Tables, alice: User, as_user: SignIn, address: str
) -> None:
    for task in ("x", "9" * 5000, "00000000-0000-4000-8000-000000000000"):
        answer = as_user(alice).get(address, {"text": TEXT, "task": task, "turn": "²"})
        assert "Looking…" in answer.content.decode()


def test_a_task_is_its_owners_alone(
    worker: Worker, mail: Tables, alice: User, carol: User, as_user: SignIn
) -> None:
    tab = Tab(as_user(alice), ALL)
    worker.work()
    page = as_user(carol).get(tab.polls).content.decode()
    assert "Looking…" in page and "For parc" not in page


def test_only_the_asker_counts_as_waiting(redis_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REDIS_URL", redis_url)
    answers = Answers("test")
    answers.begin("t", 1, "q")
    assert answers.is_under_way(1) and not answers.is_under_way(2)
    answers.keep("t", 1, "q", {"error": "no"})
    assert not answers.is_under_way(1)
