"""A request of somebody who is signed in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib.auth.models import User
from django.http import HttpRequest
from django_htmx.middleware import HtmxDetails

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
