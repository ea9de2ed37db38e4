"""Rules about threads, who took part in them, and how long they are."""

from __future__ import annotations

import re

from tapestry.query.phrases.wordings.rules.clauses import Rule, number_of, party

_PART = (
    "(took part | taken part | take part | participate | participated | participating | wrote "
    "| written | write | commented | comment | involved | ANSWERED | posted | sent A? MAIL | "
    "spoken "
    "| part)"
)


_BY_VOTES = (
    "(voted | voted-for | upvoted | liked | popular)",
    "(votes | upvotes | likes)",
    "votes",
)
_BY_REPLIES = (
    "(replied | replied-to | replied to | answered | discussed | commented | active)",
    "REPLY",
    "replies",
)


def _longest(found: re.Match[str]) -> str:
    unit = found["unit"]
    return f"among the top ten by replies {f'this {unit}' if unit else ''} "


def _with(found: re.Match[str]) -> str:
    after = found[0].split()[-1]
    return f"in a thread with {found['who']} {'' if after == found['who'] else after} "


def _at_most(found: re.Match[str]) -> str:
    return f"starting a thread not starting a thread of more than {found['number']} "


def _fewer(found: re.Match[str]) -> str:
    number = number_of(found["number"]) - 1
    return f"starting a thread not starting a thread of more than {number} "


def _at_least(found: re.Match[str]) -> str:
    if found["who"]:
        return found[0]
    return f"starting a thread of more than {number_of(found['number']) - 1} "


def _of_people(found: re.Match[str]) -> str:
    least = found["least"] or found["fewest"]
    number = number_of(least) - 1 if least else number_of(found["number"] or found["most"])
    number -= bool(found["fewer"])
    no_more = "not " if found["most"] else ""
    return f"starting a thread {no_more}in a thread of more than {number} people "


def _took_part(found: re.Match[str]) -> str:
    return f"{'not ' if found['no'] else ''}in a thread with {found['who'] or 'me'} "


def _of_one_or_other(found: re.Match[str]) -> str:
    one, other = (f"in a thread with {party(found[name])}" for name in ("one", "other"))
    is_neither = found["way"].lower() == "nor"
    return f"not {one} not {other} " if is_neither else f"({one} or {other}) "


def _begun_by(found: re.Match[str]) -> str:
    longer = f"{found['number']} {'replies' if found['replies'] else ''}"
    return f"starting a thread of more than {longer} from {party(found['who'])} "


def _with_me(found: re.Match[str]) -> str:
    who, after = found["who"], found[0].split()[-1]
    rest = "" if after in ("had", "have", "i", "me") else after
    return f"(from {who} to me or from me to {who}) {rest} "


_SOME_PEOPLE = (
    "((more than | over) {number:NUMBER} | at least {least:NUMBER} | {fewest:NUMBER} or more "
    "| (at most | no more than | not more than | up to | {fewer:WAY} than) {most:NUMBER}) "
    "different? (people | persons | participants | senders)"
)

RULES: tuple[Rule, ...] = (
    ("THREAD with {who:NAME} in (it | them)", "threads with {who}"),
    (f"A? THREAD WHICH? (CONTAIN | of | by | between | among) {_SOME_PEOPLE}", _of_people),
    (
        "(in | of)? A? THREAD UPON? WHICH? (neither | either)? {one:PARTY} {way:EITHER} "
        f"{{other:PARTY}} HAS? ALSO? {_PART} UPON?",
        _of_one_or_other,
    ),
    (f"A? THREAD UPON? WHICH? {_SOME_PEOPLE} HAS? {_PART} UPON?", _of_people),
    ("REPLY (to | in) A? THREAD WHICH? I (have)? BEGAN", "in a thread begun by me and replies "),
    (
        "THREAD UPON? WHICH? I (in | part of)? BUT I? NOT (start | begin | open | create)",
        "in a thread with me and not in a thread begun by me ",
    ),
    ("^ new {what:REPLY}", "{what}"),
    ("{what:REPLY} in A? THREAD UPON? WHICH? I", "{what} in a thread I"),
    (
        "THREAD {who:NAME} and (i | me) (have | had)? ($ | in | since | last | this | about)",
        _with_me,
    ),
    (
        "(THREAD (WHICH | with | whose) the? LATEST (MAIL | REPLY | word) "
        "((in | of) A? THREAD)? BE? | the? LATEST (MAIL | REPLY | word) "
        "((in | of) A? THREAD BE? | BE)) BY {who:PARTY}",
        lambda found: f"from {party(found['who'])} with no reply ",
    ),
    (
        "(THREAD WHICH)? {who:PARTY} (wrote | posted | had | has | ANSWERED) the? last "
        "(MAIL | REPLY | word)? $",
        lambda found: f"from {party(found['who'])} with no reply ",
    ),
    ("THREAD UPON? WHICH? {who:NAME} ANSWERED {whom:NAME} $", "replies to {whom} from {who}"),
    ("A? THREAD WHICH? (CONTAIN | of) (at most | no more than) {number:NUMBER} MAIL", _at_most),
    ("A? THREAD WHICH? (CONTAIN | of) (fewer | less) than {number:NUMBER} MAIL", _fewer),
    (
        "^ the? (LATEST {number:NUMBER} | {many:NUMBER} LATEST) MAIL? BY {who:SOMEBODY} $",
        lambda found: f"among the latest {found['number'] or found['many']} from {found['who']} ",
    ),
    (
        "^ the? LATEST {number:NUMBER} MAIL? in {group:GROUP}",
        "among the latest {number} in {group}",
    ),
    (
        "^ {who:OWNER} LATEST SINGULAR $",
        lambda found: f"among the latest one from {found['who'][:-2]} ",
    ),
    ("^ the? {number:NUMBER} LATEST MAIL in {group:GROUP}", "among the latest {number} in {group}"),
    (
        f"(in | of)? A? THREAD UPON? WHICH? both? {{who:PARTY}} and {{other:PARTY}} (have)? "
        f"both? (BE both? in | {_PART}) UPON?",
        lambda found: "".join([f"in a thread with {party(who)} " for who in found.groups()]),
    ),
    (
        "^ (first | opening) MAIL (of | in) (all | the | each | every)? A? THREAD (by | from)",
        "starting a thread and from ",
    ),
    ("THREAD (longer than | of over)", "threads with more than "),
    ("A? THREAD WHICH? CONTAIN A? (MAIL | REPLY)? BY", "in a thread with "),
    ("^ (the)? (first | opening) MAIL (of | in) (the | each | every)? THREAD WHICH?", "threads "),
    (
        f"(in | of)? A? THREAD UPON? WHICH? (I | {{who:NAME}}) ({{no:NOT}} | ALSO? (HAS | am)?) "
        f"ALSO? {_PART} UPON?",
        _took_part,
    ),
    (f"in which (I | {{who:NAME}}) ({{no:NOT}} | ALSO?) {_PART} $", _took_part),
    ("A? THREAD UPON? WHICH? I (am)? (in | part of) $", "in a thread with me "),
    ("(in | of)? A? THREAD with me", "in a thread with me "),
    (
        "(in | of)? A? THREAD (with | among) {who:NAME} and {other:NAME}",
        "in a thread with {who} in a thread with {other}",
    ),
    (
        "(in | of)? A? THREAD with {who:PARTY} "
        "((, | but | and) BUT? (not | without) with? | without with? | not with) {other:PARTY} $",
        lambda found: " not ".join([f"in a thread with {party(who)} " for who in found.groups()]),
    ),
    (
        "(in | of)? A? THREAD with {who:NAME} ($ | and | about | since | in which | which | that)",
        _with,
    ),
    (
        "(in | of)? A? THREAD WHICH? {who:NAME} BE (a)? (part of | in | involved in)",
        "in a thread with {who}",
    ),
    ("A? THREAD WHICH? (CONTAIN | of) at least {number:NUMBER} MAIL (by {who:PARTY})?", _at_least),
    ("{what:REPLY} {by:ALL} in my THREAD", "{what} {by} in a thread begun by me "),
    (
        "THREAD WHICH? (CONTAIN | of) (more than | over) {number:NUMBER} (MAIL | {replies:REPLY}) "
        "WHICH {who:PARTY} BEGAN",
        _begun_by,
    ),
    ("in A? THREAD WHICH? I (have)? BEGAN", "in a thread begun by me "),
    ("in A? THREAD WHICH? {who:NAME} HAS? BEGAN", "in a thread begun by {who}"),
    (
        "in A? THREAD WHICH? CONTAIN (more than | over) {number:NUMBER} MAIL",
        "in a thread of more than {number}",
    ),
    ("after {who:NAME} wrote in the THREAD", "in a thread after a message by {who}"),
    ("A? THREAD WHICH? I (have)? (started | created) or ANSWERED", "in a thread with me "),
    ("A? THREAD WHICH? I (have)? BEGAN", "from me starting a thread "),
    ("A? THREAD WHICH? {who:NAMES} HAS? BEGAN", "from {who} starting a thread "),
    (
        "(in | of)? A? THREAD WHICH? (without | with no | CONTAIN no | has no | NOT CONTAIN) "
        "(any MAIL | A? (MAIL | REPLY))? (BY | of)? {who:SENDERS} $",
        "not in a thread with {who}",
    ),
    ("in A? THREAD WHICH? BE? (started | created | opened) by", "in a thread begun by "),
    ("A? THREAD WHICH? BE? (started | created | opened) by", "starting a thread and from "),
    ("^ A? THREAD WHICH? BE? begun by", "starting a thread and from "),
    ("^ (first | opening) MAIL (of | in) (each | every)? A? THREAD", "starting a thread "),
    ("^ the? (first | opening | original) MAIL only? $", "starting a thread "),
    ("^ single (message | mail | post) THREAD", "starting a thread and with no reply "),
    ("^ new THREAD", "new threads "),
    ("^ (long | lengthy | big) THREAD", "starting a thread of more than ten "),
    ("^ short THREAD", "starting a thread not starting a thread of more than three "),
    ("^ popular (MAIL | THREAD) $", "among the top ten by votes "),
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
    (
        "WHICH? {who:PARTY} (have | has)? ALSO? (took part | taken part | participated) UPON?",
        lambda found: f"in a thread with {party(found['who'])} ",
    ),
    ("^ MAIL? (started | begun) by {who:SOMEBODY}", "starting a thread and from {who}"),
    ("top-level (submissions | MAIL | THREAD)", "starting a thread "),
    (
        "^ (hot | lively | busy) (THREAD | MAIL) {span:SPAN} $",
        lambda found: f"among the top ten by replies {found['span']} ",
    ),
    (
        "^ the? (longest | biggest | largest | busiest | hottest | liveliest) THREAD "
        "(of | in | from)? (the | this)? {unit:CURRENT}? $",
        _longest,
    ),
    ("^ (hot | lively | busy) (THREAD | MAIL) $", "among the top ten by replies "),
    *[
        (
            f"^ (among)? the? (top | best)? {{number:NUMBER}} {how} {{span:SPAN}}? $",
            lambda found, by=by: f"among the top {found['number']} by {by} {found['span'] or ''} ",
        )
        for by, how in (
            (
                "votes",
                "(best | most popular | most voted | most upvoted | most liked) (MAIL | THREAD)",
            ),
            (
                "replies",
                "(most replied | most discussed | most answered | most active) (MAIL | THREAD)?",
            ),
            ("votes", "(MAIL | THREAD) (by | with the most) (votes | score | upvotes)"),
            ("replies", "(MAIL | THREAD) (by | with the most) REPLY"),
        )
    ],
    *[
        (
            f"^ (among)? the? top {{number:NUMBER}} (MAIL | THREAD)? {{span:SPAN}} by {by}",
            f"among the top {{number}} by {by} {{span}}",
        )
        for by in ("votes", "replies")
    ],
    *[
        (pattern, lambda found, by=by: f"among the top ten by {by} {found['span'] or ''} ")
        for liked, counted, by, best in ((*_BY_VOTES, " | best"), (*_BY_REPLIES, ""))
        for pattern in (
            f"^ the? (most {liked}{best}) (MAIL | THREAD) (of | in | from)? {{span:SPAN}}? $",
            f"^ the? ((most | top) {liked}) (of | in | from)? {{span:SPAN}}? $",
            f"^ the? (MAIL | THREAD)? WHICH? (CONTAIN | GET)? the? most {counted} (of | in | "
            f"from)? {{span:SPAN}}? $",
        )
    ],
)
