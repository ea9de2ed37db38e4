"""Calls about filters that others share, and those that are ready made."""

from __future__ import annotations

from django.shortcuts import get_object_or_404
from ninja import Router, Schema, Status

from filters.api.authentication import PersonalToken
from filters.api.schemas import FilterLine, filter_line
from filters.authoring import ready_made
from filters.authoring.models import Filter
from filters.authoring.sharing.following import follow, own_of, reference_text, shared_with
from filters.authoring.usage import people_using
from filters.people.requests import PersonRequest
from filters.site.work.queues.queue import UNPROVEN_WINDOWS, run_soon

router = Router(tags=["filters"])
READ, WRITE = PersonalToken("read"), PersonalToken("filters")

MOST = 100


class SharedOut(Schema):
    """A filter that somebody shares: ``people`` use it, the caller by their filter ``own``.

    ``reference`` names it in a text.
    """

    owner: str
    name: str
    title: str
    text: str
    people: int
    own: str
    reference: str


@router.get("/shared", auth=READ, response=list[SharedOut])
def list_shared(request: PersonRequest, owner: str = "", after: str = "") -> list[SharedOut]:
    """List what others share, by owner and name: 100 after that of an ``owner`` and name."""
    rows = shared_with(request.user)
    if owner:
        behind = rows.filter(owner__username__gt=owner)
        rows = behind | rows.filter(owner__username=owner, name__gt=after)
    filters = list(rows[:MOST])
    people, own = people_using(filters), own_of(request.user, filters)
    return [_shown(of, people[of.pk], own.get(of.pk)) for of in filters]


@router.post("/shared/{owner}/{name}/follow", auth=WRITE, response={201: FilterLine})
def follow_shared(request: PersonRequest, owner: str, name: str) -> Status[FilterLine]:
    """Follow a shared filter, by one of the caller's own: it is returned, be it there before."""
    followed = get_object_or_404(shared_with(request.user), owner__username=owner, name=name)
    own = follow(request.user, followed)
    run_soon(UNPROVEN_WINDOWS)
    return Status(201, filter_line(own))


@router.post("/ready-made", auth=WRITE, response=list[FilterLine])
def add_ready_made(request: PersonRequest) -> list[FilterLine]:
    """Add those filters about answers that the caller has not; return them."""
    made = [ready_made.add(request.user, shelf) for shelf in ready_made.missing(request.user)]
    return [filter_line(filter_) for filter_ in made]


def _shown(of: Filter, people: int, own: Filter | None) -> SharedOut:
    return SharedOut(
        owner=of.owner.get_username(),
        name=of.name,
        title=of.display_name,
        text=of.text,
        people=people,
        own=own.name if own else "",
        reference=reference_text(of),
    )
