"""Words for the pages of sources."""

from __future__ import annotations

from django import template

from filters.inbox.behind import complete_words
from filters.sources.forms import EVERY, audience_in_words
from tapestry.core.clock import MINUTE, wall_clock

register = template.Library()

register.filter("audience_words", audience_in_words)
register.filter("complete_words", complete_words)

RECENT = 2 * MINUTE


@register.filter
def every_words(seconds: int) -> str:
    """Say how often.

    >>> every_words(60), every_words(90)
    ('every minute', 'every 90 s')
    """
    return dict(EVERY).get(seconds, f"every {seconds} s")


@register.filter
def is_recent(instant: int | None) -> bool:
    return instant is not None and wall_clock() - instant < RECENT
