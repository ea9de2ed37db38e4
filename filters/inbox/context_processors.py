"""What every page of a signed-in person shows beside its own: the sidebar."""

from __future__ import annotations

from typing import Any, cast

from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from filters.inbox import counts
from filters.people.models import User


def sidebar(request: HttpRequest) -> dict[str, Any]:
    """Return the sidebar of who is signed in; it is looked up only where a page shows it."""
    return {"sidebar": SimpleLazyObject(lambda: counts.sidebar(cast(User, request.user)))}
