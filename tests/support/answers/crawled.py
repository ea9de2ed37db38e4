"""What every address of the site answers to each of some people: asked once for many tests.

The tests that look at it are of the files of `tests/filters/site/web`, which are run in one process
(see tests/conftest.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.test import Client


@dataclass(frozen=True)
class Answer:
    """What one person gets from one address."""

    status: int
    headers: dict[str, str]
    content: bytes

    @property
    def page(self) -> str:
        """The page, or nothing where it is something else."""
        is_page = self.headers.get("Content-Type", "").startswith("text/html")
        return self.content.decode() if is_page else ""


Crawled = Callable[[str, str], dict[str, Answer]]
"""Returns the answers by the routes: to a person, by a method."""

BY_HEAD = ("stranger", "alice")
"""Of these, each GET is followed by HEAD: of the others where a test asks for it."""

_answers: dict[tuple[str, str], dict[str, Answer]] = {}
"""What was answered in this process, by the person and the method."""


def answer_to(browser: Client, method: str, address: str, *given: Any) -> Answer:
    """Return the answer; what it has changed is undone, as signing out."""
    before, cookies = transaction.savepoint(), deepcopy(browser.cookies)
    response = getattr(browser, method)(address, *given)
    content = b"".join(response) if response.streaming else response.content
    transaction.savepoint_rollback(before)
    browser.cookies = cookies
    return Answer(response.status_code, dict(response.headers), content)


def crawl(
    browsers: Mapping[str, Client], addresses: Mapping[str, str], who: str, method: str
) -> dict[str, Answer]:
    """Return what all addresses answer to a person, who asks only where none has in this process.

    The addresses are by their routes, and what is behind them is the same in all tests.
    """
    if (who, method) not in _answers:
        has_head = method == "head" or (method == "get" and who in BY_HEAD)
        methods = ("get", "head") if has_head else (method,)
        found: dict[str, dict[str, Answer]] = {asked: {} for asked in methods}
        for route, address in addresses.items():
            for asked in methods:
                found[asked][route] = answer_to(browsers[who], asked, address)
        _answers.update({(who, asked): answers for asked, answers in found.items()})
    return _answers[who, method]
