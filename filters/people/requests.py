"""A request of somebody who is signed in, and the page of this site that a request leads to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.http import HttpRequest
from django.shortcuts import resolve_url
from django.utils.http import url_has_allowed_host_and_scheme
from django_htmx.middleware import HtmxDetails

from filters.people.models import User

if TYPE_CHECKING:

    class PersonRequest(HttpRequest):
        """A request of somebody who is signed in, as LoginRequiredMiddleware sees to."""

        user: User
        htmx: HtmxDetails

else:
    PersonRequest = HttpRequest


def wants_fragment(request: PersonRequest) -> bool:
    """Tell whether htmx asks for a part of a page, and not for the page again."""
    return bool(request.htmx) and not request.htmx.history_restore_request


def local_path(given: str, otherwise: str) -> str:
    """Return a path that a request says leads on, or the address of the page ``otherwise``.

    Only a path of this site from its root will do.  Anything else might be of another site, or be
    taken for the name of a view (``redirect`` raises NoReverseMatch where there is no such view).
    """
    is_local = given.startswith("/") and url_has_allowed_host_and_scheme(given, allowed_hosts=None)
    return given if is_local else resolve_url(otherwise)


def key_of(text: str) -> int | None:
    """Return the primary key that a form or an address names, None if it can be none.

    >>> key_of("12"), key_of("one"), key_of("9" * 30)
    (12, None, None)
    """
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 19 else None
