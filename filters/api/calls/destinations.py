"""Calls about destinations: where what the caller's filters find is delivered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.forms import BooleanField, IntegerField
from ninja import Field, Router, Schema, Status
from pydantic import create_model

from filters.api.authentication import PersonalToken
from filters.api.calls.trials import TrialOut, trial_out
from filters.api.given import checked, form_data, own
from filters.api.problems import RefusedError
from filters.api.schemas import moment
from filters.authoring.models import Filter
from filters.delivery import changes
from filters.delivery.dispatch.history import SHOWN
from filters.delivery.forms.base import ALL, CHOSEN, DestinationForm
from filters.delivery.mail import addresses
from filters.delivery.models import Destination
from filters.delivery.status import status_of
from filters.delivery.ways.table import WAYS
from filters.delivery.ways.webhook import renew_secret
from filters.people.models import User
from filters.people.requests import PersonRequest
from filters.runs.store import subscriptions
from filters.site.work.crypto import opaque_keys
from filters.site.work.db.deleting import delete_locked
from filters.sources.accounts import trials
from filters.sources.models import Source
from tapestry.core.errors import TapestryError

router = Router(tags=["destinations"])
READ, WRITE = PersonalToken("read"), PersonalToken("delivery")

ADDED = "|".join(kind for kind, way in WAYS.items() if not way.page)
"""The kinds of destinations that programs add."""


TYPES: dict[type, type] = {IntegerField: int, BooleanField: bool}
"""Of fields of forms, those that are no text."""


class _Change(Schema):
    """Fields of a destination; what is left out stays.

    ``filters``: names of the caller's filters, null for all of them, new ones too.  The others are
    of some kinds alone; ``source`` is the key of a mailbox of the caller's.
    """

    name: str | None = None
    filters: list[str] | None = None


def _fields() -> dict[str, Any]:
    """Return what the forms of destinations ask for, each of some kinds."""
    kinds: dict[str, list[str]] = {}
    types: dict[str, Any] = {}
    for kind, way in WAYS.items():
        for name, field in way.form.base_fields.items():
            kinds.setdefault(name, []).append(kind)
            types[name] = TYPES.get(type(field), str) | None
    return {
        name: (types[name], Field(None, description=f"Of {' and '.join(of)}."))
        for name, of in kinds.items()
        if name not in DestinationForm.base_fields
    }


if TYPE_CHECKING:
    DestinationChange = _Change
else:
    DestinationChange = create_model("DestinationChange", __base__=_Change, **_fields())
    DestinationChange.__doc__ = _Change.__doc__


class DestinationIn(DestinationChange):
    """A new destination; it takes what is found from now on, of all filters unless some are named.

    A browser is notified by a page of that browser alone.
    """

    kind: str = Field(pattern=f"^({ADDED})$")


class DestinationOut(Schema):
    """A destination of the caller's; ``filters`` is null of one that takes all.

    ``status`` is a word, ``sentence`` what to know or do about it.
    """

    key: str
    kind: str
    name: str
    where: str
    filters: list[str] | None
    active: bool
    status: str
    sentence: str


class DeliveryOut(Schema):
    """An attempt to deliver: when, of how many matches, how it ended, and what was answered."""

    at: datetime | None
    state: str
    matches: int
    answer: str


class SecretOut(Schema):
    """A secret that is in no other answer."""

    secret: str


@router.get("/destinations", auth=READ, response=list[DestinationOut])
def list_destinations(request: PersonRequest) -> list[DestinationOut]:
    """List the caller's destinations, of which there are at most 50."""
    known = Destination.objects.filter(owner=request.user, kind__in=WAYS)  # by this version
    rows = known.select_related("address__owner")
    return [_shown(row) for row in rows.prefetch_related("subscriptions__filter")]


@router.post("/destinations", auth=WRITE, response={201: DestinationOut, 202: TrialOut})
def add_destination(
    request: PersonRequest, given: DestinationIn
) -> Status[DestinationOut | TrialOut]:
    """Add a destination; a mailbox is tried first (202).  To an address a link is sent (201)."""
    destination = Destination(owner=request.user, kind=given.kind)
    return _stored(destination, {}, given, 201)


@router.get("/destinations/{key}", auth=READ, response=DestinationOut)
def show_destination(request: PersonRequest, key: str) -> DestinationOut:
    """Show a destination, and how it is doing."""
    return _shown(own(Destination, request.user, key))


@router.patch("/destinations/{key}", auth=WRITE, response={200: DestinationOut, 202: TrialOut})
def change_destination(
    request: PersonRequest, key: str, given: DestinationChange
) -> Status[DestinationOut | TrialOut]:
    """Change a destination; a mailbox is tried first (202)."""
    destination = own(Destination, request.user, key)
    stored = destination.way.form(None, destination=destination).stored()
    return _stored(destination, stored, given, 200)


@router.delete("/destinations/{key}", auth=WRITE, response={204: None})
def remove_destination(request: PersonRequest, key: str) -> Status[None]:
    """Remove a destination; what it has delivered stays where it is."""
    delete_locked(Destination.objects.filter(pk=own(Destination, request.user, key).pk))
    return Status(204, None)


@router.get("/destinations/{key}/deliveries", auth=READ, response=list[DeliveryOut])
def list_deliveries(request: PersonRequest, key: str) -> list[DeliveryOut]:
    """List the last deliveries of a destination, the newest first."""
    rows = own(Destination, request.user, key).deliveries.all()[:SHOWN]
    return [
        DeliveryOut(at=moment(row.at), state=row.state, matches=row.matches, answer=row.answer)
        for row in rows
    ]


@router.post("/destinations/{key}/on", auth=WRITE, response=DestinationOut)
def turn_on_destination(request: PersonRequest, key: str) -> DestinationOut:
    """Deliver to a destination again, beginning at once with what waits."""
    return _after(subscriptions.turn_on, request, key)


@router.post("/destinations/{key}/off", auth=WRITE, response=DestinationOut)
def turn_off_destination(request: PersonRequest, key: str) -> DestinationOut:
    """Deliver nothing more to a destination; what is found waits until it is turned on."""
    return _after(changes.turn_off, request, key)


@router.post("/destinations/{key}/link", auth=WRITE, response=DestinationOut)
def send_link(request: PersonRequest, key: str) -> DestinationOut:
    """Send the link that confirms the address of a destination, again."""
    destination = own(Destination, request.user, key)
    if destination.address is None:
        raise RefusedError(422, "It has no address to confirm.")
    addresses.send_link(destination.address)
    return _anew(destination)


@router.post("/destinations/{key}/sample", auth=WRITE, response={202: TrialOut})
def send_sample(request: PersonRequest, key: str) -> Status[TrialOut]:
    """Have a sample sent: the newest matches of its filters; it counts as no delivery."""
    destination = own(Destination, request.user, key)
    return Status(202, trial_out(changes.begin_sample(destination)))


@router.post("/destinations/{key}/secret", auth=WRITE, response=SecretOut)
def renew(request: PersonRequest, key: str) -> SecretOut:
    """Make a new secret of a webhook; for a day the old one signs, too."""
    destination = own(Destination, request.user, key)
    if destination.kind != "webhook":
        raise RefusedError(422, "A webhook alone has a secret that is shown.")
    return SecretOut(secret=renew_secret(destination))


def _stored(
    destination: Destination, stored: dict[str, Any], given: DestinationChange, status: int
) -> Status[DestinationOut | TrialOut]:
    changed = given.dict(exclude_unset=True, exclude={"kind"})
    if "filters" in changed:
        names = changed["filters"]
        changed["which"] = ALL if names is None else CHOSEN
        changed["filters"] = _keys(destination.owner, names or ())
    if changed.get("source"):
        changed["source"] = own(Source, destination.owner, changed["source"]).pk
    fields = destination.way.form.base_fields.items()
    usual = {name: field.initial for name, field in fields if field.initial is not None}
    data = form_data(usual | stored | changed)
    form = checked(destination.way.form(data, destination=destination))
    if form.is_tried:
        trial = trials.begin(destination.owner, *changes.question_of(destination, data))
        return Status(202, trial_out(trial))
    kept, is_to_be_confirmed = changes.store(form)
    if is_to_be_confirmed and kept.address is not None:
        with suppress(TapestryError):  # its status says that no link was sent
            addresses.send_link(kept.address)
    return Status(status, _anew(kept))


def _keys(owner: User, names: Sequence[str]) -> list[int]:
    """Return the primary keys of filters; raise RefusedError for a name that is none."""
    known = dict(Filter.objects.filter(owner=owner, name__in=names).values_list("name", "pk"))
    missing = [name for name in names if name not in known]
    if missing:
        raise RefusedError(422, f"You have no filter “{missing[0][:60]}”.")
    return list(known.values())


def _after(
    act: Callable[[Destination], object], request: PersonRequest, key: str
) -> DestinationOut:
    """Do something with a destination; return how it is then."""
    destination = own(Destination, request.user, key)
    act(destination)
    return _anew(destination)


def _anew(destination: Destination) -> DestinationOut:
    rows = Destination.objects.select_related("address__owner")
    return _shown(rows.get(pk=destination.pk))


def _shown(row: Destination) -> DestinationOut:
    status = status_of(row)
    names = sorted(chosen.filter.name for chosen in row.subscriptions.all())
    return DestinationOut(
        key=opaque_keys.encrypt(row.pk),
        kind=row.kind,
        name=row.name,
        where=row.where,
        filters=None if row.all_filters else names,
        active=row.active,
        status=status.word,
        sentence=status.sentence,
    )
