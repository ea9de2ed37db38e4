"""Calls that the worker answers: a task is started, and asked again until it has an answer."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from django.http import Http404
from ninja import Field, Router, Status

from filters.api.authentication import PersonalToken
from filters.api.problems import RefusedError, refusal
from filters.api.schemas import (
    BacktestIn,
    BacktestOut,
    BacktestStep,
    FoundOut,
    MessageLine,
    PartOut,
    PreviewIn,
    TaskOut,
    TextIn,
    moment,
)
from filters.authoring.compilation.understanding import understand
from filters.authoring.results import previews
from filters.authoring.results.backtests import BACKTESTS, shown_deliveries
from filters.authoring.results.previews import PREVIEWS
from filters.authoring.tasks import start_backtest, start_preview, start_why
from filters.authoring.why.asking import WHYS, named
from filters.inbox.search.reading import read_search
from filters.inbox.search.searches import SEARCHES
from filters.inbox.tasks import start_search
from filters.people import people
from filters.people.models import User
from filters.people.requests import PersonRequest
from filters.reading import reading
from filters.site.work.parts import services
from filters.site.work.queues.answers import Answer, Answers
from tapestry.core.clock import to_datetime
from tapestry.tables.read.messages import Card, cards

router = Router(tags=["questions"], auth=PersonalToken("read"))

Page = Annotated[int, Field(ge=1, le=1000)]
"""The number of a page, 1 of the first."""

WAITING = {200: FoundOut, 202: TaskOut}


@router.post("/previews", response={202: TaskOut})
def ask_preview(request: PersonRequest, given: PreviewIn) -> Status[TaskOut]:
    """Ask what a filter would have matched so far, or matches now."""
    user = request.user
    understand(given.text, people.context(user))
    return Status(202, TaskOut(task=start_preview(given.text, user.pk, given.mode)))


@router.get("/previews/{task}", response=WAITING)
def preview(request: PersonRequest, task: UUID, page: Page = 1) -> Status[FoundOut | TaskOut]:
    """Return what a preview has found, 50 messages a page; 202 while there is no answer."""
    answer = answer_of(PREVIEWS, task, request.user)
    if answer is None:
        return Status(202, TaskOut(task=str(task)))
    msgids = [msgid for msgid, _ in answer["rows"]]
    return Status(200, _found(request.user, answer["count"], msgids, page))


@router.post("/backtests", response={202: TaskOut})
def ask_backtest(request: PersonRequest, given: BacktestIn) -> Status[TaskOut]:
    """Ask what a filter would have delivered in the last weeks, and when."""
    user = request.user
    understand(given.text, people.context(user))
    task = start_backtest(given.text, user.pk, mode=given.mode, weeks=given.weeks)
    return Status(202, TaskOut(task=task))


@router.get("/backtests/{task}", response={200: BacktestOut, 202: TaskOut})
def backtest(request: PersonRequest, task: UUID, page: Page = 1) -> Status[BacktestOut | TaskOut]:
    """Return what a backtest has found, 50 deliveries a page; 202 while there is no answer."""
    answer = answer_of(BACKTESTS, task, request.user)
    if answer is None:
        return Status(202, TaskOut(task=str(task)))
    rows = answer["deliveries"][(page - 1) * PAGE : page * PAGE]
    deliveries = [
        BacktestStep(
            **_line(shown.card).dict(),
            op="delete" if shown.has_left else "insert",
            at=to_datetime(shown.at),
            votes_for=shown.votes_for,
            votes_against=shown.votes_against,
            replies=shown.replies,
        )
        for shown in shown_deliveries(request.user, rows)
    ]
    counts = {name: answer[name] for name in ("count", "messages", "let_go")}
    return Status(200, BacktestOut(**counts, deliveries=deliveries))


@router.post("/searches", response={202: TaskOut})
def ask_search(request: PersonRequest, given: TextIn) -> Status[TaskOut]:
    """Ask what matches a text now, in the language of the search box."""
    user = request.user
    read = read_search(given.text, user)
    if read.understood is None and read.error is not None:
        raise refusal(read.error)
    return Status(202, TaskOut(task=start_search(read.asked, user.pk, None)))


@router.get("/searches/{task}", response=WAITING)
def search(request: PersonRequest, task: UUID, page: Page = 1) -> Status[FoundOut | TaskOut]:
    """Return what a search has found, 50 messages a page; 202 while there is no answer."""
    answer = answer_of(SEARCHES, task, request.user)
    if answer is None:
        return Status(202, TaskOut(task=str(task)))
    return Status(200, _found(request.user, len(answer["msgids"]), answer["msgids"], page))


@router.post("/whys", response={202: TaskOut})
def ask_why(request: PersonRequest, filter: str, id: str) -> Status[TaskOut]:
    """Ask why a message is, or is not, in a filter: one's own, or ``owner/name`` that is shared."""
    user = request.user
    filter_ = named(user, filter)
    if filter_ is None or not reading.find(user, id):
        raise Http404
    return Status(202, TaskOut(task=start_why(filter_, filter, id, user.pk)))


@router.get("/whys/{task}", response={200: PartOut, 202: TaskOut})
def why(request: PersonRequest, task: UUID) -> Status[PartOut | TaskOut]:
    """Return which parts of a filter hold about a message; 202 while there is no answer."""
    answer = answer_of(WHYS, task, request.user)
    if answer is None:
        return Status(202, TaskOut(task=str(task)))
    return Status(200, _part(answer["part"]))


def answer_of(answers: Answers, task: UUID, user: User) -> Answer | None:
    """Return the answer to a task of the caller, None while there is none.

    Raise RefusedError where there will be none, Http404 for a task of nobody.
    """
    answer = answers.of_task(str(task), user.pk)
    if answer is None:
        if answers.is_newest(str(task), user.pk):
            return None
        raise RefusedError(
            404, "There is no such task: it was asked too long ago, or another since."
        )
    is_of_mail = "audiences" in answer  # else it has nothing that only some may see
    error = previews.refusal(answer, user) if is_of_mail else answer.get("error")
    if error:
        raise RefusedError(422, error)
    return answer


PAGE = 50


def _found(user: User, count: int, msgids: list[str], page: int) -> FoundOut:
    shown = msgids[(page - 1) * PAGE : page * PAGE]
    visible = cards(services.tables(), shown, people.audiences(user))
    lines = [_line(visible[msgid]) for msgid in shown if msgid in visible]
    return FoundOut(count=count, messages=lines)


def _line(card: Card) -> MessageLine:
    return MessageLine(
        id=card.msgid,
        sender=card.sender or "",
        sender_name=card.sender_name or "",
        subject=card.subject or "",
        received=to_datetime(card.received),
    )


def _part(part: dict[str, Any]) -> PartOut:
    return PartOut(
        words=part["words"],
        holds=part["holds"],
        since=None if part["is_fixed"] else moment(part["since"]),
        then=moment(part["then"]),
        parts=[_part(inner) for inner in part["parts"]],
    )
