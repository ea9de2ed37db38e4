"""A phrase in its canonical spelling: reading that again gives the same phrase and spelling."""

from __future__ import annotations

import re
from decimal import Decimal

from tapestry.query.phrases import nodes
from tapestry.query.phrases.catalogue import KINDS
from tapestry.query.phrases.catalogue.kind import NOUNS
from tapestry.query.phrases.dates import NUMBERS, print_date
from tapestry.query.phrases.grammar import is_taken
from tapestry.query.phrases.spellings import (
    FRACTIONS,
    HOST_NAME,
    NEVER_NAMES,
    NOBODY,
    SIGN_AT_END,
)

_PLAIN = re.compile(r"[\w@.+*$&=/#!?:;~^|<>{}\[\]-]+")
_OPERATOR = re.compile(r"[-!~]|\w+:")
"""How a word begins that would be read as an operator of another program."""

_FRACTIONS = {Decimal(number): name for name, number in FRACTIONS.items()}
_ABSENT = (nodes.NO_PERSON, nodes.NO_WORDS, nodes.NO_DATE)


def print_phrase(node: nodes.PhraseNode, within: str = "") -> str:
    """Return the canonical spelling; ``within`` is the word that joins it with others."""
    match node:
        case nodes.Joined():
            text = f" {node.word} ".join([print_phrase(part, node.word) for part in node.parts])
            return f"({text})" if within in ("not", "and") else text
        case nodes.Negated():
            return "not " + print_phrase(node.part, "not")
        case nodes.Phrase():
            return _phrase(node)
        case nodes.Refused():
            return ""


def _phrase(phrase: nodes.Phrase) -> str:
    kind = KINDS[phrase.kind]
    template = kind.template
    if kind.extension:
        slot, extended = kind.extension
        template = template if getattr(phrase, slot) in _ABSENT else extended
    amount, upper, date = phrase.amount, phrase.upper, print_date(phrase.date)
    nouns = {many: one if amount.value == 1 else many for many, one in NOUNS.items()}
    return template.format(
        person="me" if phrase.person.kind == "me" else _name(phrase.person),
        words=quoted(phrase.words.text),
        filetype=phrase.words.text,
        owner=phrase.owner.text,
        number=_number(amount),
        unit=amount.unit,
        share=_share(amount),
        age=_age(amount),
        date=date,
        day=date,
        period=date,
        upper=_age(upper),
        low=_number(amount) if amount.unit in ("", upper.unit) else _age(amount),
        **nouns,
    )


def _name(person: nodes.Person) -> str:
    text = person.text
    is_no_name = NOBODY.fullmatch(text) or HOST_NAME.fullmatch(text)
    return f'"{text}"' if is_no_name else quoted(text)


def quoted(text: str) -> str:
    """Return a name or words as a phrase has them: in quotes where they need them.

    >>> quoted("Jones"), quoted("Mary Jones"), quoted("from")
    ('Jones', '"Mary Jones"', '"from"')
    """
    is_plain = _PLAIN.fullmatch(text) and not is_taken(text) and text.lower() not in NEVER_NAMES
    if is_plain and not _OPERATOR.match(text) and not SIGN_AT_END.search(text):
        return text
    doubled = text.replace('"', '""')
    return f'"{doubled}"'


def _number(amount: nodes.Amount) -> str:
    """Return a number in words up to twenty, else in digits.

    >>> from decimal import Decimal
    >>> from tapestry.core.errors import Span
    >>> [_number(nodes.Amount(Decimal(text), Span(0, 1))) for text in ("2.0", "21", "1.50")]
    ['two', '21', '1.5']
    """
    value = amount.value
    if value == value.to_integral_value() and 0 < value < len(NUMBERS):
        return NUMBERS[int(value)]
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text.lstrip("0") or "0"


def _share(amount: nodes.Amount) -> str:
    """Return a share by its name, or in percent.

    >>> from decimal import Decimal
    >>> [_share(nodes.Amount(Decimal(text), nodes.NOWHERE)) for text in ("0.50", "0.025")]
    ['half', '2.5%']
    """
    percent = (amount.value * 100).normalize()
    return _FRACTIONS.get(amount.value, f"{percent:f}%")


def _age(amount: nodes.Amount) -> str:
    return f"{_number(amount)} {amount.unit}{'' if amount.value == 1 else 's'}"
