"""The servers of the outside, in memory: they record what they accept, and misbehave as planned."""

from __future__ import annotations

import email
import email.policy
import json
import random
from collections import Counter
from typing import Any

from tests.simulation import browsers
from tests.simulation.books import Books
from tests.simulation.history import History
from tests.simulation.mailboxes import Mailboxes

GOOD = {"answer": "ok"}

MISBEHAVIOURS: dict[str, tuple[dict[str, Any], ...]] = {
    "smtp": (
        {"answer": "refuse content", "code": 451, "words": "4.3.0 Try again later"},
        {"answer": "refuse recipient", "code": 450, "words": "4.2.1 Mailbox busy"},
        {"answer": "hang", "waited": 20},
        {"answer": "cut"},
        {"answer": "accept, then cut"},
    ),
    "http": (
        {"answer": "status", "status": 500, "text": "no"},
        {"answer": "status", "status": 429, "text": "slowly"},
        {"answer": "hang", "waited": 10},
        {"answer": "accept, then cut"},
    ),
    "push": (
        {"answer": "status", "status": 503, "text": "later"},
        {"answer": "status", "status": 410, "text": "gone"},
        {"answer": "hang", "waited": 10},
        {"answer": "accept, then cut"},
    ),
    "imap": (
        {"answer": "refuse"},
        {"answer": "refuse", "words": "[UNAVAILABLE] later"},
        {"answer": "hang", "waited": 60},
        {"answer": "cut"},
        {"answer": "accept, then cut"},
        {"answer": "accept, then cut"},
    ),
    "dav": (
        {"answer": "status", "status": 503},
        {"answer": "status", "status": 401},
        {"answer": "hang", "waited": 60},
        {"answer": "cut"},
    ),
}

REFUSALS = 2
"""How many of those of a mailbox, the first, are refusals."""

OFTEN = 0.3
"""How many requests of a mailbox go wrong, while some are to: else no login ever went well."""


class Endpoints:
    """What all servers were sent; ``bad`` are the next requests of a kind that go wrong.

    ``good`` are those before them, and ``how`` says what they are answered, or in which words, if
    that is no matter of chance; of a mailbox it says which requests are refused.
    """

    def __init__(self, history: History, lots: random.Random, books: str = "") -> None:
        self.history, self.lots = history, lots
        self.bad: Counter[str] = Counter()
        self.good: Counter[str] = Counter()
        self.how: dict[str, str] = {}
        self.mailboxes = Mailboxes(history, lots)
        self.books = Books(books)

    def misbehave(self, kind: str, times: int, after: int = 0, how: str = "") -> None:
        """Have requests of a kind go wrong, so many after the next ones."""
        self.bad[kind] += times
        self.good[kind], self.how[kind] = after, how
        self.history.add("fault", kind="endpoint", endpoint=kind, times=times, after=after)

    def behave(self) -> None:
        self.bad.clear()
        self.good.clear()

    def _is_bad(self, kind: str) -> bool:
        """Take one of the requests of a kind; tell whether it goes wrong."""
        waiting = self.good if self.good[kind] > 0 else self.bad
        waiting[kind] -= 1
        return waiting is self.bad

    def _bad_answer(self, kind: str) -> dict[str, Any]:
        drawn = self.lots.choice(MISBEHAVIOURS[kind])
        named = (fault for fault in MISBEHAVIOURS[kind] if self.how.get(kind) in fault.values())
        return next(named, drawn)

    def answer(self, kind: str, request: dict[str, Any]) -> dict[str, Any]:
        """Return the answer to a request; what is accepted is written down."""
        if request.get("do") == "open":
            return GOOD
        if kind == "imap":
            return self.mailboxes.answer(request, self._fault_of_mailbox(request["do"]))
        if kind == "dav":
            is_bad = self.bad["dav"] > 0 and self._is_bad("dav")
            fault = self.books.lots.choice(MISBEHAVIOURS["dav"]) if is_bad else None
            return self.books.answer(request, fault)
        if kind == "http" and request["path"].startswith(browsers.PLACE):
            kind = "push"
        answer = GOOD if kind == "smtp" else {"answer": "status", "status": 200, "text": "ok"}
        if self.bad[kind] > 0 and not _is_beat(kind, request) and self._is_bad(kind):
            answer = self._bad_answer(kind)
        accepted = answer["answer"] in ("ok", "accept, then cut") or answer.get("status") == 200
        told = {"endpoint": kind, "answer": answer["answer"], "accepted": accepted}
        self.history.add("received", **told, **_content(kind, request))
        if answer["answer"] == "accept, then cut":
            return {**answer, "answer": "cut"}
        return answer

    def _fault_of_mailbox(self, do: str) -> dict[str, Any] | None:
        wanted = self.how.get("imap")
        if self.bad["imap"] <= 0 or (do != wanted if wanted else self.lots.random() > OFTEN):
            return None
        if not self._is_bad("imap"):
            return None
        return self.lots.choice(MISBEHAVIOURS["imap"][: REFUSALS if wanted else None])


def _is_beat(kind: str, request: dict[str, Any]) -> bool:
    """Tell whether a webhook is sent a beat: these go well, so that what goes wrong is sent."""
    return kind == "http" and b'"complete_until"' in (request["body"] or b"")


def _content(kind: str, request: dict[str, Any]) -> dict[str, Any]:
    if kind == "push":
        notification = browsers.read(request["path"], request["body"])
        return {
            "path": request["path"],
            "host": request["host"],
            "message_id": notification["tag"],
            "payload": notification,
        }
    if kind == "http":
        headers = {name.lower(): value for name, value in request["headers"].items()}
        payload = json.loads(request["body"] or b"null")
        return {
            "path": request["path"],
            "host": request["host"],
            "message_id": headers.get("webhook-id"),
            "payload": payload,
        }
    message = email.message_from_bytes(request["raw"], policy=email.policy.default)
    text = "".join(
        str(part.get_content())
        for part in message.walk()
        if part.get_content_type() == "text/plain"
    )
    as_html = [
        str(part.get_content()) for part in message.walk() if part.get_content_type() == "text/html"
    ]
    names = (
        "Message-ID",
        "Subject",
        "From",
        "To",
        "X-Tapestry-Filter",
        "List-Id",
        "Resent-Message-ID",
    )
    headers = {name: str(message[name]) for name in names if message[name] is not None}
    return {
        "recipient": request["recipients"][0],
        "message_id": headers.get("Message-ID"),
        "payload": {"headers": headers, "text": text, "html": "".join(as_html)},
    }
