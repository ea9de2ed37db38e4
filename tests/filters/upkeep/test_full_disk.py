"""Before the disk is full, mail and runs wait; where it is full, one sentence says so."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import count

import pytest
from django.contrib.sessions.models import Session
from django.db import OperationalError, connection, transaction
from django.test import Client

from filters.authoring import lifecycle
from filters.inbox.models import Match
from filters.people.models import User
from filters.reading.annotations.outbox import annotate, append_outbox
from filters.reading.models import OutboxAnnotation
from filters.runs import rounds, tasks
from filters.runs.store.filter_store import DjangoClock
from filters.site.work.queues import disk_full_tasks
from filters.sources.models import Source
from filters.sources.pull import listening
from filters.sources.pull.pulling import _Work, pull
from tapestry.core.clock import wall_clock
from tapestry.core.errors import TapestryError
from tapestry.core.files.disk_space import DiskFullError
from tapestry.core.message import Message
from tapestry.tables.delta.log import Tables
from tapestry.tables.write.append import append_messages
from tapestry.tables.write.compact import compact
from tests.support.people.publishers import let_publish
from tests.support.servers.fake_servers import FakeNews

FULL = "The disk of this site is full."
MORE_THAN_THERE_IS = str(1 << 40)


@pytest.fixture
def fill(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Return what makes less free than must stay free."""
    monkeypatch.setattr(disk_full_tasks, "_logged_at", -disk_full_tasks.LOG_EVERY)
    return lambda: monkeypatch.setenv("TAPESTRY_DISK_RESERVE", MORE_THAN_THERE_IS)


@pytest.fixture
def empty(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Return what makes room again."""
    return lambda: monkeypatch.setenv("TAPESTRY_DISK_RESERVE", "0")


@pytest.fixture
def full_database(transactional_db: None) -> Iterator[None]:
    """A database that cannot grow, as on a full disk."""
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA page_count")
        cursor.execute(f"PRAGMA max_page_count = {cursor.fetchone()[0]}")
    for size in (4000, 400, 40, 1):
        with pytest.raises(OperationalError, match="full"):
            for number in count():
                with transaction.atomic():
                    key, expires = f"{size}-{number}", datetime(2030, 1, 1, tzinfo=UTC)
                    Session.objects.create(
                        session_key=key, session_data="x" * size, expire_date=expires
                    )
    yield
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA max_page_count = 1073741823")


@pytest.mark.usefixtures("engine")
def test_mail_and_runs_wait_and_go_on(
    mail: Tables,
    carol: User,
    fill: Callable[[], None],
    empty: Callable[[], None],
    caplog: pytest.LogCaptureFixture,
) -> None:
    lifecycle.install(carol, "from Jones", name="jones")
    new = Message("new@example.org", sender="jones@example.org")
    fill()
    for refused in (
        lambda: append_messages(mail, DjangoClock(), [new]),
        rounds.run_round,
    ):
        with pytest.raises(DiskFullError, match=FULL):
            refused()
    tasks.tick()
    tasks.own_windows()
    assert Match.objects.count() == 0
    assert "disk_full task=filters.tick" in caplog.text
    assert caplog.text.count("disk_full task=") == 1
    empty()
    append_messages(mail, DjangoClock(), [new])
    rounds.run_round()
    assert set(Match.objects.values_list("msgid", flat=True)) == {
        "plan@example.org",
        "new@example.org",
    }


def test_what_is_said_waits(
    mail: Tables, carol: User, fill: Callable[[], None], empty: Callable[[], None]
) -> None:
    annotate(carol, "plan@example.org", "public", "vote", number=1.0)
    fill()
    with pytest.raises(DiskFullError):
        append_outbox(mail)
    assert OutboxAnnotation.objects.get().appended_at is None
    empty()
    append_outbox(mail)
    assert OutboxAnnotation.objects.get().appended_at is not None


def test_old_files_are_deleted_and_nothing_is_merged(
    mail: Tables, fill: Callable[[], None]
) -> None:
    for number in range(3):
        append_messages(mail, DjangoClock(), [Message(f"{number}@x")])
    compact(mail)
    merged = [file.path for file in mail.data_files("messages")]
    append_messages(mail, DjangoClock(), [Message("4@x")])
    before = len(list((mail.root / "messages").glob("*.parquet")))
    assert before > len(mail.data_files("messages"))
    fill()
    compact(mail, keep_hours=0)
    assert {file.path for file in mail.data_files("messages")} > set(merged)
    assert len(list((mail.root / "messages").glob("*.parquet"))) == 2


def test_a_full_disk_is_no_failure_of_a_source(carol: User) -> None:
    source = Source.objects.create(
        owner=carol, kind="imap", host="x.org", port=993, audience="user:carol"
    )
    work = _Work(source, wall_clock(), 0.0)
    work.fail(DiskFullError())
    source.refresh_from_db()
    assert (source.failures, source.error) == (0, FULL)
    work.fail(TapestryError("It does not answer."))
    source.refresh_from_db()
    assert source.failures == 1


@pytest.mark.sqlite
@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("carol", "full_database")
def test_signing_in_on_a_full_disk_is_one_sentence(client: Client) -> None:
    client.raise_request_exception = False
    answer = client.post("/sign-in/", {"username": "carol", "password": "secret"})
    assert answer.status_code == 507
    assert FULL in answer.content.decode()


@pytest.mark.sqlite
@pytest.mark.django_db(transaction=True)
def test_a_form_on_a_full_disk_is_one_sentence(
    carol: User, as_user: Callable[[User], Client], request: pytest.FixtureRequest
) -> None:
    client = as_user(carol)
    request.getfixturevalue("full_database")
    assert client.get("/").status_code == 200
    fields = {"name": "jones", "text": " or ".join(["about plan"] * 100), "timeliness": "at once"}
    fields |= {"visibility": "private", "mail": "existing"}
    answer = client.post("/filters/new/", fields)
    assert answer.status_code == 507
    assert FULL in answer.content.decode()


def test_a_server_that_says_that_its_disk_is_full_is_a_failure(carol: User, tables: Tables) -> None:
    with FakeNews({}) as server:
        server.greeting = "502 Disk quota exceeded: No space left on device"
        let_publish(carol)
        source = Source.objects.create(
            owner=carol, kind="nntp", host="127.0.0.1", port=server.port, security="none",
            audience="user:carol", folder_patterns=["a.b"], active=True,
        )  # fmt: skip
        pull(source)
        source.refresh_from_db()
    assert source.failures == 1 and FULL not in source.error


@pytest.mark.django_db
def test_the_listener_says_so_in_a_line(
    fill: Callable[[], None], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    turns = iter([OperationalError("database or disk is full"), SystemExit()])

    def turn(_listener: listening.Listener) -> None:
        raise next(turns)

    monkeypatch.setattr(listening.Listener, "turn", turn)
    monkeypatch.setattr(listening.time, "sleep", lambda _: None)
    with pytest.raises(SystemExit):
        listening.listen()
    (record,) = (record for record in caplog.records if record.levelname == "ERROR")
    assert record.getMessage().startswith("disk_full task=listener") and not record.exc_info
