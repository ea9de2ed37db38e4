"""The grammar of phrases, for lark; built once, when the first phrase is read."""

from __future__ import annotations

import functools
from decimal import Decimal
from typing import Any

import lark

from tapestry.core.errors import Span
from tapestry.query.phrases.nodes import Amount, Joined, Negated, Phrase, Said, Who, Words, depth_of

_NUMBERS = """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
    sixteen seventeen eighteen nineteen twenty
"""
NUMBERS = tuple(_NUMBERS.split())

_RULES = r"""
start: either
either: both (OR both)*
both: item ((AND | BUT | COMMA)? item)*
?item: NOT item -> negated
    | LPAR either RPAR -> group
    | phrase
?phrase: (FROM | BY | SENT BY | MESSAGES FROM) who -> said_from
    | TO who -> said_to
    | CC who -> said_cc
    | (ABOUT | SUBJECT) words -> said_about
    | (MENTIONING | CONTAINING) words -> said_mentioning
    | IN NEWSGROUP? words -> said_in
    | IN FILTER words -> said_in_filter
    | IN owner words -> said_in_filter
    | ON LIST words -> said_on_list
    | REPLIES -> said_replies
    | REPLIES BY who -> said_replies_by
    | REPLIES TO who -> said_replies_to
    | REPLIED TO -> said_replied
    | REPLIED TO BY who -> said_replied_by
    | WITH MORE THAN number reply -> said_more_replies
    | WITH AT LEAST number reply -> said_least_replies
    | WITH FEWER THAN number reply -> said_fewer_replies
    | WITH NO reply -> said_unanswered
    | UNANSWERED -> said_unanswered
    | WITH NO reply BY who -> said_unanswered_by
    | WITH NO reply FOR age -> said_unanswered_for
    | age OLD -> said_older
    | OLDER THAN age -> said_older
    | NEWER THAN age -> said_newer
    | BETWEEN number AND age OLD -> said_between
    | BETWEEN age AND age OLD -> said_between
    | STARTING A THREAD -> said_starting
    | STARTING A THREAD OF MORE THAN number -> said_starting_more
    | VOTED FOR BY who -> said_voted
    | VOTED AGAINST BY who -> said_voted_against
    | VOTED FOR BY MORE THAN number (PEOPLE | PERSON) -> said_more_votes
    | VOTED AGAINST BY MORE THAN number (PEOPLE | PERSON) -> said_more_against
    | WITH A SCORE ABOVE number -> said_score_above
    | WITH A SCORE BELOW number -> said_score_below
    | AMONG THE TOP number BY score -> said_top_votes
    | AMONG THE TOP number BY score TODAY -> said_top_votes_today
    | AMONG THE TOP number BY score THIS WEEK -> said_top_votes_week
    | AMONG THE TOP number BY REPLIES -> said_top_replies
    | AMONG THE TOP number BY REPLIES TODAY -> said_top_replies_today
    | AMONG THE TOP number BY REPLIES THIS WEEK -> said_top_replies_week
    | TAGGED words -> said_tagged
    | TAGGED words BY who -> said_tagged
    | ANNOTATED BY who -> said_annotated
    | WITH ATTACHMENTS -> said_attachments
    | LARGER THAN number (KB | MB) -> said_larger
who: ME | WORD | STRING
words: WORD | STRING
owner: OWNER
number: NUMBER
age: NUMBER UNIT
reply: REPLY | REPLIES
score: VOTES | SCORE
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

_KEYWORDS = """
    from by sent messages to cc about subject mentioning containing in newsgroup filter on list
    replies replied reply with more than no unanswered for old older newer between starting a
    thread of voted against people person score above below among the top votes today this week
    at least fewer tagged annotated attachments larger kb mb not me
"""
KEYWORDS = tuple(_KEYWORDS.split())
CONNECTIVES = ("and", "or", "but")

_KEYWORD_RULES = "\n".join(rf'{word.upper()}.2: /{word}(?![^\s,()"“”])/i' for word in KEYWORDS)


@functools.cache
def grammar() -> lark.Lark:
    """Return the parser of phrases; it gives a ``Said``."""
    rules = _RULES.replace("NUMBERWORDS", "|".join(NUMBERS)) + _KEYWORD_RULES
    return lark.Lark(
        rules,
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


def _amount(number: lark.Token, unit: lark.Token | None = None) -> Amount:
    word = str(number).lower()
    value = Decimal(NUMBERS.index(word) if word in NUMBERS else word)
    value = abs(value) if value.is_zero() else value
    if unit is None:
        return Amount(value, _span(number, number))
    return Amount(value, _span(number, unit), str(unit).lower().removesuffix("s"))


def _joined(word: str, parts: list[Said]) -> Said:
    if len(parts) == 1:
        return parts[0]
    flat = tuple(
        inner
        for part in parts
        for inner in (part.parts if isinstance(part, Joined) and part.word == word else (part,))
    )
    return Joined(word, flat, 1 + max(depth_of(part) for part in flat))


def _place(piece: Any) -> Span:
    return _span(piece, piece) if isinstance(piece, lark.Token) else piece.span


def _said(found: Any) -> Said:
    """Return a phrase made of the words and values that stand in it."""
    if not isinstance(found, lark.Tree):
        return found  # type: ignore[no-any-return]
    pieces: list[Any] = found.children
    amounts = [piece for piece in pieces if isinstance(piece, Amount)]
    words = [piece for piece in pieces if isinstance(piece, Words)]
    people = [piece for piece in pieces if isinstance(piece, Who)]
    units = [piece.type for piece in pieces if isinstance(piece, lark.Token)]
    amount = amounts[0] if amounts else None
    if amount and units[-1] in ("KB", "MB"):
        amount = Amount(amount.value, amount.span, units[-1])
    return Phrase(
        str(found.data).removeprefix("said_"),
        Span(_place(pieces[0]).start, _place(pieces[-1]).end),
        who=people[0] if people else None,
        words=words[-1] if words else None,
        owner=words[0] if len(words) > 1 else None,
        amount=amount,
        upper=amounts[1] if len(amounts) > 1 else None,
    )


class _Build(lark.Transformer[Any, Said]):
    """Make nodes of what the grammar finds; a rule ``said_x`` is the phrase of kind ``x``."""

    def start(self, children: list[Said]) -> Said:
        return children[0]

    def either(self, children: list[Any]) -> Said:
        return _joined("or", [child for child in children if not isinstance(child, lark.Token)])

    def both(self, children: list[Any]) -> Said:
        parts = [_said(child) for child in children if not isinstance(child, lark.Token)]
        return _joined("and", parts)

    def negated(self, children: list[Any]) -> Said:
        part = _said(children[1])
        return Negated(part, 1 + depth_of(part))

    def group(self, children: list[Any]) -> Said:
        return _said(children[1])

    def reply(self, children: list[lark.Token]) -> lark.Token:
        return children[0]

    def score(self, children: list[lark.Token]) -> lark.Token:
        return children[0]

    def who(self, children: list[lark.Token]) -> Who:
        token, text = children[0], _text(children[0])
        kind = "name"
        if token.type == "ME":
            kind = "me"
        elif "@" in text and not any(character.isspace() for character in text):
            kind, text = "domain" if text.startswith("@") else "address", text.lower()
        return Who(kind, text, _span(token, token))

    def words(self, children: list[lark.Token]) -> Words:
        return Words(_text(children[0]), _span(children[0], children[0]))

    def owner(self, children: list[lark.Token]) -> Words:
        return Words(str(children[0])[:-2], _span(children[0], children[0]))

    def number(self, children: list[lark.Token]) -> Amount:
        return _amount(children[0])

    def age(self, children: list[lark.Token]) -> Amount:
        return _amount(children[0], children[1])
