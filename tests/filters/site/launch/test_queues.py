"""Each task has a queue, so that a worker takes it up; no queue waits for a task that is gone."""

from __future__ import annotations

import pytest

from filters.site.settings.workers import LANES, LISTENER, THREADS, read_workers
from tapestry.celery import QUEUES, app
from tapestry.core.errors import TapestryError


def test_each_task_has_a_queue() -> None:
    app.loader.import_default_modules()
    routed = sorted(name for names in QUEUES.values() for name in names)
    assert sorted(name for name in app.tasks if name.startswith("filters.")) == routed


def test_each_queue_has_threads() -> None:
    assert QUEUES.keys() == THREADS.keys()


def test_every_lane_may_have_a_process_of_its_own() -> None:
    alone = " ".join((*LANES, "mail"))
    assert read_workers(alone) == tuple((lane,) for lane in (*LANES, "mail"))


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("shared own+previews sources mail+outbound", f"leaves out the lane “{LISTENER}”"),
        ("shared own previews sources+listener mail+outbound post", "“post”, which is no lane"),
        ("shared own+ previews sources+listener mail+outbound", "“”, which is no lane"),
    ],
)
def test_a_lane_is_neither_left_out_nor_made_up(text: str, wrong: str) -> None:
    with pytest.raises(TapestryError, match=wrong):
        read_workers(text)
