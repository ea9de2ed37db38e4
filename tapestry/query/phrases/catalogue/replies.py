"""Phrases about a message that replies, and about the replies to it."""

from __future__ import annotations

from tapestry.core.schema import ANNOTATIONS, MESSAGES
from tapestry.query.phrases.catalogue.conditions import (
    ago,
    all_of,
    column,
    count_replies,
    equal,
    length,
    sender_is,
    whole_number,
)
from tapestry.query.phrases.catalogue.kind import PhraseInContext, PhraseKind, Slots
from tapestry.query.phrases.catalogue.patterns import (
    Parts,
    age_of,
    amount,
    amount_of,
    length_of,
    sender_of,
    tests_of,
    time_ago,
)
from tapestry.query.tree import nodes as n
from tapestry.query.tree.parsed import MESSAGE

_HAS_PARENT = n.Not(n.IsNull(column("inreplyto")))


def _has_reply(*tests: n.Condition) -> n.Condition:
    reply = equal(column("inreplyto", "r"), column("msgid"))
    return n.Exists((n.Binding("r", MESSAGES),), all_of(reply, *tests))


def _sender_is(phrase: PhraseInContext, var: str) -> n.Condition:
    return sender_is(var, phrase.who, phrase.context)


def _parent_is_by(phrase: PhraseInContext) -> n.Condition:
    parent = equal(column("msgid", "p"), column("inreplyto"))
    return n.Exists((n.Binding("p", MESSAGES),), all_of(parent, _sender_is(phrase, "p")))


def _count_is(phrase: PhraseInContext, op: str) -> n.Condition:
    return n.Threshold(count_replies(), op, whole_number(phrase.amount))


def _no_recent_reply(phrase: PhraseInContext) -> n.Condition:
    recent = n.Compare(">", column("ts", "r"), ago(length(phrase.amount)))
    old = n.Compare("<=", column("ts"), ago(length(phrase.amount)))
    return n.And((n.Not(_has_reply(recent)), old))


# Patterns


def _is_reply(condition: n.Condition) -> Slots | None:
    match condition:
        case n.Not(n.IsNull(n.Column(_, "inreplyto"))):
            return {}
    return None


def _author_of_reply(condition: n.Condition) -> Slots | None:
    match condition:
        case n.And((n.Not(n.IsNull(n.Column(_, "inreplyto"))), author)):
            return sender_of(author, MESSAGE)
    return None


def _linked_tests(condition: n.Condition, name: str, of_message: str) -> tuple[str, Parts] | None:
    """Return the variable of another message and its tests, if it is linked by these columns."""
    match condition:
        case n.Exists((n.Binding(var, table), *_)) if table != ANNOTATIONS:
            link, *tests = tests_of(condition.condition)
            match link:
                case n.Compare("=", n.Column(_, left), n.Column(_, right)) if (left, right) == (
                    name,
                    of_message,
                ):
                    return var, tuple(tests)
    return None


def _author_of_linked(condition: n.Condition, name: str, of_message: str) -> Slots | None:
    match _linked_tests(condition, name, of_message):
        case (var, (author,)):
            return sender_of(author, var)
    return None


def _author_of_parent(condition: n.Condition) -> Slots | None:
    return _author_of_linked(condition, "msgid", "inreplyto")


def _author_of_answer(condition: n.Condition) -> Slots | None:
    return _author_of_linked(condition, "inreplyto", "msgid")


def _is_answered(condition: n.Condition) -> Slots | None:
    match _linked_tests(condition, "inreplyto", "msgid"):
        case (_, ()):
            return {}
    return None


def _is_unanswered(condition: n.Condition) -> Slots | None:
    return _is_answered(condition.arg) if isinstance(condition, n.Not) else None


def _author_of_no_answer(condition: n.Condition) -> Slots | None:
    return _author_of_answer(condition.arg) if isinstance(condition, n.Not) else None


def _most_without(condition: n.Condition) -> n.Literal | None:
    """Return the number that the count of replies is greater than."""
    match condition:
        case n.Threshold(n.Aggregate(term=n.Column(_, "msgid")), _, constant):
            return constant
    return None


def _more_than(condition: n.Condition) -> Slots | None:
    constant = _most_without(condition)
    if constant is None or constant.value == -1:
        return None
    return {"amount": amount_of(constant)}


def _at_least(condition: n.Condition) -> Slots | None:
    constant = _most_without(condition)
    return {"amount": amount(0)} if constant and constant.value == -1 else None


def _fewer_than(condition: n.Condition) -> Slots | None:
    constant = _most_without(condition.arg) if isinstance(condition, n.Not) else None
    return {"amount": amount_of(constant, 1)} if constant else None


def _time_without_reply(condition: n.Condition) -> Slots | None:
    match condition:
        case n.And(
            (
                n.Not(n.Exists((_,), n.And((_, n.Compare(">", n.Column(_, "ts"), _) as recent)))),
                old,
            )
        ):
            without = time_ago(recent.right)
            if without and without == age_of(old, "<="):
                return {"amount": length_of(without)}
    return None


KINDS = (
    PhraseKind(
        name="replies",
        grammar=("REPLIES",),
        template="replies",
        description="that answer another message",
        example="replies",
        rank=4,
        meaning=lambda _: _HAS_PARENT,
        pattern=_is_reply,
    ),
    PhraseKind(
        name="replies_by",
        grammar=("REPLIES BY who",),
        template="replies by {who}",
        description="that this person wrote in answer to somebody",
        example="replies by Jones",
        rank=11,
        meaning=lambda phrase: n.And((_HAS_PARENT, _sender_is(phrase, MESSAGE))),
        pattern=_author_of_reply,
    ),
    PhraseKind(
        name="replies_to",
        grammar=("REPLIES TO who",),
        template="replies to {who}",
        description="that answer this person",
        example="replies to Jones",
        rank=12,
        meaning=_parent_is_by,
        pattern=_author_of_parent,
    ),
    PhraseKind(
        name="replied",
        grammar=("REPLIED TO",),
        template="replied to",
        description="that have been answered",
        example="replied to",
        rank=13,
        meaning=lambda _: _has_reply(),
        pattern=_is_answered,
    ),
    PhraseKind(
        name="replied_by",
        grammar=("REPLIED TO BY who",),
        template="replied to by {who}",
        description="that this person has answered",
        example="replied to by Jones",
        rank=14,
        meaning=lambda phrase: _has_reply(_sender_is(phrase, "r")),
        pattern=_author_of_answer,
    ),
    PhraseKind(
        name="more_replies",
        grammar=("WITH MORE THAN number reply",),
        template="with more than {number} {replies}",
        description="answered more often than this",
        example="with more than three replies",
        rank=24,
        meaning=lambda phrase: _count_is(phrase, ">"),
        pattern=_more_than,
    ),
    PhraseKind(
        name="least_replies",
        grammar=("WITH AT LEAST number reply",),
        template="with at least {number} {replies}",
        description="answered so often, or more",
        example="with at least three replies",
        rank=28,
        meaning=lambda phrase: _count_is(phrase, ">="),
        pattern=_at_least,
    ),
    PhraseKind(
        name="fewer_replies",
        grammar=("WITH FEWER THAN number reply",),
        template="with fewer than {number} {replies}",
        description="answered less often than this",
        example="with fewer than three replies",
        rank=29,
        meaning=lambda phrase: _count_is(phrase, "<"),
        pattern=_fewer_than,
    ),
    PhraseKind(
        name="unanswered",
        grammar=("WITH NO reply", "UNANSWERED"),
        template="with no reply",
        description="that nobody has answered",
        example="with no reply",
        rank=3,
        meaning=lambda _: n.Not(_has_reply()),
        pattern=_is_unanswered,
    ),
    PhraseKind(
        name="unanswered_by",
        grammar=("WITH NO reply BY who",),
        template="with no reply by {who}",
        description="that this person has not answered",
        example="with no reply by Jones",
        rank=21,
        meaning=lambda phrase: n.Not(_has_reply(_sender_is(phrase, "r"))),
        pattern=_author_of_no_answer,
    ),
    PhraseKind(
        name="unanswered_for",
        grammar=("WITH NO reply FOR age",),
        template="with no reply for {age}",
        description="at least so old, and not answered of late",
        example="with no reply for two weeks",
        rank=22,
        meaning=_no_recent_reply,
        pattern=_time_without_reply,
    ),
)
