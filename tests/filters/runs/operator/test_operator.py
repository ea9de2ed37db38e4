"""The operator's page: the staff alone know of it, and it says nothing of mail or texts."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape
from typing import Any

import pytest
import redis
from django.test import Client

from filters.authoring.models import Filter
from filters.delivery.models import Destination
from filters.people.models import User
from filters.reading.models import OutboxAnnotation
from filters.runs.models import Heartbeat, SharedWindow
from filters.runs.operator import disk as disk_room
from filters.sources.models import Folder, Source
from tapestry.core.clock import BEGINNING, MINUTE, SECOND, wall_clock
from tapestry.core.ports import DueFilter
from tapestry.plan.compile import compile_filter
from tapestry.predicate_index.store import PredicateIndex, index_entries
from tapestry.query.context import Context

SignIn = Callable[[User], Client]


@pytest.fixture
def staff(db: None, as_user: SignIn) -> Client:
    return as_user(User.objects.create_superuser("root", "root@example.org", "secret"))


def text_of(client: Client, address: str = "/operator/") -> str:
    response = client.get(address)
    assert response.status_code == 200
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", response.content.decode())).split())


@pytest.mark.parametrize("who", ["signed out", "member", "former staff"])
def test_for_others_it_does_not_exist(alice: User, who: str) -> None:
    former = User(username="former", is_staff=True, is_active=False)
    former.save()
    user = {"member": alice, "former staff": former}.get(who)
    client = Client(enforce_csrf_checks=True)
    if user is not None:
        client.force_login(user)
    for page in ("operator/", "operator", "operator/groups/", "operator/invitations/"):
        for method in ("get", "head", "post", "options"):
            answers = [answer_to(client, method, f"/{prefix}{page}") for prefix in ("", "no-")]
            assert answers[0] == answers[1] and answers[0][0] == 404


def answer_to(client: Client, method: str, address: str) -> tuple[int, dict[str, str], bytes]:
    """Return the answer to a request without a token of a form, without what is random in it."""
    response = getattr(client, method)(address)
    headers = {name: value for name, value in response.headers.items() if name != "Content-Length"}
    return response.status_code, headers, re.sub(rb'csrftoken": "\w+"', b"", response.content)


def test_the_staff_find_it_in_the_frame(staff: Client, as_user: SignIn, alice: User) -> None:
    assert 'href="/operator/"' in staff.get("/").content.decode()
    assert "/operator/" not in as_user(alice).get("/").content.decode()
    assert staff.post("/operator/").status_code == 405


def test_lanes_say_up_to_when_they_are_complete(staff: Client, alice: User) -> None:
    now = wall_clock()
    SharedWindow.objects.update_or_create(
        pk=1, defaults={"since": 1_000_000_000 * SECOND, "ran_at": now}
    )
    Heartbeat.objects.create(pk=Heartbeat.OWN, started_at=now, ended_at=now - MINUTE)
    of_alice = {"owner": alice, "text": "x"}
    Filter.objects.create(name="shared", enrolled=True, **of_alice)
    Filter.objects.create(name="own", since=1_000_000_300 * SECOND, proven=True, **of_alice)
    Filter.objects.create(name="new", since=BEGINNING, **of_alice)
    Filter.objects.create(name="paused", active=False, **of_alice)
    Filter.objects.create(name="failed", error="It takes more than 9 seconds to run.", **of_alice)
    shown = text_of(staff)
    assert "Filters that run together 1 9 Sep 2001, 01:46:40" in shown
    assert "Filters that run by themselves 1 9 Sep 2001, 01:51:40" in shown
    assert not re.search("[Ww]indow|[Ss]ignature|[Uu]nproven", shown)
    assert "running now" in shown and re.search(r"\b(OK|problem) ", shown)
    assert "New and changed filters 1 not run yet" in shown
    assert "alice.own 9 Sep 2001, 01:51:40" in shown
    assert "5 in all 1 paused 1 stopped by an error" in shown
    assert "alice.failed not run yet It takes too long to run." in shown


def test_it_says_nothing_of_mail_folders_and_texts(staff: Client, alice: User) -> None:
    secret = "SECRET"
    Filter.objects.create(
        owner=alice, name="odd", text=secret, tql=secret, error=f"There is no column “{secret}”."
    )
    source = Source.objects.create(
        owner=alice, kind="imap", host="imap.example.org", port=993, user=secret,
        audience="user:alice", folder_patterns=[secret], active=True, failures=3,
        pulled_at=wall_clock(), error=f"imap.example.org has no mailbox {secret} that x may read.",
        hint=f"It has: {secret}.",
    )  # fmt: skip
    Folder.objects.create(source=source, name=secret, read=1200, added=7, error=secret)
    Destination.objects.create(
        owner=alice, kind="webhook", name=secret, settings={"url": f"https://x/{secret}"},
        failures=2, failing_since=1, error=f"x answered 500: {secret}",
    )  # fmt: skip
    shown = text_of(staff)
    assert secret not in staff.get("/operator/").content.decode()
    assert "alice imap.example.org mail 1,200 7 just now 3 A folder or group is not there." in shown
    assert "alice webhook 1 Jan 1970, 00:00 2 with the next match Its owner sees why." in shown
    assert "alice.odd not run yet Its owner sees why." in shown


def test_the_queue(staff: Client, alice: User, redis_url: str, monkeypatch: Any) -> None:
    assert "The queue (Redis) cannot be reached." in text_of(staff)
    monkeypatch.setenv("REDIS_URL", redis_url)
    with redis.Redis.from_url(redis_url) as server:
        server.rpush("previews", "a", "b")
    OutboxAnnotation.objects.create(
        annid="a", msgid="m", owner=alice, kind="vote", audience="public", created=1
    )
    shown = text_of(staff)
    assert "previews previews and searches 2" in shown and "1 vote or tag waiting" in shown


def test_the_disk(staff: Client, mail: object, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = text_of(staff)
    assert "Messages 4 " in shown and "Votes and tags 1 " in shown
    monkeypatch.setattr(disk_room, "reserve", lambda: 1 << 60)
    assert "The disk is full: mail and filters wait" in text_of(staff)


def test_groups_by_size_and_cost(staff: Client, tables: Any) -> None:
    assert "No filters run together yet." in text_of(staff, "/operator/groups/")
    index = PredicateIndex(tables.root)
    texts = ["from joe", "from mary", "m.size > 9", "m.date < now() - 1 day"]
    for number, text in enumerate(texts):
        due = DueFilter(number, text, "alice", (), ("public",), 0, 0, 0)
        index.add(*index_entries(due, compile_filter(text, Context())))
    shown = text_of(staff, "/operator/groups/")
    assert "Checked when" in shown
    assert "3 groups 1 light 1 shared 1 heavy" in shown
    rows = re.findall(r"(heavy|shared|light) (\d) (all \w+|\w+, by)", shown)
    assert rows == [
        ("heavy", "1", "all messages"),
        ("shared", "1", "all messages"),
        ("light", "2", "messages, by"),
    ]
    assert "joe" not in shown and "mary" not in shown
    assert "checked when mail from a known sender or word arrives" in text_of(staff)
    part = staff.get("/operator/groups/", headers={"HX-Request": "true"}).content.decode()
    assert part.startswith('<div id="groups">')


def test_it_asks_as_little_of_many_filters(
    staff: Client, alice: User, django_assert_max_num_queries: Any
) -> None:
    Filter.objects.bulk_create(
        Filter(owner=alice, name=f"f{n}", text="x", error="odd" if n % 2 else "")
        for n in range(300)
    )
    Source.objects.bulk_create(
        Source(owner=alice, kind="imap", host=f"h{n}", port=1, audience="public") for n in range(30)
    )
    with django_assert_max_num_queries(45):
        page = staff.get("/operator/", headers={"HX-Request": "true"}).content.decode()
    assert page.count("alice.f") == 40 and len(re.findall(r">h\d+ <", page)) == 20
