"""What the worker does for the form of a mailbox: try what was given, then store it."""

from __future__ import annotations

from typing import Any

from django.http import QueryDict

from filters.delivery.forms.mailbox import MailboxForm
from filters.delivery.models import Destination
from filters.people.models import User
from filters.sources.accounts.trials import Answer
from tapestry.core.errors import TapestryError


def write(owner: User, question: dict[str, Any]) -> Answer:
    """Try what a person wrote into the form of a mailbox, and store it."""
    key, kind = question["destination"], Destination.Kind.MAILBOX
    destination = Destination(owner=owner, kind=kind)
    if key is not None:
        found = Destination.objects.filter(owner=owner, kind=kind, pk=key).first()
        if found is None:
            raise TapestryError("It was deleted meanwhile.")
        destination = found
    form = MailboxForm(QueryDict(question["data"]), destination=destination)
    if not form.is_valid():
        raise TapestryError("Something has changed in the meantime.", hint="Check the form again.")
    form.try_connection()
    stored = form.store()
    said = f"{stored.name} is {'added' if key is None else 'changed'}."
    return {"url": stored.get_absolute_url(), "said": said, "stored": stored.pk}
