"""What the page of a filter says of the one that it follows."""

from __future__ import annotations

from django import template

from filters.authoring.models import Filter
from filters.authoring.sharing.following import Followed, followed_by

register = template.Library()


@register.filter
def followed(filter_: Filter) -> Followed | None:
    return followed_by(filter_)
