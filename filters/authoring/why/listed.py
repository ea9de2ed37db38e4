"""What is stored of a message in a filter of its reader: that it is listed, or why it is not."""

from __future__ import annotations

from collections.abc import Iterator

from filters.authoring.models import Filter
from filters.authoring.why.asking import own_filters
from filters.authoring.why.words import bare, when
from filters.inbox.models import Match
from filters.people import people
from filters.people.models import User
from filters.reading.state import ReadingState
from tapestry.core.clock import BEGINNING, wall_clock
from tapestry.deliver.timing.schedule import HELD


def first_unlisted(reader: User, msgid: str) -> str:
    """Return the name of the first filter of a reader that does not list a message, or ""."""
    listed = Match.objects.filter(
        filter__owner=reader, msgid=msgid, audience__in=people.audiences(reader), retracted_at=None
    )
    others = own_filters(reader).exclude(pk__in=listed.values("filter"))
    return others.values_list("name", flat=True).first() or ""


def stored_words(reader: User, filter_: Filter, msgid: str, state: ReadingState) -> list[str]:
    """Return sentences about the match that is stored of a message in the reader's own filter."""
    if filter_.owner_id != reader.pk:
        return []
    audiences = people.audiences(reader)
    stored = Match.objects.filter(filter=filter_, msgid=msgid, audience__in=audiences).first()
    return list(_of_match(stored, state) if stored else _of_filter(filter_))


def _of_match(match: Match, state: ReadingState) -> Iterator[str]:
    if match.retracted_at is not None:
        yield f"It matched {when(match.matched_at)}, and was let go {when(match.retracted_at)}."
        return
    yield f"It is in this filter: it matched {when(match.matched_at)}."
    if match.shown_at == HELD:
        yield "It is shown once you have read what is there."
    elif match.shown_at > max(match.stored_at, wall_clock()):
        yield f"It is shown {when(match.shown_at)}."
    if state.is_done:
        yield "You are done with it, so it is in no list but “Done”."
    if state.snoozed_until is not None:
        yield f"It is snoozed, and comes back {when(state.snoozed_until)}."
    if state.is_muted:
        yield "Its thread is muted, so it is not in your inbox."


def _of_filter(filter_: Filter) -> Iterator[str]:
    if filter_.error:
        yield f"The filter has stopped: {filter_.error}"
    elif not filter_.active:
        yield "The filter is paused, so it finds nothing now."
    if filter_.mode == Filter.Mode.WAIT:
        yield (
            "The filter waits for your sources: what only the passing of time changes, it finds"
            f" once they are complete, as they are up to {bare(filter_.clock)}."
            if filter_.clock > BEGINNING
            else "The filter waits for your sources, which are not complete up to any time yet."
        )
    if filter_.start is not None:
        yield (
            f"The filter takes what begins to match after {bare(filter_.start)}:"
            " what matched then is left out."
        )
    if filter_.end is not None:
        yield f"What matches later than {bare(filter_.end)} is left out."
