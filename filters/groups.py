"""What a change of a person means for their filters: what they see, and who `me` is, is another.

Live filters begin again when their owner joins or leaves a group.  What a filter that keeps has
found stays; for new mail alone the new groups count.  None remains in a joint run, and no run
of one that is under way is stored: it would share the joint window with what was seen before.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from django.contrib.auth.models import Group, User
from django.db import transaction
from django.db.models import F, QuerySet
from django.db.models.signals import m2m_changed, post_save, pre_delete, pre_save

from filters.dependents import begin_live_again
from filters.joint import part
from filters.models import Filter, Profile

TELLING = ("username", "email", "is_active")
"""Fields of an account that say what its filters see, who `me` is, and whether they run."""


def listen() -> None:
    """Hear of every change of who is in which group, what a group is called, and who is who."""
    pre_save.connect(_account_changes, sender=User, dispatch_uid="account")
    pre_save.connect(_profile_changes, sender=Profile, dispatch_uid="profile")
    m2m_changed.connect(_members_changed, sender=User.groups.through, dispatch_uid="members")
    post_save.connect(_group_changed, sender=Group, dispatch_uid="group saved")
    pre_delete.connect(_group_changed, sender=Group, dispatch_uid="group deleted")


def _account_changes(instance: User, update_fields: Collection[str] | None, **_: Any) -> None:
    fields = TELLING if update_fields is None else set(TELLING) & set(update_fields)
    before = User.objects.filter(pk=instance.pk).first() if fields and instance.pk else None
    if before is not None and any(getattr(before, f) != getattr(instance, f) for f in fields):
        _run_again(Filter.objects.filter(owner=instance.pk))


def _profile_changes(instance: Profile, **_: Any) -> None:
    if not Profile.objects.filter(pk=instance.pk, aliases=instance.aliases).exists():
        _run_again(Filter.objects.filter(owner=instance.user_id))


def _members_changed(
    instance: User | Group, action: str, pk_set: Collection[int] | None, **_: Any
) -> None:
    if action not in ("post_add", "post_remove", "pre_clear"):
        return
    if isinstance(instance, User):
        _see_otherwise(User.objects.filter(pk=instance.pk))
    elif pk_set is None:
        _see_otherwise(_members(instance))
    else:
        _see_otherwise(User.objects.filter(pk__in=pk_set))


def _group_changed(instance: Group, **_: Any) -> None:
    _see_otherwise(_members(instance))


def _members(group: Group) -> QuerySet[User]:
    return User.objects.filter(groups=group)


@transaction.atomic
def _see_otherwise(people: QuerySet[User]) -> None:
    _run_again(Filter.objects.filter(owner__in=people))
    begin_live_again(people)


@transaction.atomic
def _run_again(which: QuerySet[Filter]) -> None:
    """Let filters run apart, and let no run of one that has begun be stored, or join."""
    part(which)
    which.update(revision=F("revision") + 1)
