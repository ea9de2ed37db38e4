"""Rules about threads, who took part in them, and how long they are."""

from __future__ import annotations

_PART = (
    "(took part | taken part | take part | participate | participated | participating | wrote "
    "| written | write | commented | comment | involved | ANSWERED | posted | sent A? MAIL | "
    "spoken "
    "| part)"
)


RULES = (
    (
        f"(in | of)? A? THREAD UPON? WHICH? I ALSO? (have | am)? ALSO? {_PART} UPON?",
        "in a thread with me ",
    ),
    ("A? THREAD UPON? WHICH? I (am)? (in | part of) $", "in a thread with me "),
    (
        f"(in | of)? A? THREAD UPON? WHICH? {{who:NAME}} (has | have)? ALSO? {_PART} UPON?",
        "in a thread with {who}",
    ),
    ("(in | of)? A? THREAD with me", "in a thread with me "),
    (
        "in A? THREAD WHICH? I (have)? (started | began | begun | created | opened)",
        "in a thread begun by me ",
    ),
    (
        "in A? THREAD WHICH? {who:NAME} (has | have)? (started | began | begun | created | opened)",
        "in a thread begun by {who}",
    ),
    (
        "in A? THREAD WHICH? CONTAIN (more than | over) {number:NUMBER} MAIL",
        "in a thread of more than {number}",
    ),
    ("after {who:NAME} wrote in the THREAD", "in a thread after a message by {who}"),
    ("A? THREAD WHICH? I (have)? (started | created) or ANSWERED", "in a thread with me "),
    (
        "A? THREAD WHICH? I (have)? (started | began | begun | created | opened)",
        "from me starting a thread ",
    ),
    (
        "A? THREAD WHICH? {who:NAME} (has | have)? (started | began | begun | created | opened)",
        "from {who} starting a thread ",
    ),
    ("in A? THREAD WHICH? BE? (started | created | opened) by", "in a thread begun by "),
    ("A? THREAD WHICH? BE? (started | created | opened) by", "starting a thread and from "),
    ("^ A? THREAD WHICH? BE? begun by", "starting a thread and from "),
    ("^ (first | opening) MAIL (of | in) A? THREAD (by | from)", "starting a thread and from "),
    ("^ (first | opening) MAIL (of | in) (each | every)? A? THREAD", "starting a thread "),
    (
        "A? THREAD WHICH? (CONTAIN | of) (only)? (one | a single | just one) MAIL",
        "starting a thread and with no reply ",
    ),
    ("A? THREAD WHICH? (CONTAIN | of) more than one MAIL", "starting a thread and replied to "),
    (
        "A? THREAD WHICH? (CONTAIN | of) (more than | over) {number:NUMBER} MAIL",
        "starting a thread of more than {number}",
    ),
    (
        "A? THREAD WHICH? (CONTAIN | of) (more than | over) {number:NUMBER} REPLY",
        "starting a thread of more than {number} replies",
    ),
    (
        "A? (popular)? THREAD WHICH? CONTAIN at least {number:NUMBER} REPLY",
        "starting a thread with at least {number} replies",
    ),
    ("top-level (submissions | MAIL | THREAD)", "starting a thread "),
    (
        "^ (hot | lively | busy) (THREAD | MAIL) {span:SPAN} $",
        lambda found: f"among the top ten by replies {found['span']} ",
    ),
    ("^ (hot | lively | busy) (THREAD | MAIL) $", "among the top ten by replies "),
    (
        "^ the? most (replied | answered) to? MAIL",
        "among the top ten by replies ",
    ),
    ("^ MAIL? with? the? most votes", "among the top ten by votes "),
    ("^ MAIL? with? the? most REPLY", "among the top ten by replies "),
)
