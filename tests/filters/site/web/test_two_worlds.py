"""Two worlds: with and without private mail, votes, filters and people of others.

Whoever may not see these is answered the same in both, byte for byte: by every address, what is
posted, what is sent, and what programs print.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from pprint import pformat
from typing import Any

import pytest
import redis
from django.db import transaction

from filters.authoring import vocabulary
from filters.authoring.models import Filter
from filters.delivery.dispatch import claims
from filters.delivery.models import KeptMail
from filters.people import known_names
from filters.reading import reading
from filters.reading.annotations import outbox
from filters.reading.models import OutboxAnnotation
from filters.runs.models import Heartbeat
from filters.site.work.parts import services
from tapestry.run import ask
from tapestry.run.ask import Question
from tapestry.tables.read import messages as read
from tapestry.tables.read import recent_names, thread
from tests.support.answers.site import (
    answers,
    called,
    commands,
    get_addresses,
    posted,
    searched,
    settled,
)
from tests.support.answers.two_worlds import BEGIN, SECRET, Site, build
from tests.support.browser.pages import Browser
from tests.support.processes.process_memory import forget_names
from tests.support.servers.http_recorder import LOOPBACK, Recorder, recording_server
from tests.support.set_clock import SetClock

World = dict[str, str]


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
        forget_names()
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
        client = Browser()
        client.force_login(site.carol)
        forget_names()
        shown = [*answers(client, "carol", get_addresses(site, "carol"))]
        shown += [*searched(client, site.carol), *commands(site.carol)]
        return {what: settled(answer) for what, answer in shown}

    def everything(self, site: Site, thorough: bool) -> World:
        """Return all answers after what is posted; to everybody, and before it, if thorough."""
        shown = dict(answers(Browser(), "stranger", get_addresses(site, "carol")))
        for person in (site.carol, site.dave) if thorough else (site.carol,):
            client, name = Browser(), person.username
            client.force_login(person)
            if thorough:
                shown |= dict(answers(client, f"{name}, before", get_addresses(site, name)))
            shown |= dict(commands(person))
            shown |= dict(posted(client, person))
            shown |= dict(called(person))
            shown |= dict(searched(client, person))
            shown |= dict(answers(client, name, get_addresses(site, name)))
        sent = [r.body for r in self.hook.requests if r.path in ("/hook/carol", "/hook/dave")]
        shown["webhooks"] = b" ".join(sent).decode()
        kept = KeptMail.objects.filter(owner__username="carol").order_by("pk")
        lines = "\n".join(bytes(mail.raw).decode() for mail in kept)
        shown["mail"] = lines.replace("=\r\n", "")  # soft breaks of quoted-printable
        assert len(sent) > 4 and shown["mail"].count("Subject") > 4
        return {what: settled(answer) for what, answer in shown.items()}


@pytest.fixture
def worlds(
    db: None, redis_url: str, settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Worlds]:
    monkeypatch.setenv("REDIS_URL", redis_url)
    settings.PRIVATE_HOSTS = LOOPBACK
    settings.EMAIL_BACKEND = "filters.delivery.mail.kept.KeptMailBackend"
    monkeypatch.setattr(claims.random, "sample", lambda keys, count: keys[:count])  # lots are drawn
    with recording_server() as hook:
        yield Worlds(SetClock(BEGIN, monkeypatch), settings, tmp_path, hook)


@pytest.fixture
def sqlite(monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.support.engines.sqlite_engine import engine_of

    engine_on = engine_of()
    monkeypatch.setattr(services, "engine_on", engine_on)
    monkeypatch.setattr(services, "unproven_engine_on", engine_on)


def check_everything(worlds: Worlds, thorough: bool = True) -> None:
    seen: list[World] = []
    for secrets in (True, False):
        with worlds.world(secrets) as site:
            Heartbeat.objects.update_or_create(pk=Heartbeat.LISTENER, defaults={"ended_at": BEGIN})
            seen.append(worlds.everything(site, thorough))
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


@pytest.mark.parametrize("thorough", [False, pytest.param(True, marks=pytest.mark.long)])
def test_what_others_have_changes_no_answer(worlds: Worlds, sqlite: None, thorough: bool) -> None:
    check_everything(worlds, thorough)


@pytest.mark.long
@pytest.mark.spark
def test_with_spark_neither(
    worlds: Worlds, spark_server: str, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.PREVIEW_SECONDS = 300  # on a busy machine one world is answered, the other is not
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

    def forgetful(engine_on: object, tables: object, question: Question, *among: Any) -> Any:
        return find(engine_on, tables, replace(question, audiences=all_audiences()), *among)

    return forgetful


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
        outbox,
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
