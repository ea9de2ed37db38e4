"""What a claim is to deliver: its matches, as their owner may see them now, ready to be written."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from zoneinfo import ZoneInfo

from django.db.models import QuerySet
from django.utils import timezone

from filters.accounts import people
from filters.delivery import links
from filters.delivery.claims import Claim, matches_of
from filters.delivery.votes import balance, votes_on
from filters.inbox.sentences import sentences
from filters.models import Destination, Match
from tapestry.deliver.batch import Batch, DeliveredMatch

_FIELDS = (
    *("pk", "sequence", "filter_id", "msgid", "audience", "matched_at", "explanation"),
    *("evidence_rows", "retracted_at"),
    *("card__subject", "card__sender", "card__sender_name", "card__received"),
    *("filter__name", "filter__phrase", "filter__display_tql", "filter__tql"),
)


class CardsBeingMadeError(Exception):
    """A released match is being copied from the tables again: it can be delivered in a moment."""


def batches_of(claims: Sequence[Claim]) -> dict[int, Batch]:
    """Return the batch of each claim, by destination; those of digests with the votes."""
    batches = {claim.destination.pk: batch_of(claim) for claim in claims}
    readers = {
        claim.destination.pk: people.audiences(claim.destination.owner)
        for claim in claims
        if claim.destination.kind == Destination.Kind.DIGEST
    }
    msgids = {match.msgid for pk in readers for match in batches[pk].matches}
    votes = votes_on(msgids, {audience for seen in readers.values() for audience in seen})
    for pk, audiences in readers.items() if votes else ():
        matches = (
            replace(match, votes=balance(votes.get(match.msgid, ()), audiences))
            for match in batches[pk].matches
        )
        batches[pk] = replace(batches[pk], matches=tuple(matches))
    return batches


def batch_of(claim: Claim) -> Batch:
    """Return the matches of a claim, in order; not those of muted threads."""
    owner = claim.destination.owner
    stored = matches_of(claim.destination, claim.after, claim.until)
    if muted := [mute.root for mute in owner.mutes.all()]:
        stored = stored.exclude(card__root__in=muted)
    matches = delivered(stored, people.audiences(owner), people.time_zone(owner))
    return Batch(claim.key, claim.after, claim.until, matches)


def delivered(
    stored: QuerySet[Match], audiences: Collection[str], zone: ZoneInfo
) -> tuple[DeliveredMatch, ...]:
    """Return released matches as a reader in these audiences is sent them, in order.

    Raise CardsBeingMadeError if one of them is being copied from the tables again.
    """
    visible = stored.filter(audience__in=audiences).order_by("sequence")
    if visible.filter(refreshed_at=None).exists():
        raise CardsBeingMadeError
    visible = visible.filter(card__isnull=False)
    message_url, acts = links.message_urls(), links.acts_of()
    with timezone.override(zone):
        return tuple(
            DeliveredMatch(
                sequence=sequence,
                op="insert" if retracted_at is None else "delete",
                filter_id=filter_id,
                filter_name=filter_name,
                filter_text=phrase or display_tql or tql,
                msgid=msgid,
                audience=audience,
                subject=subject,
                sender=sender,
                sender_name=sender_name,
                received=received,
                matched_at=matched_at if retracted_at is None else retracted_at,
                explanation="; ".join(sentences(evidence, audiences)) or explanation,
                url=message_url(msgid, audience),
                links=acts(pk) if retracted_at is None else (),
            )
            for pk, sequence, filter_id, msgid, audience, matched_at, explanation, (
                evidence
            ), retracted_at, subject, sender, sender_name, received, filter_name, phrase, (
                display_tql
            ), tql in visible.values_list(*_FIELDS)
        )
