"""The answer of a filter about one message in words: what is false, since when, what is missing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from django.utils import timezone

from filters.site.templatetags.mail import moment
from tapestry.core.annotations import AnnotationSummary

PartValues = Mapping[str, Any]
"""A Part of ``tapestry.run.why`` as plain values."""

_COUNTED = {
    "votes for": ("voted for it", "votes for it"),
    "votes against": ("voted against it", "votes against it"),
    "votes": ("voted", "votes"),
    "replies": ("replied", "replies"),
}
"""Of each kind of what is counted: of people what they did, else what there are."""

_NAMED = 10
"""People who are named: of more it is said how many they are."""


@dataclass(frozen=True, slots=True)
class Line:
    """A part of a filter in words; ``holds`` tells whether it is met now."""

    words: str
    holds: bool
    says: str
    joint: str = ""
    parts: Sequence[Line] = field(default=())


def when(instant: int | None) -> str:
    """Say when something is, by the clock of the reader: “at 10:05”, “on 3 May at 10:05”."""
    then = moment(instant)
    if then is None:
        return "at some time"
    now = timezone.localtime()
    if then.date() == now.date():
        return f"at {then:%H:%M}"
    days = {timedelta(days=1): "tomorrow", timedelta(days=-1): "yesterday"}
    if near := days.get(then.date() - now.date()):
        return f"{near} at {then:%H:%M}"
    year = "" if then.year == now.year else f" {then.year}"
    return f"on {then.day} {then:%B}{year} at {then:%H:%M}"


def line_of(part: PartValues, summary: AnnotationSummary) -> Line:
    """Return a part, and those that it is made of, in words.

    ``summary`` is what the reader may see of the votes on the message.
    """
    parts = [line_of(inner, summary) for inner in part["parts"]]
    says = _holds(part) if part["holds"] else _fails(part, summary)
    return Line(part["words"], part["holds"], says, part["joint"], parts)


def bare(instant: int | None) -> str:
    """Say when something is, to stand after “since”, “from” or “until”."""
    return when(instant).removeprefix("at ").removeprefix("on ")


def lines_of(
    part: PartValues, summary: AnnotationSummary, depth: int = 0
) -> Iterator[tuple[int, Line]]:
    """Yield a part and those that it is made of, each with how deep it is."""
    yield depth, line_of(part, summary)
    for inner in part["parts"]:
        yield from lines_of(inner, summary, depth + 1)


def outlook(part: PartValues) -> str:
    """Say of a whole filter what becomes of its answer if nothing but time passes."""
    if part["holds"]:
        return (
            "" if part["then"] is None
            else f"If nothing else happens, it ceases to match {when(part['then'])}."
        )  # fmt: skip
    if part["then"] is not None:
        return f"If nothing else happens, it matches {when(part['then'])}."
    if _is_over(part):
        return "It can never match: what the message says does not change."
    if part["joint"] == "all":
        ends = [inner["then"] for inner in part["parts"] if inner["holds"] and inner["then"]]
        if ends:
            return (
                f"All the rest would have to be true before what holds now ends {when(min(ends))}."
            )
    return "Time alone does not make it match."


def _is_over(part: PartValues) -> bool:
    """Tell whether nothing that happens later can make a part true."""
    if part["holds"]:
        return False
    if part["joint"] == "all":
        return any(_is_over(inner) for inner in part["parts"])
    if part["joint"] == "any":
        return all(_is_over(inner) for inner in part["parts"])
    return bool(part["is_fixed"])


def _holds(part: PartValues) -> str:
    if part["is_fixed"]:
        return "true"
    until = "" if part["then"] is None else f", and until {bare(part['then'])}"
    return f"true since {bare(part['since'])}{until}"


def _fails(part: PartValues, summary: AnnotationSummary) -> str:
    if part["is_fixed"]:
        return "not true, and never will be: what the message says does not change"
    past = [
        (begin, end) for begin, end in part["spans"] if end is not None and end <= part["since"]
    ]
    if past:
        begin, end = past[-1]
        says = f"not true since {bare(end)}; it was from {bare(begin)} until then"
    else:
        says = "has not been true so far"
    if part["then"] is not None:
        says += f"; true {when(part['then'])}, if nothing else happens"
    if part["counted"]:
        says += f"; {_missing(part['counted'], summary)}"
    return says


def _missing(counted: Mapping[str, Any], summary: AnnotationSummary) -> str:
    """Say how many there are, how many are missing, and by whom these may be."""
    number, missing = counted["number"], counted["least"] - counted["number"]
    did, things = _COUNTED.get(counted["kind"], ("", "that count"))
    if counted["distinct"] and did:
        people = "person has" if number == 1 else "people have"
        more = "one more is" if missing == 1 else f"{missing} more are"
        says = f"{number or 'no'} {people} {did}, and {more} needed"
        names = _people(counted, summary)
        return f"{says}, by anybody but {names}" if names else says
    more = "one more is" if missing == 1 else f"{missing} more are"
    return f"{number} {things}, and {more} needed"


def _people(counted: Mapping[str, Any], summary: AnnotationSummary) -> str:
    """Name those who count already, if that is all who can be meant."""
    known = {"votes for": summary.voted_for, "votes against": summary.voted_against}
    names = sorted(known.get(counted["kind"], ()))
    if not counted["is_lasting"] or len(names) != counted["number"] or not 0 < len(names) <= _NAMED:
        return ""
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last
