"""How often somebody who is not signed in may ask for mail, or try a link that does not work."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from limits import RateLimitItemPerMinute

from filters.people.names.folded_names import folded
from filters.people.signing_in.client_address import client_address, counted_as
from filters.people.signing_in.outcome import Refused, note
from filters.site.work import rate_limits
from filters.site.work.rate_limits import Count, TooManyTriesError, digest
from tapestry.core.log import event

PREFIX = "membership"

REQUESTS = RateLimitItemPerMinute(10, 60, PREFIX)
LINKS = RateLimitItemPerMinute(30, 15, PREFIX)
MAILS = RateLimitItemPerMinute(3, 60, PREFIX)
"""Requests for mail and wrong links of a client's address, mails to an address; in minutes."""


def refusal(request: HttpRequest, kind: str) -> Refused | None:
    """Count a request for mail; return the refusal if there were too many from there."""
    count = Count("address", REQUESTS, digest(kind, counted_as(client_address(request))))
    try:
        rate_limits.reserve([count])
    except TooManyTriesError as error:
        return _refused(request, kind, error, "requests")
    return None


def link_refusal(request: HttpRequest) -> tuple[Refused | None, Callable[[], None]]:
    """Count a link before it is looked at; return the refusal, and what gives the try back."""
    count = Count("address", LINKS, digest("link", counted_as(client_address(request))))
    try:
        return None, rate_limits.reserve([count])
    except TooManyTriesError as error:
        return _refused(request, "link", error, "links that do not work"), lambda: None


def send_limited(kind: str, email: str, send: Callable[[], bool]) -> bool:
    """Count a mail to an address, and send it; where there were too many, nothing is sent.

    Return False to have it tried again: what was not sent does not count.
    """
    try:
        give_back = rate_limits.reserve([Count("mail", MAILS, digest(kind, folded(email)))])
    except TooManyTriesError as error:
        event("account_mail_refused", kind=kind, reason=error.reason)
        return True
    sent = False
    try:
        sent = send()
    finally:
        if not sent:
            give_back()
    return sent


def refused_page(request: HttpRequest, refused: Refused) -> HttpResponse:
    """Say that there was too much from there, and when to come back."""
    context = {"title": "Please wait a little", "sentence": refused.sentence, "hint": ""}
    return render(request, "error.html", context, status=429)


def _refused(request: HttpRequest, kind: str, error: TooManyTriesError, what: str) -> Refused:
    event("account_request_refused", kind=kind, address=client_address(request))
    refused = Refused(error.seconds, what)
    note(request, refused)
    return refused
