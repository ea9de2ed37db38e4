"""Calls about aggregates that the caller defines in SQL, and those that others share."""

from __future__ import annotations

from typing import Literal

from django.shortcuts import get_object_or_404
from ninja import Router, Schema, Status

from filters.api.authentication import PersonalToken
from filters.authoring.models import Aggregate
from filters.authoring.own_aggregates import delete, save, shared_with
from filters.authoring.results.aggregate_values import values_of
from filters.people.requests import PersonRequest
from filters.site.work.queues.queue import UNPROVEN_WINDOWS, run_soon
from tapestry.core.errors import TapestryError
from tapestry.query.tql.parser import parse_definition

router = Router(tags=["aggregates"])
READ, WRITE = PersonalToken("read"), PersonalToken("filters")


class AggregateIn(Schema):
    """The text of a definition, ``CREATE AGGREGATE decayed(x NUMBER) …``."""

    text: str
    visibility: Literal["private", "shared"] = "private"


class AggregateOut(Schema):
    """An aggregate and whose it is: others write ``owner.name(…)`` in their filters."""

    owner: str
    name: str
    text: str
    visibility: str


class ValuesIn(Schema):
    """A definition, and of which rows it is to be: of the votes on a message if ``of`` is empty."""

    text: str
    of: str = ""


class ValueOut(Schema):
    """A message, and the aggregate of its rows as filters write it; ``NULL`` if it has none."""

    id: str
    subject: str | None
    value: str


@router.get("/aggregates", auth=READ, response=list[AggregateOut])
def list_aggregates(request: PersonRequest) -> list[AggregateOut]:
    """List the caller's aggregates by name, then those that others share."""
    every = [*request.user.aggregates.select_related("owner"), *shared_with(request.user)]
    return list(map(_shown, every))


@router.put("/aggregates/{name}", auth=WRITE, response={204: None})
def put_aggregate(request: PersonRequest, name: str, given: AggregateIn) -> Status[None]:
    """Define an aggregate, or define it anew: filters that use it mean the new one from now on."""
    if (defined := parse_definition(given.text)[0]) != name:
        raise TapestryError(f"The text defines “{defined}”, not “{name}”.")
    save(request.user, given.text, visibility=given.visibility, replaces=name)
    run_soon(UNPROVEN_WINDOWS)
    return Status(204, None)


@router.delete("/aggregates/{name}", auth=WRITE, response={204: None})
def delete_aggregate(request: PersonRequest, name: str) -> Status[None]:
    """Delete an aggregate; filters that use it find nothing new until there is one of its name."""
    delete(get_object_or_404(request.user.aggregates, name=name))
    return Status(204, None)


@router.post("/aggregate-values", auth=READ, response=list[ValueOut])
def show_values(request: PersonRequest, given: ValuesIn) -> list[ValueOut]:
    """Compute an aggregate of the newest messages that have such rows, saved or not."""
    _, values = values_of(request.user, given.text, given.of)
    return [
        ValueOut(id=shown.card.msgid, subject=shown.card.subject, value=shown.value)
        for shown in values
    ]


def _shown(of: Aggregate) -> AggregateOut:
    return AggregateOut(
        owner=of.owner.get_username(), name=of.name, text=of.text, visibility=of.visibility
    )
