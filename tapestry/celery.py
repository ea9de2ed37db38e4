"""The Celery application: the tasks of each lane, and when the clock asks for them.

Each lane of work has a queue, and a Celery worker of its own: none waits for another
(``filters.site.launch.worker``).

Redis is asked for only when a task is sent or a worker starts, so that commands which need
none start without it.
"""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime
from typing import Any

from celery import Celery
from celery.schedules import schedule
from django.conf import settings

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tapestry.settings")
# Django's system checks import all pages, which no worker shows; the tests run them.
os.environ.setdefault("CELERY_SKIP_CHECKS", "1")

app = Celery(
    "tapestry",
    amqp="filters.site.work.queues.lane_queues:LaneAMQP",
    task_cls="filters.site.work.queues.disk_full_tasks:DiskAwareTask",
)

QUEUES = {
    "shared": ("filters.tick",),
    "own": ("filters.own_windows", "filters.unproven_windows"),
    "previews": (
        "filters.preview",
        "filters.search",
        "filters.backtest",
        "filters.why",
        "filters.read_import",
        "filters.create_imported",
    ),
    "sources": (
        "filters.act_in_mailboxes",
        "filters.append_annotations",
        "filters.appraise",
        "filters.beat_webhooks",
        "filters.bring_back",
        "filters.compact",
        "filters.deliver_due",
        "filters.pull_due",
        "filters.pull_source",
        "filters.read_bounces",
        "filters.tend_accounts",
        "filters.send_outbox",
    ),
    "mail": (),
    "outbound": (
        "filters.act_in_mailbox",
        "filters.beat_webhooks_of",
        "filters.deliver",
        "filters.run_trial",
        "filters.send_reset",
        "filters.send_invitation",
        "filters.send_message",
        "filters.send_notice",
        "filters.send_sign_up",
        "filters.sound_alarm",
        "filters.verify_push",
    ),
}
"""The tasks of each queue; those of ``outbound`` are sent to the queue of their way."""

FOLLOWERS = ("own_windows", "unproven_windows", "pull_due", "deliver_due")
"""Requests by those who bring something new, and by the clock more rarely."""


def steady_now() -> datetime:
    """Return the time since the machine was started, as a date: a clock that nobody sets.

    By the wall clock, what is periodic would wait until the time from which it was set back.
    """
    return datetime.fromtimestamp(time.monotonic(), UTC)


def _configuration() -> dict[str, Any]:
    from filters.site.work.parts.services import redis_url

    seconds = settings.TICK_SECONDS
    return {
        "broker_url": redis_url(),
        "accept_content": ["json"],
        "task_serializer": "json",
        "timezone": "UTC",
        "worker_pool": "threads",
        "worker_consumer": "filters.site.work.queues.passing_on:PassingConsumer",
        "task_routes": {task: queue for queue, tasks in QUEUES.items() for task in tasks},
        "worker_prefetch_multiplier": 1,
        "worker_hijack_root_logger": False,
        # Nobody tells the workers from outside what to do.
        "worker_enable_remote_control": False,
        "broker_connection_retry_on_startup": True,
        # A page that sends a task must hear at once that Redis is not there.
        "task_publish_retry": False,
        "broker_connection_timeout": 1,
        "broker_transport_options": {
            "socket_connect_timeout": 1,
            "socket_timeout": 5,
            "max_retries": 0,
            "visibility_timeout": 3600,
        },
        "beat_schedule": {
            name: {
                "task": f"filters.{name}",
                "schedule": schedule(every, nowfun=steady_now),
                "options": {"expires": expires},
            }
            for name, every, expires in (
                ("tick", seconds, max(1.0, seconds)),
                # The shared window has the other lanes follow it, where anything is new.
                *((name, 3 * seconds, 3 * max(1.0, seconds)) for name in FOLLOWERS),
                ("act_in_mailboxes", 3 * seconds, 3 * max(1.0, seconds)),
                ("send_outbox", 3 * seconds, 3 * max(1.0, seconds)),
                ("appraise", seconds, max(1.0, seconds)),
                ("compact", 3600.0, 600),
                ("read_bounces", 300.0, 300),
                ("tend_accounts", 60.0, 60),
                ("bring_back", 60.0, 60),
                ("beat_webhooks", 60.0, 60),
                ("sound_alarm", 60.0, 60),
            )
        },
    }


app.add_defaults(_configuration)
app.autodiscover_tasks()
