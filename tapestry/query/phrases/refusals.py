"""Requests that no filter can say, and filters that come near to them."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable

from tapestry.core.errors import Span
from tapestry.query.phrases.dates import MONTHS, print_date
from tapestry.query.phrases.nodes import NOWHERE, Date
from tapestry.query.phrases.states import StateError
from tapestry.query.phrases.wordings.patterns import compiled, words_of
from tapestry.query.phrases.wordings.rules.clauses import number_of


def _by_people(found: re.Match[str]) -> str:
    more = "than" in found[0].split()[:2] or found[0].lower().startswith("over")
    age = re.sub(r"^an?\s", "one ", found["age"], flags=re.IGNORECASE)
    people = number_of(found["number"]) + more
    return f"with replies by at least {people} {'person' if people == 1 else 'people'} within {age}"


def _in_group_alone(found: re.Match[str]) -> str:
    group = found["group"].lower().replace("'", "")
    return f"m.newsgroups = '{group}' AND NOT m.newsgroups <> '{group}'"


def _of_identity(found: re.Match[str]) -> str:
    identity = found["identity"].strip("<>'").replace("'", "")
    return f"m.msgid = '{identity}'"


def _in_words(found: re.Match[str]) -> str:
    """Return a text with the day before the month in “3/10/2024”, unless there is no such month."""
    day, month, year = map(int, found["day"].split("/"))
    if month > len(MONTHS):
        day, month = month, day
    if not (1 <= month <= len(MONTHS) and 1 <= day <= monthrange(year, month)[1]):
        return f'mentioning "{found["day"]}"'
    start, end = found.span("day")
    written = print_date(Date(NOWHERE, year, month, day))
    return f"{found.string[:start]}{written}{found.string[end:]}".strip()


def _instead(phrase: str) -> Callable[[re.Match[str]], str]:
    """Return the text with a phrase in place of the part that no filter can say."""

    def written(found: re.Match[str]) -> str:
        start, end = found.span("part")
        return f"{found.string[:start]}{phrase} {found.string[end:].lstrip()}".strip()

    return written


def _of_any_number(found: re.Match[str]) -> str:
    """Return a request for the last few of what somebody did as one for all of it."""
    before, how = found.string[: found.start()], found[0].split()[-1]
    rest = f"{before}{how} {found.string[found.end() :]}".removeprefix("the ")
    return re.sub(r"\bmy\b", "from me", rest, count=1).strip()


def _to_how_many(found: re.Match[str]) -> str:
    few = ("one", "1", "a", "single", "fewer", "less", "few")
    alone = found["part"].split()[0].lower() in few
    instead = _instead("only to me")(found)
    return re.sub(r"\b(?:with|to) (?=only )", "" if alone else "not ", instead)


def _of_any_age(found: re.Match[str]) -> str:
    mine = "from me" if (found["whose"] or "").lower() == "my" and not found["who"] else ""
    parts = (mine, found["who"], found["how"], found["rest"])
    return " ".join(part.strip() for part in parts if part)


_OF_MAIL = "(^ | MAIL | MAIL PREP NAME | ^ PREP NAME)"
"""What stands before words that are of mail, and in no subject."""

_REFUSED: tuple[tuple[str, str, Callable[[re.Match[str]], str]], ...] = (
    (
        "(more | fewer | less) COUNTED than COUNTED",
        "A count can be compared with a number, and not with another count.",
        lambda found: f"with more than five {found[0].split()[1].removesuffix('s')}s",
    ),
    (
        "(more than | over | at least) {number:NUMBER} REPLY (in | within) {age:AGE}",
        "Within a time one can ask how many people replied, and not how many replies there are.",
        _by_people,
    ),
    (
        "(more than | over | at least) {number:NUMBER} (people | persons) (have)? ANSWERED",
        "Without a time one can ask how many replies there are, and not how many people replied.",
        lambda found: f"with {found[0].split(found['number'])[0]}{found['number']} replies",
    ),
    (
        f"{_OF_MAIL} DONE? (with | to) {{part:MANY}}",
        "No phrase counts recipients.",
        _to_how_many,
    ),
    (
        f"{_OF_MAIL} DONE? {{part:WEEKENDS}} $",
        "A phrase asks for days, and for none that come again.",
        _instead("since Saturday"),
    ),
    (
        f"{_OF_MAIL} DONE? (WHEN CLOCK)? {{part:REPEATED}} ($ | PHRASE)",
        "A phrase asks for days, and for none that come again.",
        lambda found: _instead(f"on {found['weekday'].capitalize()}")(found),
    ),
    (
        f"{_OF_MAIL} DONE? {{part:NIGHTS}} $",
        "A phrase asks for hours of a day, and for none that come again.",
        _instead("since yesterday at 18:00"),
    ),
    (
        f"{_OF_MAIL} {{part:VISIT}}",
        "A filter does not know when you were here.",
        _instead("newer than one day"),
    ),
    (
        f"{_OF_MAIL} from outside {{part:OURS}}",
        "No phrase knows which domain is yours.",
        lambda found: f"not {_instead('@example.org')(found).replace('outside ', '')}",
    ),
    (
        f"{_OF_MAIL} not? PREP {{part:OURS}}",
        "No phrase knows which domain is yours.",
        _instead("@example.org"),
    ),
    (
        "{group:GROUP} (, | but | and)? (alone | only | (not | never) crossposted | "
        "without crossposts | not crossposted elsewhere)",
        "No phrase says that a message is in no other newsgroup.",
        _in_group_alone,
    ),
    (
        "^ (message-id | message id | msgid) :? {identity:WORD} $",
        "No phrase asks for a Message-ID.",
        _of_identity,
    ),
    (
        "(last | latest | newest) {number:NUMBER} MAIL HOW",
        "A filter finds all messages, and not the last few: a search shows the newest first.",
        _of_any_number,
    ),
    (
        "^ (show)? {whose:WHOSE}? LATEST SINGULAR {who:BYONE}? {how:FURTHER} {rest:ALL}?",
        "A filter finds all messages, and not the last one: a search shows the newest first.",
        _of_any_age,
    ),
    (
        "{day:SLASHED}",
        "The month may stand before the day here, or behind it.",
        _in_words,
    ),
)
"""Patterns, why none says it, and what can be written instead."""


def check_can_be_said(text: str) -> None:
    """Raise StateError, with a filter that comes near, if no filter can say what is asked.

    >>> check_can_be_said("lunch with more people than usual")
    """
    for pattern, message, nearest in _REFUSED:
        found = compiled(pattern).search(words_of(text))
        if found:
            other = nearest(found)
            error = StateError(message, Span(0, len(text)), f"Write “{other}”.")
            error.others = (other,)
            raise error


def can_be_said(text: str) -> bool:
    """Tell whether a filter may be able to say what is asked.

    >>> can_be_said("mail every monday from dave"), can_be_said("lunch from dave")
    (False, True)
    """
    try:
        check_can_be_said(text)
    except StateError:
        return False
    return True
