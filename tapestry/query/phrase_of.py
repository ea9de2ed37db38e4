"""A condition back to the phrase that means it, where there is one.

A phrase is guessed from the shape of the condition, then read: it is shown only if the two
conditions come to the same shape.  The guesses may thus be loose.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from itertools import pairwise
from typing import Any

from tapestry.core.errors import Span, TapestryError
from tapestry.core.schema import ANNOTATIONS, MESSAGES
from tapestry.query import phrases, tql
from tapestry.query.check import check
from tapestry.query.context import Context
from tapestry.query.nodes import (
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
)
from tapestry.query.parsed import MESSAGE, MisreadError
from tapestry.query.phrase_nodes import Amount, Joined, Negated, Phrase, Said, Who, Words, depth_of
from tapestry.query.phrase_printer import canonical
from tapestry.query.printer import print_duration
from tapestry.query.shape import arranged, settled, shaped

MOST = 40
"""Conditions with more parts than this have no phrase: nobody would read it."""

_Parts = tuple[Condition, ...]

_NOWHERE = Span(0, 0)
_ESCAPED = re.compile(r"\\([%_\\])")
_KB, _MB = 1024, 1024 * 1024


def phrase_of(condition: Condition, context: Context) -> str | None:
    """Return the canonical phrase that means a checked condition, or None if there is none.

    It never says ``me`` or names another filter, and never raises.
    """
    if _size(condition) > MOST:
        return None
    usual = shaped(condition)
    if _size(usual) > MOST:
        return None
    for tree in dict.fromkeys((usual, arranged(usual))):
        said = _said(tree)
        text = canonical(said) if said else ""
        if text and text.isprintable() and _means(text, usual, context):
            return text
    return None


def _size(node: Condition) -> int:
    match node:
        case And() | Or():
            return 1 + sum(map(_size, node.args))
        case Not():
            return 1 + _size(node.arg)
        case Exists():
            return 1 + _size(node.condition)
        case _:
            return 1


# Reading back


def _means(text: str, usual: Condition, context: Context) -> bool:
    """Tell whether a text is a phrase, spelled canonically, that means a shaped condition."""
    try:
        tql.parse(text)
        return False
    except MisreadError:
        pass
    except TapestryError:
        return False
    try:
        parsed = phrases.parse(text, context)
        read = check(parsed, text, context, phrases.parse)
    except TapestryError:
        return False
    return parsed.phrase == text and settled(shaped(read.condition)) == settled(usual)


# Parts joined by and, or, not


def _said(node: Condition) -> Said | None:
    match node:
        case And():
            return _joined("and", node.args, _both)
        case Or():
            return _joined("or", node.args, _either)
        case Not():
            return _one(node) or _negated(node)
        case _:
            return _one(node)


def _negated(node: Not) -> Said | None:
    part = _said(node.arg)
    return Negated(part, 1 + depth_of(part)) if part else None


def _joined(word: str, args: _Parts, phrase: Callable[[_Parts], Phrase | None]) -> Said | None:
    """Cut the parts of an AND or OR into phrases, each as long as possible."""
    found: list[Said] = []
    at = 0
    while at < len(args):
        for end in range(min(at + 4, len(args)), at, -1):
            said = phrase(args[at:end]) if end - at > 1 else _said(args[at])
            if said:
                found.append(said)
                at = end
                break
        else:
            return None
    if len(found) == 1:
        return found[0]
    return Joined(word, tuple(found), 1 + max(map(depth_of, found)))


def _phrase(kind: str, **values: Any) -> Phrase:
    return Phrase(kind, _NOWHERE, **values)


def _both(parts: _Parts) -> Phrase | None:
    """Return the phrase that means an AND of two parts."""
    match parts:
        case (Not(IsNull(Column(_, "inreplyto"))), by):
            return _by("replies_by", by, MESSAGE)
        case (IsNull(Column(_, "inreplyto")), Exists(bindings, condition)):
            names = [MESSAGE, *[each.var for each in bindings if each.table == MESSAGES]]
            links = [_link(each) for each in _args(condition)]
            if links == [(one, "inreplyto", of, "msgid") for of, one in pairwise(names)]:
                return _phrase("starting_more", amount=_number(len(bindings)))
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


def _either(parts: _Parts) -> Phrase | None:
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
    match parts[:each]:
        case (Like(), Has(_, words)):
            return Who("name", str(words.value), _NOWHERE)
        case (test,) if {_address(part) for part in parts} == {_address(test)}:
            return _address(test)
    return None


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
    return None


def _by(kind: str, test: Condition, var: str) -> Phrase | None:
    who = _person(test.args if isinstance(test, Or) else (test,), var)
    return _phrase(kind, who=who) if who else None


def _user(value: object) -> Who:
    return Who("name", str(value), _NOWHERE)


# Single parts


def _one(node: Condition) -> Phrase | None:
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
        case Compare(op, Column(_, "ts")) if op in ("<", ">"):
            length = _ts(node, op)
            kind = "older" if op == "<" else "newer"
            return None if length is None else _phrase(kind, amount=_amount(length))
        case _:
            return _either((node,))


def _exists(node: Exists) -> Phrase | None:
    tables = {binding.table for binding in node.bindings}
    tests = _args(node.condition)
    count = len(node.bindings)
    if tables == {ANNOTATIONS}:
        if count > 1 or len(tests) == 3:
            return _annotated_by(tests) or _phrase("more_votes", amount=_number(count - 1))
        return _annotated_by(tests)
    if count > 1:
        return _phrase("more_replies", amount=_number(count - 1))
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
