"""Rules by subject, in the order in which they are applied."""

from __future__ import annotations

from tapestry.query.phrases.wordings.rules import (
    answers,
    marks,
    openings,
    people,
    recipients,
    threads,
    times,
    words,
)

FIRST = (
    "^ (all | the | any)? THREAD WHICH? (CONTAIN | of) "
    "(more than | over | only one | a single | just one)",
    "CONTAIN A? (link | links | url | urls) $",
    "between N and AGE ago",
    "from DATED",
    "DATE from CLOCK (and | to) CLOCK",
    "SUBJECT (contains | has | with) a question mark",
    "from (people | persons | anyone | senders)? outside",
    "^ my (questions | posts)",
    "^ (hot | lively | busy) (THREAD | MAIL) SPAN $",
)
"""Requests that are phrases as well, but would mean something else there."""

RULES = (
    *openings.RULES,
    *threads.RULES,
    *words.RULES,
    *answers.RULES,
    *recipients.RULES,
    *people.RULES,
    *marks.RULES,
    *times.RULES,
    *openings.LAST,
)
