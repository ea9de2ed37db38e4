"""Steps: an action on any number of messages, in batches, and its inverse.

    messages ─ batch ─> rows as they were ─> TriageStepPart ┐ one transaction
                    └─> rows as they are now ───────────────┘

A step that is interrupted has done some of its batches, and can be undone as far as it came.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from django.db import transaction
from django.db.models import Max, Q

from filters.authoring.models import Filter
from filters.inbox.models import (
    Card,
    Match,
    MessageState,
    Mute,
    ThreadPosition,
    TriageStep,
    TriageStepPart,
    keep_former_matches,
    keep_former_states,
    lift_mutes,
)
from filters.inbox.triage.actions import ACTIONS, Action
from filters.people.models import User
from filters.runs.store.schedule import plan_held, replan
from filters.site.work.db.batching import BATCH_SIZE, batched, in_batches
from filters.site.work.db.bulk import update_rows
from tapestry.core.clock import MINUTE, wall_clock

UNDO = 10 * MINUTE
"""For how long a step is kept; pages offer to undo it for ten seconds."""

FIELDS = ("done_at", "starred_at", "snoozed_until", "skipped_at", "pinned_at")


class Target(NamedTuple):
    """A copy of a message that is acted on, as the person saw it, and the root of its thread."""

    msgid: str
    audience: str
    root: str


def begin_step(user: User, action: Action) -> TriageStep:
    """Make a step at an instant of its own; forget those that can no longer be undone."""
    with transaction.atomic():
        _lock(user)
        steps = TriageStep.objects.filter(owner=user)
        steps.filter(at__lt=wall_clock() - UNDO).delete()
        last = steps.aggregate(last=Max("at"))["last"] or 0
        at = max(wall_clock(), last + 1)
        return TriageStep.objects.create(owner=user, at=at, action=action.name)


def act(
    user: User, action: Action, targets: Iterable[Target], until: int | None = None
) -> TriageStep:
    """Do an action on messages, once each; return the step.  ``until`` is for snoozing.

    Where several copies of a message are named, their threads are muted, and the last is kept.
    """
    step = begin_step(user, action)
    for batch in batched(targets):
        with transaction.atomic():
            _lock(user)
            _act_on(step, action, batch, until)
    return step


def undo(user: User, step_id: UUID) -> TriageStep | None:
    """Undo a step of a person, except what they have changed since; None if it is gone.

    What a filter held back while something was unread, and the step let go, waits again unless it
    has been shown meanwhile: of that, mail may have been sent.
    """
    steps = TriageStep.objects.filter(owner=user, at__gte=wall_clock() - UNDO)
    step = steps.filter(pk=step_id).first()
    if step is None:
        return None
    holding: set[int] = set()
    while True:
        with transaction.atomic():
            if ACTIONS[step.action].mutes is not None:
                ThreadPosition.lock()  # no thread is joined meanwhile
            _lock(user)
            part = step.parts.select_for_update().order_by("-pk").first()
            if part is None:
                break
            _restore_states(step, part.states)
            _restore_reads(step, part.reads)
            # Under whatever names they go on by now.
            lift_mutes(Mute.objects.filter(owner=user, step=step.at))
            _make_mutes(user, _named_now(step, part.unmuted))
            holding |= _holding_again(user, part)
            part.delete()
    step.delete()
    if holding:
        replan(Filter.objects.filter(pk__in=holding))
    return step


def _lock(user: User) -> None:
    """Have other steps of a person wait: a state that is not there yet cannot be locked."""
    User.objects.select_for_update(no_key=True).get(pk=user.pk)


def _act_on(step: TriageStep, action: Action, batch: Sequence[Target], until: int | None) -> None:
    messages = {target.msgid: target for target in batch}
    msgids = list(messages)
    values: dict[str, int | None] = {
        field: {"now": step.at, "until": until, None: None}[value] for field, value in action.sets
    }
    part = TriageStepPart(step=step)
    if values:
        part.states = _set_states(step, list(messages.values()), values)
    if action.reads is not None:
        part.reads = _set_read(step, msgids, read=action.reads)
    if action.mutes is not None:
        part.muted = _mute(step, batch) if action.mutes else []
        part.unmuted = [] if action.mutes else _unmute(step, batch)
    part.save()
    TriageStep.objects.filter(pk=step.pk).update(count=step.count + len(messages))
    step.count += len(messages)
    if action.hides or action.reads:
        plan_held(_holding(step.owner, msgids))


def _set_states(
    step: TriageStep, batch: Sequence[Target], values: dict[str, int | None]
) -> list[list[Any]]:
    """Set fields of messages; return the rows that this changed, as they were."""
    msgids = [target.msgid for target in batch]
    stored = MessageState.objects.filter(owner=step.owner, msgid__in=msgids)
    rows = {state.msgid: state for state in stored.select_for_update()}
    before: list[list[Any]] = []
    changed: list[MessageState] = []
    for target in batch:
        state = rows.get(target.msgid)
        changes = _changes(state, values)
        if not changes:
            continue
        was = [None] * len(FIELDS) if state is None else [getattr(state, name) for name in FIELDS]
        at = None if state is None else state.changed_at
        audience = target.audience if state is None else state.audience
        before.append([target.msgid, audience, *was, at])
        state = state or MessageState(owner=step.owner, msgid=target.msgid)
        state.audience, state.changed_at = target.audience, step.at
        for name, value in changes.items():
            setattr(state, name, value)
        changed.append(state)
    keep_former_states(stored.filter(msgid__in=[row[0] for row in before if row[-1] is not None]))
    _save(changed)
    return before


def _changes(state: MessageState | None, values: dict[str, int | None]) -> dict[str, int | None]:
    """Return in what a state differs; what is done, or starred, already stays so since then."""
    changes: dict[str, int | None] = {}
    for name, value in values.items():
        now = None if state is None else getattr(state, name)
        is_set = (now is None) != (value is None)
        if is_set or (name == "snoozed_until" and now != value):
            changes[name] = value
    return changes


def _save(rows: Sequence[MessageState]) -> None:
    MessageState.objects.bulk_create(
        [MessageState(**_columns(row)) for row in rows],
        update_conflicts=True,
        unique_fields=["owner", "msgid"],
        update_fields=["audience", *FIELDS, "changed_at"],
        batch_size=BATCH_SIZE // 8,
    )


def _columns(row: MessageState) -> dict[str, Any]:
    names = ("owner_id", "msgid", "audience", *FIELDS, "changed_at")
    return {name: getattr(row, name) for name in names}


def _set_read(step: TriageStep, msgids: Sequence[str], *, read: bool) -> list[list[Any]]:
    """Make messages read or unread in all filters of a person; return what they were."""
    matches = Match.objects.filter(filter__owner=step.owner, msgid__in=msgids)
    changed = matches.filter(read_at__isnull=read)
    before: list[list[Any]] = [list(row) for row in changed.values_list("pk", "read_at")]
    value = step.at if read else None
    for rows in in_batches(Match.objects.all(), [pk for pk, _ in before]):
        if not read:
            keep_former_matches(rows)
        rows.update(read_at=value)
    return before


def _mute(step: TriageStep, batch: Sequence[Target]) -> list[str]:
    """Mute the threads of messages; return the roots of those that were not muted."""
    roots = _roots(batch)
    stored = Mute.objects.filter(owner=step.owner, root__in=roots)
    new = sorted(roots.difference(stored.values_list("root", flat=True)))
    _make_mutes(step.owner, [(root, step.at) for root in new])
    return new


def _unmute(step: TriageStep, batch: Sequence[Target]) -> list[list[Any]]:
    """Unmute the threads of messages; return the rows of those that were muted."""
    roots = _roots(batch)
    stored = Mute.objects.filter(owner=step.owner, root__in=roots)
    muted = [list(row) for row in stored.values_list("root", "step")]
    lift_mutes(stored)
    return muted


def _roots(batch: Sequence[Target]) -> set[str]:
    """Return the names of threads: mail may have joined them since the messages were looked up.

    What joins them now waits, and finds them muted.
    """
    cards = Card.objects.filter(msgid__in=[target.msgid for target in batch])
    now = {(card.msgid, card.audience): card.root for card in cards.locked()}
    return {now.get(target[:2], target.root) or target.msgid for target in batch}


def _make_mutes(owner: User, rows: Iterable[Sequence[Any]]) -> None:
    """Mute threads, as by the steps that muted them: those can be undone again."""
    now = wall_clock()
    mutes = [Mute(owner=owner, root=root, at=now, step=step) for root, step in rows]
    Mute.objects.bulk_create(mutes, ignore_conflicts=True)


def _named_now(step: TriageStep, rows: Sequence[Sequence[Any]]) -> list[tuple[str, Any]]:
    """Return the roots of threads, and what is said of them, by the names that they go on by."""
    seen = Card.objects.visible_to(step.owner)
    names: dict[str, set[str]] = defaultdict(set)
    was = Q(formerroot__until__gt=step.at, formerroot__root__in=[root for root, _ in rows])
    for before, now in seen.filter(was).values_list("formerroot__root", "root"):
        names[before].add(now)
    return [(root, value) for before, value in rows for root in sorted(names[before] or {before})]


def _restore_states(step: TriageStep, before: Sequence[Sequence[Any]]) -> None:
    """Give rows that no later step has changed the values that they had."""
    was = {row[0]: row for row in before}
    stored = MessageState.objects.filter(owner=step.owner, msgid__in=was, changed_at=step.at)
    rows = list(stored.select_for_update())
    keep_former_states(stored)
    new = [row.pk for row in rows if was[row.msgid][-1] is None]
    MessageState.objects.filter(pk__in=new).delete()
    kept = [row for row in rows if row.pk not in set(new)]
    for row in kept:
        _, row.audience, *values, row.changed_at = was[row.msgid]
        for name, value in zip(FIELDS, values, strict=True):
            setattr(row, name, value)
    _save(kept)


def _restore_reads(step: TriageStep, before: Sequence[Sequence[Any]]) -> None:
    was: dict[int, int | None] = {row[0]: row[1] for row in before}
    made_read = step.at if any(value is None for value in was.values()) else None
    for rows in in_batches(Match.objects.filter(read_at=made_read), was):
        keys = list(rows.values_list("pk", flat=True))
        keep_former_matches(rows)
        update_rows(Match, ("read_at",), ((was[key], key) for key in keys))


def _holding_again(owner: User, part: TriageStepPart) -> set[int]:
    """Return the filters of a person that hold others back while messages of a part are unread."""
    filters = Filter.objects.filter(owner=owner, while_unread=True)
    if not filters.exists():
        return set()
    found = set(_holding(owner, [row[0] for row in part.states]))
    for matches in in_batches(Match.objects.all(), [row[0] for row in part.reads]):
        found.update(matches.filter(filter__in=filters).values_list("filter_id", flat=True))
    return found


def _holding(owner: User, msgids: Sequence[str]) -> list[int]:
    """Return the filters of a person that found some messages and hold others back."""
    filters = Filter.objects.filter(owner=owner, while_unread=True, matches__msgid__in=msgids)
    return list(filters.values_list("pk", flat=True).distinct())
