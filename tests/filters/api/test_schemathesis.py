"""Calls as nobody has written them by hand: Schemathesis makes them of the OpenAPI document."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import not_a_server_error

from filters.api.api import api
from filters.api.authentication import make_token
from filters.api.models import SCOPES
from filters.people.models import User
from filters.sources.accounts import trials
from tapestry.tables.delta.log import Tables

EXAMPLES = 3
"""Calls of each operation."""


@pytest.fixture
def kept_open() -> Iterator[None]:
    """Let the end of a request leave the connection of the test open, as Django's own client."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@pytest.mark.usefixtures("worker", "kept_open")
def test_no_call_is_answered_otherwise_than_described(
    mail: Tables, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trials, "send", lambda *_, **__: True)  # no host of theirs is looked up
    secret = make_token(alice, "of the tests", SCOPES, 7)[1]
    described = schemathesis.openapi.from_dict(api.get_openapi_schema())
    described.app = get_wsgi_application()
    headers = {"Authorization": f"Bearer {secret}", "Accept-Encoding": "identity"}
    called = set()
    for result in described.get_all_operations():
        operation = result.ok()
        called.add(operation.label)

        @settings(
            max_examples=EXAMPLES,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
            derandomize=True,
        )
        @given(case=operation.as_strategy())
        def calls(case: Any) -> None:
            answer = case.call_and_validate(headers=headers, checks=[not_a_server_error])
            if answer.status_code >= 400:
                assert answer.headers["content-type"] == ["application/problem+json"]
                assert answer.json()["status"] == answer.status_code

        calls()
    assert len(called) >= 90
