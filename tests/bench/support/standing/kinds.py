"""Nine kinds of standing queries: SQL with constants, and the first instant of a match.

The instants are worked out for each kind by hand, without the product: by its rows, and by what
an instant later can change.  ``None`` means that a message never matches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from tapestry.core.clock import HOUR
from tests.bench.support.standing.stream import Message, Stream, latest

Instant = int | None


@dataclass(frozen=True, slots=True)
class Kind:
    """A template ``sql`` with a person or topic ``{0}`` and a number ``{1}`` from a range.

    ``keys`` gives the people or topics for which a message could match.
    """

    about: str
    numbers: range
    sql: str
    keys: Callable[[Stream, Message], Iterable[str]]
    instant: Callable[[Stream, Message, str, int], Instant]


def _sender(_: Stream, m: Message) -> tuple[str]:
    return (m.sender,)


def _topic(_: Stream, m: Message) -> tuple[str]:
    return (m.topic,)


def _repliers(stream: Stream, m: Message) -> set[str]:
    return {reply.sender for reply in stream.replies[m.msgid]}


def _sender_above(stream: Stream, m: Message) -> set[str]:
    return {stream.by_msgid[m.parent].sender} if m.parent else set()


def _written(_: Stream, m: Message, _key: str, _number: int) -> Instant:
    return m.ts


def _replied(stream: Stream, m: Message, key: str, _: int) -> int:
    first = min(reply.ts for reply in stream.replies[m.msgid] if reply.sender == key)
    return max(m.ts, first)


def _answer(stream: Stream, m: Message, _key: str, _number: int) -> Instant:
    return max(m.ts, stream.by_msgid[m.parent].ts) if m.parent else None


def _unanswered(stream: Stream, m: Message, _: str, hours: int) -> Instant:
    old = m.ts + hours * HOUR
    replies = stream.replies[m.msgid]
    return old if not replies or replies[0].ts > old else None


def _silent(stream: Stream, m: Message, _: str, hours: int) -> Instant:
    """Return the end of the first silence: no reply within it, its beginning left out."""
    replies = [reply.ts for reply in stream.replies[m.msgid]]
    for begin in [m.ts, *(ts for ts in replies if ts > m.ts)]:
        if latest(replies, begin + hours * HOUR) == latest(replies, begin):
            return begin + hours * HOUR
    return None


def _ignored(stream: Stream, m: Message, key: str, hours: int) -> Instant:
    both = max(_replied(stream, m, key, hours), m.ts + hours * HOUR)
    votes = stream.votes_on[m.msgid]
    return both if not votes or votes[0].ts > both else None


def _popular(stream: Stream, m: Message, _: str, more_than: int) -> Instant:
    owners: set[str] = set()
    for vote in stream.votes_on[m.msgid]:
        owners.add(vote.owner)
        if len(owners) > more_than:
            return max(m.ts, vote.ts)
    return None


def _rising(stream: Stream, m: Message, _: str, more_than: int) -> Instant:
    votes = [vote.ts for vote in stream.votes_on[m.msgid]]
    for at in [m.ts, *(ts for ts in votes if ts > m.ts)]:
        if latest(votes, at) - latest(votes, at - 6 * HOUR) > more_than:
            return at
    return None


def _returned(stream: Stream, m: Message, _key: str, _number: int) -> Instant:
    return min(
        (
            max(m.ts, reply.ts, again.ts)
            for reply in stream.replies[m.msgid]
            for again in stream.replies[reply.msgid]
            if again.sender == m.sender
        ),
        default=None,
    )


_OLD = "m.ts <= CURRENT_TIMESTAMP - INTERVAL '{1}' HOUR"

KINDS = {
    "written": Kind(
        "person",
        range(1),
        "SELECT m.msgid FROM messages m WHERE m.sender = '{0}'",
        _sender,
        _written,
    ),
    "replied": Kind(
        "person",
        range(1),
        "SELECT m.msgid FROM messages m, messages r "
        "WHERE r.inreplyto = m.msgid AND r.sender = '{0}'",
        _repliers,
        _replied,
    ),
    "answer": Kind(
        "person",
        range(1),
        "SELECT m.msgid FROM messages m, messages p "
        "WHERE m.inreplyto = p.msgid AND p.sender = '{0}'",
        _sender_above,
        _answer,
    ),
    "unanswered": Kind(
        "topic",
        range(1, 25),
        f"SELECT m.msgid FROM messages m WHERE m.list = '{{0}}' AND {_OLD} "
        "AND NOT EXISTS (SELECT * FROM messages r WHERE r.inreplyto = m.msgid)",
        _topic,
        _unanswered,
    ),
    "silent": Kind(
        "topic",
        range(1, 25),
        f"SELECT m.msgid FROM messages m WHERE m.list = '{{0}}' AND {_OLD} "
        "AND NOT EXISTS (SELECT * FROM messages r WHERE r.inreplyto = m.msgid "
        "AND r.ts > CURRENT_TIMESTAMP - INTERVAL '{1}' HOUR)",
        _topic,
        _silent,
    ),
    "ignored": Kind(
        "person",
        range(1, 13),
        "SELECT m.msgid FROM messages m, messages r "
        f"WHERE r.inreplyto = m.msgid AND r.sender = '{{0}}' AND {_OLD} "
        "AND NOT EXISTS (SELECT * FROM annotations a WHERE a.msgid = m.msgid AND a.kind = 'vote')",
        _repliers,
        _ignored,
    ),
    "popular": Kind(
        "topic",
        range(1, 8),
        "SELECT m.msgid FROM messages m WHERE m.list = '{0}' AND (SELECT COUNT(DISTINCT a.owner) "
        "FROM annotations a WHERE a.msgid = m.msgid AND a.kind = 'vote') > {1}",
        _topic,
        _popular,
    ),
    "rising": Kind(
        "topic",
        range(1, 5),
        "SELECT m.msgid FROM messages m WHERE m.list = '{0}' AND (SELECT COUNT(*) "
        "FROM annotations a WHERE a.msgid = m.msgid AND a.kind = 'vote' "
        "AND a.ts > CURRENT_TIMESTAMP - INTERVAL '6' HOUR) > {1}",
        _topic,
        _rising,
    ),
    "returned": Kind(
        "person",
        range(1),
        "SELECT m.msgid FROM messages m, messages r, messages b WHERE m.sender = '{0}' "
        "AND r.inreplyto = m.msgid AND b.inreplyto = r.msgid AND b.sender = m.sender",
        _sender,
        _returned,
    ),
}
