"""Which files the scripts of a page import."""

from __future__ import annotations

from django import template
from django.utils.safestring import SafeString, mark_safe

from filters.site.web.static_files import import_map as map_of_imports

register = template.Library()


@register.simple_tag
def import_map() -> SafeString:
    """Return the import map, which the security policy names by its hash."""
    return mark_safe(map_of_imports())
