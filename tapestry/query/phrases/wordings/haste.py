"""Words as they are written in haste: “pics frm bob last wk w/o msgs > 2mb”, written in full."""

from __future__ import annotations

import re
from collections.abc import Callable

from tapestry.query.phrases.dates import MONTHS, WEEKDAYS
from tapestry.query.phrases.wordings.lexicon import NO_NAME

_ABBREVIATED = {
    "with": "w w/",
    "without": "w/o wo/",
    "about": "abt",
    "before": "b4",
    "people": "ppl",
    "pictures": "pics",
    "documents": "docs",
    "messages": "msgs",
    "message": "msg",
    "attachment": "attchmt attachmt attch",
    "attachments": "attchmts attachmts",
    "week": "wk",
    "weeks": "wks",
    "month": "mth",
    "months": "mths mos",
    "year": "yr",
    "years": "yrs",
    "hours": "hrs",
    "yesterday": "yest yday",
    "the": "teh",
    "please": "pls plz",
    "i'm": "im",
    "i've": "ive",
    "where's": "wheres",
    "what's": "whats",
    "who's": "whos",
}
_FULL = {short: full for full, shorts in _ABBREVIATED.items() for short in shorts.split()}
_DAYS = {day[:size].lower(): day for day in WEEKDAYS for size in (3, 4, 5)}
_WEEKDAY = f"{'|'.join(sorted(_DAYS, key=len, reverse=True))}"
_UNITS = {"h": "hours", "d": "days", "w": "weeks", "mo": "months", "y": "years", "min": "minutes"}
_MONTH = "|".join(f"{month[:3]}(?:{month[3:]})?" for month in MONTHS)
_SIGNS = {">=": "at least", "≥": "at least", "<=": "at most", "≤": "at most"}
_SIGNS |= {">": "more than", "<": "less than"}

_BEGIN, _END = r"(?<![^\s,(])", r"(?![^\s,)?!])"
_NO_VALUE = "".join(
    rf"(?<!\b{word}\s)"
    for word in ("from", "to", "by", "cc", "about", "mentioning", "saying", "tagged", "named")
)
"""What stands here is no name, and no text that is looked for."""

_RULES: tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...] = (
    (rf"{_BEGIN}(w/)(?=\w{{2}})", "with "),
    (
        rf"{_NO_VALUE}{_BEGIN}({'|'.join(map(re.escape, _FULL))}){_END}",
        lambda found: _FULL[found[0].lower()],
    ),
    (
        rf"\b(last|on|since|before|until|from)\s({_WEEKDAY})\.?{_END}",
        lambda found: f"{found[1]} {_DAYS[found[2].lower()]}",
    ),
    (r"(?<=\w\s)(?<!about\s)(?-i:re:?)(?=\s\w)", "about"),
    (rf"{_BEGIN}([0-9]+)\s?hrs?{_END}", r"\1 hours"),
    (rf"{_BEGIN}([0-9]+)\s?mins?{_END}", r"\1 minutes"),
    (
        rf"{_BEGIN}([0-9]+)(h|d|w|mo|y){_END}",
        lambda found: f"{found[1]} {_UNITS[found[2].lower()]}",
    ),
    (r"([<>]=?|[≤≥])\s?(?=[0-9])", lambda found: f"{_SIGNS[found[1]]} "),
    (rf"(?<![^\s,(<>=])([0-9.]+)([kmg]b){_END}", r"\1 \2"),
    (rf"{_BEGIN}({_MONTH})\s?[-–]\s?({_MONTH}){_END}", r"\1 to \2"),
)
_COMPILED = [(re.compile(pattern, re.IGNORECASE), full) for pattern, full in _RULES]
_QUOTED = re.compile(r'("[^"]*"|“[^”]*”)')
_LONGEST = 300


_NAME = rf"(?!(?:{NO_NAME})\b)[^\W\d_]{{2,}}"
_WRITER = re.compile(
    rf"\A({_NAME}(?:(?:\s*,\s*|\s+(?:(?:and|or)\s+)?){_NAME}){{0,3}}?)"
    r"(?=\s+(?:about|with|without|since|before|last|this|yesterday|today)\s)",
    re.IGNORECASE,
)
"""Names before what somebody wrote: “bob or dave about the rent”."""

_OWNER = re.compile(
    rf"\b({_NAME})s(?=\s+(?:last\s|latest\s)?(?:reply|replies|answers?|e?mails?|messages?)\b)",
    re.IGNORECASE,
)


def in_full(text: str, is_person: Callable[[str], bool] | None = None) -> str:
    """Return a text with what is abbreviated in it written in full, but for what is in quotes.

    ``is_person`` tells whether a word is the name of somebody who is known.

    >>> in_full("pics from bob last wk"), in_full('msgs abt "w/o wk" > 2mb')
    ('pictures from bob last week', 'messages about "w/o wk" more than 2 mb')
    >>> in_full("bob, joe re rent", {"bob", "joe"}.__contains__)
    'from bob or joe about rent'
    """
    if len(text) > _LONGEST:
        return text
    pieces = _QUOTED.split(text)
    pieces[::2] = map(_in_full, pieces[::2])
    full = "".join(pieces)
    return full if is_person is None else _with_people(full, is_person)


def _with_people(text: str, is_person: Callable[[str], bool]) -> str:
    """Return a text whose first words are known names as what these people wrote."""
    text = _OWNER.sub(lambda found: f"{found[1]}'s" if is_person(found[1]) else found[0], text)
    found = _WRITER.match(text)
    names = re.findall(r"\b(?!(?:and|or)\b)\w+", found[1]) if found else []
    if found is None or not all(map(is_person, names)):
        return text
    return f"from {' or '.join(names)}{text[found.end() :]}"


def _in_full(text: str) -> str:
    for pattern, full in _COMPILED:
        text = pattern.sub(full, text)
    return text
