"""Forms of the editor, filled in; a letter to answer; and the outbox as if time had passed."""

from __future__ import annotations

import re
import uuid
from typing import Any

from django.test import Client

from filters.compose.models import OutgoingMessage
from filters.compose.sending import outbox
from filters.runs.store.filter_store import DjangoClock
from tapestry.core.message import PUBLIC
from tapestry.ingest.parse import parse
from tapestry.tables.delta.log import Tables
from tapestry.tables.read.originals import Original
from tapestry.tables.write.append import append_messages

MINE = ("public", "user:alice")
"""What alice may see."""

LETTER = b"""\
From: Mary Jones <mary@x.org>
To: Alice <alice@example.org>, bill@x.org
Cc: al@example.com
Reply-To: Office <office@x.org>
List-Id: <plans.x.org>
List-Post: <mailto:plans@x.org>
Subject: Re: the plan
Message-ID: <letter@x.org>
References: <root@x.org>
In-Reply-To: <root@x.org>
Date: Thu, 01 Jan 2026 10:00:00 +0000

At noon?
-- \nMary
"""


def put(tables: Tables, raw: bytes, audience: str = "user:alice") -> str:
    """Append a message as a source would; return its key."""
    message = parse(raw, "imaps://a@x.org/INBOX", audience).message
    append_messages(tables, DjangoClock(), [message], originals=[Original(raw)])
    return message.msgid


def fields(page: str) -> dict[str, str]:
    """Return the hidden fields of the editor."""
    found = re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', page)
    return {name: value for name, value in found if name != "csrfmiddlewaretoken"}


def typed(**other: Any) -> dict[str, Any]:
    """Return a form of the editor, filled in."""
    return {
        "uid": str(uuid.uuid4()),
        "editor": str(uuid.uuid4()),
        "version": "0",
        "sender": "alice@example.org",
        "to": "mary@x.org",
        "subject": "Lunch",
        "body": "At noon?",
        "do": "send",
        **other,
    }


def answer(browser: Client, letter: str, **other: Any) -> OutgoingMessage:
    """Send a reply off, as its page would."""
    page = browser.get("/compose/", {"id": letter, "way": "reply"}).content.decode()
    form = typed(**fields(page), **{"to": "office@x.org", "subject": "Re: the plan", **other})
    answered = browser.post("/compose/", form)
    row = OutgoingMessage.objects.get(uid=form["uid"])
    assert answered["Location"] == row.get_absolute_url(), answered.content.decode()
    return row


def send_due() -> None:
    """Send what was sent off, as if the ten seconds were over."""
    OutgoingMessage.objects.filter(due_at__isnull=False).update(due_at=1)
    for key in outbox.due():
        outbox.send(key)


def public(tables: Tables, raw: bytes) -> str:
    return put(tables, raw, PUBLIC)


def rows_of(tables: Tables) -> list[dict[str, Any]]:
    """Return all stored messages."""
    return tables.open("messages").to_pyarrow_table().to_pylist()
