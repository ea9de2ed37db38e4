"""What belongs to the tables of a backup comes with them, though its database is older."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.db import connection

from filters.runs.models import Import
from filters.runs.store.filter_store import DjangoClock
from filters.site.work.restoring import LATER
from filters.sources.models import SyncState
from filters.sources.pull.sync_state import StoredSyncStates
from filters.upkeep import backup
from filters.upkeep.later import add_later, end_restore, write_later
from filters.upkeep.manifest import read_manifest
from tapestry.core.message import Message
from tapestry.ingest.unavailable import STATE
from tapestry.tables.delta.log import Tables
from tapestry.tables.write.append import append_messages

pytestmark = pytest.mark.django_db


def withheld(*numbers: int, numbering: int = 7) -> dict[str, object]:
    missing = {str(number): [1, 0.0] for number in numbers}
    return {STATE: {"numbering": numbering, "missing": missing}}


def missing(states: StoredSyncStates, folder: str) -> list[str]:
    return sorted(states.load(folder)[STATE]["missing"])


def test_what_was_withheld_and_imported_meanwhile_is_added(tmp_path: Path) -> None:
    states = StoredSyncStates("imap://x.org:143", "user:alice")
    states.save("INBOX", withheld(1, 2) | {"marks": {"1": "\udcfc"}, "modseq": 7})
    states.save("new", withheld(3))
    states.save("anew", withheld(4, numbering=8))
    Import.objects.create(ts=5, name="archive")
    write_later(tmp_path)
    SyncState.objects.all().delete()
    Import.objects.all().delete()
    states.save("INBOX", withheld(1, 9))
    states.save("anew", withheld(5))
    states.save("settled", withheld(6))
    add_later(tmp_path)
    assert missing(states, "INBOX") == ["1", "2", "9"]
    known = states.load("INBOX")
    assert known["marks"] == {"1": "\udcfc"}
    assert "modseq" not in known, "the tables may be of a moment before"
    assert missing(states, "new") == ["3"] and missing(states, "settled") == ["6"]
    assert missing(states, "anew") == ["4"], "the others are numbers of before"
    assert Import.objects.get().ts == 5
    end_restore(tmp_path)
    assert not any(tmp_path.iterdir())


def test_a_database_of_an_older_version_has_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection.introspection, "table_names", lambda: ["runs_import"])
    assert write_later(tmp_path).read_text() == "[]"


def test_a_backup_has_what_was_withheld_after_its_database_was_copied(
    tables: Tables, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path_factory.mktemp("elsewhere") / "backup"
    append_messages(tables, DjangoClock(), [Message("a@x")])
    states = StoredSyncStates("imap://x.org:143", "user:alice")

    def copied(draft: Path) -> Path:
        states.save("INBOX", withheld(2))
        (draft / "db.sqlite3").touch()
        return draft / "db.sqlite3"

    monkeypatch.setattr(backup, "check_is_there", lambda: None)
    monkeypatch.setattr(backup, "copy_database", copied)
    backup.back_up(target)
    assert LATER in read_manifest(target).files
    SyncState.objects.all().delete()
    add_later(target)
    assert missing(states, "INBOX") == ["2"]
