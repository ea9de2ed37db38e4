"""An import waits for the worker: the page says so, asks again, and shows what came or failed."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from html import unescape

import pytest
import redis
from django.test import Client

from filters.authoring.importing import imports
from filters.authoring.models import Filter
from filters.authoring.views.waiting import PATIENCE
from filters.people.models import User
from filters.runs.models import SetAside
from tests.support.faults.set_asides import Planted
from tests.support.formats.gmail_file import gmail
from tests.support.processes.import_worker import Worker

SignIn = Callable[[User], Client]

WAITS = "Working on your filters…"
TICKED = {"create": "1", "entry-1": json.dumps({"text": "from mary"}), "title-1": "Mary"}
HTMX = {"HX-Request": "true"}


@pytest.fixture(autouse=True)
def busy(worker: Worker) -> None:
    """Let the worker begin when a test says so."""
    worker.is_busy = True


def begin(client: Client, text: str = "") -> str:
    """Send a file, and return the address of the page that waits."""
    pasted = text or gmail(**{"from": "mary@x.org"}).decode()
    answer = client.post("/filters/import/", {"pasted": pasted})
    assert answer.status_code == 302
    return answer["Location"]


def tick(client: Client) -> str:
    """Send what is ticked, and return the address of the page that waits."""
    answer = client.post("/filters/import/create/", TICKED)
    assert answer.status_code == 302
    return answer["Location"]


def shown(client: Client, address: str, **headers: str) -> str:
    answer = client.get(address, headers=headers or None)
    assert answer.status_code == 200
    return unescape(answer.content.decode())


def test_the_page_asks_again_until_the_file_is_read(
    worker: Worker, alice: User, as_user: SignIn
) -> None:
    client = as_user(alice)
    address = begin(client)
    page = shown(client, address)
    assert WAITS in page and f'hx-get="{address}?turn=2"' in page
    assert f'content="2; url={address}?turn=2"' in page and ">Look again</a>" in page
    assert f'hx-get="{address}?turn=3"' in shown(client, f"{address}?turn=2", **HTMX)
    worker.work()
    page = shown(client, f"{address}?turn=3", **HTMX)
    assert "from mary@x.org" in page and " checked" in page
    assert WAITS not in page and "hx-get=" not in page.partition('<main id="main"')[2]


def test_the_page_asks_again_until_the_filters_are_created(
    worker: Worker, alice: User, as_user: SignIn
) -> None:
    client = as_user(alice)
    address = tick(client)
    assert WAITS in shown(client, address) and not Filter.objects.exists()
    worker.work()
    answer = client.get(address, headers=HTMX)
    assert answer["HX-Redirect"] == "/filters/" and Filter.objects.get().owner == alice
    assert "“Mary” created. Its matches will appear here." in shown(client, "/filters/")


def test_what_is_ticked_twice_is_created_once(worker: Worker, alice: User, as_user: SignIn) -> None:
    client = as_user(alice)
    assert tick(client) == tick(client)
    worker.work()
    assert Filter.objects.count() == 1


def test_what_is_ticked_is_created_though_the_page_is_left(
    worker: Worker, alice: User, as_user: SignIn, redis_url: str
) -> None:
    tick(as_user(alice))
    with redis.Redis.from_url(redis_url) as server:
        server.flushall()
    worker.work()
    assert Filter.objects.get().title == "Mary"


@pytest.mark.parametrize("start", [begin, tick])
def test_nobody_sees_the_import_of_another(
    worker: Worker, alice: User, bob: User, as_user: SignIn, start: Callable[[Client], str]
) -> None:
    address = start(as_user(alice))
    for _ in range(2):
        page = shown(as_user(bob), address)
        assert "This is no longer here" in page and "from mary" not in page
        worker.work()


def test_a_page_whose_file_was_followed_by_another_says_so(
    worker: Worker, alice: User, as_user: SignIn
) -> None:
    client = as_user(alice)
    first, second = begin(client), begin(client, "keep;")
    assert "you have begun another import since" in shown(client, first)
    worker.work()
    assert WAITS not in shown(client, second)


@pytest.mark.parametrize("start", [begin, tick])
def test_a_worker_that_does_not_answer_is_given_up(
    alice: User, as_user: SignIn, start: Callable[[Client], str]
) -> None:
    client = as_user(alice)
    page = shown(client, f"{start(client)}?turn={PATIENCE}")
    assert "This is taking too long. Try again in a minute." in page and WAITS not in page


@pytest.mark.parametrize(
    ("start", "broken"), [(begin, "offers_of"), (tick, "create_all")], ids=["read", "create"]
)
def test_an_error_that_nobody_foresaw_is_said_and_set_aside(
    worker: Worker,
    alice: User,
    as_user: SignIn,
    monkeypatch: pytest.MonkeyPatch,
    set_asides: Planted,
    start: Callable[[Client], str],
    broken: str,
) -> None:
    set_asides.expect()
    client = as_user(alice)
    with monkeypatch.context() as patched:
        patched.setattr(imports, broken, lambda *_: 1 / 0)
        address = start(client)
        worker.work()
    page = shown(client, address)
    assert f"An error of this site (number {SetAside.objects.get().pk})" in page
    assert re.search('<a class="button" href="/filters/import/">Choose a file</a>', page)
    assert WAITS not in page and not Filter.objects.exists()
    again = begin(client, "keep;")
    worker.work()
    assert WAITS not in shown(client, again)
