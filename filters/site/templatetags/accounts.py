"""What the sign-in page says while nobody has an account."""

from __future__ import annotations

from django import template

from filters.people.models import User
from filters.site.settings.data_directory import is_checkout

register = template.Library()


@register.inclusion_tag("people/_first_account.html")
def first_account() -> dict[str, bool]:
    """Say how the first account is made; nothing once there is one."""
    return {"is_first": not User.objects.exists(), "is_checkout": is_checkout()}
