"""Forget an audience: its mail in the tables, and what was delivered of it here."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from filters.api import usage
from filters.api.models import KeptAnswer
from filters.authoring.models import Filter, Reminder
from filters.compose.models import OutgoingMessage
from filters.delivery.models import Delivery, Destination, KeptMail
from filters.inbox.appraisal import upkeep as appraisals
from filters.inbox.lists.cards import CopyKey, ensure_cards
from filters.inbox.models import (
    Card,
    FormerMute,
    FormerState,
    Match,
    MessageState,
    Mute,
    TriageStep,
    TriageStepPart,
)
from filters.inbox.triage import steps
from filters.jmap.records import look_again
from filters.people import people
from filters.people.models import Export, RetiredName, User
from filters.reading.models import OutboxAnnotation
from filters.runs import rounds
from filters.runs.models import CompleteUpTo, SetAside
from filters.runs.store.filter_store import DjangoClock
from filters.runs.store.shared_window import begin_again
from filters.runs.store.visibility_loss import drop_invisible, move_states
from filters.site.work import set_aside
from filters.site.work.parts import services
from filters.sources.models import MailboxAct, Source, SyncedFlags
from filters.sources.pull import sync_state
from tapestry.core.clock import BEGINNING, DAY, wall_clock
from tapestry.core.files.file_lock import FOREVER
from tapestry.core.message import check_audience
from tapestry.tables.forget.forget import Forgotten, count_rows
from tapestry.tables.forget.forget import forget as forget_rows


@dataclass(frozen=True, slots=True)
class Report:
    """How many were removed: messages, annotations, originals, matches; sources paused."""

    messages: int
    annotations: int
    originals: int
    matches: int
    paused: int


def forget(audience: str, before: int | None = None) -> Report:
    """Remove an audience's mail for good: all of it, or that of before an instant.

    If all goes, the sources that bring such mail are paused, and what they have read of address
    books and calendars goes too: who resumes one has it read anew.  A match stays if its owner sees
    another copy of the message; it stays, without that evidence, if evidence is removed.  Filters
    begin again; if only old mail goes, the live ones do.  Kept mail of those who see the audience
    goes, or that of before the instant; so do drafts and sent messages that may quote it.
    """
    check_audience(audience)
    paused = matches = 0
    if before is None:
        paused = Source.objects.filter(audience=audience, active=True).update(active=False)

    @contextmanager
    def alone() -> Iterator[None]:
        with appraisals.alone(FOREVER), rounds.all_lanes():  # the lanes wait for no appraisal
            waiting = OutboxAnnotation.objects.filter(audience=audience)
            (waiting if before is None else waiting.filter(created__lt=before)).delete()
            yield

    def then(gone: Forgotten) -> None:
        nonlocal matches
        matches = _forget_in_database(audience, before, gone)

    with _overwriting():
        gone = forget_rows(services.tables(), DjangoClock(), audience, before, alone, then)
    rows = gone.rows
    return Report(rows["messages"], rows["annotations"], rows["originals"], matches, paused)


def count(audience: str, before: int | None = None) -> Report:
    """Return what `forget` would remove now; of matches, those that may go.

    A match stays where its owner sees another copy of its message.
    """
    check_audience(audience)
    rows = count_rows(services.tables(), audience, before)
    sources = Source.objects.filter(audience=audience, active=True)
    return Report(
        rows["messages"],
        rows["annotations"],
        rows["originals"],
        _matches_of(audience, before).count(),
        sources.count() if before is None else 0,
    )


@transaction.atomic
def _forget_in_database(audience: str, before: int | None, gone: Forgotten) -> int:
    """Remove what was made of the rows that are gone; return how many matches were."""
    matches = _forget_deliveries(audience, before, gone.keys)
    _forget_kept_mail(audience, before)
    _forget_written(audience, before)
    look_again(people.readers(audience))
    if gone.is_any:
        set_aside.forget_messages()
        live = Q() if before is None else Q(mode=Filter.Mode.LIVE)
        _begin_again(audience, Filter.objects.filter(live))
        appraisals.count_again(people.readers(audience))
    if before is None:
        CompleteUpTo.objects.filter(audience=audience).delete()
        RetiredName.objects.filter(name=audience, is_kept=False).delete()
        sync_state.forget(audience)
        _forget_quotations(audience)
    return matches


def _forget_quotations(audience: str) -> None:
    """Remove what may quote mail that is gone, here and there, and is kept for days at most.

    Who has left a group is not known: of its mail all that may quote it goes.
    """
    of_group = audience.startswith("group:")
    owners = User.objects.all() if of_group else people.readers(audience)
    if owners.exists():
        Export.objects.filter(owner__in=owners).delete()  # the file goes with the next upkeep
        mailboxes = Destination.objects.filter(owner__in=owners, kind="mailbox")
        Delivery.objects.filter(destination__in=mailboxes).update(answer="")
        answers = KeptAnswer.objects.filter(token__owner__in=owners, status__isnull=False)
        answers.update(status=None, content="")  # nor is the call made again
    tracebacks = SetAside.objects.exclude(traceback="")
    if tracebacks.exists():  # an UPDATE of none would lock them too
        tracebacks.update(traceback="")


def _forget_deliveries(audience: str, before: int | None, keys: frozenset[str]) -> int:
    of_audience = Q(audience=audience)
    cards = Card.objects.filter(of_audience if before is None else of_audience & Q(ts__lt=before))
    if before is None:
        _forget_mutes(audience)
    _forget_states(audience, None if before is None else cards)
    gone = drop_invisible(_matches_of(audience, before))
    cards.delete()
    if keys:
        _forget_evidence(audience, keys)
        usage.forget(keys)
    return gone


def _matches_of(audience: str, before: int | None) -> QuerySet[Match]:
    old = Q() if before is None else Q(card__ts__lt=before) | Q(card=None)
    return Match.objects.filter(old, audience=audience)


def _forget_evidence(audience: str, keys: frozenset[str]) -> None:
    """Remove the evidence that is gone from matches, which are put in words anew."""
    found = Match.objects.exclude(evidence=[], evidence_rows=[])
    for key, evidence, rows in found.values_list("pk", "evidence", "evidence_rows").iterator():
        counts_them = any("names" in row and row["audience"] == audience for row in rows)
        if counts_them or not keys.isdisjoint(evidence):
            Match.objects.filter(pk=key).update(
                evidence=[one for one in evidence if one not in keys],
                evidence_rows=[row for row in rows if row["audience"] != audience],
                refreshed_at=None,
            )


def _forget_states(audience: str, cards: QuerySet[Card] | None) -> None:
    """Remove what people did with messages of an audience: all, or those of the cards.

    It stays, as done with another copy, where they see one.
    """
    states = MessageState.objects.filter(audience=audience)
    reminded = Reminder.objects.filter(audience=audience)
    if cards is not None:
        states = states.filter(msgid__in=cards.values("msgid"))
        reminded = reminded.filter(msgid__in=cards.values("msgid"))
    _forget_steps(audience, None if cards is None else {*cards.values_list("msgid", flat=True)})
    if moved := move_states(reminded) | move_states(states):
        ensure_cards(services.tables(), [CopyKey(*copy) for copy in sorted(moved)])
    states.delete()  # those that moved are of the audience no more
    _forget_named(audience, cards)


def _forget_named(audience: str, cards: QuerySet[Card] | None) -> None:
    """Remove what else names messages of an audience, but of those of which a copy is seen."""
    kept = MessageState.objects.filter(owner=OuterRef("owner"), msgid=OuterRef("msgid"))
    named: tuple[QuerySet[Any], ...] = (
        FormerState.objects.filter(~Exists(kept), audience=audience),
        Reminder.objects.filter(audience=audience),
        MailboxAct.objects.filter(source__audience=audience),
        SyncedFlags.objects.filter(source__audience=audience),
    )
    for rows in named:
        (rows if cards is None else rows.filter(msgid__in=cards.values("msgid"))).delete()


def _forget_mutes(audience: str) -> None:
    """Remove the mutes of conversations of which their owners see nothing in another audience."""
    cards = Card.objects.filter(audience=audience, root=OuterRef("root"))
    mutes: tuple[QuerySet[Any], ...] = (Mute.objects.all(), FormerMute.objects.all())
    for rows in mutes:
        muted = rows.filter(Exists(cards)).select_related("owner")
        gone = [row.pk for row in muted if _gone_of(audience, row.owner, {row.root})]
        rows.filter(pk__in=gone).delete()
    for part in TriageStepPart.objects.select_related("step__owner").order_by("pk"):
        roots = {*part.muted, *(root for root, _ in part.unmuted)}
        if gone_roots := _gone_of(audience, part.step.owner, roots):
            part.muted = [root for root in part.muted if root not in gone_roots]
            part.unmuted = [row for row in part.unmuted if row[0] not in gone_roots]
            part.save(update_fields=["muted", "unmuted"])


def _gone_of(audience: str, owner: User, roots: Collection[str]) -> set[str]:
    """Return the conversations of an audience of which somebody sees nothing in another."""
    cards = Card.objects.filter(root__in=roots)
    others = cards.visible_to(owner).exclude(audience=audience).values("root")
    of_audience = cards.filter(audience=audience).exclude(root__in=others)
    return set(of_audience.values_list("root", flat=True))


def _forget_steps(audience: str, msgids: Collection[str] | None) -> None:
    """Remove from the steps that can be undone what names messages of an audience.

    What else they did can still be undone.  Those that are too old go: they may name anything.
    """
    TriageStep.objects.filter(at__lt=wall_clock() - steps.UNDO).delete()
    for part in TriageStepPart.objects.select_for_update().order_by("pk"):
        states = [
            state
            for state in part.states
            if state[1] != audience or (msgids is not None and state[0] not in msgids)
        ]
        if len(states) < len(part.states):
            part.states = states
            part.save(update_fields=["states"])


def _begin_again(audience: str, which: QuerySet[Filter]) -> None:
    """Let filters that have seen an audience begin again: its removal is no event."""
    begin_again(which.filter(owner__in=people.readers(audience)))


def _forget_kept_mail(audience: str, before: int | None) -> None:
    """Remove the mail that was written to those who see an audience, or saw it then."""
    saw = Q(owner__in=people.readers(audience)) | Q(audiences__contains=f"\n{audience}\n")
    if audience.startswith("group:"):
        saw |= Q(audiences="")  # of an older version: nobody knows
    written = KeptMail.objects.filter(saw)
    (written if before is None else written.filter(at__lt=before)).delete()


def _forget_written(audience: str, before: int | None) -> None:
    """Remove drafts, and the list of what was sent, where they may quote mail of an audience.

    These are all that one person wrote, or the answers to a group.  What is being sent stays.
    """
    kind, _, name = audience.partition(":")
    may_quote = Q(parent_audience=audience)
    if kind == "user":
        may_quote |= Q(owner__username=name)
    written = OutgoingMessage.objects.filter(may_quote).exclude(state=OutgoingMessage.State.QUEUED)
    (written if before is None else written.filter(changed_at__lt=before)).delete()


@contextmanager
def _overwriting() -> Iterator[None]:
    """Have SQLite overwrite what is deleted, and empty its journal afterwards."""
    _ask_sqlite("PRAGMA secure_delete = ON")
    yield
    _ask_sqlite("PRAGMA wal_checkpoint(TRUNCATE)")


def _ask_sqlite(text: str) -> None:
    if connection.vendor == "sqlite" and not connection.in_atomic_block:
        with connection.cursor() as cursor:
            cursor.execute(text)


def forget_old(audience: str, present: int) -> Report:
    """Remove what is older than mail of an audience is kept, by the settings."""
    return forget(audience, max(present - settings.RETENTION[audience] * DAY, BEGINNING))
