"""NUL in what somebody sends: PostgreSQL refuses to store or look for it."""

from __future__ import annotations

import psycopg
import pytest
from django.db import DataError
from django.test import Client

from filters.inbox.triage.views import acts
from filters.people.models import User


@pytest.mark.parametrize("htmx", [{}, {"HX-Request": "true"}])
def test_it_is_bad_input(
    client: Client, alice: User, monkeypatch: pytest.MonkeyPatch, htmx: dict[str, str]
) -> None:
    def refuse(*_: object) -> None:
        raise DataError("what the driver says") from psycopg.DataError("what the driver says")

    monkeypatch.setattr(acts, "named_targets", refuse)
    client.force_login(alice)
    answer = client.post("/triage/do/star/", {"id": "\0"}, headers=htmx)
    assert answer.status_code == 400 and "No text has the character NUL" in answer.content.decode()
