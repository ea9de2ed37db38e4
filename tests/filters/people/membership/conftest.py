"""Tasks run where they are sent, and mail that is sent is in an outbox."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.core import mail as sent_mail

from filters.people.membership.views import data as data_views
from tapestry.celery import app


@pytest.fixture(autouse=True)
def tasks_at_once(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Run each task where it is sent."""
    app.conf.task_always_eager = True
    monkeypatch.setattr(data_views, "send", lambda task, args, **_: task(*args))
    yield
    app.conf.task_always_eager = False


@pytest.fixture
def link(settings: Any) -> Callable[[], str]:
    """Return the function that gives the path of the newest link that was sent."""

    def path() -> str:
        bodies = "\n".join(mail.body for mail in sent_mail.outbox)
        return re.findall(rf"{re.escape(settings.SITE_URL)}(/\S+/\S+/)", bodies)[-1]

    return path
