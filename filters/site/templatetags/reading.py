"""What the pages of messages ask: the address of a part, the typeface, the neighbours in a list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import parse_qsl, urlencode

from django import template
from django.http import HttpRequest
from django.template import Context
from django.urls import reverse

register = template.Library()

TYPE_COOKIE = "tapestry_type"
"""The cookie that keeps in which type a person reads texts."""


@register.simple_tag
def part_address(msgid: str, audience: str, number: str, page: str = "attachment") -> str:
    """Return the address of a part of a message."""
    return f"{reverse(page)}?{urlencode({'id': msgid, 'in': audience, 'part': number})}"


@register.simple_tag(takes_context=True)
def address_beside(context: Context, msgid: str) -> str:
    """Return the address of the list that is open, with a message beside it; empty if none is."""
    request = context["request"]
    here = request.htmx.current_url_abs_path if request.htmx else request.get_full_path()
    path, _, query = (here or "").partition("?")
    if not path or path.startswith(reverse("message")):
        return ""
    # In the address of a search ``in`` is the filter in which it looks, elsewhere an audience.
    dropped = ("open",) if path == reverse("search") else ("open", "in")
    kept = [(name, value) for name, value in parse_qsl(query) if name not in dropped]
    return f"{path}?{urlencode([*kept, ('open', msgid)])}"


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


@register.simple_tag(takes_context=True)
def shows_html(context: Context, letter: Any, sender: str | None) -> bool:
    """Tell whether a letter is shown as HTML: where it has any, unless its reader said otherwise.

    They said so of this page (``as``), or of all mail of its sender.
    """
    request = context["request"]
    asked = request.GET.get("as")
    as_text = (sender or "").lower() in request.user.text_senders
    return letter.has_html and (asked == "html" or (asked != "text" and not as_text))


@register.simple_tag
def neighbours(rows: Sequence[Any] | None, msgid: str) -> dict[str, Any]:
    """Return the rows of a list before and after that of a message; none of what is not there."""
    rows = list(rows or ())
    at = next((at for at, row in enumerate(rows) if row.holds(msgid)), None)
    if at is None:
        return {}
    return {
        "newer": rows[at - 1] if at else None,
        "older": rows[at + 1] if at + 1 < len(rows) else None,
    }
