"""The entries of the sidebar: each is rendered once, and again when something of it changes.

``page_of`` shows the same filters in pages.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

from django import template
from django.core.paginator import Page, Paginator
from django.template.loader import get_template
from django.utils.safestring import SafeString, mark_safe

register = template.Library()

FIELDS = (
    *("name", "display_name", "get_absolute_url", "phrase", "active", "error"),
    *("has_ended", "is_searching", "unread", "total", "waiting"),
)
"""What an entry shows of a filter."""


PAGE = 200
"""Filters on a page of all of them."""


@register.simple_tag(takes_context=True)
def page_of(context: dict[str, Any], filters: Sequence[Any]) -> Page[Any]:
    """Return the page of a person's filters that the request asks for."""
    return Paginator(filters, PAGE).get_page(context["request"].GET.get("page"))


@register.simple_tag
def sidebar_entries(filters: Iterable[Any], current: str) -> SafeString:
    """Return the entries of a person's filters; ``current`` names that which is open."""
    rendered = (_entry(filter_.name == current, *_values(filter_)) for filter_ in filters)
    return mark_safe("".join(rendered))  # each comes from a template


def _values(filter_: Any) -> tuple[Any, ...]:
    """Return what an entry shows of a filter, kept with it: the sidebar keeps filters too."""
    kept: dict[str, tuple[Any, ...]] = filter_.__dict__
    if "_sidebar_values" not in kept:
        values = (getattr(filter_, field) for field in FIELDS)
        kept["_sidebar_values"] = tuple(value() if callable(value) else value for value in values)
    return kept["_sidebar_values"]


@lru_cache(maxsize=20_000)
def _entry(is_current: bool, *values: Any) -> str:
    entry = dict(zip(FIELDS, values, strict=True))
    context = {"entry": entry, "is_current": is_current}
    return get_template("inbox/_sidebar_entry.html").render(context)
