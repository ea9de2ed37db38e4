"""What leaves a live filter as its time comes: on PostgreSQL, a release is not kept waiting."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from django.db import connection

from filters.inbox.models import Match, visibility
from filters.people.models import User
from filters.runs.store.release import release
from tapestry.core.clock import HOUR, wall_clock
from tapestry.tables.delta.log import Tables
from tests.support.faults.races import race
from tests.support.lists.live_filters import arrive, install, run


@pytest.mark.usefixtures("engine")
@pytest.mark.django_db(transaction=True)
def test_what_leaves_as_its_time_comes_is_not_released_meanwhile(
    tables: Tables, carol: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    arrive(tables, "why")
    install(carol, "with no reply", timeliness="hourly")
    run()
    released: list[object] = []
    other = threading.Thread(target=lambda: released.extend(race(release)))

    def as_it_is_deleted(execute: Any, sql: str, *rest: Any) -> Any:
        if sql.startswith('DELETE FROM "inbox_match"'):
            monkeypatch.setattr(visibility, "wall_clock", lambda: wall_clock() + 2 * HOUR)
            other.start()
            # On SQLite it waits for this transaction.
            other.join(60 if connection.vendor == "postgresql" else 0)
        return execute(sql, *rest)

    arrive(tables, "because", "why")
    with connection.execute_wrapper(as_it_is_deleted):
        run()
    other.join(60)
    assert released == [0]
    assert not Match.objects.filter(msgid="why@example.org").exists()
