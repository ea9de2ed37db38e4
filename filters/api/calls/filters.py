"""Calls about filters: those of the caller, and what they found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from django.db import IntegrityError
from django.http import QueryDict
from django.shortcuts import get_object_or_404
from ninja import Field, Router, Status

from filters.api.authentication import PersonalToken, TokenRequest
from filters.api.given import checked, decrypted, form_data
from filters.api.problems import RefusedError
from filters.api.schemas import (
    FilterChange,
    FilterIn,
    FilterLine,
    FilterOptions,
    FilterOut,
    MatchesOut,
    MatchOut,
    TextIn,
    UnderstoodOut,
    filter_line,
    moment,
)
from filters.api.waits import wait_until
from filters.authoring import lifecycle
from filters.authoring.compilation.understanding import understand
from filters.authoring.forms import FilterForm
from filters.authoring.importing.options import DEFAULTS
from filters.authoring.models import Filter
from filters.delivery import sequence
from filters.inbox.complete import completeness
from filters.people import people
from filters.people.models import User
from filters.people.requests import PersonRequest
from filters.runs.store.shared_window import show_position
from filters.site.work.crypto import opaque_keys
from filters.site.work.queues.queue import UNPROVEN_WINDOWS, run_soon
from tapestry.core.clock import to_datetime
from tapestry.deliver.batch import DeliveredMatch

router = Router(tags=["filters"])
Limit = Annotated[int, Field(ge=1, le=500)]
"""Steps of an answer."""

Wait = Annotated[float, Field(ge=0, le=20)]
"""Seconds that an answer may wait for a step."""

READ, WRITE = PersonalToken("read"), PersonalToken("filters")


@router.post("/understand", auth=READ, response=UnderstoodOut)
def understand_text(request: PersonRequest, given: TextIn) -> UnderstoodOut:
    """Say how a text would be understood as a filter: as a phrase, and in TQL."""
    understood = understand(given.text, people.context(request.user))
    return UnderstoodOut(
        phrase=understood.phrase or "", tql=understood.display_tql or understood.tql
    )


@router.get("/filters", auth=READ, response=list[FilterLine])
def list_filters(request: PersonRequest, after: str = "", limit: Limit = 100) -> list[FilterLine]:
    """List the caller's filters by name, those after a name; fewer than ``limit`` are the last."""
    own = Filter.objects.filter(owner=request.user, name__gt=after).order_by("name")
    return [filter_line(filter_) for filter_ in own[:limit]]


@router.post("/filters", auth=WRITE, response={201: FilterOut})
def create_filter(request: PersonRequest, given: FilterIn) -> Status[FilterOut]:
    """Create a filter; 409 if the caller has one of that name, which was then not changed."""
    data = DEFAULTS | given.dict(exclude_none=True, exclude={"existing", "destinations"})
    data["mail"] = "existing" if given.existing else "new"
    return Status(201, _shown(_stored(FilterForm(_sent(data, given), owner=request.user))))


@router.get("/filters/{name}", auth=READ, response=FilterOut)
def show_filter(request: PersonRequest, name: str) -> FilterOut:
    """Show a filter, and up to which instant its list is complete."""
    return _shown(_named(request.user, name))


@router.patch("/filters/{name}", auth=WRITE, response=FilterOut)
def change_filter(request: PersonRequest, name: str, given: FilterChange) -> FilterOut:
    """Change a filter, pause it or resume it; what is left out stays."""
    filter_ = _named(request.user, name)
    aside = {"active", "existing", "forget", "destinations"}
    changes = given.dict(exclude_unset=True, exclude_none=True, exclude=aside)
    if given.existing is not None:
        changes["mail"] = "existing" if given.existing else "new"
    if changes or given.destinations is not None:
        known = FilterForm(None, owner=request.user, changed=filter_).initial
        data = {**known, "found": "forget" if given.forget else "keep", **changes}
        filter_ = _stored(FilterForm(_sent(data, given), owner=request.user, changed=filter_))
    if given.active is True and not filter_.active:
        lifecycle.resume(filter_)
    elif given.active is False and filter_.active:
        lifecycle.pause(filter_)
    return _shown(_named(request.user, filter_.name))


@router.delete("/filters/{name}", auth=WRITE, response={204: None})
def delete_filter(request: PersonRequest, name: str, *, undo: bool = False) -> Status[None]:
    """Delete a filter and its list; ``undo``: what it did is undone first."""
    lifecycle.delete(_named(request.user, name), undo=undo)
    return Status(204, None)


@router.get("/filters/{name}/matches", auth=READ, response=MatchesOut)
def matches(
    request: TokenRequest, name: str, after: str = "", limit: Limit = 100, wait: Wait = 0
) -> MatchesOut:
    """Return what came into a filter's list, and left it, after a cursor: each step once.

    Steps are in the order in which they were released, at the timeliness of the filter.  Of a
    message that came and left between two calls, only that it left is among them.  Where there is
    none, ``wait`` waits for one, for so many seconds at most, and no longer than the token lasts; a
    busy site answers at once.
    """
    filter_, position = _named(request.user, name), _position(after)
    if wait:
        wait_until(request.auth, lambda: (sequence.last(filter_) or 0) > position, wait)
    steps, last = sequence.after(filter_, position, limit)
    return MatchesOut(
        matches=[_step(step) for step in steps],
        next=after if last is None else _cursor(last),
        is_end=last is None,
    )


def _cursor(position: int | None) -> str:
    return "" if position is None else opaque_keys.encrypt(position)


def _position(cursor: str) -> int:
    """Return the position of the release sequence that a cursor names, 0 of the first."""
    try:
        return opaque_keys.decrypt(cursor) if cursor else 0
    except ValueError as error:
        raise RefusedError(422, "The cursor is none of this site: begin without one.") from error


def _step(match: DeliveredMatch) -> MatchOut:
    return MatchOut(
        op=match.op,
        id=match.msgid,
        matched_at=to_datetime(match.matched_at),
        why=match.explanation,
        sender=match.sender or "",
        sender_name=match.sender_name or "",
        subject=match.subject or "",
        received=to_datetime(match.received),
    )


def _sent(data: Mapping[str, Any], given: FilterOptions) -> QueryDict:
    """Return what the page of a filter would send."""
    destinations = given.destinations
    chosen = {} if destinations is None else {"destinations": list(map(decrypted, destinations))}
    return form_data({**data, **chosen})


def _stored(form: FilterForm) -> Filter:
    """Store what a form says; raise RefusedError with 409 for a name that is taken, else 422."""
    try:
        stored = checked(form).store()
    except (lifecycle.NameTakenError, IntegrityError) as error:
        raise RefusedError(409, lifecycle.NAME_TAKEN) from error
    except RefusedError as error:
        if error.detail == lifecycle.NAME_TAKEN:
            raise RefusedError(409, error.detail) from error
        raise
    run_soon(UNPROVEN_WINDOWS)
    return stored


def _named(owner: User, name: str) -> Filter:
    return get_object_or_404(Filter.objects.select_related("owner"), owner=owner, name=name)


def _shown(filter_: Filter) -> FilterOut:
    show_position([filter_])
    complete = completeness(filter_)
    return FilterOut(
        **filter_line(filter_).dict(),
        complete_until=moment(complete.until),
        waits_for=list(complete.waits_for),
        next=_cursor(sequence.last(filter_)),
    )
