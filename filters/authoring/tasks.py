"""The worker's tasks for those who write a filter or import some, while they wait."""

from __future__ import annotations

import json
import zlib
from base64 import b64decode, b64encode
from collections.abc import Sequence
from functools import partial
from itertools import islice
from typing import Any

from celery import Task
from django.conf import settings

from filters.authoring import reminders
from filters.authoring.importing.imports import CREATIONS, READINGS, create_for, read_for
from filters.authoring.models import Filter
from filters.authoring.results.backtests import BACKTESTS, MOST_DELIVERIES, backtest_question
from filters.authoring.results.overlap import count_overlap
from filters.authoring.results.previews import PREVIEWS, question
from filters.authoring.results.weeks import count_weeks
from filters.authoring.why.asking import WHYS, named, why_for
from filters.authoring.why.asking import question as why_question
from filters.people import people
from filters.people.models import User
from filters.runs.store.filter_store import latest_instant
from filters.runs.store.waiting import complete_until
from filters.site.work.parts import services
from filters.site.work.queues.answers import EXPIRES, IsWanted
from tapestry.celery import app
from tapestry.core.clock import WEEK
from tapestry.core.errors import TapestryError

KEEP = Filter.Mode.KEEP.value

LISTED = 10_000
"""Messages of a preview that can be paged through: the newest."""


@app.task(name="filters.bring_back", ignore_result=True)
def bring_back() -> None:
    """Bring back what is repeated where nobody has answered, and end what somebody has."""
    reminders.bring_back()


@app.task(name="filters.preview", bind=True, ignore_result=True, expires=EXPIRES, needs_room=False)
def preview(self: Task, text: str, user_id: int, mode: str = KEEP) -> None:
    """Keep what a filter would have matched so far, for the user who writes it.

    Of a live one, what it matches now instead.  It ends after ``PREVIEW_SECONDS``, or when nobody
    waits for it any more.
    """

    def compute(is_wanted: IsWanted) -> dict[str, Any]:
        return preview_for(User.objects.get(pk=user_id), text, mode, is_wanted)

    PREVIEWS.answer_to(self.request.id, user_id, question(text, mode), compute)


def preview_for(
    user: User, text: str, mode: str = KEEP, is_wanted: IsWanted = lambda: True
) -> dict[str, Any]:
    """Return how many messages a filter of this user would have matched, the newest match first.

    Each with when it would have matched, or came here if it is live; with them how many were
    received in each week, and which filters have them already.
    """
    from tapestry.run.ask import Question, find_instants

    audiences, context = people.audiences(user), people.context(user)
    tables, at = services.tables(), latest_instant()
    live = mode == Filter.Mode.LIVE
    asked = Question(
        text,
        context,
        audiences,
        at,
        so_far=not live,
        seconds=settings.PREVIEW_SECONDS,
        complete_until=_complete_until(mode, audiences),
    )
    engine_on = partial(services.unproven_engine_on, is_wanted=is_wanted)
    found = find_instants(engine_on, tables, asked)
    rows = [(msgid, instants.at) for msgid, instants in islice(found.items(), LISTED)]
    received = [instants.received for instants in found.values()]
    return {
        "count": len(found),
        "rows": rows,
        "mode": mode,
        "live": live,
        "audiences": audiences,
        "text": text,
        "weeks": count_weeks(received, user.zone, at),
        "overlap": count_overlap(user, [msgid for msgid, _ in rows]),
    }


def start_preview(text: str, user_id: int, mode: str = KEEP) -> str:
    """Ask the worker what a filter would have matched, or matches now; return the task's id."""
    return PREVIEWS.start(preview, user_id, question(text, mode), text, user_id, mode)


def _complete_until(mode: str, audiences: Sequence[str]) -> int | None:
    """Return up to when all is complete that a filter waits for; None if it does not wait."""
    return complete_until(audiences) if mode == Filter.Mode.WAIT else None


@app.task(name="filters.backtest", bind=True, ignore_result=True, expires=EXPIRES, needs_room=False)
def backtest(self: Task, text: str, user_id: int, mode: str, weeks: int) -> None:
    """Keep what a filter would have delivered in the last weeks, for the user who writes it."""

    def compute(is_wanted: IsWanted) -> dict[str, Any]:
        return backtest_for(User.objects.get(pk=user_id), text, mode, weeks, is_wanted)

    asked = backtest_question(text, mode=mode, weeks=weeks)
    BACKTESTS.answer_to(self.request.id, user_id, asked, compute)


def backtest_for(
    user: User, text: str, mode: str, weeks: int, is_wanted: IsWanted = lambda: True
) -> dict[str, Any]:
    """Return what a filter of this user would have delivered in the last weeks, and when."""
    from tapestry.run.ask import Question
    from tapestry.run.backtest import backtest as run_backtest

    audiences, at = people.audiences(user), latest_instant()
    since = at - weeks * WEEK
    asked = Question(
        text,
        people.context(user),
        audiences,
        at,
        seconds=settings.PREVIEW_SECONDS,
        complete_until=_complete_until(mode, audiences),
    )
    engine_on = partial(services.unproven_engine_on, is_wanted=is_wanted)
    deliveries = run_backtest(
        engine_on, services.tables(), asked, since, live=mode == Filter.Mode.LIVE
    )
    rows = [(delivery.msgid, delivery.op, delivery.at) for delivery in deliveries[:MOST_DELIVERIES]]
    came = {delivery.msgid for delivery in deliveries if delivery.op != "delete"}
    last = {delivery.msgid: delivery.op for delivery in reversed(deliveries)}  # the newest is first
    return {
        "count": len(deliveries),
        "messages": len(came),
        "let_go": len(came) - len({msgid for msgid, op in last.items() if op != "delete"}),
        "deliveries": rows,
        "since": since,
        "until": at,
        "audiences": audiences,
    }


def start_backtest(text: str, user_id: int, *, mode: str, weeks: int) -> str:
    """Ask the worker what a filter would have delivered in the last weeks; return the task's id."""
    asked = backtest_question(text, mode=mode, weeks=weeks)
    return BACKTESTS.start(backtest, user_id, asked, text, user_id, mode, weeks)


@app.task(
    name="filters.read_import", bind=True, ignore_result=True, expires=EXPIRES, needs_room=False
)
def read_import(self: Task, encoded: str, is_pasted: bool, user_id: int) -> None:
    """Keep which filters a file has, for the user who imports it."""

    def compute(_: IsWanted) -> dict[str, Any]:
        user = User.objects.get(pk=user_id)
        return read_for(user, zlib.decompress(b64decode(encoded)), is_pasted=is_pasted)

    READINGS.answer_to(self.request.id, user_id, encoded, compute)


def start_reading(raw: bytes, user_id: int, *, is_pasted: bool) -> str:
    """Ask the worker which filters a file has; return the task's id."""
    encoded = b64encode(zlib.compress(raw, level=1)).decode()
    return READINGS.start(read_import, user_id, encoded, encoded, is_pasted, user_id)


@app.task(
    name="filters.create_imported", bind=True, ignore_result=True, expires=EXPIRES, needs_room=False
)
def create_imported(self: Task, chosen: list[dict[str, str]], rest: str, user_id: int) -> None:
    """Create filters for the user who ticked them, though the page has been left meanwhile."""

    def compute(_: IsWanted) -> dict[str, Any]:
        return create_for(User.objects.get(pk=user_id), chosen, rest)

    asked = json.dumps([chosen, rest])
    CREATIONS.answer_to(self.request.id, user_id, asked, compute, is_for_page=False)


def start_creation(chosen: Sequence[dict[str, str]], rest: str, user_id: int) -> str:
    """Ask the worker to create the filters that are ticked; return the task's id."""
    asked = json.dumps([chosen, rest])
    return CREATIONS.start(create_imported, user_id, asked, chosen, rest, user_id)


@app.task(name="filters.why", bind=True, ignore_result=True, expires=EXPIRES, needs_room=False)
def why(self: Task, asked: str, name: str, msgid: str, user_id: int) -> None:
    """Keep how a filter answers about a message, for the user who asks why it is not there."""

    def compute(is_wanted: IsWanted) -> dict[str, Any]:
        user = User.objects.get(pk=user_id)
        filter_ = named(user, name)
        if filter_ is None:
            raise TapestryError("There is no such filter, or its owner shares it no longer.")
        return why_for(user, filter_, msgid, is_wanted)

    WHYS.answer_to(self.request.id, user_id, asked, compute)


def start_why(filter_: Filter, name: str, msgid: str, user_id: int) -> str:
    """Ask the worker how a filter, as a form names it, answers about a message; return the id."""
    asked = why_question(filter_, msgid)
    return WHYS.start(why, user_id, asked, asked, name, msgid, user_id)
