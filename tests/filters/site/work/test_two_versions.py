"""Two versions over one database for one release: what the newer adds does not disturb the older.

the newer ─ migrates, by additions alone ─> database <─ reads and writes what it knows ─ the older
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.db import connection, migrations, models
from django.db.migrations.operations.base import Operation
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client

from filters.authoring.lifecycle import install
from filters.authoring.models import Filter
from filters.delivery.models import Delivery, Destination
from filters.inbox.models import Match
from filters.people.models import User
from filters.reading.models import OutboxAnnotation
from filters.runs import rounds
from filters.runs.store.filter_store import DjangoClock
from filters.site.work.db.database import is_of_older_version, make_database_ready
from tapestry.core.message import Message
from tapestry.run.unproven import Turns
from tapestry.tables.delta.log import Tables
from tapestry.tables.write.append import append_messages
from tests.support.delivery.recorded_way import Recorder, change_way
from tests.support.delivery.turn import turn
from tests.support.paths import ROOT

SAFE = (
    *(migrations.CreateModel, migrations.AddIndex, migrations.RemoveIndex),
    *(migrations.RemoveConstraint, migrations.AlterModelOptions, migrations.AlterModelManagers),
    migrations.RunPython,
)
"""Operations of which a program of the release before sees nothing, or that allow it more."""


def breaks(operation: Operation) -> str:
    """Return why a program of the release before cannot go on after an operation, if it cannot."""
    if isinstance(operation, migrations.AddField):
        field = operation.field
        if field.many_to_many or field.null or field.has_db_default():
            return ""
        return f"{operation.name} has no db_default, and may not be null: older programs write none"
    if isinstance(operation, migrations.SeparateDatabaseAndState):
        return "; ".join(filter(None, map(breaks, operation.database_operations)))
    if isinstance(operation, SAFE):
        return ""
    return f"{operation.describe()}: older programs still use what it changes, for one release"


def later_migrations() -> Iterator[tuple[str, Operation]]:
    """Yield the operations of all migrations but those that make the database of version 1.0."""
    for path in sorted(Path(ROOT, "filters").glob("*/migrations/0*.py")):
        if not path.stem.startswith("0001"):
            module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
            for operation in import_module(module).Migration.operations:
                yield module, operation


def test_each_migration_after_the_first_leaves_what_the_release_before_uses() -> None:
    breaking = [
        (module, why) for module, operation in later_migrations() if (why := breaks(operation))
    ]
    assert breaking == []


NUMBER = models.IntegerField()


@pytest.mark.parametrize(
    ("operation", "is_safe"),
    [
        (migrations.AddField("filter", "later", NUMBER), False),
        (migrations.AddField("filter", "later", models.IntegerField(default=1)), False),
        (migrations.AddField("filter", "later", models.IntegerField(null=True)), True),
        (migrations.AddField("filter", "later", models.IntegerField(db_default=1)), True),
        (migrations.CreateModel("later", [("number", NUMBER)]), True),
        (migrations.RemoveField("filter", "mode"), False),
        (migrations.RenameField("filter", "mode", "way"), False),
        (migrations.AlterField("filter", "mode", NUMBER), False),
        (migrations.DeleteModel("filter"), False),
        (migrations.RunSQL("DROP TABLE filter"), False),
        (migrations.AddIndex("filter", models.Index(fields=["mode"], name="later")), True),
        (
            migrations.SeparateDatabaseAndState(
                state_operations=[migrations.RemoveField("filter", "mode")]
            ),
            True,
        ),
        (
            migrations.SeparateDatabaseAndState([migrations.RemoveField("filter", "mode")]),
            False,
        ),
    ],
    ids=lambda value: value.describe() if isinstance(value, Operation) else "",
)
def test_a_migration_that_takes_something_from_the_release_before_is_found(
    operation: Operation, is_safe: bool
) -> None:
    assert (breaks(operation) == "") is is_safe


ADD = "ALTER TABLE {} ADD COLUMN later integer DEFAULT 7 NOT NULL"


@pytest.fixture
def newer(mail: Tables) -> Tables:
    """Return mail whose database a newer version has brought to its own: all that it may add."""
    tables = [model._meta.db_table for model in apps.get_models() if model._meta.managed]
    with connection.cursor() as cursor:
        for table in tables:
            cursor.execute(ADD.format(connection.ops.quote_name(table)))
        cursor.execute("CREATE TABLE later (number integer)")
    for app in ("authoring", "delivery", "inbox", "runs"):
        MigrationRecorder(connection).record_applied(app, "0002_later")
    return mail


@pytest.mark.usefixtures("engine")
def test_an_older_version_goes_on_over_the_database_of_a_newer(
    newer: Tables,
    alice: User,
    as_user: Callable[[User], Client],
    monkeypatch: pytest.MonkeyPatch,
    settings: Any,
) -> None:
    assert not is_of_older_version()
    make_database_ready()
    sent = Recorder()
    change_way(monkeypatch, "webhook", send=sent.send)
    hook = Destination.objects.create(owner=alice, kind="webhook", name="hook")
    page = as_user(alice)
    given = {"text": "about lunch", "name": "lunch", "mode": "live", "mail": "existing"}
    page.post("/filters/new/", given | {"visibility": "private", "timeliness_how": ""})
    for number in range(2):
        append_messages(newer, DjangoClock(), [Message(f"{number}@x", subject="lunch")])
        rounds.run_shared_lane()
        rounds.run_unproven_lane(Turns())
        rounds.run_own_lane()
        turn()
    assert [msgid for _, msgid in sent.delivered] == ["0@x", "1@x"]
    assert Delivery.objects.filter(destination=hook).exclude(by_filter={}).count() == 2
    assert Match.objects.filter(filter=Filter.objects.get()).count() == 2
    page.post("/message/annotate/", {"id": "0@x", "kind": "vote", "number": "1"})
    assert OutboxAnnotation.objects.get().owner == alice
    assert b"1@x" in page.get("/").content


@pytest.mark.usefixtures("engine")
def test_a_way_of_delivery_that_only_a_newer_version_knows_waits_for_it(
    mail: Tables, alice: User, as_user: Callable[[User], Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = Recorder()
    change_way(monkeypatch, "webhook", send=sent.send)
    later = Destination.objects.create(owner=alice, kind="later", name="later")
    Destination.objects.create(owner=alice, kind="webhook", name="hook")
    install(alice, "about lunch", name="lunch")
    append_messages(mail, DjangoClock(), [Message("1@x", subject="lunch")])
    rounds.run_round()
    turn()
    assert [msgid for _, msgid in sent.delivered] == ["1@x"]
    later.refresh_from_db()
    assert later.due_at is not None and later.active and not later.error
    page = as_user(alice)
    for path in ("/delivery/", "/filters/new/", "/in/lunch/", "/filters/"):
        assert page.get(path).status_code == 200, path
    assert page.get(f"/delivery/{later.pk}/").status_code == 404
