"""Rules by subject, in the order in which they are applied."""

from __future__ import annotations

from tapestry.query.phrases.wordings.rules import (
    answers,
    clauses,
    counts,
    exceptions,
    marks,
    openings,
    people,
    recipients,
    threads,
    times,
    words,
)
from tapestry.query.phrases.wordings.rules.clauses import Rule

FIRST = (
    "^ (all | the | any)? THREAD WHICH? (CONTAIN | of) "
    "(more than | over | only one | a single | just one)",
    "CONTAIN A? (link | links | url | urls) (to WORD)? $",
    "between N and AGE ago",
    "in (reply | answer) to NAME ($ | ,)",
    ", PLAIN attached $",
    "(WHOM | SUBJECT) (ISNT | not) VALUE",
    "from (DATED | NUMERIC)",
    "cc SOMEBODY (, | but | and)? (but | and)? not to SOMEBODY $",
    "from (N | DATE) (to | until | till) DATE",
    "DATE from CLOCK (and | to) CLOCK",
    "SUBJECT (contains | has | with) a question mark",
    "BY (people | persons | anyone | anybody | everyone | senders)? outside",
    "from (no-reply | noreply | do-not-reply | donotreply) (senders | addresses | MAIL)? $",
    "^ my (questions | posts | unanswered | REPLY | THREAD | MAIL | patches)",
    "from MONTH",
    "(about | mentioning) VALUE (, not | except | excluding | other than)",
    "from (newsgroups | usenet | robots | bots | machines)",
    "(mentioning | containing | contains) the? exact",
    "(ANSWERED | voted for) by NOBODY",
    "by (programs | robots | bots | machines)",
    "PREP DOTTED",
    "PREP the? domain DOMAIN",
    "^ who (has)? ALSO? ANSWER A? (me | us | MAIL)",
    "PREP (everyone | everybody | anyone | anybody) (except | but | excluding | other)",
    "^ (hot | lively | busy) (THREAD | MAIL) SPAN $",
    "^ REPLY BY NAME to my",
    "^ the? most WORD SPAN $",
    "MENTION my name",
    "tagged by me",
    "^ (all | the | any | only)? (tagged | labelled | labeled) MAIL $",
    "not BY NAME and NAME $",
    "BY NAME (addresses | accounts) $",
    "^ OWNER REPLY to",
    "RECEIVED SOMEBODY (but | and) not NAME $",
    "THREAD WHICH? CONTAIN A? MAIL",
    "^ (first | opening) MAIL",
    "^ MAIL? STARRED FILES? $",
    "to HIERARCHY",
    "from PERIOD CALENDAR",
    "REPLY COMMA? COMMA? none BY",
)
"""Requests that are phrases as well, but would mean something else there."""

RULES: tuple[Rule, ...] = (
    *counts.RULES,
    *exceptions.RULES,
    *openings.RULES,
    *threads.RULES,
    *words.RULES,
    *clauses.RULES,
    *answers.RULES,
    *recipients.RULES,
    *people.RULES,
    *marks.RULES,
    *times.RULES,
    *openings.LAST,
)
