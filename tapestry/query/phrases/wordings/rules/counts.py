"""Rules about how many replies, votes and files there are."""

from __future__ import annotations

import re

from tapestry.query.phrases.wordings.rules.clauses import Rule, number_of


def _between(found: re.Match[str]) -> str:
    """Return how many there are, from a least to a greatest number."""
    groups = found.groupdict()
    what, low = groups["what"] or groups["other"], groups["low"]
    return f"with at least {low} {what} and with at most {groups.get('high', low)} {what} "


def _or_more(found: re.Match[str]) -> str:
    compared = "least" if found["way"].lower() == "more" else "most"
    return f"with at {compared} {found['number']} {found['what']} "


def _in_thread(found: re.Match[str]) -> str:
    number, noun = number_of(found["number"]), "replies" if found["replies"] else ""
    if number == 1 and not noun:
        return "starting a thread and with no reply "
    longer = f"starting a thread of more than {number} {noun}"
    return f"{longer.replace(str(number), str(number - 1))} not {longer} "


_SHARES = (
    ("(more than | over) {share:SHARE} of", "more than {share}"),
    ("at least {share:SHARE} of", "at least {share}"),
    ("(fewer | less) than {share:SHARE} of", "fewer than {share}"),
    ("most (of)?", "more than half"),
)
_WAYS = {"for": "(for (it | them) | in favour | in favor)", "against": "against (it | them)?"}

_SIGNS = {"≥": "at least", ">=": "at least", "≤": "at most", "<=": "at most", "<": "fewer than"}


def _compared(found: re.Match[str]) -> str:
    way = _SIGNS.get(found["sign"], "more than")
    return f"with {way} {found['number']} {found['what']} "


def _how_many(found: re.Match[str]) -> str:
    way = found["way"].lower()
    return f"with {way}{'' if way.startswith('at') else ' than'} {found['number']} {found['what']} "


RULES: tuple[Rule, ...] = (
    *(
        (f"(with)? {share} A? REPLY (BE | came) BY", f"with {compared} of the replies by ")
        for share, compared in _SHARES
    ),
    ("with most (of)? A? REPLY BY", "with more than half of the replies by "),
    *(
        (f"(with)? {share} A? VOTERS BE? {voted}", f"voted {way} by {compared} of the voters ")
        for share, compared in _SHARES
        for way, voted in _WAYS.items()
        if way == "for" or compared.startswith("more")
    ),
    (
        "HAVE? {number:PLUSSED} {what:COUNTED}",
        lambda found: f"with at least {found['number'][:-1]} {found['what']} ",
    ),
    ("^ MAIL? HAVE? {sign:COMPARISON} {number:NUMBER} {what:COUNTED}", _compared),
    (
        "A? THREAD WHICH? (CONTAIN | of) (exactly | precisely | just | only)? {number:NUMBER} "
        "(MAIL | {replies:REPLY})",
        _in_thread,
    ),
    (
        "HAVE? at least {low:NUMBER} {what:COUNTED}? BUT? (at most | not "
        "more than | no more than) {high:NUMBER} {other:COUNTED}?",
        _between,
    ),
    ("HAVE? between {low:NUMBER} and {high:NUMBER} {what:COUNTED}", _between),
    ("HAVE? {low:NUMBER} (to | -) {high:NUMBER} {what:COUNTED}", _between),
    ("HAVE? (exactly | precisely | just | only) {low:NUMBER} {what:COUNTED}", _between),
    ("HAVE {low:NUMBER} {what:COUNTED}", _between),
    ("HAVE (several | multiple) {what:COUNTED}", "with more than one {what}"),
    ("HAVE (many | lots of | a lot of) {what:COUNTED}", "with more than five {what}"),
    ("HAVE? (no | not) more than {number:NUMBER} {what:COUNTED}", "with at most {number} {what}"),
    ("WHICH? (got | GET) {how:MORE}", "with {how}"),
    ("HAVE? {number:NUMBER} or {way:WAY} {what:COUNTED}", _or_more),
    ("HAVE? more {what:COUNTED} than {number:NUMBER}", "with more than {number} {what}"),
    ("^ {what:COUNTED} {way:MORE} (than)? {number:NUMBER}", _how_many),
)
