"""Scores are kept: of new messages, after new votes and replies, and when rules change.

This is incremental view maintenance: the cost follows what is new.

    a card is listed ─> a row that is stale ─┐
    a vote, a reply ──> rows are stale ──────┼─> computed, in batches
    what is gone ─────> rows are stale ──────┤
    other rules ──────> all rows are stale ──┘

Every row that is stale is computed by the next call, whatever interrupted the last one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager
from operator import attrgetter
from time import monotonic

from django.db import transaction
from django.db.models import Exists, F, OuterRef, QuerySet

from filters.inbox.appraisal.rules import Rule, rules_of, signature
from filters.inbox.appraisal.scores import Counts, stored_score
from filters.inbox.models import Appraisal, AppraisalPosition, Appraiser, AppraiserRule, Match
from filters.people import people
from filters.people.models import User
from filters.runs.models import SetAside
from filters.site.work import set_aside
from filters.site.work.db.batching import BATCH_SIZE, batched, in_batches
from filters.site.work.db.bulk import update_rows
from filters.site.work.parts import services
from tapestry.core.annotations import summarize
from tapestry.core.files.site_lock import site_lock
from tapestry.core.message import Annotation
from tapestry.core.schema import ANNOTATIONS, MESSAGES
from tapestry.tables.delta.log import Tables
from tapestry.tables.read.find import by_time
from tapestry.tables.read.messages import lookup

ROWS = 2000
"""Appraisals that are computed in one transaction."""

PERSON, PART = SetAside.Kind.PERSON, "importance"
"""A person whose messages cannot be appraised is set aside, with this part of the key."""

SECONDS = 20.0
"""Seconds after which a call leaves the rest to the next one."""

UNCOUNTED = {"is_stale": True, "votes": None, "replies": None}
"""What an appraisal is whose votes and replies are to be counted."""

_VOTE = ("annid", "msgid", "owner", "kind", "value", "number", "audience")


def add_cards(matches: Collection[int]) -> None:
    """Have the messages of matches that were just listed appraised, for owners who have rules."""
    if not Appraiser.objects.exists():
        return
    for batch in in_batches(Match.objects.order_by(), matches):
        _add(batch.filter(filter__owner__appraiser__isnull=False))


def rules_changed(user: User) -> None:
    """Have all of a person's messages appraised again, by the rules that they have now."""
    with transaction.atomic():
        appraiser, _ = Appraiser.objects.select_for_update().get_or_create(owner=user)
        appraiser.revision += 1
        appraiser.is_ready = appraiser.is_ready and _is_same(appraiser, rules_of(user))
        appraiser.save()


def count_again(owners: QuerySet[User]) -> None:
    """Have votes and replies counted again, as some that these people saw are gone.

    The caller is ``alone``, or what is being computed could bring the old counts back.
    """
    rows = Appraisal.objects.filter(owner__in=owners)
    rows.update(**UNCOUNTED)


def alone(wait: float = 0.0) -> AbstractContextManager[bool]:
    """Have nothing else appraise: yield whether that could be within so many seconds."""
    return site_lock(services.data() / "run" / "appraise.lock", wait=wait)


def appraise(tables: Tables, seconds: float = SECONDS) -> bool:
    """Compute what is stale; return whether anything is left for the next call.

    The caller is ``alone``.  What raises an error is set aside: a person, or one of the messages.
    """
    until = monotonic() + seconds
    if not Appraiser.objects.exists():
        return False
    _note_new_rows(tables)
    aside = set_aside.of(PERSON)
    for appraiser in Appraiser.objects.select_related("owner").order_by("pk"):
        key = f"{appraiser.owner_id}/{PART}"
        if aside.waits(key):
            continue
        with aside.guard(key):
            if _appraise_for(tables, appraiser, until):
                return True
    return False


def why_not(user: User) -> str:
    """Return why the messages of a person are not put in order for now, "" if they are."""
    return set_aside.reason_of(PERSON, f"{user.pk}/{PART}")


def _appraise_for(tables: Tables, appraiser: Appraiser, until: float) -> bool:
    """Compute what is stale of one person; return whether anything is left."""
    rules = rules_of(appraiser.owner)
    if not _begin(appraiser, rules):
        return False
    aside = set_aside.of(SetAside.Kind.APPRAISAL)
    left_out = set(map(int, aside.waiting))

    def compute(rows: Sequence[Appraisal]) -> list[None]:
        _compute(tables, appraiser, rules, rows)
        return []

    while batch := _stale(appraiser, left_out):
        _, failed = aside.apart(compute, batch, attrgetter("pk"))
        left_out.update(row.pk for row in failed)
        if monotonic() > until:
            return True
    same = Appraiser.objects.filter(pk=appraiser.pk, revision=appraiser.revision)
    same.update(is_ready=True)
    return False


def add_missing(user: User) -> int:
    """Add rows for all listed messages of a person that have none; return how many there were."""
    appraised = Appraisal.objects.filter(owner=user, card=OuterRef("card"))
    return _add(
        Match.objects.filter(~Exists(appraised), filter__owner=user, card__isnull=False).order_by()
    )


def _add(matches: QuerySet[Match]) -> int:
    added = 0
    listed = matches.values_list("filter__owner", "card", "card__received").distinct()
    for rows in batched(list(listed.exclude(card=None)), BATCH_SIZE // 5):
        Appraisal.objects.bulk_create(
            (Appraisal(owner_id=owner, card_id=card, received=at) for owner, card, at in rows),
            ignore_conflicts=True,
        )
        added += len(rows)
    return added


def _is_same(appraiser: Appraiser, rules: Sequence[Rule]) -> bool:
    return appraiser.signature == signature(rules) and appraiser.audiences == list(
        people.audiences(appraiser.owner)
    )


def _begin(appraiser: Appraiser, rules: Sequence[Rule]) -> bool:
    """Make all rows stale if they are of other rules or audiences; return whether there are rules.

    Without rules nothing is kept; where some have come meanwhile, the next call sees to them.
    """
    rows = Appraisal.objects.filter(owner=appraiser.owner)
    if not AppraiserRule.objects.filter(owner=appraiser.owner).exists():
        with transaction.atomic():
            same = Appraiser.objects.filter(pk=appraiser.pk, revision=appraiser.revision)
            if same.delete()[0]:
                rows.delete()
        return False
    if _is_same(appraiser, rules):
        return True
    audiences = list(people.audiences(appraiser.owner))
    with transaction.atomic():
        if appraiser.audiences != audiences:
            rows.update(**UNCOUNTED)
        else:
            rows.update(is_stale=True)
        appraiser.signature, appraiser.audiences = signature(rules), audiences
        appraiser.is_ready = False
        appraiser.save(update_fields=["signature", "audiences", "is_ready"])
        add_missing(appraiser.owner)
    return True


def _note_new_rows(tables: Tables) -> None:
    """Make stale what votes and replies concern that came since the last call.

    That is for those who see them: for others nothing has changed.
    """
    files = {name: tables.data_files(name) for name in (MESSAGES, ANNOTATIONS)}
    until = max(data_files.newest for data_files in files.values())
    since = AppraisalPosition.objects.values_list("ts", flat=True).first() or 0
    if until <= since:
        return
    concerned: dict[str, set[str]] = defaultdict(set)
    if Appraisal.objects.exists():
        for table, column in ((MESSAGES, "inreplyto"), (ANNOTATIONS, "msgid")):
            new = by_time(files[table], table, [(since, until)], [column, "audience"])
            for row in () if new is None else new.to_pylist():
                concerned[row["audience"]].add(row[column] or "")
    with transaction.atomic():
        position = AppraisalPosition.lock()
        for audience, named in sorted(concerned.items()):
            theirs = Appraisal.objects.filter(owner__in=people.readers(audience))
            for msgids in batched(sorted(named - {""})):
                theirs.filter(card__msgid__in=msgids).update(**UNCOUNTED)
        position.ts = until
        position.save()


def _stale(appraiser: Appraiser, left_out: Collection[int]) -> list[Appraisal]:
    stale = Appraisal.objects.filter(owner=appraiser.owner, is_stale=True)
    stale = stale.exclude(pk__in=left_out) if left_out else stale
    return list(stale.select_related("card").order_by("pk")[:ROWS])


def _compute(
    tables: Tables, appraiser: Appraiser, rules: Sequence[Rule], rows: Sequence[Appraisal]
) -> None:
    uncounted = {row.card.msgid for row in rows if row.votes is None or row.replies is None}
    counted = counts_of(tables, uncounted, people.audiences(appraiser.owner))
    values = []
    for row in rows:
        counts = counted.get(row.card.msgid) or Counts(row.votes or 0, row.replies or 0)
        score = stored_score(rules, row.card, counts)
        values.append((score, counts.votes, counts.replies, row.card.received, False, row.pk))
    with transaction.atomic():
        update_rows(Appraisal, ("score", "votes", "replies", "received", "is_stale"), values)
        Appraiser.objects.filter(pk=appraiser.pk).update(computed=F("computed") + 1)


def counts_of(
    tables: Tables, msgids: Collection[str], audiences: Collection[str]
) -> dict[str, Counts]:
    """Return the votes and replies of messages that somebody in these audiences may see."""
    if not msgids:
        return {}
    votes: dict[str, list[Annotation]] = defaultdict(list)
    for row in lookup(tables, ANNOTATIONS, "msgid", msgids, audiences, _VOTE):
        votes[row["msgid"]].append(Annotation(**row))
    replies: dict[str, set[str]] = defaultdict(set)
    for row in lookup(tables, MESSAGES, "inreplyto", msgids, audiences, ("msgid", "inreplyto")):
        replies[row["inreplyto"]].add(row["msgid"])
    counts = {}
    for msgid in msgids:
        summary = summarize(votes[msgid])
        balance = len(summary.voted_for) - len(summary.voted_against)
        counts[msgid] = Counts(balance, len(replies[msgid]))
    return counts
