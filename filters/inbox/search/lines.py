"""What a page of results shows of each message, the words searched for marked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.safestring import SafeString

from filters.inbox.search.highlights import Highlights, highlight
from filters.inbox.search.standing import Standing, standings
from filters.people import people
from filters.people.models import User
from filters.site.work.parts import services
from tapestry.core.schema import MESSAGES
from tapestry.deliver.one_line import one_line
from tapestry.tables.delta.log import Tables
from tapestry.tables.read.messages import (
    CARD,
    Card,
    card_of,
    lookup,
    narrowest_by_msgid,
    same_message_id,
)


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the results: ``sender`` and ``subject`` are HTML, ``who`` is the sender as text.

    It shows the copy for ``audience``, the narrowest that its reader may see.
    ``excerpt``: what stands around the first word found in the body; empty if the line shows one
    already.  ``shares_id``: another message that the reader may see has the same Message-ID.
    ``standing``: where the message is in the reader's lists.
    """

    card: Card
    audience: str
    who: str
    sender: SafeString
    subject: SafeString
    excerpt: SafeString
    shares_id: bool
    standing: Standing


BEFORE, AFTER = 40, 200
"""Characters of a body that an excerpt shows around a word."""


def lines(user: User, msgids: Sequence[str], marked: Highlights) -> list[Line]:
    """Return the lines of those of some messages that a user may see now."""
    tables, audiences = services.tables(), people.audiences(user)
    rows = lookup(tables, MESSAGES, "msgid", msgids, audiences, (*CARD, "audience"))
    visible = narrowest_by_msgid(rows)
    shared = same_message_id(tables, list(visible), audiences)
    unmarked = [msgid for msgid, row in visible.items() if not _shows_word(row["subject"], marked)]
    standing = standings(user, list(visible))
    excerpts = _excerpts(tables, unmarked, audiences, marked.get("body"))
    return [
        _line(
            card_of(visible[msgid]),
            visible[msgid]["audience"],
            marked,
            excerpts.get(msgid, SafeString()),
            shares_id=msgid in shared,
            standing=standing.get(msgid, Standing()),
        )
        for msgid in msgids
        if msgid in visible
    ]


def _shows_word(subject: str | None, marked: Highlights) -> bool:
    pattern = marked.get("subject")
    return pattern is not None and pattern.search(subject or "") is not None


def _excerpts(
    tables: Tables, msgids: Sequence[str], audiences: Sequence[str], pattern: re.Pattern[str] | None
) -> dict[str, SafeString]:
    """Return what stands around the first word found in the bodies, of the narrowest copies."""
    if pattern is None or not msgids:
        return {}
    columns = ("msgid", "audience", "body")
    rows = narrowest_by_msgid(lookup(tables, MESSAGES, "msgid", msgids, audiences, columns))
    bodies = {msgid: row["body"] or "" for msgid, row in rows.items()}
    found = {msgid: pattern.search(body) for msgid, body in bodies.items()}
    return {
        msgid: highlight(_around(bodies[msgid], *word.span()), pattern)
        for msgid, word in found.items()
        if word is not None
    }


def _around(body: str, start: int, end: int) -> str:
    r"""Return a piece of a body on one line, from the beginning of a word.

    >>> _around("Dear all,\nthe table is booked. Yours", 14, 19)
    'Dear all, the table is booked. Yours'
    """
    before = body[max(0, start - BEFORE) : start]
    if start > BEFORE:
        before = "…" + before.partition(" ")[2]
    return one_line(before + body[start : end + AFTER], AFTER)


def _line(
    card: Card,
    audience: str,
    marked: Highlights,
    excerpt: SafeString,
    *,
    shares_id: bool,
    standing: Standing,
) -> Line:
    who = card.sender_name or card.sender or "(nobody)"
    column = "sender_name" if card.sender_name else "sender"
    return Line(
        card,
        audience,
        who,
        highlight(who, marked.get(column)),
        highlight(card.subject or "(no subject)", marked.get("subject") if card.subject else None),
        excerpt,
        shares_id,
        standing,
    )
