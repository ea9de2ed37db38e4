"""What each phrase means: a condition on ``m``, in the nodes a parser of TQL would make."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from tapestry.core.clock import DAY, WEEK
from tapestry.core.errors import Span, TapestryError
from tapestry.core.schema import ANNOTATIONS, MESSAGES, Type
from tapestry.query.context import Context
from tapestry.query.limits import MAX_LIMIT
from tapestry.query.phrases.nodes import Amount, Joined, Negated, Phrase, Said, Who, Words
from tapestry.query.tql.literals import duration, plain_number
from tapestry.query.tree.nodes import (
    Aggregate,
    And,
    Arith,
    Binding,
    Column,
    Compare,
    Condition,
    Exists,
    Has,
    InFilter,
    IsNull,
    Like,
    Literal,
    Not,
    Now,
    Or,
    Term,
    Threshold,
    Top,
    Truth,
)
from tapestry.query.tree.parsed import MESSAGE

_WORD = re.compile(r"[^\W_]")
_UNITS = {"KB": 1024, "MB": 1024 * 1024}


def meaning(said: Said, context: Context) -> Condition:
    """Return what a phrase means to the person of ``context``."""
    match said:
        case Joined(word="and"):
            return And(tuple([meaning(part, context) for part in said.parts]))
        case Joined():
            return Or(tuple([meaning(part, context) for part in said.parts]))
        case Negated():
            return Not(meaning(said.part, context))
        case Phrase():
            return MEANINGS[said.kind](_Told(said, context))


@dataclass(frozen=True, slots=True)
class _Told:
    """One phrase and who says it; what the phrase's kind has, it must have."""

    phrase: Phrase
    context: Context

    @property
    def who(self) -> Who:
        assert self.phrase.who is not None
        return self.phrase.who

    @property
    def words(self) -> Words:
        assert self.phrase.words is not None
        return self.phrase.words

    @property
    def amount(self) -> Amount:
        assert self.phrase.amount is not None
        return self.phrase.amount

    @property
    def person(self) -> Callable[[str], Condition]:
        """Return the test that a variable's sender is the person named."""
        return lambda var: _sender(var, self.who, self.context)


# Small pieces


def _text(value: str, span: Span | None = None) -> Literal:
    return Literal(value, Type.TEXT, span=span)


def _number(amount: Amount) -> Literal:
    return plain_number(f"{amount.value:f}", amount.span)


def _column(name: str, var: str = MESSAGE) -> Column:
    return Column(var, name)


def _is(column: Term, value: Term) -> Compare:
    return Compare("=", column, value)


def _any(tests: Iterable[Condition]) -> Condition:
    found = tuple(tests)
    return found[0] if len(found) == 1 else Or(found)


def _all(*tests: Condition) -> Condition:
    return tests[0] if len(tests) == 1 else And(tests)


def _escape(text: str) -> str:
    return re.sub(r"([%_\\])", r"\\\1", text)


def _messages(*names: str) -> tuple[Binding, ...]:
    return tuple(Binding(name, MESSAGES) for name in names)


def _length(amount: Amount, unit: str = "") -> Literal:
    _check_positive(amount)
    return duration(f"{amount.value:f}", amount.unit or unit, amount.span)


def _check_positive(amount: Amount) -> None:
    if amount.value < 0:
        raise TapestryError("This is less than nothing.", amount.span, "Leave the minus out.")


def _before(length: Literal) -> Term:
    return Arith("-", Now(), length)


def _whole(amount: Amount) -> Literal:
    """Return N of “more than N”; refuse what counts nothing."""
    if amount.value != amount.value.to_integral_value() or amount.value < 0:
        raise TapestryError(
            "A whole number belongs here.", amount.span, "Write one, two, three, …."
        )
    return plain_number(f"{amount.value.to_integral_value():f}", amount.span)


# People


def _name(who: Who) -> str:
    if not _WORD.search(who.text):
        raise TapestryError(
            "This is no name.", who.span, "Write a name, an address such as joe@x.org, or @x.org."
        )
    return who.text


def _me(who: Who, context: Context) -> list[Who]:
    """Return who ``me`` is: one's addresses, or one's name if none is known."""
    if context.addresses:
        return [Who("address", address, who.span) for address in context.addresses]
    if context.owner:
        return [Who("name", context.owner, who.span)]
    raise TapestryError("Nobody is signed in, so “me” is nobody here.", who.span, "Write a name.")


def _sender(var: str, who: Who, context: Context) -> Condition:
    sender = _column("sender", var)
    text = who.text.lower()
    match who.kind:
        case "me":
            return _any(_sender(var, one, context) for one in _me(who, context))
        case "address":
            return _is(sender, _text(text, who.span))
        case "domain":
            return Like(sender, _text("%" + _escape(text), who.span))
        case _:
            named = Has(_column("sender_name", var), _text(_name(who), who.span))
            return Or((named, _before_at(sender, who)))


def _before_at(address: Column, who: Who) -> Condition:
    """Return the test that a name is the part of an address before ``@``, in any case."""
    return Like(address, _text(_escape(_name(who).lower()) + "@%", who.span))


def _recipient(columns: tuple[str, ...], who: Who, context: Context) -> Condition:
    """Return the test that one of the recipients, of whom only addresses are known, is a person."""
    if who.kind == "me":
        return _any(_recipient(columns, one, context) for one in _me(who, context))
    text = who.text.lower()
    tests: list[Condition] = []
    for column in (_column(name) for name in columns):
        if who.kind == "address":
            tests.append(_is(column, _text(text, who.span)))
        elif who.kind == "domain":
            tests.append(Like(column, _text("%" + _escape(text), who.span)))
        else:
            tests.append(_before_at(column, who))
    return _any(tests)


def _user(who: Who, context: Context) -> Literal:
    """Return the user name of whoever votes or annotates."""
    if who.kind == "domain":
        message = "Votes and tags have the name of one person."
        raise TapestryError(message, who.span, "Write that name.")
    if who.kind == "me":
        if context.owner is None:
            message = "Nobody is signed in, so “me” is nobody here."
            raise TapestryError(message, who.span, "Write a name.")
        return _text(context.owner, who.span)
    return _text(who.text, who.span)


# Phrases


def _about(told: _Told, *columns: str) -> Condition:
    words = told.words
    return _any(Has(_column(name), _text(words.text, words.span)) for name in columns)


def _in_group(told: _Told) -> Condition:
    group, span = told.words.text.lower(), told.words.span
    if group.endswith(".*"):
        return Like(_column("newsgroups"), _text(_escape(group[:-1]) + "%", span))
    return _is(_column("newsgroups"), _text(group, span))


def _on_list(told: _Told) -> Condition:
    words = told.words
    return Like(_column("list"), _text(_escape(words.text.lower()) + "%", words.span))


def _in_filter(told: _Told) -> Condition:
    owner = told.phrase.owner
    name = told.words.text
    return InFilter(MESSAGE, owner.text if owner else None, name, span=told.phrase.span)


def _parent(test: Callable[[str], Condition]) -> Condition:
    parent = _is(_column("msgid", "p"), _column("inreplyto"))
    return Exists(_messages("p"), _all(parent, test("p")))


def _reply(*tests: Condition) -> Condition:
    return Exists(_messages("r"), _all(_is(_column("inreplyto", "r"), _column("msgid")), *tests))


def _count(var: str, column: str, table: str, condition: Condition) -> Aggregate:
    """Return how many different values a column has in the rows that meet a condition."""
    return Aggregate("COUNT", True, _column(column, var), (Binding(var, table),), condition)


def _replies(*tests: Condition) -> Aggregate:
    """Return how many messages reply, each counted once whatever its audiences."""
    reply = _is(_column("inreplyto", "r"), _column("msgid"))
    return _count("r", "msgid", MESSAGES, _all(reply, *tests))


def _many_replies(told: _Told, op: str) -> Condition:
    return Threshold(_replies(), op, _whole(told.amount))


def _silent_for(told: _Told) -> Condition:
    recent = Compare(">", _column("ts", "r"), _before(_length(told.amount)))
    return And((Not(_reply(recent)), Compare("<=", _column("ts"), _before(_length(told.amount)))))


def _age(told: _Told, op: str) -> Condition:
    return Compare(op, _column("ts"), _before(_length(told.amount)))


def _between(told: _Told) -> Condition:
    low, high = told.amount, told.phrase.upper
    assert high is not None
    older, newer = _length(low, high.unit), _length(high)
    if int(older.value or 0) >= int(newer.value or 0):
        message = "Nothing is between these two ages."
        raise TapestryError(message, told.phrase.span, "Write the smaller age first.")
    ts = _column("ts")
    return And((Compare("<", ts, _before(older)), Compare(">", ts, _before(newer))))


def _thread(told: _Told) -> Condition:
    first = IsNull(_column("inreplyto"))
    number = _whole(told.amount)
    if number.value == 0:
        return first
    follows = [_is(_column(name, "r"), _column("msgid")) for name in ("inreplyto", "references")]
    return And((first, Threshold(_count("r", "msgid", MESSAGES, _any(follows)), ">=", number)))


def _annotated(*tests: Condition, var: str = "a") -> Condition:
    on_message = _is(_column("msgid", var), _column("msgid"))
    return Exists((Binding(var, ANNOTATIONS),), _all(on_message, *tests))


def _vote(var: str, op: str) -> tuple[Condition, Condition]:
    zero = Literal(0, Type.INTEGER)
    return _is(_column("kind", var), _text("vote")), Compare(op, _column("number", var), zero)


def _voted(told: _Told, op: str) -> Condition:
    return _annotated(*_vote("a", op), _is(_column("owner", "a"), _user(told.who, told.context)))


def _many_votes(told: _Told, op: str) -> Condition:
    on_message = _is(_column("msgid", "a"), _column("msgid"))
    voters = _count("a", "owner", ANNOTATIONS, _all(on_message, *_vote("a", op)))
    return Threshold(voters, ">", _whole(told.amount))


def _score(*tests: Condition) -> Aggregate:
    """Return the sum of the votes on a message."""
    on_message = _is(_column("msgid", "a"), _column("msgid"))
    vote = _is(_column("kind", "a"), _text("vote"))
    rows = (Binding("a", ANNOTATIONS),)
    return Aggregate("SUM", False, _column("number", "a"), rows, _all(on_message, vote, *tests))


def _top(told: _Told, by: Callable[..., Aggregate], var: str, length: int | None) -> Condition:
    """Return that the message is among the first N, by rows no older than a length."""
    amount = told.amount
    if not 0 < amount.value <= MAX_LIMIT:
        raise TapestryError(
            f"A top has from 1 to {MAX_LIMIT:,} messages.", amount.span, "Write 10."
        )
    recent = []
    if length is not None:
        ago = _before(Literal(length, Type.DURATION))
        recent.append(Compare(">", _column("ts", var), ago))
    ranked = Binding(MESSAGE, MESSAGES)
    return Top(_column("msgid"), _whole(amount), ranked, by(*recent), Truth(True))


def _tagged(told: _Told) -> Condition:
    words = told.words
    tests = [
        _is(_column("kind", "a"), _text("tag")),
        _is(_column("value", "a"), _text(words.text, words.span)),
    ]
    if told.phrase.who:
        tests.append(_is(_column("owner", "a"), _user(told.who, told.context)))
    return _annotated(*tests)


def _larger(told: _Told) -> Condition:
    _check_positive(told.amount)
    size = told.amount.value * _UNITS[told.amount.unit]
    value = f"{size.to_integral_value():f}"
    return Compare(">", _column("size"), plain_number(value, told.amount.span))


MEANINGS: dict[str, Callable[[_Told], Condition]] = {
    "from": lambda told: told.person(MESSAGE),
    "to": lambda told: _recipient(("to", "cc"), told.who, told.context),
    "cc": lambda told: _recipient(("cc",), told.who, told.context),
    "about": lambda told: _about(told, "subject"),
    "mentioning": lambda told: _about(told, "subject", "body"),
    "in": _in_group,
    "in_filter": _in_filter,
    "on_list": _on_list,
    "replies": lambda told: Not(IsNull(_column("inreplyto"))),
    "replies_by": lambda told: And(
        (Not(IsNull(_column("inreplyto"))), told.person(MESSAGE)),
    ),
    "replies_to": lambda told: _parent(told.person),
    "replied": lambda told: _reply(),
    "replied_by": lambda told: _reply(told.person("r")),
    "more_replies": lambda told: _many_replies(told, ">"),
    "least_replies": lambda told: _many_replies(told, ">="),
    "fewer_replies": lambda told: _many_replies(told, "<"),
    "unanswered": lambda told: Not(_reply()),
    "unanswered_by": lambda told: Not(_reply(told.person("r"))),
    "unanswered_for": _silent_for,
    "older": lambda told: _age(told, "<"),
    "newer": lambda told: _age(told, ">"),
    "between": _between,
    "starting": lambda told: IsNull(_column("inreplyto")),
    "starting_more": _thread,
    "voted": lambda told: _voted(told, ">"),
    "voted_against": lambda told: _voted(told, "<"),
    "more_votes": lambda told: _many_votes(told, ">"),
    "more_against": lambda told: _many_votes(told, "<"),
    "score_above": lambda told: Threshold(_score(), ">", _number(told.amount)),
    "score_below": lambda told: Threshold(_score(), "<", _number(told.amount)),
    "top_votes": lambda told: _top(told, _score, "a", None),
    "top_votes_today": lambda told: _top(told, _score, "a", DAY),
    "top_votes_week": lambda told: _top(told, _score, "a", WEEK),
    "top_replies": lambda told: _top(told, _replies, "r", None),
    "top_replies_today": lambda told: _top(told, _replies, "r", DAY),
    "top_replies_week": lambda told: _top(told, _replies, "r", WEEK),
    "tagged": _tagged,
    "annotated": lambda told: _annotated(_is(_column("owner", "a"), _user(told.who, told.context))),
    "attachments": lambda told: Compare(">", _column("attachments"), Literal(0, Type.INTEGER)),
    "larger": _larger,
}
