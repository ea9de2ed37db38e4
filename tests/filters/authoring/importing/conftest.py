"""The worker for those who import filters."""

from __future__ import annotations

from typing import Any

import pytest

from filters.authoring import tasks
from tests.support.processes.import_worker import Worker


@pytest.fixture
def worker(redis_url: str, monkeypatch: pytest.MonkeyPatch) -> Worker:
    monkeypatch.setenv("REDIS_URL", redis_url)
    worker = Worker()
    for task in (tasks.read_import, tasks.create_imported):

        def send(arguments: Any, task_id: str, task: Any = task, **_: object) -> None:
            worker.take(task, arguments, task_id)

        monkeypatch.setattr(task, "apply_async", send)
    return worker
