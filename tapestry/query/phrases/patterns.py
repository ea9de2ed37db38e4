"""Which one phrase a canonical condition may say, loosely guessed: ``phrase_of`` reads it back."""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal
from typing import Any

from tapestry.core.clock import DAY, WEEK
from tapestry.core.errors import Span
from tapestry.core.schema import ANNOTATIONS
from tapestry.query.phrases.nodes import Amount, Phrase, Who, Words
from tapestry.query.tree.nodes import (
    Aggregate,
    And,
    Arith,
    Column,
    Compare,
    Condition,
    Exists,
    Has,
    IsNull,
    Like,
    Literal,
    Not,
    Now,
    Or,
    Term,
    Threshold,
    Top,
)
from tapestry.query.tree.parsed import MESSAGE
from tapestry.query.tree.printer import print_duration

_Parts = tuple[Condition, ...]

_NOWHERE = Span(0, 0)
_ESCAPED = re.compile(r"\\([%_\\])")
_KB, _MB = 1024, 1024 * 1024


def _phrase(kind: str, **values: Any) -> Phrase:
    return Phrase(kind, _NOWHERE, **values)


def both(parts: _Parts) -> Phrase | None:
    """Return the phrase that means an AND of two parts."""
    match parts:
        case (Not(IsNull(Column(_, "inreplyto"))), by):
            return _by("replies_by", by, MESSAGE)
        case (IsNull(Column(_, "inreplyto")), Threshold(Aggregate(condition=Or()), _, more)):
            return _phrase("starting_more", amount=_amount_of(more, 1))
        case (IsNull(Column(_, "inreplyto")), Exists(_, Or())):
            return _phrase("starting_more", amount=_number(1))
        case (Not(Exists((_,), And((_, Compare(">", Column(_, "ts"), _) as recent)))), old):
            length = _age(recent.right)
            if length and length == _ts(old, "<="):
                return _phrase("unanswered_for", amount=_amount(length))
        case (one, other):
            for old, new in ((one, other), (other, one)):
                low, high = _ts(old, "<"), _ts(new, ">")
                if low is not None and high is not None and low < high:
                    return _phrase("between", amount=_amount(low), upper=_amount(high))
    return None


def either(parts: _Parts) -> Phrase | None:
    """Return the phrase that means an OR of these parts, or this one part."""
    match parts:
        case (Has(Column(_, "subject"), words), Has(Column(_, "body"), same)) if words == same:
            return _phrase("mentioning", words=_words(words.value))
    sender = _person(parts, MESSAGE)
    if sender:
        return _phrase("from", who=sender)
    who = _recipient(parts, ("to", "cc"))
    if who:
        return _phrase("to", who=who)
    who = _recipient(parts, ("cc",))
    return _phrase("cc", who=who) if who else None


# People


def _args(node: Condition) -> _Parts:
    return node.args if isinstance(node, And) else (node,)


def _person(parts: _Parts, var: str) -> Who | None:
    """Return who the sender of a variable is, if that is what the parts say."""
    match parts:
        case (Has(Column(of, "sender_name"), words), Like(Column(_, "sender"))) if of == var:
            return Who("name", str(words.value), _NOWHERE)
        case (test,) if _on(test, var, "sender"):
            return _address(test)
    return None


def _recipient(parts: _Parts, columns: tuple[str, ...]) -> Who | None:
    """Return who some recipient is, if the parts say the same of each column."""
    each = len(parts) // len(columns)
    owners = [name for name in columns for _ in range(each)]
    if len(owners) != len(parts) or not all(map(_on, parts, [MESSAGE] * len(parts), owners)):
        return None
    people = {_address(part) for part in parts}
    return people.pop() if each == 1 and len(people) == 1 else None


def _on(test: Condition, var: str, name: str) -> bool:
    """Tell whether a test is about this column."""
    match test:
        case Compare("=", Column(of, column)) | Like(Column(of, column)) | Has(Column(of, column)):
            return (of, column) == (var, name)
    return False


def _address(test: Condition) -> Who | None:
    match test:
        case Compare("=", _, Literal(str(text))):
            return Who("address", text, _NOWHERE)
        case Like(_, Literal(str(pattern))) if pattern.startswith("%@"):
            return Who("domain", _plain(pattern[1:]), _NOWHERE)
        case Like(_, Literal(str(pattern))) if pattern.endswith("@%"):
            return Who("name", _plain(pattern[:-2]), _NOWHERE)
    return None


def _by(kind: str, test: Condition, var: str) -> Phrase | None:
    who = _person(test.args if isinstance(test, Or) else (test,), var)
    return _phrase(kind, who=who) if who else None


def _user(value: object) -> Who:
    return Who("name", str(value), _NOWHERE)


# Single parts


def one(node: Condition) -> Phrase | None:
    match node:
        case Has(Column(_, "subject"), words):
            return _phrase("about", words=_words(words.value))
        case Compare("=", Column(_, "newsgroups"), Literal(str(group))):
            return _phrase("in", words=_words(group))
        case Like(Column(_, "newsgroups"), Literal(str(pattern))) if pattern.endswith(".%"):
            return _phrase("in", words=_words(_plain(pattern[:-1]) + "*"))
        case Like(Column(_, "list"), Literal(str(pattern))) if pattern.endswith("%"):
            return _phrase("on_list", words=_words(_plain(pattern[:-1])))
        case Compare(">", Column(_, "attachments")):
            return _phrase("attachments")
        case Compare(">", Column(_, "size"), Literal(int(size))) if size >= 0:
            return _phrase("larger", amount=_bytes(size))
        case IsNull(Column(_, "inreplyto")):
            return _phrase("starting")
        case Not(IsNull(Column(_, "inreplyto"))):
            return _phrase("replies")
        case Not(Exists()):
            reply = _exists(node.arg) if isinstance(node.arg, Exists) else None
            kinds = {"replied": "unanswered", "replied_by": "unanswered_by"}
            return replace(reply, kind=kinds[reply.kind]) if reply and reply.kind in kinds else None
        case Exists():
            return _exists(node)
        case Threshold():
            return _counted(node)
        case Not(Threshold(Aggregate("COUNT", _, Column(_, "msgid")), _, constant)):
            return _phrase("fewer_replies", amount=_amount_of(constant, 1))
        case Top():
            return _top(node)
        case Compare(op, Column(_, "ts")) if op in ("<", ">"):
            length = _ts(node, op)
            kind = "older" if op == "<" else "newer"
            return None if length is None else _phrase(kind, amount=_amount(length))
        case _:
            return either((node,))


def _exists(node: Exists) -> Phrase | None:
    tests = _args(node.condition)
    if node.bindings[0].table == ANNOTATIONS:
        return _annotated_by(tests)
    var = node.bindings[0].var
    match (_link(tests[0]), tests[1:]):
        case ((_, "inreplyto", _, "msgid"), ()):
            return _phrase("replied")
        case ((_, "inreplyto", _, "msgid"), (by,)):
            return _by("replied_by", by, var)
        case ((_, "msgid", _, "inreplyto"), (by,)):
            return _by("replies_to", by, var)
    return None


def _annotated_by(tests: _Parts) -> Phrase | None:
    """Return the phrase of one annotation; the first test says that it is on the message."""
    said = [
        (test.left.name, test.op, test.right.value)
        for test in tests[1:]
        if isinstance(test, Compare)
        and isinstance(test.left, Column)
        and isinstance(test.right, Literal)
    ]
    match said:
        case [("owner", "=", owner)]:
            return _phrase("annotated", who=_user(owner))
        case [("kind", "=", "tag"), ("value", "=", tag)]:
            return _phrase("tagged", words=_words(tag))
        case [("kind", "=", "tag"), ("value", "=", tag), ("owner", "=", owner)]:
            return _phrase("tagged", words=_words(tag), who=_user(owner))
        case [("kind", "=", "vote"), ("number", ">", 0), ("owner", "=", owner)]:
            return _phrase("voted", who=_user(owner))
        case [("kind", "=", "vote"), ("number", "<", 0), ("owner", "=", owner)]:
            return _phrase("voted_against", who=_user(owner))
    return None


def _counted(node: Threshold) -> Phrase | None:
    """Return the phrase of a comparison of an aggregate; a COUNT is compared by ``>``."""
    aggregate, constant = node.aggregate, node.constant
    match aggregate.term:
        case Column(_, "number"):
            kind = {">": "score_above", "<": "score_below"}.get(node.op)
            return _phrase(kind, amount=_amount_of(constant)) if kind else None
        case Column(_, "owner"):
            against = any(
                isinstance(test, Compare) and test.op == "<" for test in _args(aggregate.condition)
            )
            kind = "more_against" if against else "more_votes"
            return _phrase(kind, amount=_amount_of(constant))
        case Column(_, "msgid") if constant.value == -1:
            return _phrase("least_replies", amount=_number(0))
        case Column(_, "msgid"):
            return _phrase("more_replies", amount=_amount_of(constant))
    return None


def _top(node: Top) -> Phrase | None:
    lengths = [
        _age(test.right)
        for test in _args(node.aggregate.condition)
        if isinstance(test, Compare) and test.op == ">"
    ]
    windows: dict[tuple[int | None, ...], str] = {(): "", (DAY,): "_today", (WEEK,): "_week"}
    window = windows.get(tuple(lengths))
    by = {"SUM": "votes", "COUNT": "replies"}.get(node.aggregate.function)
    if by is None or window is None:
        return None
    return _phrase(f"top_{by}{window}", amount=_amount_of(node.limit))


def _link(test: Condition) -> tuple[str, str, str, str] | None:
    match test:
        case Compare("=", Column(var, name), Column(other, key)):
            return var, name, other, key
    return None


# Values


def _plain(pattern: str) -> str:
    return _ESCAPED.sub(r"\1", pattern)


def _words(value: object) -> Words:
    return Words(str(value), _NOWHERE)


def _number(value: int) -> Amount:
    return Amount(Decimal(value), _NOWHERE)


def _amount_of(constant: Literal, more: int = 0) -> Amount | None:
    """Return a constant, by so much more; None if it is no number."""
    value = constant.value
    return None if isinstance(value, str | None) else Amount(Decimal(repr(value)) + more, _NOWHERE)


def _ts(node: Condition, op: str) -> int | None:
    """Return the age that the message's arrival is compared with by ``op``, in microseconds."""
    match node:
        case Compare(found, Column(var, "ts"), right) if (found, var) == (op, MESSAGE):
            return _age(right)
    return None


def _age(term: Term) -> int | None:
    match term:
        case Arith("-", Now(), Literal(int(length))) if length >= 0:
            return length
    return None


def _amount(length: int) -> Amount:
    amount, unit = print_duration(length)
    return Amount(Decimal(amount), _NOWHERE, unit.removesuffix("s"))


def _bytes(size: int) -> Amount:
    """Return a size in MB if two decimals will do, else in KB.

    >>> [str(_bytes(size).value) for size in (10240, 1572864, 1500)]
    ['10', '1.5', '1.46484375']
    """
    if size >= _MB and size * 100 % _MB == 0:
        return Amount(Decimal(size) / _MB, _NOWHERE, "MB")
    return Amount(Decimal(size) / _KB, _NOWHERE, "KB")
