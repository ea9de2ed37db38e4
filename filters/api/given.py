"""Values that a program gives: checked by the form of the page that does the same."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, TypeVar

from django import forms
from django.core.exceptions import NON_FIELD_ERRORS
from django.db import models
from django.http import Http404, QueryDict
from django.shortcuts import get_object_or_404

from filters.api.problems import RefusedError
from filters.people.models import User
from filters.site.work.crypto import opaque_keys

Checked = TypeVar("Checked", bound=forms.Form)
Row = TypeVar("Row", bound=models.Model)


def form_data(given: Mapping[str, Any]) -> QueryDict:
    """Return what a form of a page would send: a ticked box is ``on``, a list several values.

    >>> form_data({"acts": ["star", "done"], "private": False, "end": None}).urlencode()
    'acts=star&acts=done'
    """
    data = QueryDict(mutable=True)
    for name, value in given.items():
        if isinstance(value, list | tuple):
            data.setlist(name, list(map(str, value)))
        elif isinstance(value, bool):
            data.setlist(name, ["on"] * value)
        elif value is not None:
            data[name] = str(value)
    return data


def checked(form: Checked) -> Checked:
    """Return a form that is valid; raise RefusedError, with the place of each fault, if not."""
    if form.is_valid():
        return form
    faults = []
    for name, errors in form.errors.items():
        label = form.fields[name].label or name if name in form.fields else ""
        for text in map(str, errors):
            sentence = f"{label}: {text}" if label and text.startswith("This field") else text
            pointer = "#" if name == NON_FIELD_ERRORS else f"#/{name}"
            faults.append({"detail": sentence, "pointer": pointer})
    raise RefusedError(422, " ".join(fault["detail"] for fault in faults), faults)


def own(model: type[Row], owner: User, key: str) -> Row:
    """Return what a caller owns under a key of this API; raise Http404 for what others own."""
    return get_object_or_404(model, owner=owner, pk=decrypted(key))


def decrypted(key: str) -> int:
    """Return the primary key behind a key of this API; raise Http404 if it is none."""
    try:
        return opaque_keys.decrypt(key)
    except ValueError:
        raise Http404("There is no such thing.") from None


def typed(moment: datetime | None, owner: User) -> str:
    """Return an instant as a person types it into a form, in their time zone; "" for none."""
    return "" if moment is None else f"{moment.astimezone(owner.zone):%Y-%m-%dT%H:%M}"
