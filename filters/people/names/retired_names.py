"""Names of accounts and groups: none is given to anybody while mail of its audience is here.

Mail goes by these names (``user:terry``, ``group:parc``), so whoever takes one could read it.
That of a person who has left is given to nobody: what they said stays under it.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from typing import Any

from django.contrib.auth.models import Group
from django.core.exceptions import ValidationError
from django.db.models.signals import post_delete

from filters.people.models import RetiredName, User
from filters.people.names.account_names import check_name
from filters.people.names.folded_names import folded
from filters.site.work.db.batching import batched
from filters.site.work.parts import services

_KINDS = {User: ("user", "username", "account"), Group: ("group", "name", "group")}
"""Beginning of the audience, field of the name, and what it is called."""


def connect_signals() -> None:
    """Keep the names of accounts that are deleted, many at a time too."""
    post_delete.connect(retire, sender=User, dispatch_uid="account deleted")


def check_available(model: type[User] | type[Group], name: str, key: int = 0) -> None:
    """Raise ValidationError where mail goes by a name already: that of another, or of nobody yet.

    ``key`` is that of an account or group that is renamed: it may have its own old name again.
    Nor may the name of an account be that of another, or of one that is gone, in other capitals or
    forms of letters: filters that refer to it would mean those of the new account.
    """
    from tapestry.tables.write.audience_markers import has_rows

    if model is User and name:  # a form without a name has None
        check_name(name)
    kind, _, called = _KINDS[model]
    audience = f"{kind}:{name}"
    retired = _retired_like(model, name)
    if any(former.is_kept for former in retired):
        raise ValidationError(
            f"{name} belonged to someone who has left and cannot be used again; "
            "choose another name."
        )
    was_anothers = f"{name} was the name of another {called}, whose mail is still here"
    problems = {former.name: was_anothers for former in retired if former.key != key}
    if audience not in {former.name for former in retired}:
        problems[audience] = (
            f"Mail for {audience} is here already, and the new {called} could read it"
        )
    for taken, whose in problems.items():
        if has_rows(services.tables(), taken):
            raise ValidationError(
                f"{whose}; run manage.py forget --audience {shlex.quote(taken)} first, "
                "or choose another name."
            )
    if model is User and name:
        others = User.objects.exclude(username=name).exclude(pk=key)
        names = others.values_list("username", flat=True)
        if any(folded(other) == folded(name) for other in names):
            raise ValidationError(f"There is an account of a name like {name}; choose another.")


def keep_names(names: Iterable[str]) -> None:
    """Give the names of accounts that are deleted to nobody, ever."""
    for batch in batched(f"user:{name}" for name in names):
        RetiredName.objects.filter(name__in=batch).update(is_kept=True)


def _retired_like(model: type[User] | type[Group], name: str) -> list[RetiredName]:
    """Return the retired names that equal a name; for an account, once they are folded."""
    kind = _KINDS[model][0]
    if model is not User or not name:
        return list(RetiredName.objects.filter(name=f"{kind}:{name}"))
    return [
        former
        for former in RetiredName.objects.filter(name__startswith=f"{kind}:")
        if folded(former.name.removeprefix(f"{kind}:")) == folded(name)
    ]


def check_saved(instance: User | Group, before: User | Group | None) -> None:
    """Check the name that an account or group is given, and keep the one that it had until now."""
    model = type(instance)
    check_available(model, getattr(instance, _KINDS[model][1]), instance.pk or 0)
    if before is not None:
        retire(before)


def retire(instance: User | Group, **_: Any) -> None:
    """Keep the name that an account or group had until now: it is that of the last who had it."""
    kind, field, _called = _KINDS[type(instance)]
    RetiredName.objects.update_or_create(
        name=f"{kind}:{getattr(instance, field)}", defaults={"key": instance.pk}
    )
