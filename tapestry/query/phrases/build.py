"""Make nodes of a parsed phrase: a list of values becomes phrases joined by a word."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import lark

from tapestry.core.errors import Span
from tapestry.query.phrases import nodes
from tapestry.query.phrases.catalogue import KINDS
from tapestry.query.phrases.dates import NUMBERS, read_date
from tapestry.query.phrases.filetypes import file_type
from tapestry.query.phrases.joining import (
    BY,
    LeftOut,
    SideBySide,
    alternatives,
    are_alike,
    are_days,
    are_days_between,
    gapped,
    in_context,
    is_of_times,
    joined,
    listed,
    mentioned_or_from,
    negated,
    with_times,
    with_verb,
)
from tapestry.query.phrases.spellings import FRACTIONS, HOST_NAME, no_span

PREFIX, OPPOSITE, SHORTHAND = "phrase_", "opposite_", "shorthand_"
"""A rule ``phrase_x`` is the phrase of kind ``x``, ``opposite_x`` what that does not find,
``shorthand_x_0`` its first shorthand."""

_OF_TEXT = ("about", "mentioning", "saying")
_ARTICLES = ("the", "a", "an")
_MAILBOX = re.compile(r"<([^<>@\s]*@[^<>@\s]+)>")
_ADDRESS = re.compile(r"[^@\s]*@[^@\s]+")
_GROUP = re.compile(r"[\w+-]+(\.[\w+*-]+)+")


@dataclass(frozen=True, slots=True)
class Listed:
    """Several values of one slot, and the words between them: or, and, a comma."""

    values: tuple[Any, ...]
    words: tuple[str, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Divided:
    """A conjunction in which a comma or “but” stands, and what stands on either side of it."""

    node: nodes.PhraseNode
    before: nodes.PhraseNode
    after: nodes.PhraseNode


def span_of(first: lark.Token, last: lark.Token) -> Span:
    """Return the place of tokens that follow each other."""
    return Span(first.start_pos or 0, last.end_pos or 0)


def text_of(token: lark.Token) -> str:
    """Return what a token says, without its quotes."""
    value = str(token)
    if token.type != "STRING":
        return value
    inner = value[1:-1]
    return inner.replace('""', '"') if value[0] == '"' else inner


def amount_of(number: lark.Token | None, unit: lark.Token | None = None) -> nodes.Amount:
    """Return a number, one if it is left out, and its unit."""
    word = str(number or "one").casefold()
    word = "one" if word in ("a", "an") else word
    value = Decimal(NUMBERS.index(word) if word in NUMBERS else word)
    value = abs(value) if value.is_zero() else value
    first = number or unit
    assert first is not None
    if unit is None:
        return nodes.Amount(value, span_of(first, first))
    return nodes.Amount(value, span_of(first, unit), str(unit).casefold().removesuffix("s"))


def share_of(token: lark.Token) -> nodes.Amount:
    """Return a share as a number from 0 to 1."""
    text = " ".join(str(token).casefold().split())
    digits = re.match(r"[0-9.]+", text)
    named = text.replace("one ", "a ")
    value = Decimal(digits[0]) / 100 if digits else Decimal(FRACTIONS[named])
    return nodes.Amount(value, span_of(token, token), "%")


def person_of(text: str, span: Span) -> nodes.Person:
    """Return the person that a text names: an address, a domain or a name."""
    text = text.removeprefix("*") if text.startswith("*@") else text
    if "@" in text and not any(character.isspace() for character in text):
        return nodes.Person("domain" if text.startswith("@") else "address", text.lower(), span)
    return nodes.Person("name", text, span)


def _place(piece: Any) -> Span:
    return span_of(piece, piece) if isinstance(piece, lark.Token) else piece.span


def _span_of_all(pieces: list[Any]) -> Span:
    return Span(_place(pieces[0]).start, _place(pieces[-1]).end)


def phrase_of(kind: str, pieces: list[Any]) -> nodes.PhraseNode:
    """Return a phrase made of the words and values that stand in it, or several phrases."""
    for place, piece in enumerate(pieces):
        if isinstance(piece, Listed):
            if kind == "only_to" and "and" in piece.words:
                hint = "Write “to mary and to joe”, or “only to me”."
                return nodes.Refused("“Only to” is of one person.", _span_of_all(pieces), hint)
            parts = [
                phrase_of(kind, [*pieces[:place], value, *pieces[place + 1 :]])
                for value in piece.values
            ]
            return listed(KINDS[kind].listed, parts, piece.words)
    pieces = _dated(pieces)
    date = next((piece for piece in pieces if isinstance(piece, nodes.Date)), nodes.NO_DATE)
    amounts = [piece for piece in pieces if isinstance(piece, nodes.Amount)]
    words = [_without_article(kind, piece) for piece in pieces if isinstance(piece, nodes.Words)]
    units = [piece.type for piece in pieces if isinstance(piece, lark.Token)]
    kind = BY if kind == "from" and units[0] == "BY" else kind
    amount = amounts[0] if amounts else nodes.NO_AMOUNT
    if amounts and units and units[-1] in ("KB", "MB"):
        amount = nodes.Amount(amount.value, amount.span, units[-1])
    if kind == "in_newsgroup" and "." in words[-1].text:
        kind = "in"  # a name with a dot is that of a newsgroup anyway
    return nodes.Phrase(
        kind,
        _span_of_all(pieces),
        person=next(
            (piece for piece in pieces if isinstance(piece, nodes.Person)), nodes.NO_PERSON
        ),
        words=words[-1] if words else nodes.NO_WORDS,
        owner=words[0] if len(words) > 1 else nodes.NO_WORDS,
        amount=amount,
        upper=amounts[1] if len(amounts) > 1 else nodes.NO_AMOUNT,
        date=date,
    )


def _without_article(kind: str, words: nodes.Words) -> nodes.Words:
    """Return words that are looked for without an article, unless they stand in quotes."""
    article, _, others = words.text.partition(" ")
    is_plain = words.span.end - words.span.start == len(words.text)
    if (
        not kind.endswith(_OF_TEXT)
        or article.lower() not in _ARTICLES
        or not others
        or not is_plain
    ):
        return words
    return nodes.Words(others, Span(words.span.end - len(others), words.span.end))


def _written(values: list[Any]) -> Any:
    """Return the one value of a slot, or a list of them."""
    if len(values) == 1:
        return values[0]
    words = tuple([str(word).strip().lstrip(",").split(None, 1)[:1] for word in values[1::2]])
    spelled = tuple([word[0].casefold() if word else "," for word in words])
    return Listed(tuple(values[::2]), spelled, _span_of_all(values))


class Build(lark.Transformer[Any, nodes.PhraseNode]):
    """Make nodes of what the grammar finds."""

    def __getattr__(self, rule: str) -> Callable[[list[Any]], nodes.PhraseNode]:
        if rule.startswith(PREFIX):
            return functools.partial(phrase_of, rule.removeprefix(PREFIX))
        if rule.startswith(OPPOSITE):
            return functools.partial(_opposite, rule.removeprefix(OPPOSITE))
        if rule.startswith(SHORTHAND):
            kind, _, place = rule.removeprefix(SHORTHAND).rpartition("_")
            return functools.partial(_shorthand, kind, int(place))
        raise AttributeError(rule)

    def start(self, children: list[nodes.PhraseNode]) -> nodes.PhraseNode:
        node, _ = with_verb(children[0], None)
        return node

    def disjunction(self, children: list[Any]) -> nodes.PhraseNode:
        """Join alternatives; what a comma or “but” divides from the last of them is said of all.

        It is not where one stands in an alternative before: “from mary, about rent or from joe,
        about lunch” has two of a kind.
        """
        parts: list[nodes.PhraseNode] = []
        is_parallel = False
        for child in _parts(children):
            divided = child if isinstance(child, Divided) else None
            is_of_all = divided is not None and bool(parts) and not is_parallel
            is_parallel |= divided is not None and not is_of_all
            part = (divided.before if is_of_all else divided.node) if divided else child
            before = parts[-1] if parts else None
            if divided is None and parts and isinstance(part, SideBySide) and are_days(parts, part):
                first, *rest = part.parts
                parts = [joined("and", [joined("or", [*parts, first]), *rest])]
                continue
            if isinstance(before, SideBySide) and are_days_between(before, part):
                *others, last = before.parts
                first, *rest = alternatives(part)
                parts[-1] = SideBySide("and", (*others, joined("or", [last, first]), *rest), 2)
            elif isinstance(before, SideBySide) and are_alike(before.parts[-1], part):
                *others, last = before.parts
                parts[-1] = SideBySide("and", (*others, joined("or", [last, part])), 2)
            elif isinstance(before, SideBySide) and (of_times := with_times(before, part)):
                parts[-1] = of_times
            else:
                parts.append(part)
            if divided and is_of_all:
                of_all = joined("and", [joined("or", parts), divided.after])
                parts = [SideBySide("and", alternatives(of_all), nodes.depth_of(of_all))]
        return joined("or", parts)

    def conjunction(self, children: list[Any]) -> nodes.PhraseNode | Divided:
        apart = in_context(children)
        filled = gapped(apart)
        node = _conjunction(filled)
        at = next((place for place, child in enumerate(apart) if _divides(child)), 0)
        if 0 < at < len(apart) - 1 and filled == apart:
            return Divided(node, _conjunction(apart[:at]), _conjunction(apart[at + 1 :]))
        return node

    def negated(self, children: list[Any]) -> nodes.PhraseNode:
        return negated(children[1])

    def neither(self, children: list[Any]) -> nodes.PhraseNode:
        return negated(joined("or", _parts(children)))

    def group(self, children: list[Any]) -> nodes.PhraseNode:
        node: nodes.PhraseNode = children[1]
        return joined(node.word, [*node.parts]) if isinstance(node, SideBySide) else node

    def noisy(self, children: list[Any]) -> nodes.PhraseNode:
        node: nodes.PhraseNode = children[1]
        return node

    def left_out(self, children: list[Any]) -> nodes.PhraseNode:
        """Return that neither a word nor a sender is this."""
        node = phrase_of("from", children[1:])
        either = joined("or", [mentioned_or_from(part) for part in alternatives(node)])
        return LeftOut(either, 1 + nodes.depth_of(either))

    def earlier(self, children: list[lark.Token]) -> nodes.PhraseNode:
        """Refuse what moves with the calendar."""
        token = children[-1]
        message, hint = no_span(str(token))
        return nodes.Refused(message, span_of(children[0], token), hint)

    def between_days(self, children: list[Any]) -> nodes.PhraseNode:
        """Return from the beginning of one date to the end of another."""
        first, _, last = _dated(children)[-3:]
        if isinstance(first, nodes.Amount):
            first = _with_number(last, first)
        elif first.month and last.year and not first.is_settled:
            first = replace(first, year=last.year - (first.month > last.month))
        span = _span_of_all(children)
        since, until = ("dated_since", "dated_until") if len(children) > 4 else ("since", "until")
        bounds = (nodes.Phrase(since, span, date=first), nodes.Phrase(until, span, date=last))
        return nodes.Joined("and", bounds, 1)

    def person(self, children: list[Any]) -> Any:
        return _written(children)

    def words(self, children: list[Any]) -> Any:
        return _written(children)

    def one_person(self, children: list[lark.Token]) -> nodes.Person | Listed:
        first, span = children[0], span_of(children[0], children[-1])
        text = " ".join([text_of(token) for token in children])
        if first.type == "ME":
            return nodes.Person("me", text, span)
        if first.type == "ANYONE":
            domain = text.split()[-1].removeprefix("@").lower()
            return nodes.Person("domain", "@" + domain, span)
        if HOST_NAME.fullmatch(text) and first.type == "WORD":
            return nodes.Person("domain", "@" + text.lower(), span)
        mailbox = _MAILBOX.fullmatch(children[-1])
        if mailbox:
            return person_of(mailbox[1], span)
        if len(children) > 1 and all(_ADDRESS.fullmatch(token) for token in children):
            people = tuple([person_of(str(token), span_of(token, token)) for token in children])
            return Listed(people, ("or",) * (len(people) - 1), span)
        return person_of(text, span)

    def one_text(self, children: list[lark.Token]) -> nodes.Words | Listed:
        if len(children) > 1 and all(_GROUP.fullmatch(token) for token in children):
            groups = tuple([_words(token) for token in children])
            return Listed(groups, ("or",) * (len(groups) - 1), span_of(children[0], children[-1]))
        text = " ".join([text_of(token) for token in children])
        return nodes.Words(text, span_of(children[0], children[-1]))

    def myself(self, children: list[lark.Token]) -> nodes.Person:
        return nodes.Person("me", "me", span_of(children[0], children[0]))

    def the_list(self, children: list[lark.Token]) -> nodes.Words:
        return nodes.Words(str(children[0]).split()[1], span_of(children[0], children[0]))

    def in_subject(self, children: list[lark.Token]) -> nodes.Words:
        _, *words = str(children[0]).split()
        if words[0].casefold() == "the" and words[1].casefold() in ("word", "words"):
            del words[:2]
        del words[[word.casefold() for word in words].index("in") :]
        return nodes.Words(" ".join(words), span_of(children[0], children[0]))

    def filetype(self, children: list[Any]) -> Any:
        return _written(children)

    def one_type(self, children: list[lark.Token]) -> nodes.Words:
        name = file_type(" ".join(str(children[0]).split())) or str(children[0])
        return nodes.Words(name, span_of(children[0], children[0]))

    type_of_files = one_type

    def owner(self, children: list[lark.Token]) -> nodes.Words:
        return nodes.Words(str(children[0])[:-2], span_of(children[0], children[0]))

    def number(self, children: list[lark.Token]) -> nodes.Amount:
        return amount_of(children[0])

    def share(self, children: list[lark.Token]) -> nodes.Amount:
        return share_of(children[0])

    def age(self, children: list[lark.Token]) -> nodes.Amount:
        return amount_of(children[0], children[1])

    def recent(self, children: list[lark.Token]) -> nodes.Amount:
        number = children[1] if len(children) > 2 else None
        return amount_of(number, children[-1])


def _conjunction(children: list[Any]) -> nodes.PhraseNode:
    node = joined("and", _parts(children))
    is_beside = all(isinstance(child, nodes.PhraseNode) or child == "," for child in children[-2:])
    ends_alone = isinstance(children[-1], nodes.Phrase) or is_of_times(children[-1])
    if is_beside and isinstance(node, nodes.Joined) and ends_alone:
        return SideBySide("and", node.parts, node.depth)
    return node


def _divides(child: Any) -> bool:
    return isinstance(child, lark.Token) and (child.type == "BUT" or child.startswith(","))


def _parts(children: list[Any]) -> list[Any]:
    return [child for child in children if not isinstance(child, lark.Token)]


def _words(token: lark.Token) -> nodes.Words:
    return nodes.Words(text_of(token), span_of(token, token))


def _with_number(date: nodes.Date, number: nodes.Amount) -> nodes.Date:
    """Return another day of the same month; of a time, “2 and 4 pm”, another hour before it."""
    if not date.clock:
        return replace(date, span=number.span, day=int(number.value))
    hour, _, rest = date.clock.partition(":")
    before = int(number.value)
    before += 12 if before + 12 < int(hour) else 0
    return replace(date, span=number.span, clock=f"{before}:00{' UTC' * rest.endswith('UTC')}")


def _dated(pieces: list[Any]) -> list[Any]:
    """Return pieces with a date in place of each token that is one."""
    return [
        (read_date(str(piece), span_of(piece, piece)) or piece)
        if isinstance(piece, lark.Token) and piece.type in ("DAY", "PERIOD", "LAST_DAY")
        else piece
        for piece in pieces
    ]


def _opposite(kind: str, pieces: list[Any]) -> nodes.PhraseNode:
    return negated(phrase_of(kind, pieces))


def _shorthand(kind: str, place: int, pieces: list[Any]) -> nodes.PhraseNode:
    _, amount = KINDS[kind].shorthands[place]
    return nodes.Phrase(kind, _span_of_all(pieces), amount=amount)
