"""Rules about how many replies, votes and files there are."""

from __future__ import annotations

import re
from collections.abc import Callable

from tapestry.query.phrases.wordings.rules.clauses import Rule, number_of, party


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


def _often(phrase: str) -> Callable[[re.Match[str]], str]:
    """Return a rule of how often a person did something, whose least number a phrase has."""

    def counted(found: re.Match[str]) -> str:
        groups = found.groupdict()
        often = (groups.get("times") or groups["number"]).lower()
        number = number_of(_TIMES.get(often) or often.split()[0])
        later = {"more": "at least", "fewer": "at most", "less": "at most"}
        way = later[groups["or"].lower()] if groups.get("or") else _way(groups["way"] or "")
        least, most = (f"{phrase.format(number + more, party(found['who']))} " for more in (0, 1))
        return (
            {
                "at least": least,
                "more than": most,
                "fewer than": f"not {least}",
                "at most": f"not {most}",
            }.get(way, f"{least} and not {most}")
            + (groups.get("next") or "")
            + " "
        )

    return counted


_BY = "with at least {} replies by {}"
_IN_THREAD = "in a thread with at least {} messages by {}"
_EXACTLY = "(exactly | precisely | only | just)?"
_OFTEN = f"({{way:COMPARING}} | {_EXACTLY}) {{times:TIMES}} (or {{or:WAY}})?"
_MANY = f"({{way:COMPARING}} | {_EXACTLY}) {{number:NUMBER}} (or {{or:WAY}})?"
_END = "($ | {next:FOLLOW})"


def _or_more(found: re.Match[str]) -> str:
    compared = "least" if (found["way"] or found["more"]).lower() == "more" else "most"
    return f"with at {compared} {found['number']} {found['what'] or found['many']} "


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
    (f"HAVE? {_MANY} REPLY BY {{who:SOMEBODY}} {_END}", _often(_BY)),
    (f"^ MAIL? WHICH? {{who:PARTY}} HAS? ANSWERED {_OFTEN} {_END}", _often(_BY)),
    (
        f"(in | of)? A? THREAD UPON? WHICH? {{who:PARTY}} HAS? (WRITE | ANSWERED) {_OFTEN} {_END}",
        _often(_IN_THREAD),
    ),
    (
        f"(in | of)? A? THREAD UPON? WHICH? {{who:PARTY}} HAS? WRITE {_MANY} MAIL {_END}",
        _often(_IN_THREAD),
    ),
    (
        f"(in | of)? A? THREAD WHICH? CONTAIN {_MANY} MAIL BY {{who:PARTY}} {_END}",
        _often(_IN_THREAD),
    ),
    (
        f"^ {{who:PARTY}} HAS? (WRITE | posted) (in | to) (the | a)? THREAD {_OFTEN} {_END}",
        _often(_IN_THREAD),
    ),
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
    (
        "HAVE? {number:NUMBER} (or {way:WAY} {what:COUNTED} | {many:COUNTED} or {more:WAY})",
        _or_more,
    ),
    ("HAVE? more {what:COUNTED} than {number:NUMBER}", "with more than {number} {what}"),
    ("^ {what:COUNTED} {way:MORE} (than)? {number:NUMBER}", _how_many),
)
