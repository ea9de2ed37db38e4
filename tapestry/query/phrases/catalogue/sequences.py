"""Phrases about what came after what, how soon, and what did not come."""

from __future__ import annotations

from tapestry.core.schema import ANNOTATIONS, MESSAGES, Type
from tapestry.query.context import Context
from tapestry.query.phrases.catalogue import conditions as c
from tapestry.query.phrases.catalogue.kind import PhraseKind
from tapestry.query.phrases.catalogue.words import in_newsgroup
from tapestry.query.phrases.nodes import NO_PERSON, Amount, Phrase
from tapestry.query.tree import nodes as n
from tapestry.query.tree.parsed import MESSAGE

_REPLY = c.equal(c.column("inreplyto", "r"), c.column("msgid"))
_THIS = n.Step((n.Binding(MESSAGE, ""),))


def _row(var: str, table: str = MESSAGES) -> n.Step:
    return n.Step((n.Binding(var, table),))


def _missing(var: str, within: n.Literal | None = None) -> n.Step:
    return n.Step((n.Binding(var, MESSAGES),), within, negated=True)


def _soon(amount: Amount, var: str = "r", before: str = MESSAGE, op: str = "<=") -> n.Condition:
    """Return that a message came within a time of another, or (``>``) did not."""
    later = n.Arith("+", c.column("received", before), c.length(amount))
    return n.Compare(op, c.column("received", var), later)


def _answered_within(phrase: Phrase, *tests: n.Condition) -> n.Condition:
    soon = n.And((_REPLY, *tests, _soon(phrase.amount)))
    return n.Exists((n.Binding("r", MESSAGES),), soon)


def _answered_within_by(phrase: Phrase, context: Context) -> n.Condition:
    by_any = phrase.person == NO_PERSON
    return _answered_within(
        phrase, *(() if by_any else (c.sender_is("r", phrase.person, context),))
    )


def _unanswered_within(phrase: Phrase) -> n.Condition:
    over = n.Compare("<", c.column("received"), c.ago(c.length(phrase.amount)))
    return n.And((over, n.Not(_answered_within(phrase))))


def _asks_again() -> n.Condition:
    zero = n.Literal(0, Type.INTEGER)
    tests = (
        c.equal(c.column("inreplyto", "r"), c.column("msgid", "q")),
        c.equal(c.column("inreplyto"), c.column("msgid", "r")),
        c.equal(c.column("sender", "q"), c.column("sender")),
        n.Compare("<>", c.column("sender", "r"), c.column("sender")),
        *[n.Compare(">", c.column("questions", var), zero) for var in ("q", MESSAGE)],
    )
    return n.Sequence((_row("q"), _row("r"), _THIS), n.And(tests))


def _tagged_then_unanswered(phrase: Phrase) -> n.Condition:
    tests = (
        c.equal(c.column("msgid", "a"), c.column("msgid")),
        c.equal(c.column("kind", "a"), c.text("tag")),
        c.equal(c.column("value", "a"), c.text(phrase.words.text, phrase.words.span)),
        _REPLY,
    )
    steps = (_row("a", ANNOTATIONS), _missing("r", c.length(phrase.amount)))
    return n.Sequence(steps, n.And(tests))


def _answered_by_many(phrase: Phrase) -> n.Condition:
    """Return that, from some reply on, so many people answered within a time."""
    also = c.equal(c.column("inreplyto", "s"), c.column("msgid"))
    since = n.Compare(">=", c.column("received", "s"), c.column("received", "r"))
    tests = n.And((also, since, _soon(phrase.upper, "s", "r")))
    people = c.count_distinct("s", "sender", MESSAGES, tests)
    enough = n.Threshold(people, ">=", c.whole_number(phrase.amount))
    return n.Exists((n.Binding("r", MESSAGES),), n.And((_REPLY, enough)))


def _last(phrase: Phrase) -> n.Condition:
    limit = c.limit(phrase.amount, "A window")
    ranked = n.Binding(MESSAGE, MESSAGES)
    return n.Window(c.column("msgid"), True, limit, ranked, (), in_newsgroup(phrase.words))


def _last_from(phrase: Phrase, context: Context) -> n.Condition:
    ranked, by = n.Binding(MESSAGE, MESSAGES), c.sender_is(MESSAGE, phrase.person, context)
    return n.Window(c.column("msgid"), True, c.limit(phrase.amount, "A window"), ranked, (), by)


def _first_reply(phrase: Phrase, context: Context) -> n.Condition:
    one, ranked = n.Literal(1, Type.INTEGER), n.Binding(MESSAGE, MESSAGES)
    by = c.sender_is(MESSAGE, phrase.person, context)
    return n.Window(c.column("msgid"), False, one, ranked, (c.column("inreplyto"),), by)


def _breaks_silence(phrase: Phrase) -> n.Condition:
    """Return that neither the parent nor another answer to it came so shortly before."""
    tests = (
        c.equal(c.column("msgid", "p"), c.column("inreplyto")),
        _soon(phrase.amount, MESSAGE, "p", ">"),
        c.equal(c.column("inreplyto", "r"), c.column("inreplyto")),
        _soon(phrase.amount, MESSAGE, "r"),
    )
    return n.Sequence((_row("p"), _missing("r"), _THIS), n.And(tests))


def _over(name: str, term: n.Term | None = None) -> n.Over:
    """Return a window function over the answers to one message, as they came."""
    per, order = (c.column("inreplyto"),), c.column("received")
    return n.Over(name, MESSAGE, term, None, False, per, order, False, None, n.Truth(True))


def _in_place(phrase: Phrase) -> n.Condition:
    return n.Compare("=", _over("ROW_NUMBER"), c.limit(phrase.amount, "An order"))


def _long_after(phrase: Phrase) -> n.Condition:
    """Return that the answer before it came more than so long before."""
    ago = n.Arith("-", c.column("received"), c.length(phrase.amount))
    return n.Compare("<", _over("LAG", c.column("received")), ago)


KINDS = (
    PhraseKind(
        spelling="replied to within {age:one hour}",
        description="that were answered so soon",
        rank=64,
        meaning=_answered_within_by,
        others=("ANSWERED WITHIN age", "ANSWERED BY person WITHIN age"),
        extension=("person", "replied to by {person} within {age}"),
    ),
    PhraseKind(
        spelling="with no reply within {age:one day}",
        description="that nobody answered so soon, and that are older",
        rank=65,
        meaning=lambda phrase, _: _unanswered_within(phrase),
    ),
    PhraseKind(
        spelling="with replies by at least {number:three} {people} within {upper:one hour}",
        description="that so many people answered, all of them within this time",
        rank=66,
        meaning=lambda phrase, _: _answered_by_many(phrase),
        others=("WITH? number REPLIES BY_DIFFERENT WITHIN age",),
    ),
    PhraseKind(
        spelling="tagged {words:urgent} then unanswered for {age:one day}",
        description="that somebody tagged with this word, and nobody answered so long after it",
        rank=67,
        meaning=lambda phrase, _: _tagged_then_unanswered(phrase),
    ),
    PhraseKind(
        spelling="asking again after a reply",
        description="with a question to who answered a question of the same person",
        rank=68,
        meaning=lambda *_: _asks_again(),
        others=("ASKING AGAIN AFTER AN REPLY",),
    ),
    PhraseKind(
        spelling="earliest replies by {person:Jones}",
        description="the first that this person wrote in answer to a message",
        rank=69,
        meaning=_first_reply,
        others=("FIRST_REPLY BY person",),
        listed="or",
    ),
    PhraseKind(
        spelling="breaking a silence of {age:one week}",
        description="that answer a message when neither it nor another answer came for so long",
        rank=70,
        meaning=lambda phrase, _: _breaks_silence(phrase),
    ),
    PhraseKind(
        spelling="among the latest {number:50} in {words:comp.databases}",
        description="the last ones of a newsgroup",
        rank=71,
        meaning=lambda phrase, _: _last(phrase),
        others=("AMONG THE LAST number IN words",),
    ),
    PhraseKind(
        spelling="among the latest {number:ten} from {person:Jones}",
        description="the last ones that this person sent",
        rank=71,
        meaning=_last_from,
        others=("AMONG THE LAST number FROM person",),
        listed="or",
    ),
    PhraseKind(
        spelling="replies numbered {number:three}",
        description="that came as the third, or so, in answer to a message",
        rank=72,
        meaning=lambda phrase, _: _in_place(phrase),
    ),
    PhraseKind(
        spelling="replies following a pause of {age:one week}",
        description="that came so long after the answer before, to the same message",
        rank=73,
        meaning=lambda phrase, _: _long_after(phrase),
    ),
)
