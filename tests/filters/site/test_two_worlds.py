"""Two worlds: with and without private mail, votes, filters and people of others.

Whoever may not see these is answered the same in both, byte for byte: by every address, what is
posted, what is sent, and what programs print.
"""

from __future__ import annotations

import re
import shutil
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import StringIO
from itertools import zip_longest
from pathlib import Path
from pprint import pformat
from typing import Any
from urllib.parse import quote

import pytest
import redis
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import transaction
from django.test import Client
from support.every_address import every_address
from support.servers.http_recorder import LOOPBACK, Recorder, recording_server
from support.set_clock import SetClock
from support.two_worlds import BEGIN, FILTERS, SECRET, Site, build

from filters.authoring import known_names, previews, tasks, vocabulary
from filters.inbox import reading
from filters.models import Filter, Heartbeat, KeptMail, Match, OutboxAnnotation
from filters.runtime import services
from filters.search import searches
from filters.search import tasks as search_tasks
from filters.search.reading import read_search
from tapestry.run import ask
from tapestry.tables import read, recent_names, thread

World = dict[str, str]

MSGIDS = (
    *("plan@x", "lunch@x", "for-carol@x", "for-staff@x", "reply@x", "last@x"),
    *("hidden-0-user@x", "to-plan-1-grou@x", "nothing@x"),
)
AUDIENCES = ("", "public", "user:carol", "group:staff", "user:alice", "group:parc", "user:nobody")
TEXTS = ("from ", "from bo", "on list ", "in group com", "tagged ", "tagged ho", "replies to boss")
TEXTS += ("in alice's ", "in alice's s", "voted for by ", "in keep", "in secret", "in dave2's ")
MISREAD = ("replies bye boss", "tagged hoz", "in alice's secretkeep-plans", "in carol-secret's x")

WORDS = ("plan", "plan lunch", "boss@example.org")

OF_SOURCES = ("source", "edit-source", "source-folders", "delete-source")

PASSING = re.compile(
    r'csrfmiddlewaretoken" value="\w+"|x-csrftoken": "\w+"|seen=\w+|/act/\w+/[^/"\s]+'
    r"|/unsubscribe/[^/\s>]+|(?m:^(?:Date|X-Tapestry\S*): .*$)|={5,}\d+=="
    r"|(?:preview|search)/[\w-]{36}|urn:uuid:[\w-]{36}|sample-[0-9a-f]{32}(?:-\d+)?|v1,[\w/+]{43}="
)
"""Random values, signatures, keyed digests and the seconds of the real clock."""

NUMBERED = re.compile(
    r"((?:/source|/delivery|/feeds|/mail|/trial)/(?:webhook/|push/|unmute/)?)\d+"
    r'|(name="(?:filters|destinations)" value=")\d+|(<option value=")\d+'
    r'|((?:"|&quot;)sequence(?:"|&quot;): ?)\d+|("cursor": ?)\d+'
    r"|([0-9a-f]{32})-\d+-\d+|([0-9a-f]{32})-\d+(?=@)"
)
"""What numbers the rows of all people: known, see Audiences in DESIGN.md."""


def settled(text: str) -> str:
    """Return an answer without what differs from one request to the next."""
    return NUMBERED.sub(lambda found: "".join(filter(None, found.groups())), PASSING.sub("", text))


class Worlds:
    """Builds a world on data of its own, and observes it; afterwards all is as it was."""

    def __init__(self, clock: SetClock, settings: Any, place: Path, hook: Recorder) -> None:
        self.clock, self.settings, self.place, self.hook = clock, settings, place, hook

    @contextmanager
    def world(self, secrets: bool) -> Iterator[Site]:
        data = self.settings.DATA = self.place / "world"
        data.mkdir()
        for key in self.place.glob("*.key"):
            shutil.copy(key, data)
        self.clock.now = BEGIN
        self.hook.requests.clear()
        known_names.forget_names()
        with redis.Redis.from_url(services.redis_url()) as server:
            server.delete(*(server.keys("tapestry:*") or ["none"]))
        before = transaction.savepoint()
        yield build(secrets, self.hook.url("/hook"), self.wait)
        transaction.savepoint_rollback(before)
        for key in data.glob("*.key"):
            shutil.copy(key, self.place)
        data.rename(self.place / f"was-{secrets}")

    def wait(self, time: int) -> int:
        self.clock.now += time
        return self.clock.now

    def pages(self, site: Site) -> World:
        """Return what every address and commands answer to carol, asked afresh."""
        client = Client()
        client.force_login(site.carol)
        known_names.forget_names()
        shown = [*answers(client, "carol", get_addresses(site, "carol"))]
        shown += [*searched(client, site.carol), *commands(site.carol)]
        return {what: settled(answer) for what, answer in shown}

    def everything(self, site: Site) -> World:
        """Return all answers to everybody."""
        shown = dict(answers(Client(), "stranger", get_addresses(site, "carol")))
        for person in (site.carol, site.dave):
            client, name = Client(), person.username
            client.force_login(person)
            shown |= dict(answers(client, name, get_addresses(site, name)))
            shown |= dict(commands(person))
            shown |= dict(posted(client, person))
            shown |= dict(searched(client, person))
            shown |= dict(answers(client, f"{name}, again", get_addresses(site, name)))
        sent = [r.body for r in self.hook.requests if r.path in ("/hook/carol", "/hook/dave")]
        shown["webhooks"] = b" ".join(sent).decode()
        kept = KeptMail.objects.filter(owner__username="carol").order_by("pk")
        lines = "\n".join(bytes(mail.raw).decode() for mail in kept)
        shown["mail"] = lines.replace("=\r\n", "")  # soft breaks of quoted-printable
        assert len(sent) > 4 and shown["mail"].count("Subject") > 4
        return {what: settled(answer) for what, answer in shown.items()}


def get_addresses(site: Site, name: str) -> dict[str, str]:
    """Return every address of the site, with keys of a person's things, and queries of many.

    Each by a name without keys, which is the same in both worlds.
    """
    keys = site.keys[name]
    mail = KeptMail.objects.filter(owner__username=name).order_by("pk").first()
    values = {
        **{"pk": keys["webhook"], "name": "keep-plans", "kind": "webhook"},
        **{"task": str(uuid.UUID(int=7))},
        **{f"{route}.pk": keys["source"] for route in OF_SOURCES},
        **{"trial.pk": keys["trial"], "unmute.pk": keys["mute"], "feed.token": f"of-{name}-all"},
        **{f"{route}.pk": str(mail and mail.pk) for route in ("kept-mail", "kept-mail-html")},
        **{"act": "vote", "token": "forged", "id": "1", "object_id": "1", "content_type_id": "1"},
        **{"app_label": "filters", "url": "nothing"},
    }  # fmt: skip
    found = every_address(values)
    for kind in ("webhook", "digest", "forward"):
        found[f"preview of {kind}"] = f"/delivery/{keys[kind]}/preview/"
    found["page of digest"] = f"/delivery/{keys['digest']}/preview/html/"
    others = [f"/in/{mode}-{filter_}/" for mode in ("keep", "live") for filter_ in FILTERS]
    others += [f"/in/live-{filter_}/gone/" for filter_ in FILTERS]
    others += [f"/feeds/of-{name}-plans.atom"]
    others += [f"/?open={msgid}&in={audience}" for msgid in MSGIDS[:2] for audience in AUDIENCES]
    others += [
        f"/message/{page}?id={msgid}&in={audience}"
        for page in ("", "original/", "original/file/")
        for msgid in MSGIDS
        for audience in (AUDIENCES if msgid == "plan@x" and not page else ("", "user:alice"))
    ]
    others += [f"/filters/complete/?text={text}&at={len(text)}&all" for text in TEXTS]
    others += [f"/filters/new/?text={text}" for text in MISREAD]
    return found | {address: address for address in others}


def answers(client: Client, name: str, addresses: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the status, the headers and the body of every address."""
    for what, address in addresses.items():
        response = client.get(address)
        headers = {k: v for k, v in response.headers.items() if k not in ("ETag", "Expires")}
        body = b"".join(response) if response.streaming else response.content
        headers.pop("Content-Length", None)
        headers.pop("Last-Modified", None)
        answer = f"{response.status_code} {headers} {body.decode()}"
        yield f"{name}: {what}", answer


def posted(client: Client, person: User) -> Iterator[tuple[str, str]]:
    """Yield what is answered to what a person writes, votes, and asks for."""
    name = person.username
    for text in (*FILTERS.values(), *MISREAD, "in alice's sharedkeep-plans"):
        for mode in ("keep", "live"):
            response = client.post("/filters/understand/", {"text": text, "mode": mode})
            yield f"{name} understood: {text}, {mode}", response.content.decode()
            if text not in MISREAD:
                task = str(uuid.uuid4())
                previews.begin_preview(task, person.pk)
                tasks.preview.apply((text, person.pk, mode == "live"), task_id=task)
                page = client.get(f"/filters/preview/{task}/").content.decode()
                assert "message" in page
                yield f"{name} previewed: {text}, {mode}", page
    for text in MISREAD:
        response = client.post("/filters/new/", {"text": text, "mail": "existing"})
        yield f"{name} wrote: {text}", response.content.decode()
    for msgid in MSGIDS:
        for audience in ("", "public", "user:alice"):
            said = {"id": msgid, "audience": audience, "kind": "vote", "number": "1"}
            response = client.post("/message/annotate/", said, headers={"HX-Request": "true"})
            yield f"{name} voted: {msgid} {audience}", response.content.decode()
    match = Match.objects.filter(filter__owner=person, retracted_at=None).order_by("msgid").first()
    assert match is not None
    read_all = client.post("/read/", {"filter": "keep-plans"})
    yield f"{name} read all", f"{read_all.status_code} {read_all.headers['Location']}"


def searched(client: Client, person: User) -> Iterator[tuple[str, str]]:
    """Yield what a person finds by filters and by words, everywhere and within a filter."""
    plans, name = Filter.objects.get(owner=person, name="keep-plans"), person.username
    everywhere = (*FILTERS.values(), *WORDS, *MISREAD, "in alice's sharedkeep-plans")
    asked = [(text, None, "") for text in everywhere]
    asked += [(text, plans, "&in=keep-plans") for text in ("replied to", "plan")]
    for text, within, more in asked:
        address, read = f"?q={quote(text)}{more}", read_search(text, person)
        if read.understood:
            task, question = str(uuid.uuid4()), searches.question(read.text, within)
            searches.SEARCHES.begin(task, person.pk, question)
            search_tasks.search.apply((read.text, person.pk, within and within.pk), task_id=task)
            page = client.get(f"/search/{task}/{address}").content.decode()
            assert "</strong> message" in page
            yield f"{name} polled: {address}", page
        yield f"{name} searched: {address}", client.get(f"/search/{address}").content.decode()
    opened = client.get("/search/?q=about%20plan&open=plan@x").content.decode()
    yield f"{name} opened what was found", opened


def commands(person: User) -> Iterator[tuple[str, str]]:
    """Yield what programs print of what a person sees."""
    for command in (
        *(("ask", text, "--user", person.username, "--json") for text in FILTERS.values()),
        ("ask", "about plan"),
        *(("matches", f"{person.username}.{mode}-plans", "--json") for mode in ("keep", "live")),
        ("matches", f"{person.username}.live-silent"),
    ):
        out = StringIO()
        call_command(*command, stdout=out)
        printed = re.sub(r"(?m)^\d+ ([+-])", r"\1", out.getvalue())  # positions, see NUMBERED
        yield " ".join(command), printed


@pytest.fixture
def worlds(
    db: None, redis_url: str, settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Worlds]:
    monkeypatch.setenv("REDIS_URL", redis_url)
    settings.PRIVATE_HOSTS = LOOPBACK
    settings.EMAIL_BACKEND = "filters.delivery.mail.kept.KeptMailBackend"
    with recording_server() as hook:
        yield Worlds(SetClock(BEGIN, monkeypatch), settings, tmp_path, hook)


@pytest.fixture
def sqlite(monkeypatch: pytest.MonkeyPatch) -> None:
    from support.engines.sqlite_engine import SqliteEngine

    def engine_on(_snapshot: object, **_: object) -> SqliteEngine:
        names = ("messages", "annotations")
        return SqliteEngine(
            {name: services.tables().open(name).to_pyarrow_table().to_pylist() for name in names}
        )

    monkeypatch.setattr(services, "engine_on", engine_on)
    monkeypatch.setattr(services, "unproven_engine_on", engine_on)


def check_everything(worlds: Worlds) -> None:
    seen: list[World] = []
    for secrets in (True, False):
        with worlds.world(secrets) as site:
            Heartbeat.objects.update_or_create(pk=Heartbeat.LISTENER, defaults={"ended_at": BEGIN})
            seen.append(worlds.everything(site))
    with_secrets, without = seen
    assert not [what for what, answer in with_secrets.items() if SECRET in answer]
    assert set(with_secrets) == set(without)
    found = differences(with_secrets, without)
    assert not found, pformat(found)


def differences(one: World, other: World) -> dict[str, tuple[str, str]]:
    """Return the places where two worlds differ first, by what was asked."""
    found = {}
    for what in one:
        if one[what] != other[what]:
            pairs = enumerate(zip_longest(one[what], other[what]))
            place = next(place for place, (mine, theirs) in pairs if mine != theirs)
            found[what] = tuple(
                world[what][max(0, place - 80) : place + 80] for world in (one, other)
            )
    return found


def test_what_others_have_changes_no_answer(worlds: Worlds, sqlite: None) -> None:
    check_everything(worlds)


@pytest.mark.long
@pytest.mark.spark
def test_with_spark_neither(
    worlds: Worlds, spark_server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPARK_REMOTE", spark_server)
    monkeypatch.setenv("SPARK_UNPROVEN_REMOTE", spark_server)
    check_everything(worlds)


def all_audiences(*_: object) -> tuple[str, ...]:
    return ("public", "user:carol", "user:alice", "group:parc")


def with_all_audiences(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of (tables, what, audiences, ...) that forgets whose audiences."""

    def forgetful(tables: object, what: object, _: object, *rest: object) -> Any:
        return function(tables, what, all_audiences(), *rest)

    return forgetful


def with_audiences_of_all(find: Callable[..., Any]) -> Callable[..., Any]:
    """Return a search that forgets for whom it is."""

    def forgetful(engine_on: object, tables: object, text: str, context: object, *rest: Any) -> Any:
        return find(engine_on, tables, text, context, all_audiences(), *rest[1:], seconds=60)

    return lambda *arguments, **_: forgetful(*arguments)


FAULTS: dict[str, tuple[Any, str, Any]] = {
    "names of all people are completed": (
        known_names,
        "recent_names",
        lambda tables, _: recent_names.recent_names(tables, all_audiences()),
    ),
    "replies of all people are in a thread": (
        reading,
        "thread",
        with_all_audiences(thread.thread),
    ),
    "votes of all people are counted": (
        reading,
        "annotations_on",
        with_all_audiences(read.annotations_on),
    ),
    "messages of all people are found": (ask, "find", with_audiences_of_all(ask.find)),
    "copies for all people are shown": (reading, "copies", with_all_audiences(read.copies)),
    "private filters of others are offered": (
        vocabulary,
        "_shared",
        lambda *_: tuple(Filter.objects.values_list("owner__username", "name")),
    ),
    "waiting votes of all people are shown": (
        reading,
        "_annotations",
        lambda msgid, _: [
            row.as_annotation() for row in OutboxAnnotation.objects.filter(msgid=msgid)
        ],
    ),
}
"""What could be wrong: where it is, and what does it wrongly."""


@pytest.mark.long
def test_planted_faults_are_caught(worlds: Worlds, sqlite: None) -> None:
    seen: dict[str, list[World]] = {fault: [] for fault in ("", *FAULTS)}
    for secrets in (True, False):
        with worlds.world(secrets) as site:
            for fault in seen:
                with pytest.MonkeyPatch.context() as planted:
                    if fault:
                        planted.setattr(*FAULTS[fault])
                    seen[fault].append(worlds.pages(site))
    caught = {fault for fault, (one, other) in seen.items() if differences(one, other)}
    assert caught == set(FAULTS)
