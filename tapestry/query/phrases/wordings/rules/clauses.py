"""Rules about what somebody did with a message: “that mary sent”, “nobody voted for”."""

from __future__ import annotations

import re
from collections.abc import Callable

from tapestry.query.phrases.dates import NUMBERS

Rule = tuple[str, str | Callable[[re.Match[str]], str]]

_DID = "(has | have | had | did | ALSO)? ALSO?"
_UPVOTED = "voted for | voted up | upvoted | up-voted | liked"
_DOWNVOTED = "voted against | voted down | downvoted | down-voted | disliked"
_NOTED = "annotated | commented on | noted"
_LABELLED = "tagged | labelled | labeled"
_VOTED_FOR = f"({_UPVOTED} | vote for)"
_VOTED_AGAINST = f"({_DOWNVOTED} | vote against)"
_ANNOTATED = f"({_NOTED} | annotate | comment on | put a note on)"
_BARELY_TAGGED = f"({_LABELLED} | tag | label)"
_WITH_A_WORD = "(it | them)? (as | with)? {words:VALUE}"
_NO_VOTE = "(not voted for by more than 0 people and not voted against by more than 0 people) "
_ACTS = (
    (_VOTED_FOR, "voted for by"),
    (_VOTED_AGAINST, "voted against by"),
    (_ANNOTATED, "annotated by"),
    ("(reviewed | review)", "reviewed by"),
)
"""What a person does with a message of somebody, and how a phrase says that it was done."""

_DONE = (
    (f"({_UPVOTED})", "voted for by"),
    (f"({_DOWNVOTED})", "voted against by"),
    (f"({_NOTED})", "annotated by"),
    ("reviewed", "reviewed by"),
)
"""The same in words that are no nouns: a code review is by nobody called “code”."""

_GOT = "(got | received | gets | receives)"
_ANYONE = "(anyone | anybody | someone | somebody)"
_MENTIONS = "(mentions | mentioned | mention)"


def _of_people(subject: str, people: str, *, may_be_noun: bool = False) -> tuple[Rule, ...]:
    """Return the rules of clauses with a subject; ``may_be_noun``: with a word before a noun."""
    acts = _DONE if may_be_noun else _ACTS
    tagged = f"({_LABELLED})" if may_be_noun else _BARELY_TAGGED
    return (
        *[(f"WHICH? {subject} NOT {act}", f"not {done} {people} ") for act, done in _ACTS],
        *[(f"WHICH? {subject} {_DID} {act}", f"{done} {people} ") for act, done in acts],
        (
            f"WHICH? {subject} NOT {_BARELY_TAGGED} {_WITH_A_WORD}",
            f"not tagged {{words}} by {people} ",
        ),
        (f"WHICH? {subject} {_DID} {tagged} {_WITH_A_WORD}", f"tagged {{words}} by {people} "),
        (f"WHICH? {subject} NOT {_BARELY_TAGGED}", f"without a tag by {people} "),
        (f"WHICH? {subject} {_DID} {tagged}", f"not without a tag by {people} "),
    )


_DEEDS = (
    (_VOTED_FOR, "voted for by"),
    (_VOTED_AGAINST, "voted against by"),
    ("ANSWER", "replied to by"),
    ("(got | received | get | receive)", "to"),
    ("(reviewed | review)", "reviewed by"),
    ("WRITE", "from"),
)


def _of_each(done: str) -> Callable[[re.Match[str]], str]:
    """Return what each of two people did or did not do: “mary answered but joe didn't”."""

    def phrases(found: re.Match[str]) -> str:
        groups = found.groupdict()
        denied = [groups.get(name, "neither") for name in ("no", "none")]
        people = ["me" if who.lower() == "i" else who for who in (groups["one"], groups["other"])]
        parts = [
            f"{'not ' if no else ''}{done} {who}" for no, who in zip(denied, people, strict=True)
        ]
        return f"{' and '.join(parts)} {groups['next'] or ''} "

    return phrases


def _at_least(found: re.Match[str]) -> str:
    """Return by how many people it was voted for, at least."""
    return f"voted for by more than {number_of(found['number']) - 1} people "


def _votes(found: re.Match[str]) -> str:
    """Return by how many people it was voted for, or against."""
    way, number = found["way"].lower(), number_of(found["number"])
    which = "against" if found["against"] else "for"
    more, least = (f"voted {which} by more than {many} people" for many in (number, number - 1))
    if way in ("more than", "over"):
        return f"{more} "
    if way in ("at most", "up to", "no more than", "not more than", "not over"):
        return f"not {more} "
    never = "" if way in ("at least", "no fewer than", "no less than") else "not "
    return f"{never}{least} " if number else found[0]


def _unvoted(found: re.Match[str]) -> str:
    """Return what is so old, and nobody voted for."""
    age = re.sub(r"^an?\s", "one ", found["age"], flags=re.IGNORECASE)
    return f"{found['what']} and {age} old "


def any_of(names: str) -> str:
    """Return a list of senders, of whom a message has one: “joe and mary” is either of them."""
    return re.sub(r" (?:and|,) ", " or ", names, flags=re.IGNORECASE)


def party(who: str) -> str:
    """Return somebody as phrases have it, who asks as “me”."""
    return "me" if who.lower() == "i" else who


def number_of(word: str) -> int:
    """Return the number that a word is, in letters or in digits."""
    lower = word.casefold()
    return NUMBERS.index(lower) if lower in NUMBERS else int(lower)


RULES: tuple[Rule, ...] = (
    (f"{_VOTED_AGAINST} by", "voted against by "),
    (f"({_LABELLED}) by {{who:NAME}} (as | with) {{words:VALUE}}", "tagged {words} by {who}"),
    ("(upvoted | up-voted | voted up | voted | liked) by", "voted for by "),
    (
        "voted {way:WAYS} by (anyone | anybody | someone | somebody)",
        "voted {way} by more than 0 people",
    ),
    ("(ISNT | NOT BE) (a | an)? (REPLY | follow-up)", "not replies "),
    ("(that | which) BE (a | an)? REPLY to", "replies to "),
    ("(that | which) BE (a | an)? REPLY $", "replies "),
    ("(that | which) (doesn't | don't | didn't | does not | do not) have A?", "without "),
    ("{how:PREP} {who:NAME} (not | never) (yet)? (been)? {act:ACTED}", "{how} {who} and not {act}"),
    *[
        rule
        for act, done in _DEEDS
        for rule in (
            (
                f"WHICH? neither {{one:PARTY}} nor {{other:PARTY}} (has | have | did)? {act} "
                "($ | {next:FOLLOW})",
                _of_each(done),
            ),
            (
                f"WHICH? {{one:PARTY}} (has | have | did)? {{no:NOT}}? {act} COMMA? "
                "(COMMA | though) {other:PARTY} (did | does | has | have | {none:NOT}) "
                "($ | {next:FOLLOW})",
                _of_each(done),
            ),
        )
    ],
    ("(but | and) I NOT $", "but not by me "),
    ("(but | and) {who:NAME} NOT $", "but not by {who} "),
    *_of_people("I", "me"),
    *_of_people("{who:NAME} and {other:NAME} (both)?", "{who} and {other}"),
    *_of_people("{who:NAME}", "{who}", may_be_noun=True),
    (
        f"WHICH? {{who:NAME}} or {{other:NAME}} {_DID} WROTE (to)? (me | us)",
        "from {who} or {other} to me ",
    ),
    (f"WHICH? {{who:NAME}} (or | and) {{other:NAME}} {_DID} WROTE", "from {who} or {other}"),
    (
        "^ (which | what) MAIL? did {who:NAME} ALSO? (vote for | like | upvote) $",
        "voted for by {who}",
    ),
    ("^ (which | what) MAIL? did {who:NAME} ALSO? (answer | reply to) $", "replied to by {who}"),
    (
        "^ (did | has | have) OTHERS (vote | voted) for my (MAIL | patches)",
        "from me voted for by more than 0 people ",
    ),
    (
        "^ (what | which MAIL | which | MAIL) (did | has | have) {who:SENDERS} ALSO? "
        "(WRITE | mail | forward | forwarded) (to)? (me | us)",
        lambda found: f"from {any_of(found['who'])} to me ",
    ),
    (
        "^ (what | which MAIL | which) did {who:NAME} (send | write | post) (to)? {other:NAME}",
        "from {who} to {other}",
    ),
    (
        "^ (what | which MAIL | which | MAIL) (did | has | have) {who:SENDERS} ALSO? "
        "(WRITE | post)",
        lambda found: f"from {any_of(found['who'])} ",
    ),
    (f"WHICH {{who:NAMES}} {_DID} WROTE (to)? (me | us)", "from {who} to me "),
    (f"WHICH {{who:NAMES}} {_DID} WROTE", "from {who} "),
    (f"WHICH? {{who:ACTOR}} {_DID} WROTE (to)? (me | us)", "from {who} to me "),
    (f"WHICH? {{who:ACTOR}} {_DID} WROTE A? FILES", "from {who} with attachments "),
    (f"WHICH? {{who:ACTOR}} {_DID} WROTE", "from {who} "),
    (f"WHICH? {{who:NAME}} and {{other:NAME}} (both)? {_DID} {_GOT}", "to {who} and {other}"),
    (f"WHICH {{who:NAME}} {_DID} {_GOT}", "to {who} "),
    (f"WHICH? NOBODY HAS? ALSO? {_VOTED_FOR}", "not voted for by more than 0 people "),
    (f"WHICH? NOBODY HAS? ALSO? {_VOTED_AGAINST}", "not voted against by more than 0 people "),
    ("WHICH? NOBODY HAS? ALSO? voted on?", f"{_NO_VOTE}"),
    (f"WHICH? NOBODY HAS? ALSO? ({_LABELLED})", "without a tag "),
    ("WHICH? NOBODY HAS? ALSO? reviewed", "with no review "),
    (f"WHICH? NOBODY HAS? ALSO? ({_NOTED})", "without an annotation "),
    (f"WHICH? OTHERS HAS? ALSO? ({_NOTED})", "not without an annotation "),
    ("reviewed by NONE", "with no review "),
    (f"reviewed by {_ANYONE}", "with a review "),
    (f"({_NOTED}) by NONE", "without an annotation "),
    (f"({_NOTED}) by {_ANYONE}", "not without an annotation "),
    (f"({_LABELLED}) by {_ANYONE}", "not without a tag "),
    (f"({_LABELLED}) (as | with)? {{words:VALUE}} by {_ANYONE}", "tagged {words} "),
    (f"({_LABELLED}) by NONE", "without a tag "),
    (f"({_LABELLED}) (as | with)? {{words:VALUE}} by NONE", "not tagged {words} "),
    (
        "^ (notes | annotations) {who:NAME} (left | made | wrote | put) (on | about) my MAIL $",
        "from me annotated by {who}",
    ),
    (
        "^ MAIL (with | WHICH CONTAIN)? (notes | annotations) (by | from) {who:NAME} $",
        "annotated by {who}",
    ),
    ("(WITHOUT | ^ no | COMMA no) any? (annotation | annotations)", "without an annotation "),
    ("with (any | some | an)? (annotation | annotations)", "not without an annotation "),
    (
        f"WHICH? more than {{number:NUMBER}} (people | persons) HAS? {_VOTED_FOR}",
        "voted for by more than {number} people",
    ),
    (f"WHICH? at least {{number:NUMBER}} (people | persons) HAS? {_VOTED_FOR}", _at_least),
    (f"WHICH? OTHERS HAS? ALSO? {_VOTED_FOR}", "voted for by more than 0 people "),
    ("(voted for | upvoted | liked) by at least {number:NUMBER} (people | persons)", _at_least),
    ("(upvoted | up-voted | voted up | voted) by", "voted for by "),
    ("liked by {who:NAME}", "voted for by {who}"),
    ("liked by me", "voted for by me "),
    (
        f"WHICH? people (like me | WHICH? agree with me) {_VOTED_FOR}",
        "voted for by people who agree with me ",
    ),
    (
        "with (some | any)? (votes | a vote) $",
        "(voted for by more than 0 people or voted against by more than 0 people) ",
    ),
    ("(downvoted | down-voted | disliked | voted down) by", "voted against by "),
    (
        "WHICH? (HAVE | GET)? {way:COMPARING} {number:NUMBER} ({against:DOWNVOTES} | VOTES)",
        _votes,
    ),
    ("with patches", "with a patch "),
    ("WHICH? (HAVE | GET) (no | not any) (vote | votes)", f"{_NO_VOTE}"),
    ("(without | and no | but no | , no) A? (vote | votes)", f"{_NO_VOTE}"),
    ("^ no (vote | votes) $", _NO_VOTE),
    ("{what:UNVOTED} WITHIN {age:AGE}", _unvoted),
    (
        "^ (did | has) {who:NAME} ALSO? ANSWER (to)? my MAIL (about | on)",
        "replies to me from {who} and replies to a message about ",
    ),
    (f"^ who {_VOTED_FOR} (me | my MAIL) $", "from me voted for by more than 0 people "),
)
