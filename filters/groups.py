"""Live filters begin again when their owner joins or leaves a group: what they see is another.

What a filter that keeps has found stays; for new mail alone the new groups count.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from django.contrib.auth.models import Group, User
from django.db.models import QuerySet
from django.db.models.signals import m2m_changed, post_save, pre_delete

from filters.dependents import begin_live_again


def listen() -> None:
    """Hear of every change of who is in which group, and of what a group is called."""
    m2m_changed.connect(_members_changed, sender=User.groups.through, dispatch_uid="members")
    post_save.connect(_group_changed, sender=Group, dispatch_uid="group saved")
    pre_delete.connect(_group_changed, sender=Group, dispatch_uid="group deleted")


def _members_changed(
    instance: User | Group, action: str, pk_set: Collection[int] | None, **_: Any
) -> None:
    if action not in ("post_add", "post_remove", "pre_clear"):
        return
    if isinstance(instance, User):
        begin_live_again(User.objects.filter(pk=instance.pk))
    elif pk_set is None:
        begin_live_again(_members(instance))
    else:
        begin_live_again(User.objects.filter(pk__in=pk_set))


def _group_changed(instance: Group, **_: Any) -> None:
    begin_live_again(_members(instance))


def _members(group: Group) -> QuerySet[User]:
    return User.objects.filter(groups=group)
