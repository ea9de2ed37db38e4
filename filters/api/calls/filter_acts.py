"""Calls about what a filter did with what it found, and undoing that."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from django.http import Http404
from django.shortcuts import get_object_or_404
from ninja import Field, Router, Schema

from filters.api.authentication import PersonalToken
from filters.api.schemas import moment
from filters.authoring.models import Filter
from filters.authoring.views.acts import PAGE, acted_on
from filters.inbox.models import Match
from filters.people.requests import PersonRequest
from filters.runs.store.acts import undo

router = Router(tags=["filters"])

Page = Annotated[int, Field(ge=1, le=1000)]
"""The number of a page, 1 of the first."""


class DoneOut(Schema):
    """A message on which a filter acted: which acts stand, and which were undone since."""

    id: str
    at: datetime | None
    stand: list[str]
    undone: list[str]


class UndoIn(Schema):
    """The message for which to undo what a filter did, or all for ""."""

    id: str = ""


class UndoneOut(Schema):
    """For how many messages acts were undone."""

    count: int


@router.get("/filters/{name}/acts", auth=PersonalToken("read"), response=list[DoneOut])
def list_acts(request: PersonRequest, name: str, page: Page = 1) -> list[DoneOut]:
    """Return a page of 50 messages on which a filter acted, the last first; fewer are the last."""
    found = acted_on(request.user, _named(request, name)).order_by("-acted_at", "-pk")
    return [
        DoneOut(
            id=match.msgid,
            at=moment(match.acted_at),
            stand=[act for act, became in match.acts.items() if became == Match.STANDS],
            undone=[act for act, became in match.acts.items() if became != Match.STANDS],
        )
        for match in found[(page - 1) * PAGE : page * PAGE]
    ]


@router.post("/filters/{name}/acts/undo", auth=PersonalToken("acts"), response=UndoneOut)
def undo_acts(request: PersonRequest, name: str, given: UndoIn) -> UndoneOut:
    """Undo what a filter did with a message, or with all; what the caller changed since stays."""
    found = acted_on(request.user, _named(request, name))
    if given.id:
        found = found.filter(msgid=given.id)
        if not found.exists():
            raise Http404
    return UndoneOut(count=undo(request.user, found))


def _named(request: PersonRequest, name: str) -> Filter:
    return get_object_or_404(Filter, owner=request.user, name=name)
