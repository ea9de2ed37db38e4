"""The words of mail that Tapestry sends: subjects, headings, counts, dates."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from tapestry.deliver.batch import DeliveredMatch
from tapestry.deliver.one_line import one_line

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def subject_of(
    entered: Iterable[DeliveredMatch], left: Iterable[DeliveredMatch], site_name: str
) -> str:
    """Return the subject of a digest: the message's own if it is one, otherwise how many.

    It counts what entered a list, and what left one only if nothing entered.
    """
    news = tuple(entered)
    if len(news) == 1:
        name = one_line(news[0].filter_label, 60)
        return f"New in {name}: {shown_subject(news[0], 120)}"
    return heading_of(news, left, site_name)


def heading_of(
    entered: Iterable[DeliveredMatch], left: Iterable[DeliveredMatch], site_name: str
) -> str:
    """Return how many messages entered the lists of how many filters."""
    news, gone = tuple(entered), tuple(left)
    names = {match.filter_id: one_line(match.filter_label, 60) for match in news or gone}
    if not names:
        return f"A note from {one_line(site_name, 60)}"
    (name, *others) = names.values()
    if news and others:
        return f"{len(news)} new messages in {len(names)} filters"
    if news:
        return f"{len(news)} new in {name}"
    where = f"{len(names)} filters" if others else name
    return f"{counted(len(gone), 'message')} left {where}"


def shown_subject(match: DeliveredMatch, longest: int = 200) -> str:
    """Return a message's own subject on one line, or words that say that it has none."""
    return one_line(match.subject, longest) or "(no subject)"


def counted(number: int, noun: str) -> str:
    """Return a number with its noun.

    >>> counted(1, "vote"), counted(2, "vote")
    ('1 vote', '2 votes')
    """
    return f"{number} {noun}{'' if number == 1 else 's'}"


def votes_words(votes: int) -> str:
    """Return votes for a message less those against it, in words; empty if that is zero.

    >>> votes_words(7), votes_words(-1), votes_words(0)
    ('+7 votes', '−1 vote', '')
    """
    return f"{'+' if votes > 0 else '−'}{counted(abs(votes), 'vote')}" if votes else ""


def date_words(moment: datetime, now: datetime) -> str:
    """Return the day and the time of a moment, or the year if it is not the present one.

    >>> date_words(datetime(2026, 11, 9, 8, 5), datetime(2026, 11, 23))
    '9 Nov, 08:05'
    >>> date_words(datetime(2004, 11, 9, 8, 5), datetime(2026, 11, 23))
    '9 Nov 2004'
    """
    day = f"{moment.day} {_MONTHS[moment.month - 1]}"
    return f"{day}, {moment:%H:%M}" if moment.year == now.year else f"{day} {moment.year}"


def day_words(moment: datetime) -> str:
    """Return a day with its weekday.

    >>> day_words(datetime(2026, 11, 23))
    'Monday, 23 Nov'
    """
    return f"{_DAYS[moment.weekday()]}, {moment.day} {_MONTHS[moment.month - 1]}"
