"""Names of accounts and groups: none passes to another while the mail of its audience is here.

Mail goes by these names (``user:terry``, ``group:parc``), so whoever takes one could read it.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection
from typing import Any

from django.contrib.auth.models import Group, User
from django.core.exceptions import ValidationError
from django.db.models.signals import post_delete, pre_save

from filters.models import RetiredName
from filters.runtime import services
from tapestry.tables.log import snapshot
from tapestry.tables.read import audiences_in

_KINDS = {User: ("user", "username", "account"), Group: ("group", "name", "group")}
"""Beginning of the audience, field of the name, and what it is called."""


def connect_signals() -> None:
    """Check and keep the names of accounts and groups as these are saved and deleted."""
    for model in _KINDS:
        pre_save.connect(_to_be_saved, sender=model, dispatch_uid=f"{model.__name__} named")
        post_delete.connect(_retire, sender=model, dispatch_uid=f"{model.__name__} deleted")


def check_available(model: type[User] | type[Group], name: str, key: int = 0) -> None:
    """Raise ValidationError where a name was that of another, whose mail is still here.

    The name of an account may not differ by capitals alone from that of another either.
    """
    kind, _, called = _KINDS[model]
    audience = f"{kind}:{name}"
    retired = RetiredName.objects.filter(name=audience).exclude(key=key)
    if retired.exists() and audience in audiences_in(snapshot(services.tables())):
        raise ValidationError(
            f"{name} was the name of another {called}, whose mail is still here; run manage.py "
            f"forget --audience {shlex.quote(audience)} first, or choose another name."
        )
    if model is User:
        alike = User.objects.filter(username__iexact=name).exclude(username=name).exclude(pk=key)
        if alike.exists():
            raise ValidationError(f"There is an account of a name like {name}; choose another.")


def _to_be_saved(
    sender: type[User] | type[Group],
    instance: User | Group,
    raw: bool,
    update_fields: Collection[str] | None,
    **_: Any,
) -> None:
    field = _KINDS[sender][1]
    if raw or (update_fields is not None and field not in update_fields):
        return
    before = sender._default_manager.filter(pk=instance.pk).first()
    name = getattr(instance, field)
    if before is None or getattr(before, field) != name:
        check_available(sender, name, instance.pk or 0)
        if before is not None:
            _retire(before)


def _retire(instance: User | Group, **_: Any) -> None:
    kind, field, _called = _KINDS[type(instance)]
    RetiredName.objects.get_or_create(
        name=f"{kind}:{getattr(instance, field)}", defaults={"key": instance.pk}
    )
