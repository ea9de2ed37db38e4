"""Rules about how many replies, votes and files there are."""

from __future__ import annotations

import re

from tapestry.query.phrases.wordings.rules.clauses import Rule, number_of


def _between(found: re.Match[str]) -> str:
    """Return how many there are, from a least to a greatest number."""
    groups = found.groupdict()
    what, low = groups["what"], groups["low"]
    return f"with at least {low} {what} and with at most {groups.get('high', low)} {what} "


def _one_or_other(found: re.Match[str]) -> str:
    """Return one of two numbers of them, such as “2 or 3 replies”."""
    low, high = sorted(map(number_of, found.group("low", "high")))
    between = f"with at least {low} {found['what']} and with at most {high} {found['what']}"
    return f"{between} " if high == low + 1 else found[0]


_NOT_LESS = re.compile(r"\A(?:no|not) (more|over|fewer|less)\b", re.IGNORECASE)


def _way(compared: str) -> str:
    """Return how a number is compared in the words of phrases.

    >>> _way("no fewer than "), _way("over "), _way("up to ")
    ('at least', 'more than', 'at most')
    """
    way = compared.strip().lower()
    if found := _NOT_LESS.match(way):
        return "at most" if found[1] in ("more", "over") else "at least"
    plain = {"over": "more than", "up to": "at most", "under": "fewer than"}
    return plain.get(way, way.replace("less", "fewer"))


def _both(found: re.Match[str]) -> str:
    """Return two comparisons of a number: “more than 2 but fewer than 6 replies”."""
    first, last = found["what"], found["counted"]
    what = first or last
    if not what or (first and last and first != last):
        return found[0]
    one, other = _way(found["one"]), _way(found["other"])
    return f"with {one} {found['low']} {what} and with {other} {found['high']} {what} "


def _also(found: re.Match[str]) -> str:
    way = _way(found["way"])
    return f"{found['what']} and with {way} {found['number']} {found['counted']} "


def _times(found: re.Match[str]) -> str:
    """Return how often it was answered: “answered at least twice”."""
    way, times = (
        found[one] or found[other] for one, other in (("way", "more"), ("times", "often"))
    )
    number = _TIMES.get(times.lower()) or times.split()[0]
    return f"and with {_way(way)} {number} replies {found['next'] or ''} "


_TIMES = {"once": "one", "twice": "two", "thrice": "three"}


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
        "HAVE? {one:COMPARING} {low:NUMBER} {what:COUNTED}? BUT? {other:COMPARING} "
        "{high:NUMBER} {counted:COUNTED}?",
        _both,
    ),
    (
        "{what:COUNTED} (, | and | but) (and | but)? {way:COMPARING} {number:NUMBER} "
        "{counted:COUNTED}",
        _also,
    ),
    ("HAVE? {low:NUMBER} or {high:NUMBER} {what:COUNTED}", _one_or_other),
    (
        "(^ MAIL? | MAIL | that | which | , | and | but) (GET | BE)? "
        "(ANSWERED {way:COMPARING} {times:TIMES} | {more:COMPARING} {often:TIMES} ANSWERED) "
        "($ | {next:FOLLOW})",
        _times,
    ),
    ("HAVE? between {low:NUMBER} and {high:NUMBER} {what:COUNTED}", _between),
    ("HAVE? {low:NUMBER} (to | -) {high:NUMBER} {what:COUNTED}", _between),
    ("HAVE? (exactly | precisely | just | only) {low:NUMBER} {what:COUNTED}", _between),
    ("HAVE {low:NUMBER} {what:COUNTED}", _between),
    ("HAVE (several | multiple) {what:COUNTED}", "with more than one {what}"),
    ("HAVE (many | lots of | a lot of) {what:COUNTED}", "with more than five {what}"),
    (
        "HAVE? {way:UNUSUAL} {number:NUMBER} {what:COUNTED}",
        lambda found: f"with {_way(found['way'])} {found['number']} {found['what']} ",
    ),
    ("WHICH? (got | GET) {how:MORE}", "with {how}"),
    ("HAVE? {number:NUMBER} or {way:WAY} {what:COUNTED}", _or_more),
    ("HAVE? more {what:COUNTED} than {number:NUMBER}", "with more than {number} {what}"),
    ("^ {what:COUNTED} {way:MORE} (than)? {number:NUMBER}", _how_many),
)
