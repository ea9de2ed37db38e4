"""The pages behind signed links: each asks first, and acts only on a POST."""

from __future__ import annotations

from collections.abc import Callable

from django.core.exceptions import ValidationError
from django.core.signing import BadSignature
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.csrf import csrf_exempt

from filters.delivery.contents import links
from filters.delivery.mail import addresses
from filters.delivery.models import Address, Destination
from filters.inbox.lists.listing import mark_read
from filters.inbox.models import Match
from filters.inbox.triage import steps
from filters.inbox.triage.actions import ACTIONS
from filters.people import people
from filters.people.requests import public_form
from filters.reading.annotations import opinions
from filters.reading.tasks import append_soon
from filters.site.settings.email_url import is_kept_only

ASKED = {
    "vote": "Vote for this message?",
    "read": "Mark this message as read?",
    "mute": "Send nothing more of this thread?",
}
DONE = {
    "vote": "You have voted for it.",
    "read": "It is marked as read.",
    "mute": (
        "The thread is muted: nothing more of it is sent to you, by any way or feed. "
        "Your lists still show it."
    ),
}

EXPIRED = "It has expired, or what it was about is no longer here."
STALE = (
    "Nothing was turned off: the mail is more than 90 days old, or what it is about was turned on "
    "again, changed or deleted since. A newer mail has a link that works."
)
TURN_OFF = "Turn it off yourself, signed in"


@public_form
@csrf_exempt  # the token in the address is the permission; it is in no cookie
def act(request: HttpRequest, act: str, token: str) -> HttpResponse:
    """Vote for a message, mark it as read or mute its thread, as a link of a digest says."""
    if act not in ASKED:
        raise Http404("There is no such link.")
    match = _match(token)
    if match is None or match.card is None:
        return _expired(request)
    if request.method == "POST":
        _ACT[act](match)
    context = {
        "title": DONE[act] if request.method == "POST" else ASKED[act],
        "button": links.ACTS[act],
        "subject": match.card.subject or "(no subject)",
        "sender": match.card.sender_name or match.card.sender,
        "url": links.message_urls()(match.msgid, match.audience),
        "done": request.method == "POST",
    }
    return render(request, "delivery/act.html", context)


@public_form
@csrf_exempt  # RFC 8058: mail programs post without a cookie
def unsubscribe(request: HttpRequest, token: str) -> HttpResponse:
    """Turn a destination off: at once on a POST, as RFC 8058 asks; else after a question."""
    try:
        destination = links.destination_of(token)
    except (BadSignature, Destination.DoesNotExist, ValidationError):
        return _expired(request, STALE, next_url=reverse("destinations"), next_words=TURN_OFF)
    if request.method == "POST":
        Destination.objects.filter(pk=destination.pk).update(active=False)
    context = {
        "title": "You are unsubscribed." if request.method == "POST" else "Unsubscribe?",
        "next_url": destination.get_absolute_url(),
        "next_words": "Turn it on again, or change what is sent",
        "subject": f"{destination.name} ({destination.get_kind_display()})",
        "button": "Unsubscribe",
        "done": request.method == "POST",
    }
    return render(request, "delivery/act.html", context)


@public_form
@csrf_exempt
def confirm(request: HttpRequest, token: str) -> HttpResponse:
    """Confirm an address: only then anything else is sent there.

    Whoever has the mailbox may let matches come.  To write from the address takes the person of
    the account, signed in: else a stranger could let somebody write in their name, unawares.
    """
    try:
        key, email = links.address_of(token)
        address = Address.objects.select_related("owner").get(
            pk=key, email=email, owner__is_active=True
        )
    except (BadSignature, Address.DoesNotExist, ValueError):
        return _expired(request)
    is_person = request.user == address.owner
    if request.method == "POST":
        addresses.confirm(address, is_proof=is_person and not is_kept_only())
    context = {
        "email": address.email,
        "person": address.owner.get_username(),
        "is_person": is_person,
        "done": request.method == "POST",
    }
    return render(request, "delivery/confirm.html", context)


def _match(token: str) -> Match | None:
    """Return the match that a token names, if its owner is active and may still see it."""
    try:
        found = links.match_of(token)
    except (BadSignature, ValueError):
        return None
    if found is None or not found.filter.owner.is_active:
        return None
    if found.audience not in people.audiences(found.filter.owner):
        return None
    return found


def _vote(match: Match) -> None:
    if opinions.keep(match.filter.owner, match.msgid, match.audience, opinions.VOTE_FOR):
        append_soon()


def _mark_read(match: Match) -> None:
    mark_read(match.filter.owner, match.msgid)


def _mute(match: Match) -> None:
    root = match.card.root if match.card else ""
    target = steps.Target(match.msgid, match.audience, root)
    steps.act(match.filter.owner, ACTIONS["mute"], [target])


_ACT: dict[str, Callable[[Match], None]] = {"vote": _vote, "read": _mark_read, "mute": _mute}


def _expired(request: HttpRequest, why: str = EXPIRED, **context: str) -> HttpResponse:
    title = "This link does not work any more."
    context |= {"title": title, "subject": why, "done": "yes"}
    return render(request, "delivery/act.html", context, status=404)
