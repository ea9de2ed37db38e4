"""Changes of groups and memberships, which are Django's, wherever they are made.

What follows them is imported when the first one comes: most commands make none.
"""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import Group
from django.db.models.signals import m2m_changed, post_save, pre_delete, pre_save

from filters.people.models import User


def connect_signals() -> None:
    """Have filters and names follow every change."""
    m2m_changed.connect(_members_changed, sender=User.groups.through, dispatch_uid="members")
    pre_save.connect(_group_changes, sender=Group, dispatch_uid="group")
    post_save.connect(_group_changed, sender=Group, dispatch_uid="group saved")
    pre_delete.connect(_group_is_deleted, sender=Group, dispatch_uid="group deleted")


def _members_changed(**change: Any) -> None:
    from filters.authoring import visibility_changes

    visibility_changes.members_changed(**change)


def _group_changes(**change: Any) -> None:
    from filters.authoring import visibility_changes

    visibility_changes.group_changes(**change)


def _group_changed(**change: Any) -> None:
    from filters.authoring import visibility_changes

    visibility_changes.group_changed(**change)


def _group_is_deleted(**change: Any) -> None:
    from filters.authoring import visibility_changes

    visibility_changes.group_is_deleted(**change)
