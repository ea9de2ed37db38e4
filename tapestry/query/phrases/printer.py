"""A phrase in its canonical spelling: reading it again says the same, in the same words."""

from __future__ import annotations

import re

from tapestry.query.phrases.grammar import CONNECTIVES, KEYWORDS, NUMBERS
from tapestry.query.phrases.nodes import Amount, Joined, Negated, Phrase, Said, Who, Words

_TAKEN = frozenset((*KEYWORDS, *CONNECTIVES, *NUMBERS))
_PLAIN = re.compile(r"[\w@.+*$&=/#!?:;~^|<>{}\[\]-]+")

CANONICAL = {
    "from": "from {who}",
    "to": "to {who}",
    "cc": "cc {who}",
    "about": "about {words}",
    "mentioning": "mentioning {words}",
    "in": "in {words}",
    "in_filter": "in filter {words}",
    "on_list": "on list {words}",
    "replies": "replies",
    "replies_by": "replies by {who}",
    "replies_to": "replies to {who}",
    "replied": "replied to",
    "replied_by": "replied to by {who}",
    "more_replies": "with more than {number} {replies}",
    "least_replies": "with at least {number} {replies}",
    "fewer_replies": "with fewer than {number} {replies}",
    "unanswered": "with no reply",
    "unanswered_by": "with no reply by {who}",
    "unanswered_for": "with no reply for {age}",
    "older": "{age} old",
    "newer": "newer than {age}",
    "between": "between {low} and {upper} old",
    "starting": "starting a thread",
    "starting_more": "starting a thread of more than {number}",
    "voted": "voted for by {who}",
    "voted_against": "voted against by {who}",
    "more_votes": "voted for by more than {number} {people}",
    "more_against": "voted against by more than {number} {people}",
    "score_above": "with a score above {number}",
    "score_below": "with a score below {number}",
    "top_votes": "among the top {number} by votes",
    "top_votes_today": "among the top {number} by votes today",
    "top_votes_week": "among the top {number} by votes this week",
    "top_replies": "among the top {number} by replies",
    "top_replies_today": "among the top {number} by replies today",
    "top_replies_week": "among the top {number} by replies this week",
    "tagged": "tagged {words}",
    "annotated": "annotated by {who}",
    "attachments": "with attachments",
    "larger": "larger than {number} {unit}",
}


def canonical(said: Said, within: str = "") -> str:
    """Return the canonical spelling; ``within`` is the word that joins it with others."""
    match said:
        case Joined():
            text = f" {said.word} ".join([canonical(part, said.word) for part in said.parts])
            return f"({text})" if within in ("not", "and") else text
        case Negated():
            return "not " + canonical(said.part, "not")
        case Phrase():
            return _phrase(said)


def _phrase(phrase: Phrase) -> str:
    template = CANONICAL[phrase.kind]
    if phrase.kind == "in_filter" and phrase.owner:
        template = "in {owner}'s {words}"
    if phrase.kind == "tagged" and phrase.who:
        template = "tagged {words} by {who}"
    amount, upper = phrase.amount, phrase.upper
    one = amount is not None and amount.value == 1
    return template.format(
        who=_who(phrase.who),
        words=_words(phrase.words),
        owner=phrase.owner.text if phrase.owner else "",
        number=_number(amount),
        unit=amount.unit if amount else "",
        replies="reply" if one else "replies",
        people="person" if one else "people",
        age=_age(amount),
        upper=_age(upper),
        low=_number(amount)
        if amount and upper and amount.unit in ("", upper.unit)
        else _age(amount),
    )


def _who(who: Who | None) -> str:
    if who is None:
        return ""
    return "me" if who.kind == "me" else quoted(who.text)


def _words(words: Words | None) -> str:
    return quoted(words.text) if words else ""


def quoted(text: str) -> str:
    """Return a name or words as a phrase has them: in quotes where they need them.

    >>> quoted("Jones"), quoted("Mary Jones"), quoted("from")
    ('Jones', '"Mary Jones"', '"from"')
    """
    if _PLAIN.fullmatch(text) and text.lower() not in _TAKEN:
        return text
    doubled = text.replace('"', '""')
    return f'"{doubled}"'


def _number(amount: Amount | None) -> str:
    """Return a number in words up to twenty, else in digits.

    >>> from decimal import Decimal
    >>> from tapestry.core.errors import Span
    >>> [_number(Amount(Decimal(text), Span(0, 1))) for text in ("2.0", "21", "1.50")]
    ['two', '21', '1.5']
    """
    if amount is None:
        return ""
    value = amount.value
    if value == value.to_integral_value() and 0 < value < len(NUMBERS):
        return NUMBERS[int(value)]
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text.lstrip("0") or "0"


def _age(amount: Amount | None) -> str:
    if amount is None:
        return ""
    return f"{_number(amount)} {amount.unit}{'' if amount.value == 1 else 's'}"
