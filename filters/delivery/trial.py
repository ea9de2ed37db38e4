"""What the worker does for a form that is tried: try what was given, then store it."""

from __future__ import annotations

from typing import Any

from django.http import QueryDict

from filters.delivery.models import Destination
from filters.people.models import User
from filters.sources.accounts.trials import Answer
from tapestry.core.errors import TapestryError


def write(owner: User, question: dict[str, Any]) -> Answer:
    """Try what a person wrote into the form of a destination, and store it."""
    key, destination = question["destination"], Destination(owner=owner, kind=question["kind"])
    if key is not None:
        found = Destination.objects.filter(owner=owner, pk=key).first()
        if found is None:
            raise TapestryError("It was deleted meanwhile.")
        destination = found
    form = destination.way.form(QueryDict(question["data"]), destination=destination)
    if not form.is_valid():
        raise TapestryError("Something has changed in the meantime.", hint="Check the form again.")
    form.try_connection()
    stored = form.store()
    said = f"{stored.name} is {'added' if key is None else 'changed'}."
    return {"url": stored.get_absolute_url(), "said": said, "stored": stored.pk}
