"""Tasks of the worker: scores of importance are kept, searches answered."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import partial
from typing import Any

from celery import Task
from django.conf import settings

from filters.authoring.models import Filter
from filters.inbox.appraisal import upkeep
from filters.inbox.search.reading import parts_asked, searches_asked
from filters.inbox.search.searches import SEARCHES, listed, question
from filters.inbox.search.states import in_states
from filters.people import people
from filters.people.models import User
from filters.runs.store.filter_store import latest_instant
from filters.site.work.parts import services
from filters.site.work.queues.answers import EXPIRES, IsWanted
from filters.site.work.queues.queue import APPRAISE, send
from tapestry.celery import app
from tapestry.core.clock import wall_clock
from tapestry.core.errors import TapestryError


@app.task(name=APPRAISE, ignore_result=True)
def appraise() -> None:
    """Compute the scores that are stale; what is left then is asked for at once."""
    with upkeep.alone() as acquired:
        left = acquired and upkeep.appraise(services.tables())
    if left:
        send(appraise, (), otherwise="The rest is appraised by the clock")


@app.task(name="filters.search", bind=True, ignore_result=True, expires=EXPIRES, needs_room=False)
def search(self: Task, text: str, user_id: int, filter_id: int | None = None) -> None:
    """Keep all that matches a text now, for the user who searches; of one filter's list if given.

    It ends after ``PREVIEW_SECONDS``, or when nobody waits for it any more.
    """
    user = User.objects.get(pk=user_id)
    within = Filter.objects.filter(owner=user, pk=filter_id).first() if filter_id else None

    def compute(is_wanted: IsWanted) -> dict[str, Any]:
        if filter_id and within is None:
            raise TapestryError("That filter is not there any more.")
        return search_for(user, text, within, is_wanted)

    SEARCHES.answer_to(self.request.id, user_id, question(text, within), compute)


def search_for(
    user: User, text: str, within: Filter | None, is_wanted: IsWanted = lambda: True
) -> dict[str, Any]:
    """Return all messages that a search finds now and that a user may see, by ``received``."""
    from tapestry.run.ask import Question, find, newest_first

    audiences = people.audiences(user)
    among = None if within is None else listed(user, within)

    def found(filter_text: str, among: Collection[str] | None) -> list[str]:
        context, at = people.context(user), latest_instant()
        asked = Question(filter_text, context, audiences, at, seconds=settings.PREVIEW_SECONDS)
        engine = partial(services.unproven_engine_on, is_wanted=is_wanted)
        return find(engine, services.tables(), asked, among)

    def found_by(asked: str) -> Iterator[list[str]]:
        searched, states, beside = parts_asked(asked)
        wanted, unwanted = in_states(user, states)
        limits = [msgids for msgids in (among, wanted) if msgids is not None]
        msgids = found(searched, set.intersection(*limits) if limits else None)
        yield [msgid for msgid in msgids if msgid not in unwanted]
        if beside is not None:
            yield found(beside, among)

    lists = [msgids for asked in searches_asked(text) for msgids in found_by(asked)]
    msgids = lists[0]
    if len(lists) > 1:
        msgids = newest_first(services.tables(), list(set().union(*lists)), audiences)
    return {"msgids": msgids, "audiences": audiences, "at": wall_clock()}


def start_search(text: str, user_id: int, within: Filter | None) -> str:
    """Ask the worker what matches a text now; return the task's id."""
    filter_id = None if within is None else within.pk
    return SEARCHES.start(search, user_id, question(text, within), text, user_id, filter_id)
