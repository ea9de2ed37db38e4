"""What the pages of messages ask: the address of a part, the typeface, the neighbours in a list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from django import template
from django.http import HttpRequest
from django.urls import reverse

register = template.Library()

TYPE_COOKIE = "tapestry_type"
"""The cookie that keeps in which type a person reads texts."""


@register.simple_tag
def part_address(msgid: str, audience: str, number: str, page: str = "attachment") -> str:
    """Return the address of a part of a message."""
    return f"{reverse(page)}?{urlencode({'id': msgid, 'in': audience, 'part': number})}"


@register.filter
def within(number: str, outer: str) -> str:
    """Return the section number of a part of an attached message, in the message around it.

    >>> within("1.2", "3")
    '3.1.2'
    """
    return f"{outer}.{number}" if outer else number


@register.filter
def is_mono(request: HttpRequest) -> bool:
    """Tell whether a person reads texts in letters of equal width."""
    return request.COOKIES.get(TYPE_COOKIE) == "mono"


@register.simple_tag
def neighbours(rows: Sequence[Any] | None, msgid: str) -> dict[str, Any]:
    """Return the rows of a list before and after that of a message; none of what is not there."""
    rows = list(rows or ())
    at = next((at for at, row in enumerate(rows) if row.card.msgid == msgid), None)
    if at is None:
        return {}
    return {
        "newer": rows[at - 1] if at else None,
        "older": rows[at + 1] if at + 1 < len(rows) else None,
    }
