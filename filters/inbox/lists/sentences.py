"""Evidence in words: who voted or replied, and when, as far as a reader may know of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence

from django.utils import timezone

from filters.inbox.lists.explanation import EvidenceRow
from filters.site.templatetags.mail import moment

_SENTENCES = {
    "reply": "{who} replied",
    "parent": "in reply to {who}",
    "tag": "{who} tagged it {value}",
    "contact": "{value} came into the address book",
    "meeting": "{value} came into the calendar",
    "cancelled": "the calendar had it cancelled",
    "message": "with a message by {who}",
    "votes for": "{who} voted for it",
    "votes against": "{who} voted against it",
    "replies": "{who} replied",
}


def sentences(rows: Sequence[EvidenceRow], audiences: Collection[str]) -> list[str]:
    """Return in words those evidence rows that a reader in these audiences may know of."""
    said: dict[str, None] = {}
    tallies: dict[str, list[EvidenceRow]] = defaultdict(list)
    for row in rows:
        if row["audience"] not in audiences:
            continue
        if "names" in row:
            tallies[row["what"]].append(row)
        else:
            said[_sentence(row)] = None
    said.update((_tally(what, tally), None) for what, tally in tallies.items())
    return list(said)


def _sentence(row: EvidenceRow) -> str:
    if row["what"] == "no reply":
        return f"no reply {_between(row['from'], row['at'])}"
    if row["what"] == "vote":
        words = f"{row['who']} voted {'against' if row['value'] == 'against' else 'for'} it"
    else:
        words = _SENTENCES.get(row["what"], "{who} added a {what}").format_map(row)
    return words if row["what"] == "parent" else words + _on(row.get("at"))


def _tally(what: str, rows: Sequence[EvidenceRow]) -> str:
    """Say who voted or replied, in all the audiences of the rows."""
    named = [name for row in rows for name in row["names"]]
    names = list(dict.fromkeys(named))
    people = sum(row["people"] for row in rows) - (len(named) - len(names))
    number = sum(row["number"] for row in rows)
    last = max(row["at"] for row in rows)
    if what == "replies" and number > people:
        words = f"{number} replies by {_people(names, people)}"
    else:
        words = _SENTENCES[what].format(who=_people(names, people))
    return words + (", the last" if number > 1 else "") + _on(last)


def _people(names: Sequence[str], people: int) -> str:
    """Name two people, or three if there are no others, and count the others.

    >>> _people(["terry", "mary", "bill", "jo"], 6), _people(["terry", "mary"], 2)
    ('terry, mary and 4 others', 'terry and mary')
    """
    shown = list(names) if people == len(names) <= 3 else list(names[:2])
    others = people - len(shown)
    if others:
        return f"{', '.join(shown)} and {others} other{'s' if others > 1 else ''}"
    return " and ".join(filter(None, [", ".join(shown[:-1]), shown[-1]]))


def _on(instant: int | None) -> str:
    then = moment(instant)
    if then is None:
        return ""
    year = "" if then.year == timezone.localtime().year else f" {then.year}"
    return f" on {then.day} {then:%B}{year}"


def _between(first: int, last: int) -> str:
    """Say the days of two instants, and of one day the time by which it was."""
    begin, end = moment(first), moment(last)
    if begin is None or end is None or begin.date() >= end.date():
        return f"as of {end:%H:%M}{_on(last)}" if end else "until it was found"
    year = "" if end.year == timezone.localtime().year == begin.year else f" {end.year}"
    start = f"{begin.day}"
    if (begin.year, begin.month) != (end.year, end.month):
        start += f" {begin:%B}"
    if begin.year != end.year:
        start += f" {begin.year}"
    return f"between {start} and {end.day} {end:%B}{year}"
