"""What the worker does for the form of a mail server: try what was given, then store it."""

from __future__ import annotations

from typing import Any

from django.http import QueryDict
from django.urls import reverse

from filters.compose.forms import SmtpForm
from filters.compose.models import SmtpAccount
from filters.people.models import User
from filters.sources.accounts.trials import Answer
from tapestry.core.errors import TapestryError


def write(owner: User, question: dict[str, Any]) -> Answer:
    """Try what a person wrote into the form of their mail server, and store it."""
    stored = SmtpAccount.objects.filter(owner=owner).first() or SmtpAccount(owner=owner)
    form = SmtpForm(QueryDict(question["data"]), stored=stored)
    if not form.is_valid():
        raise TapestryError("Something has changed in the meantime.", hint="Check the form again.")
    form.try_connection()
    host = form.store().host
    return {"url": reverse("sending"), "said": f"Your mail is sent by {host} from now on."}
