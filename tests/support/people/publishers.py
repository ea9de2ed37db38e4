"""People who may bring mail for others than themselves."""

from __future__ import annotations

from django.contrib.auth.models import Permission

from filters.people.models import User


def let_publish(person: User) -> None:
    """Give a person the permission, as an administrator does."""
    publish = Permission.objects.get(content_type__app_label="sources", codename="publish")
    person.user_permissions.add(publish)
