"""Audiences that mail may be taken in for: everybody, and the accounts and groups that there are.

Mail for a name that nobody has would be read by whoever is given that name later.
"""

from __future__ import annotations

from difflib import get_close_matches

from django.contrib.auth.models import Group
from django.core.exceptions import ValidationError

from filters.people.models import User
from tapestry.core.errors import TapestryError
from tapestry.core.message import PUBLIC, check_audience


def require_known(audience: str) -> None:
    """Raise TapestryError, with the nearest name, unless an audience has an account or group."""
    check_audience(audience)
    kind, _, name = audience.partition(":")
    if audience == PUBLIC:
        return
    accounts = User.objects.values_list("username", flat=True)
    groups = Group.objects.values_list("name", flat=True)
    known = accounts.filter(username=name) if kind == "user" else groups.filter(name=name)
    if name in known:
        return
    audiences = [f"user:{name}" for name in accounts] + [f"group:{name}" for name in groups]
    other = f"{'group' if kind == 'user' else 'user'}:{name}"
    alike = [other] if other in audiences else get_close_matches(audience, audiences, n=1)
    near = next(iter(alike), None)
    called = "account" if kind == "user" else "group"
    raise TapestryError(
        f"There is no {called} {name}, so nobody could read mail for {audience}.",
        hint=f"Did you mean {near}?" if near else f"Add the {called} under /admin/ first.",
    )


def validate_known(audience: str) -> None:
    """Raise ValidationError unless an audience has an account or group."""
    try:
        require_known(audience)
    except TapestryError as error:
        raise ValidationError({"audience": f"{error.message} {error.hint}"}) from error
