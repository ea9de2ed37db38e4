"""A request of somebody who is signed in, and the page of this site that it leads to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render, resolve_url
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods
from django_htmx.middleware import HtmxDetails

from filters.people.models import User
from tapestry.core.errors import TapestryError

if TYPE_CHECKING:

    class PersonRequest(HttpRequest):
        """A request of somebody who is signed in, as LoginRequiredMiddleware sees to."""

        user: User
        htmx: HtmxDetails

else:
    PersonRequest = HttpRequest

form_methods = require_http_methods(["GET", "HEAD", "POST"])
"""Let a page be asked for, and its form be sent."""


def public_form(page: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Let a page with a form be used by who is not signed in; no browser keeps it."""
    return login_not_required(never_cache(form_methods(page)))


def form_page(request: HttpRequest, template: str, form: Any, **context: Any) -> HttpResponse:
    """Return a page with a form, as ``form`` among the context: 400 if something in it is wrong."""
    status = 400 if form.errors else 200
    return render(request, template, {"form": form, **context}, status=status)


@contextmanager
def errors_told(request: HttpRequest) -> Iterator[None]:
    """End the block where it raises a TapestryError, which the next page tells."""
    try:
        yield
    except TapestryError as error:
        messages.error(request, error.sentences, extra_tags="bad")


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
