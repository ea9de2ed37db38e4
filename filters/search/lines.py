"""What a page of results shows of each message, the words searched for marked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.utils.safestring import SafeString

from filters.accounts import people
from filters.runtime import services
from filters.search.highlights import Highlights, highlight
from tapestry.tables.read import Card, cards, same_message_id


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the results: ``sender`` and ``subject`` are HTML, ``who`` is the sender as text.

    ``shares_id``: another message that the reader may see has the same Message-ID.
    """

    card: Card
    who: str
    sender: SafeString
    subject: SafeString
    shares_id: bool


def lines(user: User, msgids: Sequence[str], marked: Highlights) -> list[Line]:
    """Return the lines of those of some messages that a user may see now."""
    tables, audiences = services.tables(), people.audiences(user)
    visible = cards(tables, msgids, audiences)
    shared = same_message_id(tables, list(visible), audiences)
    return [
        _line(visible[msgid], marked, shares_id=msgid in shared)
        for msgid in msgids
        if msgid in visible
    ]


def _line(card: Card, marked: Highlights, *, shares_id: bool) -> Line:
    who = card.sender_name or card.sender or "(nobody)"
    column = "sender_name" if card.sender_name else "sender"
    return Line(
        card,
        who,
        highlight(who, marked.get(column)),
        highlight(card.subject or "(no subject)", marked.get("subject") if card.subject else None),
        shares_id,
    )
