"""Three people, a place of their own for the data, and mail in several audiences."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import Group
from django.test import Client

from filters.inbox import counts as inbox_counts
from filters.people import known_names
from filters.people.models import User
from filters.runs.store.filter_store import DjangoClock
from filters.site.work.db.advisory_locks import LOCKS
from filters.sources.accounts import oauth, trials
from tapestry.core.message import Annotation, Message
from tapestry.servers import connection
from tapestry.tables.delta.log import Tables
from tapestry.tables.write.append import append_annotations, append_messages
from tests.support.browser.pages import Browser
from tests.support.processes.process_memory import forget_names, forget_tries


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None) -> Iterator[None]:
    """End the session of locks before the database of the tests is deleted."""
    yield
    LOCKS.close()


@pytest.fixture(autouse=True)
def data(settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data directory for one test, and neither Redis nor Spark unless the test says so.

    Nor does it know of passwords that were wrong in other tests, or of lists counted there.
    """
    settings.DATA = tmp_path
    settings.SECRET_KEY = "of the tests"
    monkeypatch.setenv("REDIS_URL", "redis://127.0.0.1:1/0")
    monkeypatch.setenv("SPARK_REMOTE", "sc://127.0.0.1:1")
    forget_tries()
    monkeypatch.setattr(inbox_counts, "_kept", OrderedDict())
    return tmp_path


@pytest.fixture(autouse=True)
def names_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the names for completion read anew, and shown once they are read."""
    forget_names()
    monkeypatch.setattr(known_names, "sleep", lambda _seconds: None)


@pytest.fixture(autouse=True)
def trials_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have trials run where they are asked for, and told at once how they failed."""

    def send(task: Any, args: Any, **_options: Any) -> bool:
        task(*args)
        return True

    monkeypatch.setattr(trials, "send", send)
    for module in (connection, oauth):
        monkeypatch.setattr(module, "wait_until", lambda _deadline: None)


def _person(name: str, **choices: Any) -> User:
    """Make a person whose lists have a line for each message, unless a test changes that."""
    # As one that was there before the mail of its name, wherever a test appends that first.
    password = make_password("secret")
    user = User(username=name, email=f"{name}@example.org", password=password, **choices)
    user.conversations = False
    User.objects.bulk_create([user])
    return user


def _join_parc(user: User) -> None:
    """Put somebody new into the group: nobody has seen anything yet, so no signal is sent."""
    Group.objects.bulk_create([Group(name="parc")], ignore_conflicts=True)
    members = User.groups.through.objects
    members.bulk_create([User.groups.through(user=user, group=Group.objects.get(name="parc"))])


@pytest.fixture
def alice(db: None) -> User:
    """Alice: in the group parc."""
    user = _person("alice", aliases=["Al@Example.com"])
    _join_parc(user)
    return user


@pytest.fixture
def bob(db: None) -> User:
    """Bob: in the group parc too, and in Berlin."""
    user = _person("bob", time_zone="Europe/Berlin")
    _join_parc(user)
    return user


@pytest.fixture
def carol(db: None) -> User:
    """Carol: in no group."""
    return _person("carol")


@pytest.fixture
def client() -> Client:
    """Return a browser in which nobody is signed in."""
    return Browser()


@pytest.fixture
def as_user() -> Callable[[User], Client]:
    """Return a browser in which somebody is signed in."""

    def sign_in(user: User) -> Client:
        client = Browser()
        client.force_login(user)
        return client

    return sign_in


@pytest.fixture
def tables(data: Path) -> Tables:
    return Tables(data / "tables")


@pytest.fixture
def mail(db: None, tables: Tables) -> Tables:
    """A thread in public, a secret reply to it for alice, one for parc, and a vote."""
    clock = DjangoClock()
    append_messages(
        tables,
        clock,
        [
            Message(
                "plan@example.org",
                date=1_000_000_000_000_000,
                sender="mary@example.org",
                sender_name="Mary Jones",
                to=("alice@example.org",),
                subject="The plan",
                newsgroups=("comp.plans",),
                body="Shall we?\n> quoted <b>words</b>\nSee https://example.org/a?b=1&c=2.\n",
            ),
            Message(
                "reply@example.org",
                date=1_000_000_100_000_000,
                sender="bill@example.org",
                sender_name="Bill Smith",
                subject="Re: The plan",
                inreplyto="plan@example.org",
                references=("plan@example.org",),
                body="Yes.",
            ),
            Message(
                "secret@example.org",
                date=1_000_000_200_000_000,
                sender="mary@example.org",
                subject="Re: The plan, between us",
                inreplyto="plan@example.org",
                body="For Alice alone.",
                audience="user:alice",
            ),
            Message(
                "parc@example.org",
                date=1_000_000_300_000_000,
                sender="mary@example.org",
                subject="For parc",
                body="For the group.",
                audience="group:parc",
            ),
        ],
    )
    append_annotations(
        tables, clock, [Annotation("v-1", "plan@example.org", "carol", "vote", None, 1.0)]
    )
    return tables


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch, tables: Tables) -> None:
    """Answer statements without a JVM: the product's plans, on the tables' rows, by SQLite."""
    from filters.site.work.parts import services
    from tests.support.engines.sqlite_engine import engine_of

    engine_on = engine_of()
    monkeypatch.setattr(services, "engine_on", engine_on)
    monkeypatch.setattr(services, "unproven_engine_on", engine_on)
