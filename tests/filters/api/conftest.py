"""A program with a token, and a worker that answers where it is asked."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from filters.api.authentication import make_token
from filters.api.models import SCOPES
from filters.authoring import tasks
from filters.inbox import tasks as search_tasks
from filters.people.models import User


class Caller:
    """A program that calls the API with a token; answers are JSON where they are any."""

    def __init__(self, secret: str) -> None:
        self._client = Client(raise_request_exception=False)
        self._headers = {"Authorization": f"Bearer {secret}"}

    def __call__(
        self, method: str, path: str, *, status: int = 200, raw: str = "", **content: Any
    ) -> Any:
        options: dict[str, Any] = {"headers": self._headers}
        if content or raw:
            options |= {"data": raw or json.dumps(content), "content_type": "application/json"}
        response = self._client.generic(method, f"/api/v1/{path}", **options)
        assert response.status_code == status, response.content.decode()
        if status >= 400:
            assert response.headers["Content-Type"] == "application/problem+json"
            assert response.json()["detail"].endswith(".")
        is_json = "json" in response.headers.get("Content-Type", "")
        return response.json() if is_json and response.content else response


@pytest.fixture
def program() -> Callable[..., Caller]:
    """Return a function that gives a program a token of a person; of all scopes unless named."""

    def with_token(owner: User, *scopes: str) -> Caller:
        return Caller(make_token(owner, "of the tests", scopes or SCOPES, 7)[1])

    return with_token


@pytest.fixture
def worker(engine: None, redis_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the tasks of questions where they are asked for."""
    monkeypatch.setenv("REDIS_URL", redis_url)
    of_authoring = (tasks.preview, tasks.backtest, tasks.why)
    of_importing = (tasks.read_import, tasks.create_imported)
    for task in (*of_authoring, *of_importing, search_tasks.search):

        def run(arguments: Any, task_id: str, task: Any = task, **_: object) -> None:
            task.apply(arguments, task_id=task_id)

        monkeypatch.setattr(task, "apply_async", run)
