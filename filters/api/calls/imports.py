"""Calls about filters as a file: all of the caller's, and those of a file from elsewhere."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpResponse
from ninja import Field, Router, Schema, Status

from filters.api.authentication import PersonalToken
from filters.api.calls.questions import answer_of
from filters.api.problems import RefusedError
from filters.api.schemas import TaskOut
from filters.authoring.importing.entries import MOST_ENTRIES
from filters.authoring.importing.files import check_file
from filters.authoring.importing.imports import CREATIONS, READINGS
from filters.authoring.importing.own_file import read_options
from filters.authoring.tasks import start_creation, start_reading
from filters.authoring.views.importing import export
from filters.people.requests import PersonRequest

router = Router(tags=["filters"])
READ, WRITE = PersonalToken("read"), PersonalToken("filters")


class FileIn(Schema):
    """A file of filters: Tapestry's own, Sieve, Gmail's, saved searches, or MAINTAINERS."""

    text: str = Field(max_length=8_000_000)


class OfferedOut(Schema):
    """A filter of a file.  Hand its ``document`` back to create it; "" if that cannot be.

    ``problem`` says what is not as it was elsewhere, or why it cannot be; ``is_ticked``: a person
    would be offered it as a matter of course.
    """

    title: str
    text: str
    problem: str
    is_ticked: bool
    document: str


class OffersOut(Schema):
    """Filters that a file has, and as ``rest`` those behind them: hand it back with the next.

    ``created`` counts those that were created by now.
    """

    created: int
    offers: list[OfferedOut]
    rest: str
    waiting: int


class ChosenIn(Schema):
    """Documents of the filters that are to be created, and the ``rest`` of their file."""

    documents: list[str] = Field(max_length=MOST_ENTRIES)
    rest: str = ""


WAITING = {200: OffersOut, 202: TaskOut}


@router.get("/export", auth=READ)
def export_filters(request: PersonRequest) -> HttpResponse:
    """Return all filters of the caller as one text file, in TOML."""
    return export(request)


@router.post("/imports", auth=WRITE, response={202: TaskOut})
def read_file(request: PersonRequest, given: FileIn) -> Status[TaskOut]:
    """Have the filters of a file read; none is created yet."""
    raw = given.text.encode(errors="surrogatepass")
    check_file(raw)
    return Status(202, TaskOut(task=start_reading(raw, request.user.pk, is_pasted=False)))


@router.get("/imports/{task}", auth=READ, response=WAITING)
def offers(request: PersonRequest, task: UUID) -> Status[OffersOut | TaskOut]:
    """Return which filters a file has; 202 while there is no answer."""
    return _offers(answer_of(READINGS, task, request.user), task)


@router.post("/creations", auth=WRITE, response={202: TaskOut})
def create_filters(request: PersonRequest, given: ChosenIn) -> Status[TaskOut]:
    """Have filters of a file created, and the next ones of the file read."""
    chosen = [options for text in given.documents if (options := read_options(text)) is not None]
    if len(chosen) < len(given.documents):
        raise RefusedError(422, "That is no document of a filter: hand it back as it came.")
    if not chosen and not given.rest:
        raise RefusedError(422, "Name a filter that is to be created.")
    return Status(202, TaskOut(task=start_creation(chosen, given.rest, request.user.pk)))


@router.get("/creations/{task}", auth=READ, response=WAITING)
def created(request: PersonRequest, task: UUID) -> Status[OffersOut | TaskOut]:
    """Return how many filters were created, and what is next; 202 while there is no answer."""
    return _offers(answer_of(CREATIONS, task, request.user), task)


def _offers(answer: dict[str, Any] | None, task: UUID) -> Status[OffersOut | TaskOut]:
    if answer is None:
        return Status(202, TaskOut(task=str(task)))
    if "refusal" in answer:
        raise RefusedError(422, answer["refusal"])
    offered = [
        OfferedOut(title=offer["entry"]["title"], **{name: offer[name] for name in OFFERED})
        for offer in answer.get("offers", ())
    ]
    return Status(
        200,
        OffersOut(
            created=answer.get("created", 0),
            offers=offered,
            rest=answer.get("rest", ""),
            waiting=answer.get("waiting", 0),
        ),
    )


OFFERED = ("text", "problem", "is_ticked", "document")
"""What an answer has of an offer, as it is kept."""
