"""What a claim is to deliver: its matches, as their owner may see them now, ready to be written."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple
from zoneinfo import ZoneInfo

from django.db.models import QuerySet
from django.utils import timezone

from filters.delivery.contents import links
from filters.delivery.contents.votes import balance, votes_on
from filters.delivery.dispatch.claims import Claim
from filters.delivery.dispatch.scope import matches_in, scopes_of
from filters.delivery.ways.originals import message_fault
from filters.delivery.ways.way import MAIL
from filters.inbox.lists.cards import being_made
from filters.inbox.lists.explanation import EvidenceRow
from filters.inbox.lists.sentences import sentences
from filters.inbox.models import Match
from filters.people import people
from filters.site.work.db.batching import in_batches
from tapestry.deliver.batch import Batch, DeliveredMatch, LaterError

CARDS_BEING_MADE = "Its messages are being made ready. Ask again in a moment."
"""A released match is being copied from the tables again."""


def batches_of(claims: Sequence[Claim]) -> dict[int, Batch]:
    """Return the batch of each claim, by destination; some with the votes.

    A batch has the matches in the claim's range that its owner may see now, in order; of muted
    threads only what has left a list, for programs: it may lie in a mailbox since before.  Raise
    LaterError if one of them is being copied from the tables again.
    """
    scopes = scopes_of({claim.destination: claim.until for claim in claims})
    readers: dict[int, list[Claim]] = defaultdict(list)
    for claim in claims:
        for filter_id in scopes[claim.destination.pk].starts:
            readers[filter_id].append(claim)
    rows: dict[int, dict[int, _Row]] = {claim.destination.pk: {} for claim in claims}
    for found in matches_in(scopes.values()):
        for row in _rows(found):
            for claim in readers[row.filter_id]:
                key = claim.destination.pk
                if scopes[key].has(row.filter_id, row.sequence):
                    rows[key][row.pk] = row
    batches = {claim.destination.pk: _batch(claim, rows[claim.destination.pk]) for claim in claims}
    return batches | _with_votes(claims, batches)


def _batch(claim: Claim, rows: Mapping[int, _Row]) -> Batch:
    owner = claim.destination.owner
    muted = {mute.root for mute in owner.mutes.all()}
    mirrors = claim.destination.way.queue != MAIL
    deliverable = (
        row
        for row in rows.values()
        if (mirrors and row.retracted_at is not None) or row.root not in muted
    )
    matches = _delivered(deliverable, people.audiences(owner), owner.zone)
    return Batch(claim.key, claim.after, claim.until, matches)


def _with_votes(claims: Sequence[Claim], batches: Mapping[int, Batch]) -> dict[int, Batch]:
    """Return the batches of ways that have votes, with the votes that their readers see."""
    audiences = {
        claim.destination.pk: people.audiences(claim.destination.owner)
        for claim in claims
        if claim.destination.way.has_votes
    }
    msgids = {match.msgid for pk in audiences for match in batches[pk].matches}
    votes = votes_on(msgids, {audience for seen in audiences.values() for audience in seen})
    if not votes:
        return {}
    return {
        pk: replace(
            batches[pk],
            matches=tuple(
                replace(match, votes=balance(votes.get(match.msgid, ()), seen))
                for match in batches[pk].matches
            ),
        )
        for pk, seen in audiences.items()
    }


def delivered(
    stored: QuerySet[Match], audiences: Collection[str], zone: ZoneInfo
) -> tuple[DeliveredMatch, ...]:
    """Return released matches as a reader in these audiences is sent them, in order.

    Raise LaterError if one of them is being copied from the tables again.
    """
    return _delivered(_rows(stored), audiences, zone)


class _Row(NamedTuple):
    """A released match as it is stored, with its card and filter."""

    pk: int
    sequence: int
    filter_id: int
    owner: str
    msgid: str
    audience: str
    matched_at: int
    explanation: str
    evidence: list[EvidenceRow]
    retracted_at: int | None
    refreshed_at: int | None
    root: str | None
    subject: str
    sender: str
    sender_name: str
    received: int
    filter_name: str
    filter_title: str
    phrase: str


_FIELDS = (
    *("pk", "sequence", "filter_id", "filter__owner__username", "msgid", "audience"),
    *("matched_at", "explanation"),
    *("evidence_rows", "retracted_at", "refreshed_at"),
    *("card__root", "card__subject", "card__sender", "card__sender_name", "card__received"),
    *("filter__name", "filter__title", "filter__phrase"),
)
"""The fields of a _Row."""


def _rows(stored: QuerySet[Match]) -> Iterator[_Row]:
    return map(_Row._make, stored.values_list(*_FIELDS))


def _explanation(row: _Row, audiences: Collection[str]) -> str:
    """Return why a match is one; what it was found by is not shown once it may be another.

    A message of which that cannot be said in full is set aside, and comes with less.
    """
    if row.refreshed_at is None:
        return row.explanation
    try:
        return "; ".join(sentences(row.evidence, audiences)) or row.explanation
    except Exception as error:
        message_fault(row.msgid, "explanation", error)
        return row.explanation


def _delivered(
    rows: Iterable[_Row], audiences: Collection[str], zone: ZoneInfo
) -> tuple[DeliveredMatch, ...]:
    visible = sorted((row for row in rows if row.audience in audiences), key=_position)
    stale = [row.pk for row in visible if row.refreshed_at is None]
    if any(being_made(batch).exists() for batch in in_batches(Match.objects.all(), stale)):
        raise LaterError(CARDS_BEING_MADE)
    message_url, acts = links.message_urls(), links.acts_of()
    with timezone.override(zone):
        return tuple(
            DeliveredMatch(
                sequence=row.sequence,
                op="insert" if row.retracted_at is None else "delete",
                filter_id=row.filter_id,
                filter_name=row.filter_name,
                filter_title=row.filter_title,
                filter_text=row.phrase,
                msgid=row.msgid,
                audience=row.audience,
                subject=row.subject,
                sender=row.sender,
                sender_name=row.sender_name,
                received=row.received,
                matched_at=row.matched_at if row.retracted_at is None else row.retracted_at,
                explanation=_explanation(row, audiences),
                url=message_url(row.msgid, row.audience),
                links=acts(row.pk, row.owner, row.msgid) if row.retracted_at is None else (),
            )
            for row in visible
            if row.root is not None  # it has a card
        )


def _position(row: _Row) -> int:
    return row.sequence
