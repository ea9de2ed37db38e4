"""What a search asks the worker for, and its page."""

from __future__ import annotations

import uuid

import pytest
from django.test import Client

from filters.authoring.models import Filter
from filters.inbox.search import views
from filters.inbox.search.reading import read_search
from filters.inbox.search.searches import SEARCHES, question
from filters.inbox.tasks import search
from filters.people.models import User


@pytest.fixture
def parts(engine: None, redis_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REDIS_URL", redis_url)


def asked_by(user: User, text: str, within: Filter | None = None) -> str:
    """Return what the worker is asked for a text."""
    return question(read_search(text, user).asked, within)


def compute(user: User, text: str, within: Filter | None = None) -> str:
    """Search as the worker does; return the task's id."""
    task_id = str(uuid.uuid4())
    SEARCHES.begin(task_id, user.pk, asked_by(user, text, within))
    search.apply((read_search(text, user).asked, user.pk, within and within.pk), task_id=task_id)
    return task_id


def page_of(client: Client, text: str, **more: str) -> str:
    return client.get("/search/", {"q": text, **more}).content.decode()


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have searches wait for their worker, without a queue."""

    def start(text: str, user_id: int, within: Filter | None) -> str:
        task = str(uuid.uuid4())
        SEARCHES.begin(task, user_id, question(text, within))
        return task

    monkeypatch.setattr(views, "start_search", start)
