"""A worker process: its lanes beside each other, each a Celery worker in a thread of its own.

    python -m filters.site.launch.worker LANE LANE …

A lane has its queue, its connection and its pool of threads: one whose threads all hang holds back
no other.  If one ends, the process ends as if it were killed, and `manage.py up` starts it again.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Sequence
from importlib import import_module
from queue import SimpleQueue

import django
from celery.apps.worker import Worker
from celery.worker import state
from django.urls import get_resolver
from kombu.asynchronous import set_event_loop

from filters.site.settings.workers import LISTENER, THREADS
from tapestry.celery import app

_making = threading.Lock()
_LINKING = frozenset(("mail", "outbound"))
"""Lanes that send links, for which they need the pages."""


def serve(lanes: Sequence[str]) -> None:
    """Run the lanes until SIGTERM, then let their tasks finish."""
    _import(lanes)
    ended: SimpleQueue[str] = SimpleQueue()
    signal.signal(signal.SIGTERM, lambda *_: ended.put(""))
    threads = [
        threading.Thread(target=_run, args=(lane, ended), name=lane, daemon=True) for lane in lanes
    ]
    for thread in threads:
        thread.start()
    if lane := ended.get():
        print(f"The lane {lane} has ended.", file=sys.stderr, flush=True)
        os._exit(1)
    state.should_stop = 0
    for thread in threads:
        if thread.name != LISTENER:
            thread.join()


def _import(lanes: Sequence[str]) -> None:
    """Import what lanes need: where two threads do, one may see a module that is not whole."""
    app.loader.import_default_modules()
    if LISTENER in lanes:
        import_module("filters.sources.pull.listening")
    if _LINKING.intersection(lanes):
        assert get_resolver().url_patterns


def _run(lane: str, ended: SimpleQueue[str]) -> None:
    try:
        if lane == LISTENER:
            from filters.sources.pull.listening import listen

            listen()
        else:
            _worker(lane).start()
    finally:
        ended.put(lane)


def _worker(queue: str) -> Worker:
    with _making:
        set_event_loop(None)  # each has a loop of its own: kombu keeps that made last
        return Worker(
            app,
            hostname=f"{queue}@",
            queues=[queue],
            concurrency=THREADS[queue],
            loglevel="WARNING",
            quiet=True,
            redirect_stdouts=False,
            without_gossip=True,
            without_mingle=True,
            without_heartbeat=True,
        )


if __name__ == "__main__":
    django.setup()
    serve(sys.argv[1:])
