"""The call that tells what the caller uses, and may use."""

from __future__ import annotations

from ninja import Router, Schema

from filters.api.authentication import PersonalToken
from filters.people.budgets import uses
from filters.people.requests import PersonRequest

router = Router(tags=["budget"])


class UseOut(Schema):
    """What of a budget is used, and all of it: ``seconds`` are of this hour, by filters alone.

    ``deliveries`` are of the last 24 hours, to the destination that had most.
    """

    kind: str
    used: int
    budget: int


@router.get("/budget", auth=PersonalToken("read"), response=list[UseOut])
def show_budget(request: PersonRequest) -> list[UseOut]:
    """Tell what the caller uses, and may use: counts are refused above it, rates come slower."""
    return [UseOut(kind=use.kind, used=use.used, budget=use.budget) for use in uses(request.user)]
