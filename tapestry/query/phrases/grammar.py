"""The grammar of phrases, made of the catalogue; lark builds it when the first phrase is read."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import lark

from tapestry.core.errors import Span
from tapestry.query.phrases import nodes
from tapestry.query.phrases.catalogue import KINDS

_NUMBERS = """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
    sixteen seventeen eighteen nineteen twenty
"""
NUMBERS = tuple(_NUMBERS.split())

_SLOTS = r"""
person: ME | WORD | STRING
words: WORD | STRING
owner: OWNER
number: NUMBER
age: NUMBER UNIT
"""

_JOINING = r"""
start: disjunction
disjunction: conjunction (OR conjunction)*
conjunction: item ((AND | BUT | COMMA)? item)*
?item: NOT item -> negated
    | LPAR disjunction RPAR -> group
    | phrase
"""

_TERMINALS = r"""
OR.2: /(,\s*)?or(?![^\s,()"“”])/i
AND.2: /(,\s*)?and(?![^\s,()"“”])/i
BUT.2: /(,\s*)?but(?![^\s,()"“”])/i
COMMA.1: /,/
LPAR: /\(/
RPAR: /\)/
NUMBER.2: /(-?[0-9]+(\.[0-9]+)?|NUMBERWORDS)(?![^\s,()"“”])/i
UNIT.2: /(week|day|hour|minute|second|month|quarter|year)s?(?![^\s,()"“”])/i
OWNER.1: /[^\s,()"“”\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+['’]s(?![^\s,()"“”])/i
STRING.1: /"[^"]*(""[^"]*)*"|“[^”]*”|'[^']*'(?![^\s,()"“”])/
WORD: /[^\s,()"“”\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+/
%ignore /\s+/
"""

_PREFIX = "phrase_"
"""A rule ``phrase_x`` is the phrase of kind ``x``."""

_PHRASE = "?phrase: " + "\n    | ".join(
    f"{spelling} -> {_PREFIX}{kind.name}" for kind in KINDS.values() for spelling in kind.grammar
)

_DEFINED = frozenset(re.findall(r"^([A-Z]+)[.:]", _TERMINALS, re.MULTILINE))
KEYWORDS = tuple(
    word.lower()
    for word in dict.fromkeys((*re.findall(r"\b[A-Z]+\b", _PHRASE + _SLOTS), "NOT"))
    if word not in _DEFINED
)
CONNECTIVES = ("and", "or", "but")


@functools.cache
def grammar(start: str = "start") -> lark.Lark:
    """Return the parser of ``start``; it gives a ``PhraseNode``.

    ``start`` is a whole text, ``phrase`` one phrase that is not joined with others.
    """
    keywords = "\n".join(rf'{word.upper()}.2: /{word}(?![^\s,()"“”])/i' for word in KEYWORDS)
    terminals = _TERMINALS.replace("NUMBERWORDS", "|".join(NUMBERS))
    return lark.Lark(
        "\n".join((_JOINING, _PHRASE, _SLOTS, terminals, keywords)),
        start=start,
        parser="lalr",
        lexer="contextual",
        transformer=_Build(),
    )


def _span(first: lark.Token, last: lark.Token) -> Span:
    return Span(first.start_pos or 0, last.end_pos or 0)


def _text(token: lark.Token) -> str:
    value = str(token)
    if token.type != "STRING":
        return value
    inner = value[1:-1]
    return inner.replace('""', '"') if value[0] == '"' else inner


def _amount(number: lark.Token, unit: lark.Token | None = None) -> nodes.Amount:
    word = str(number).lower()
    value = Decimal(NUMBERS.index(word) if word in NUMBERS else word)
    value = abs(value) if value.is_zero() else value
    if unit is None:
        return nodes.Amount(value, _span(number, number))
    return nodes.Amount(value, _span(number, unit), str(unit).lower().removesuffix("s"))


def _joined(word: str, parts: list[nodes.PhraseNode]) -> nodes.PhraseNode:
    if len(parts) == 1:
        return parts[0]
    flat: list[nodes.PhraseNode] = []
    for part in parts:
        flat += part.parts if isinstance(part, nodes.Joined) and part.word == word else (part,)
    return nodes.Joined(word, tuple(flat), 1 + max(map(nodes.depth_of, flat)))


def _place(piece: Any) -> Span:
    return _span(piece, piece) if isinstance(piece, lark.Token) else piece.span


def _phrase(kind: str, pieces: list[Any]) -> nodes.Phrase:
    """Return a phrase made of the words and values that stand in it."""
    amounts = [piece for piece in pieces if isinstance(piece, nodes.Amount)]
    words = [piece for piece in pieces if isinstance(piece, nodes.Words)]
    units = [piece.type for piece in pieces if isinstance(piece, lark.Token)]
    amount = amounts[0] if amounts else nodes.NO_AMOUNT
    if amounts and units[-1] in ("KB", "MB"):
        amount = nodes.Amount(amount.value, amount.span, units[-1])
    return nodes.Phrase(
        kind,
        Span(_place(pieces[0]).start, _place(pieces[-1]).end),
        person=next(
            (piece for piece in pieces if isinstance(piece, nodes.Person)), nodes.NO_PERSON
        ),
        words=words[-1] if words else nodes.NO_WORDS,
        owner=words[0] if len(words) > 1 else nodes.NO_WORDS,
        amount=amount,
        upper=amounts[1] if len(amounts) > 1 else nodes.NO_AMOUNT,
    )


class _Build(lark.Transformer[Any, nodes.PhraseNode]):
    """Make nodes of what the grammar finds."""

    def __getattr__(self, rule: str) -> Callable[[list[Any]], nodes.Phrase]:
        if rule.startswith(_PREFIX):
            return functools.partial(_phrase, rule.removeprefix(_PREFIX))
        raise AttributeError(rule)

    def start(self, children: list[nodes.PhraseNode]) -> nodes.PhraseNode:
        return children[0]

    def disjunction(self, children: list[Any]) -> nodes.PhraseNode:
        return _joined("or", [child for child in children if not isinstance(child, lark.Token)])

    def conjunction(self, children: list[Any]) -> nodes.PhraseNode:
        return _joined("and", [child for child in children if not isinstance(child, lark.Token)])

    def negated(self, children: list[Any]) -> nodes.PhraseNode:
        return nodes.Negated(children[1], 1 + nodes.depth_of(children[1]))

    def group(self, children: list[Any]) -> nodes.PhraseNode:
        node: nodes.PhraseNode = children[1]
        return node

    def person(self, children: list[lark.Token]) -> nodes.Person:
        token, text = children[0], _text(children[0])
        kind = "name"
        if token.type == "ME":
            kind = "me"
        elif "@" in text and not any(character.isspace() for character in text):
            kind, text = "domain" if text.startswith("@") else "address", text.lower()
        return nodes.Person(kind, text, _span(token, token))

    def words(self, children: list[lark.Token]) -> nodes.Words:
        return nodes.Words(_text(children[0]), _span(children[0], children[0]))

    def owner(self, children: list[lark.Token]) -> nodes.Words:
        return nodes.Words(str(children[0])[:-2], _span(children[0], children[0]))

    def number(self, children: list[lark.Token]) -> nodes.Amount:
        return _amount(children[0])

    def age(self, children: list[lark.Token]) -> nodes.Amount:
        return _amount(children[0], children[1])
