"""What queries ask of Emails: words of their records, and columns of their messages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from django.db.models import Q, QuerySet

from filters.compose.models import OutgoingMessage
from filters.jmap.letters import raw_of
from filters.jmap.models import JmapAccount, JmapRecord
from filters.jmap.protocol import MethodError
from filters.jmap.records import TAG
from filters.people import people
from filters.site.work.db.batching import batched
from filters.site.work.parts import services
from tapestry.core.schema import MESSAGES
from tapestry.servers.imap_flags import is_tag
from tapestry.tables.read.messages import lookup

Emails = QuerySet[JmapRecord]

MOST_READ = 2000
"""Messages that are read one by one for a condition on their text."""


def has_word(word: str) -> Q:
    """Return the condition that an Email is in a mailbox, or has a keyword, of a name."""
    return Q(value__contains=f" {word} ")


def keyword_word(text: str) -> str:
    """Return the word of a keyword; one that could be none is like one that nothing has."""
    if is_tag(text):
        return f"{TAG}{text.lower()}"
    return text.lower() if re.fullmatch(r"\$[a-zA-Z]{1,50}", text) else "$"


def columns_of(
    account: JmapAccount, rows: Sequence[JmapRecord], columns: Sequence[str]
) -> Iterator[tuple[int, list[Any]]]:
    """Yield the key of each Email, and what columns of the messages' table have of it."""
    for email in rows:
        if email.letter is not None:
            yield email.pk, _columns_of_letter(email.letter, columns)
    audiences = people.audiences(account.owner)
    keys = {(row.card.msgid, row.card.audience): row.pk for row in rows if row.card is not None}
    wanted = ("msgid", "audience", *columns)
    for batch in batched({msgid for msgid, _ in keys}):
        for row in lookup(services.tables(), MESSAGES, "msgid", batch, audiences, wanted):
            if (key := keys.get((row["msgid"], row["audience"]))) is not None:
                yield key, [row[column] for column in columns]


def _columns_of_letter(letter: OutgoingMessage, columns: Sequence[str]) -> list[Any]:
    owner = letter.owner
    known = {name: getattr(letter, name) for name in ("subject", "sender", "to", "cc", "body")}
    known["sender_name"] = owner.get_full_name() or owner.get_username()
    return [len(raw_of(letter)) if name == "size" else known[name] for name in columns]


def few(emails: Emails, use: str = "filter") -> list[JmapRecord]:
    """Return Emails that are read one by one; MethodError where there are too many."""
    rows = list(emails[: MOST_READ + 1])
    if len(rows) > MOST_READ:
        raise MethodError(
            f"unsupported{'Filter' if use == 'filter' else 'Sort'}",
            f"At most {MOST_READ:,} messages are read for this {use}: narrow it in the same"
            " condition, by mailbox or instant.",
        )
    return rows
