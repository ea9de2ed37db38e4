"""SQLite knows how selective the indexes are once upkeep has run."""

from __future__ import annotations

import pytest
from django.db import connection

from filters.runs.models import Heartbeat
from filters.upkeep.statistics import renew_statistics


@pytest.mark.sqlite
@pytest.mark.django_db(transaction=True)
def test_statistics_are_of_each_index_with_rows() -> None:
    Heartbeat.objects.create(pk=Heartbeat.UPKEEP, started_at=1)
    renew_statistics()
    with connection.cursor() as cursor:
        cursor.execute("SELECT tbl FROM sqlite_stat1")
        assert (Heartbeat._meta.db_table,) in cursor.fetchall()
