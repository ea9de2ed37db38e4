"""Translate operators of Gmail, notmuch, lei and mutt, such as ``from:mary``, to our phrases."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal

from tapestry.core.errors import Span
from tapestry.query.phrases.dates import read_date
from tapestry.query.phrases.nodes import (
    NO_DATE,
    Amount,
    Date,
    Joined,
    Negated,
    Person,
    Phrase,
    PhraseNode,
    Refused,
    Words,
)

_PEOPLE = {
    "from": "from",
    "f": "from",
    "to": "to",
    "t": "to",
    "tc": "to",
    "deliveredto": "to",
    "cc": "cc",
    "c": "cc",
}
_TEXTS = {
    "subject": "about",
    "s": "about",
    "b": "mentioning",
    "bs": "mentioning",
    "body": "mentioning",
    "list": "on_list",
    "l": "on_list",
    "label": "tagged",
    "tag": "tagged",
    "group": "in",
    "newsgroup": "in",
    "ng": "in",
}
_AGES = {"newer_than": "newer_than", "older_than": "old"}
_SIZES = ("larger", "smaller", "size")
_DATES = {
    "after": "since",
    "newer": "since",
    "since": "since",
    "before": "before",
    "older": "before",
}
_RANGES = ("d", "dt", "rt", "date")
_OTHERS = ("has", "attachment", "is", "in", "filename", "bcc", "id", "m", "mid", "thread")
_MUTT = {"f": "from", "t": "to", "c": "cc", "C": "to", "s": "subject", "b": "b", "B": "b"}
"""Patterns of mutt, in whose names capitals count."""

NAMES = (*_PEOPLE, *_TEXTS, *_AGES, *_SIZES, *_DATES, *_RANGES, *_OTHERS)
EVERYWHERE = r"in:(?:inbox|anywhere|all|mail)"
"""Operators that say nothing here: every filter looks at all mail."""

OPERATOR_PATTERN = (
    rf"(?:(?!{EVERYWHERE}(?![^\s,()]))(?:{'|'.join(NAMES)}):(?=[^\s,)])"
    rf"|~(?-i:[{''.join(_MUTT)}])\s+(?=[^\s,()]))"
)
"""The name of an operator up to its value."""

_LENGTH = re.compile(r"([0-9]+)([hdwmy])", re.IGNORECASE)
_LENGTHS = {
    "h": (1, "hour"),
    "d": (1, "day"),
    "w": (1, "week"),
    "m": (30, "day"),
    "y": (365, "day"),
}
_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?)([km]?)b?", re.IGNORECASE)
_AGO = re.compile(
    r"(?:(?P<last>last)|(?P<number>[0-9]+))[._](?P<unit>week|day|hour)s?(?:[._]ago)?", re.IGNORECASE
)
_RANGE = re.compile(r"(.*?)\.\.(.*)")
_COMPACT = re.compile(r"([0-9]{4})([0-9]{2})([0-9]{2})")


def person_of(text: str, span: Span) -> Person:
    """Return the person that a text names: an address, a domain or a name."""
    if "@" in text and not any(character.isspace() for character in text):
        return Person("domain" if text.startswith("@") else "address", text.lower(), span)
    return Person("name", text, span)


def translate(operator: str, value: str, span: Span) -> PhraseNode:
    """Return the phrase that an operator and its value mean here.

    >>> translate("from:", "mary", Span(0, 9)).kind
    'from'
    """
    written = operator.strip()
    name = _MUTT[written[1]] if written[0] == "~" else written[:-1].casefold()
    if name in _PEOPLE:
        me = value.lower() == "me"
        person = Person("me", value, span) if me else person_of(value, span)
        return Phrase(_PEOPLE[name], span, person=person)
    if name in _TEXTS:
        return Phrase(_TEXTS[name], span, words=Words(value, span))
    return _READERS[name](name, value, span) or _unknown(name, span)


def _unknown(name: str, span: Span) -> Refused:
    example, *_ = (hint for names, hint in _EXAMPLES if name in names)
    return Refused(f"The value of “{name}:” is not understood.", span, f"Write “{example}”.")


def _age(name: str, value: str, span: Span) -> PhraseNode | None:
    match = _LENGTH.fullmatch(value)
    if match is None:
        return None
    times, unit = _LENGTHS[match[2].casefold()]
    return Phrase(_AGES[name], span, amount=Amount(Decimal(match[1]) * times, span, unit))


def _size(name: str, value: str, span: Span) -> PhraseNode | None:
    match = _SIZE.fullmatch(value)
    if match is None:
        return None
    number = Decimal(match[1])
    unit = f"{match[2].upper()}B" if match[2] else "KB"
    amount = Amount(number if match[2] else number / 1024, span, unit)
    phrase = Phrase("larger_than", span, amount=amount)
    return Negated(phrase, 1) if name == "smaller" else phrase


def _instant(text: str, span: Span) -> Date | None:
    compact = _COMPACT.fullmatch(text)
    return read_date("-".join(compact.groups()) if compact else text.replace(".", " "), span)


def _date(name: str, value: str, span: Span) -> PhraseNode | None:
    written = _instant(value, span)
    return Phrase(_DATES[name], span, date=written) if written else None


def _range(_: str, value: str, span: Span) -> PhraseNode | None:
    match = _RANGE.fullmatch(value)
    if match is None:
        written = _instant(value, span)
        return Phrase("on", span, date=written) if written else None
    parts = [
        bound
        for text, date_kind, age_kind in (
            (match[1], "since", "newer_than"),
            (match[2], "until", "old"),
        )
        if text and (bound := _bound(text, date_kind, age_kind, span))
    ]
    if len(parts) != bool(match[1]) + bool(match[2]) or not parts:
        return None
    return parts[0] if len(parts) == 1 else Joined("and", tuple(parts), 1)


def _bound(text: str, date_kind: str, age_kind: str, span: Span) -> Phrase | None:
    written, ago = _instant(text, span) or NO_DATE, _AGO.fullmatch(text)
    if ago:
        amount = Amount(Decimal(ago["number"] or 1), span, ago["unit"].casefold())
        return Phrase(age_kind, span, amount=amount)
    return Phrase(date_kind, span, date=written) if written != NO_DATE else None


def _has(_: str, value: str, span: Span) -> PhraseNode | None:
    return Phrase("with_attachments", span) if value.lower() == "attachment" else None


def _in(_: str, value: str, span: Span) -> PhraseNode | None:
    if value.lower() == "sent":
        return Phrase("from", span, person=Person("me", "me", span))
    if "." in value:
        return Phrase("in", span, words=Words(value, span))
    return None


def _is(_: str, value: str, span: Span) -> PhraseNode | None:
    if value.lower() == "unanswered":
        return Phrase("with_no_reply", span)
    if value.lower() in ("read", "unread"):
        message = "Whether a message has been read is no part of a filter."
        return Refused(message, span, "Write “newer than one week”, or leave it out.")
    if value.lower() in ("starred", "flagged", "important"):
        message = "Nobody stars messages here; people vote for them."
        return Refused(message, span, "Write “voted for by me”.")
    return Phrase("tagged", span, words=Words(value, span))


def _no_names(_: str, value: str, span: Span) -> PhraseNode:
    hint = "Write “with attachments”."
    return Refused("The names of attached files are not kept.", span, hint)


def _no_copies(_: str, value: str, span: Span) -> PhraseNode:
    hint = f"Write “to {person_of(value, span).text}”."
    return Refused("Blind copies are not in a message.", span, hint)


def _identifier(_: str, value: str, span: Span) -> PhraseNode:
    doubled = value.strip("<>").replace("'", "''")
    hint = f"Write “m.msgid = '{doubled}'”, a filter by itself."
    return Refused("No phrase names one message.", span, hint)


_READERS: dict[str, Callable[[str, str, Span], PhraseNode | None]] = {
    **dict.fromkeys(_AGES, _age),
    **dict.fromkeys(_SIZES, _size),
    **dict.fromkeys(_DATES, _date),
    **dict.fromkeys(_RANGES, _range),
    **dict.fromkeys(("has", "attachment"), _has),
    "in": _in,
    "is": _is,
    "filename": _no_names,
    "bcc": _no_copies,
    **dict.fromkeys(("id", "m", "mid", "thread"), _identifier),
}
_EXAMPLES = (
    (_AGES, "newer_than:3d"),
    (_SIZES, "larger:5M"),
    (_DATES, "after:2024/01/31"),
    (_RANGES, "date:2024-01-01..2024-01-31"),
    (("has", "attachment"), "has:attachment"),
    (("in",), "in comp.databases"),
)
