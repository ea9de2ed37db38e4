"""Each task has a queue, so that a worker takes it up; no queue waits for a task that is gone."""

from __future__ import annotations

from tapestry.celery import QUEUES, app


def test_each_task_has_a_queue() -> None:
    app.loader.import_default_modules()
    routed = sorted(name for names in QUEUES.values() for name in names)
    assert sorted(name for name in app.tasks if name.startswith("filters.")) == routed
