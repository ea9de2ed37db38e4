"""Requests that no filter can say, and filters that come near to them."""

from __future__ import annotations

import re
from collections.abc import Callable

from tapestry.core.errors import Span
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
        "{group:GROUP} (, | but | and)? (alone | only | (not | never) crossposted | "
        "without crossposts | not crossposted elsewhere)",
        "No phrase says that a message is in no other newsgroup.",
        _in_group_alone,
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
