"""The life of a filter: it is installed, changed, paused, resumed and deleted."""

from __future__ import annotations

import re
from collections.abc import Collection
from itertools import chain, count
from typing import Literal

from django.db import transaction
from django.utils.text import slugify

from filters.authoring.acts import NO_ACTS, Acts, set_acts
from filters.authoring.compilation.ahead import Ahead, Change, Definition
from filters.authoring.compilation.dependents import (
    has_dependents,
    leave_pending_window,
    present,
    recompile,
    recompile_dependents,
    store_references,
)
from filters.authoring.compilation.understanding import (
    FilterName,
    Understood,
    track_references,
    understand,
)
from filters.authoring.models import Filter, as_title
from filters.delivery.models import Destination
from filters.inbox.models import Match, keep_former_matches
from filters.people import budgets, people
from filters.people.models import User
from filters.runs.store.acts import act_on_found, let_go
from filters.runs.store.mailbox_outbox import leave
from filters.runs.store.schedule import replan
from filters.runs.store.shared_window import detach
from filters.runs.store.subscriptions import choose_destinations
from filters.runs.store.waiting import begin_as_it_waits
from tapestry.core.clock import BEGINNING
from tapestry.core.errors import TapestryError

LONGEST_NAME = 60
NAME_TAKEN = "You already have a filter of that short name; choose another."


class NameTakenError(TapestryError):
    """Its owner has another filter of a name, perhaps since a moment ago."""


def install(
    owner: User,
    text: str,
    *,
    name: str = "",
    title: str = "",
    existing: bool = True,
    timeliness: str = "",
    while_unread: bool = False,
    visibility: str = Filter.Visibility.PRIVATE,
    mode: str = "",
    start: int | None = None,
    end: int | None = None,
    destinations: Collection[Destination] = (),
    active: bool = True,
    acts: Acts = NO_ACTS,
) -> Filter:
    """Install a filter, with existing mail or from now on; call it by its phrase if need be.

    The name is made of the title, and the title of the name, where only one is given.
    Not with existing mail, it may begin at an instant ``start`` that is past, as one did elsewhere.
    What matches after the instant ``end`` is not kept; None has no end.  What it finds is sent to
    the ``destinations``, and to those that take all filters.  Unless ``active``, it is paused.
    It acts on what it finds as ``acts`` says.
    Raises TapestryError where the text is not a filter, or the name (NameTakenError) that of
    another; ValidationError for a bad name.
    """
    budgets.require_room(owner, "filters")
    context, references = track_references(people.context(owner, name or None))
    understood = understand(text, context)
    title = title or name or title_of(understood.phrase or "Filter")
    made = Filter(
        owner=owner,
        name=name or free_name(owner, title),
        title=title,
        timeliness=timeliness,
        while_unread=while_unread,
        visibility=visibility,
        mode=mode or Filter.Mode.KEEP,
        end=end,
        active=active,
        acts=acts.names,
        acts_a_day=acts.a_day,
        acts_label=acts.label,
        acts_keyword=acts.keyword,
        acts_folder=acts.folder,
        acts_since=present() if acts.names and not acts.on_existing else None,
    )
    made.full_clean(exclude=["text"], validate_unique=False, validate_constraints=False)

    def instant() -> int | None:  # the clock is asked only if needed: it takes as long as the rest
        return present() if not existing or has_dependents(full_name(made)) else None

    def for_others() -> Change:
        new = (name or free_name(owner, title), understood.text, made.visibility)
        return Change.of_filter(owner, None, new)

    ahead = Ahead()
    # Under this lock nobody else gives or changes a name, or a text.
    with ahead.locked(for_others, instant) as at:
        made.name = name or free_name(owner, title)
        _require_free_name(made)
        if references:  # they may have changed meanwhile
            understood = understand(text, context)
        _begin(made, understood, None if existing else at)
        if at is not None and not existing and start is not None:
            made.begin(min(start, at))
            made.begun_at = at
        made.fold()
        made.save()
        store_references(made, references)
        recompile_dependents([full_name(made)], at, ahead)
        if destinations:
            choose_destinations(made, destinations)
    return made


def change(
    changed: Filter,
    text: str,
    *,
    existing: bool | None = None,
    name: str = "",
    title: str = "",
    timeliness: str | None = None,
    while_unread: bool | None = None,
    visibility: str = "",
    mode: str = "",
    end: int | Literal["as before"] | None = "as before",
    forget: bool = False,
    acts: Acts | None = None,
) -> None:
    """Change a filter, and from this moment on those that refer to it.

    Another text, another mode, or ``existing`` (True: begin with existing mail; False: from
    now on) starts it again; what it has delivered stays, and is not delivered again.  A run of
    the old text that is under way can no longer be stored; a pending window keeps what that text
    has not been run over.  With ``forget`` it starts as if it were new: nothing that it has
    delivered stays.  A live filter is as if it had always had the new text: the next run
    retracts what no longer matches; if its mode becomes KEEP, all that was retracted returns.
    Given another ``end``, a filter that has stopped at its end goes on from there; a live one that
    means something else since then begins again.  One that failed, and does not start again, is
    tried again from its watermark.  One called by its phrase is called by the new one then, unless
    another ``title`` is given.  Given another ``timeliness``, or ``while_unread``, what waits
    is planned anew; "" is the owner's default.  Given other ``acts``, or if it starts again, it
    acts on what it finds from now on; on all that it has found and finds, if they say so.
    Raises TapestryError where the text is not a filter, or the name is that of another, or the
    filter was deleted meanwhile.
    """
    context, references = track_references(people.context(changed.owner, name or changed.name))
    understood = understand(text, context)
    ahead, text = Ahead(), understood.text

    def for_others() -> Change:
        stored = _stored(changed)
        if stored is None:
            return Change()
        new = (name or stored.name, text, visibility or stored.visibility)
        return Change.of_filter(stored.owner, _definition(stored), new)

    with ahead.locked(for_others, present) as at:
        detached = _lock_detached(changed)
        if detached is None:
            raise TapestryError("The filter was deleted meanwhile.")
        if references:  # as in install
            understood = understand(text, context)
        text = understood.text
        before = (full_name(detached), detached.text, detached.visibility)
        modes = {detached.mode, mode or detached.mode}
        has_ended = detached.has_ended
        new_end = detached.end if end == "as before" else end
        goes_on = has_ended and new_end != detached.end
        restarts = existing is not None or text != detached.text or len(modes) > 1
        restarts |= goes_on and detached.is_live and understood.tql != detached.tql
        was_called = title_of(detached.phrase or "Filter")
        if text != detached.text and was_called == detached.title == (title or detached.title):
            title = title_of(understood.phrase or "Filter")
        detached.name = name or detached.name
        _require_free_name(detached)
        if restarts or forget:
            start = _restart(detached, existing, at, live=Filter.Mode.LIVE in modes)
            if forget:
                let_go(detached.matches.all())
                detached.matches.all().delete()
                detached.pending_windows.all().delete()
                detached.since, detached.existing_until = BEGINNING, None
            elif Filter.Mode.LIVE not in modes:
                leave_pending_window(detached, at)
            elif mode and mode != Filter.Mode.LIVE:
                leave_pending_window(detached, at)
                retracted = detached.matches.filter(retracted_at__isnull=False)
                keep_former_matches(retracted)
                retracted.update(retracted_at=None, sequence=None)
            else:
                detached.pending_windows.all().delete()
            if forget or len(modes) > 1:
                detached.waits_from = None
            _begin(detached, understood, start)
            detached.mode = mode or detached.mode
            detached.revision += 1
            if forget:
                detached.fold()
        elif detached.error:
            _try_again(detached, at)
        detached.title = title or detached.title
        choices = (detached.timeliness, detached.while_unread)
        if timeliness is not None:
            detached.timeliness = timeliness
        if while_unread is not None:
            detached.while_unread = while_unread
        detached.visibility = visibility or detached.visibility
        acts_anew = set_acts(detached, acts, at, restarts=restarts or forget)
        detached.active |= goes_on
        detached.end = new_end
        detached.save()
        if choices != (detached.timeliness, detached.while_unread):
            replan(Filter.objects.filter(pk=detached.pk))
        if acts_anew:
            act_on_found(detached)
        store_references(detached, references)
        if before != (full_name(detached), detached.text, detached.visibility):
            recompile_dependents({before[0], full_name(detached)}, at, ahead)
        changed.refresh_from_db()


@transaction.atomic
def pause(running: Filter) -> None:
    """Stop running a filter; its watermark stays."""
    rows = Filter.objects.filter(pk=running.pk)
    detach(rows)
    rows.update(active=False)


def resume(paused: Filter) -> None:
    """Run a filter again from its watermark; one that failed is compiled again.

    One that was deleted meanwhile stays so.
    """
    at = present()
    with transaction.atomic():
        detached = _lock_detached(paused)
        if detached is not None:
            detached.active = True
            _try_again(detached, at)


def delete(doomed: Filter, *, undo: bool = False) -> None:
    """Delete a filter and its matches; filters that refer to it have an error then.

    ``undo``: what it did is undone first, but for what its owner changed since.
    """
    ahead = Ahead()

    def for_others() -> Change:
        stored = _stored(doomed)
        return Change.of_filter(stored.owner, _definition(stored), None) if stored else Change()

    with ahead.locked(for_others, present) as at:
        locked = _lock_detached(doomed)  # what a run is storing is there by then, to be deleted
        if locked is not None:
            name = full_name(locked)
            if undo:
                let_go(locked.matches.all(), Match.OWN)
            leave(Filter.objects.filter(pk=locked.pk))
            locked.delete()
            recompile_dependents([name], at, ahead)


def title_of(phrase: str) -> str:
    """Return what a filter is called that was given no name: one line.

    >>> title_of("replies by Jones")
    'Replies by Jones'
    """
    title = as_title(phrase) or "Filter"
    return title[0].upper() + title[1:]


def free_name(owner: User, title: str) -> str:
    """Return a name made of a title's words that this owner has not used yet.

    Letters lose their accents; a title in another script than the Latin one gives ``filter``.
    """
    spaced = re.sub(r"[^\w]+", " ", re.sub("['’]", "", title))
    stem = re.sub(r"[^a-z0-9]+", "-", slugify(spaced)).strip("-")[: LONGEST_NAME - 4].strip("-")
    stem = stem or "filter"
    alike = owner.filters.filter(name__startswith=stem)
    used = set(alike.values_list("name", flat=True))
    candidates = (f"{stem}-{number}" for number in count(2))
    return next(name for name in chain([stem], candidates) if name not in used)


def full_name(of: Filter) -> FilterName:
    """Return the owner and the name by which a filter is referred to."""
    return of.owner.get_username().lower(), of.name


def _stored(known: Filter) -> Filter | None:
    """Return a filter as it is stored now; None if it was deleted."""
    return Filter.objects.select_related("owner").filter(pk=known.pk).first()


def _definition(of: Filter) -> Definition:
    return of.name, of.text, of.visibility


def _require_free_name(named: Filter) -> None:
    """Raise NameTakenError if another filter of its owner has the name of this one."""
    if named.owner.filters.filter(name=named.name).exclude(pk=named.pk).exists():
        raise NameTakenError(NAME_TAKEN)


def _lock_detached(changing: Filter) -> Filter | None:
    """Detach a filter that is about to change from the shared window, lock it and read it.

    Return None if it was deleted.
    """
    detach(Filter.objects.filter(pk=changing.pk))
    return Filter.objects.select_for_update().filter(pk=changing.pk).first()


def _try_again(filter_: Filter, at: int) -> None:
    """Have a filter that failed run from its watermark, and what its older texts left to run."""
    recompile(filter_, at)
    filter_.pending_windows.update(error="")


def _restart(filter_: Filter, existing: bool | None, at: int, *, live: bool) -> int | None:
    """Return the T0 of a filter that starts again at an instant; a live one may keep its own."""
    had_existing = filter_.start is None
    existing = had_existing if existing is None else existing
    if live and existing == had_existing:
        return filter_.start
    return None if existing else max(filter_.since, at)


def _begin(filter_: Filter, understood: Understood, start: int | None) -> None:
    """Give a filter its text; ``start`` is T0, None takes existing mail."""
    filter_.text = understood.text
    filter_.phrase = understood.phrase or ""
    filter_.tql = understood.tql
    filter_.display_tql = understood.display_tql
    filter_.error = ""
    begin_as_it_waits(filter_, start)
