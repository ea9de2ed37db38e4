"""Phrases about threads: who wrote in them, which begin them, how long they are."""

from __future__ import annotations

from tapestry.core.schema import MESSAGES, THREADS
from tapestry.query.context import Context
from tapestry.query.phrases.catalogue.conditions import (
    column,
    equal,
    sender_is,
    whole_number,
)
from tapestry.query.phrases.catalogue.kind import PhraseKind
from tapestry.query.phrases.nodes import Person, Phrase
from tapestry.query.tree import nodes as n
from tapestry.query.tree.parsed import MESSAGE
from tapestry.query.tree.threads import in_thread_of

_NO_PARENT = n.IsNull(column("inreplyto"))


def _begins_long_thread(phrase: Phrase, op: str) -> n.Condition:
    size = whole_number(phrase.amount)
    if size.value == 0 and op == ">=":
        return _NO_PARENT
    others = n.Compare("<>", column("msgid", "s"), column("msgid"))
    within = n.And((equal(column("root", "s"), column("msgid")), others))
    return n.And((_NO_PARENT, n.Threshold(_count(n.Binding("s", THREADS), within), op, size)))


_OTHERS = (n.Binding("t", THREADS), n.Binding("p", MESSAGES))
_THEIRS = (
    equal(column("root", "t"), column("root", "s")),
    equal(column("msgid", "p"), column("msgid", "t")),
)
"""The messages ``p`` of a thread, and that they are of that of ``s``."""


def _here(condition: n.Condition) -> n.Condition:
    """Return that a condition holds for the thread of the message, of which it calls it ``s``."""
    mine = equal(column("msgid", "s"), column("msgid"))
    return n.Exists((n.Binding("s", THREADS),), n.And((mine, condition)))


def _in_long_thread(phrase: Phrase) -> n.Condition:
    size = _count(n.Binding("t", THREADS), _THEIRS[0])
    return _here(n.Threshold(size, ">", whole_number(phrase.amount)))


def _with_many_people(phrase: Phrase) -> n.Condition:
    people = n.Aggregate("COUNT", True, column("sender", "p"), _OTHERS, n.And(_THEIRS))
    return _here(n.Threshold(people, ">", whole_number(phrase.amount)))


def _with_many_by(phrase: Phrase, context: Context) -> n.Condition:
    tests = (*_THEIRS, sender_is("p", phrase.person, context))
    theirs = n.Aggregate("COUNT", True, column("msgid", "p"), _OTHERS, n.And(tests))
    return _here(n.Threshold(theirs, ">=", whole_number(phrase.amount)))


def _count(facts: n.Binding, condition: n.Condition) -> n.Aggregate:
    """Return how many messages the facts are about, each counted once."""
    return n.Aggregate("COUNT", True, column("msgid", facts.var), (facts,), condition)


def _has_message_by(person: Person, context: Context, *tests: n.Condition) -> n.Condition:
    """Return that the person wrote a message of the thread that meets some tests."""
    theirs = n.And.of((sender_is("p", person, context), *tests))
    return in_thread_of(MESSAGE, n.Binding("p", MESSAGES), theirs, ("s", "t"))


def _begun_by(person: Person, context: Context) -> n.Condition:
    fact, first = n.Binding("s", THREADS), n.Binding("p", MESSAGES)
    tests = (
        equal(column("msgid", "s"), column("msgid")),
        equal(column("msgid", "p"), column("root", "s")),
        n.IsNull(column("inreplyto", "p")),
        sender_is("p", person, context),
    )
    return n.Exists((fact, first), n.And(tests))


def _below_one_by(person: Person, context: Context) -> n.Condition:
    links = (column("inreplyto"), column("references"))
    above = n.Or.of([equal(link, column("msgid", "p")) for link in links])
    return n.Exists((n.Binding("p", MESSAGES),), n.And((above, sender_is("p", person, context))))


_EARLIER = n.Compare("<", column("received", "p"), column("received"))


KINDS = (
    PhraseKind(
        spelling="starting a thread",
        description="that answer nothing",
        rank=18,
        meaning=lambda *_: _NO_PARENT,
        others=("NEW? THREADS",),
    ),
    PhraseKind(
        spelling="starting a thread of more than {number:three}",
        description="that began a thread of more messages than this",
        rank=32,
        meaning=lambda phrase, _: _begins_long_thread(phrase, ">="),
    ),
    PhraseKind(
        spelling="starting a thread of more than {number:three} {replies}",
        description="that began a thread with more replies than this, wherever they stand in it",
        rank=61,
        meaning=lambda phrase, _: _begins_long_thread(phrase, ">"),
    ),
    PhraseKind(
        spelling="in a thread with {person:Jones}",
        description="of a thread in which this person wrote",
        rank=57,
        meaning=lambda phrase, context: _has_message_by(phrase.person, context),
    ),
    PhraseKind(
        spelling="in a thread begun by {person:Jones}",
        description="of a thread whose first message this person wrote",
        rank=58,
        meaning=lambda phrase, context: _begun_by(phrase.person, context),
    ),
    PhraseKind(
        spelling="in a thread after a message by {person:Jones}",
        description="received after this person wrote in the thread",
        rank=59,
        meaning=lambda phrase, context: _has_message_by(phrase.person, context, _EARLIER),
    ),
    PhraseKind(
        spelling="in a thread of more than {number:three}",
        description="of a thread that has more messages than this",
        rank=60,
        meaning=lambda phrase, _: _in_long_thread(phrase),
    ),
    PhraseKind(
        spelling="in a thread of more than {number:three} {people}",
        description="of a thread in which more people than this wrote",
        rank=63,
        meaning=lambda phrase, _: _with_many_people(phrase),
    ),
    PhraseKind(
        spelling="in a thread with at least {number:two} messages by {person:Jones}",
        description="of a thread in which this person wrote so often, or more",
        rank=64,
        meaning=_with_many_by,
    ),
    PhraseKind(
        spelling="below a message by {person:Jones}",
        description="that answer this person, or an answer to them, and so on",
        rank=62,
        meaning=lambda phrase, context: _below_one_by(phrase.person, context),
    ),
)
