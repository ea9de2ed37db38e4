"""A mail program that speaks JMAP, and messages in lists, with originals."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from filters.api.authentication import make_token
from filters.jmap.protocol import CORE, MAIL, SUBMISSION
from filters.people.models import User

USING = [CORE, MAIL, SUBMISSION]


class Program:
    """A mail program with a token; a call returns the arguments of its answer."""

    def __init__(self, secret: str) -> None:
        self.client = Client(raise_request_exception=False)
        self.headers = {"Authorization": f"Bearer {secret}"}
        self.account = next(iter(self.get("/.well-known/jmap").json().get("accounts", {})), "")

    def get(self, address: str, **headers: str) -> Any:
        return self.client.get(address, headers=self.headers | headers)

    def post(self, content: Any) -> Any:
        data = content if isinstance(content, bytes) else json.dumps(content)
        return self.client.post(
            "/jmap/api/", data, content_type="application/json", headers=self.headers
        )

    def calls(self, *calls: tuple[str, dict[str, Any]]) -> list[Any]:
        """Return the answers to calls, each of which is named by its number."""
        account = {"accountId": self.account}
        named = [
            [name, given if name.startswith("Push") else account | given, str(number)]
            for number, (name, given) in enumerate(calls)
        ]
        response = self.post({"using": USING, "methodCalls": named})
        assert response.status_code == 200, response.content
        return response.json()["methodResponses"]

    def __call__(self, name: str, **given: Any) -> dict[str, Any]:
        ((answered, answer, _),) = self.calls((name, given))
        assert answered == name, answer
        return answer

    def refusal(self, name: str, **given: Any) -> str:
        """Return the type of the error of a call."""
        ((answered, answer, _),) = self.calls((name, given))
        assert answered == "error", answer
        return answer["type"]

    def boxes(self) -> dict[str, dict[str, Any]]:
        return {box["name"]: box for box in self("Mailbox/get")["list"]}


@pytest.fixture
def program() -> Callable[..., Program]:
    """Return a function that gives a program a token of a person."""

    def with_token(owner: User, *scopes: str) -> Program:
        return Program(make_token(owner, "phone", scopes or ["jmap", "drafts", "send"], 7)[1])

    return with_token
