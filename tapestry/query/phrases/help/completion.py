"""Complete a phrase while it is typed: continuations, names, columns."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from tapestry.core.schema import ANNOTATIONS, COLUMNS, MESSAGES
from tapestry.query.phrases.catalogue import KINDS
from tapestry.query.phrases.catalogue.kind import NOUNS
from tapestry.query.phrases.dates import NUMBERS
from tapestry.query.phrases.filetypes import FILE_TYPES
from tapestry.query.phrases.help.suggestions import Continuation, Place, continuations, place_after
from tapestry.query.phrases.help.vocabulary import Named, Vocabulary, names_at
from tapestry.query.phrases.spellings import FRACTIONS
from tapestry.query.tree.parsed import MESSAGE

MOST = 8
LONGEST = 4000
"""Nobody completes a text of more characters than this: it is no phrase written by hand."""


@dataclass(frozen=True, slots=True)
class Completion:
    """``text`` could stand in place of the characters ``[start, end)``; and what it means."""

    start: int
    end: int
    text: str
    meaning: str


_CONNECTIVES = {
    "and": "both must hold",
    "or": "one of them is enough",
    "but": "both must hold",
    "not": "what follows must not hold",
}
DESCRIPTIONS = {name: kind.description for name, kind in KINDS.items()} | _CONNECTIVES
"""Meanings of each kind of phrase, and of each connective."""

_RANKS = {name: kind.rank for name, kind in KINDS.items()}
_RANKS |= dict.fromkeys(_CONNECTIVES, max(_RANKS.values()) + 1)
_JOINING = {"AND": -3, "OR": -2, "BUT": -1}
"""Continuations that come before another phrase, where a phrase is whole."""

_SAMPLE = {
    "number": "two",
    "low": "two",
    "upper": "two weeks",
    "age": "two weeks",
    "share": "half",
    "unit": "KB",
    "filetype": "pictures",
    **{many: many for many in NOUNS},
}
_SPELLED = {"NUMBER": "two", "SHARE": "half", "UNIT": "weeks", "FILE_TYPE": "pictures", "I": "I"}
_CANONICAL = {
    name: " ".join(re.sub(r"{(\w+)}", lambda slot: _SAMPLE.get(slot[1], ""), kind.template).split())
    for name, kind in KINDS.items()
}
ALONE = "everything"
"""The phrase behind which no other stands."""

_ONLY = "only"
"""A word that is part of what follows, “only to joe”, though it may end a name."""

_UNITS = ("weeks", "days", "hours")
_SINGULAR = {one.upper(): many.upper() for many, one in NOUNS.items()}
_WORD = re.compile(r"[^\s(),\"“”]*")
_TYPED = re.compile(r"[^\s(),\"“”]*\Z")
_CLOSED = re.compile(r'"[^"]*"|“[^”]*”')
_OPENED = re.compile(r'["“]')
_DIGITS = re.compile(r"[0-9]+(\.[0-9]+)?", re.ASCII)
_SINGULAR_NUMBER = re.compile(r"one|0*1(\.0+)?", re.ASCII)
_COLUMN = re.compile(r"([^\W\d]\w*)\.(\w*)\Z")


def complete(
    text: str, at: int | None = None, vocabulary: Vocabulary | None = None
) -> tuple[Completion, ...]:
    """Return what could stand at the cursor, likeliest first, at most ``MOST``.

    ``at`` is the cursor's offset, by default the end.  What is typed of a word before it is
    what a completion begins with.  Never raises; a text that is no phrase so far, and does
    not end in a column, has none.

    >>> [completion.text for completion in complete("with no r")]
    ['reply', 'reply by ', 'reply for ', 'reply within ', 'review', 'review for ']
    """
    at = len(text) if at is None else max(0, min(at, len(text)))
    if at > LONGEST:
        return ()
    vocabulary = vocabulary or Vocabulary()
    start, closing = _typed_from(text[:at])
    typed, after = text[start:at], text[at:]
    place = None if text[:start].strip().lower() == ALONE else place_after(text[:start])
    if closing:
        here, _, _ = after.partition("\n")
        end = at + here.find(closing) + 1
        candidates = names_at(place, typed[1:], vocabulary) if place else []
    else:
        word = _WORD.match(after)
        end = at + (word.end() if word else 0)
        candidates = candidates_at(place, typed, vocabulary) if place else []
        if not candidates and not (place and "WORD" in place.accepts):
            candidates = _columns(text, typed)
    spaced = text[end : end + 1].isspace()
    meanings = {name.rstrip() if spaced else name: meaning for name, meaning in candidates}
    return tuple(
        Completion(start, end, name, meaning)
        for name, meaning in meanings.items()
        if name.strip().lower() != typed.lower()
    )[:MOST]


def is_whole(text: str) -> bool:
    """Return whether a text is a whole phrase as it stands, open parentheses aside.

    >>> is_whole("replies"), is_whole("replies by"), is_whole("(replies")
    (True, False, True)
    """
    place = place_after(text)
    return place is not None and place.ends_phrase


def _typed_from(before: str) -> tuple[int, str]:
    """Return where the word being typed begins, and what closes it if it is in quotes."""
    opened = _OPENED.search(_CLOSED.sub(lambda quote: " " * len(quote[0]), before))
    if opened:
        return opened.start(), "”" if opened[0] == "“" else '"'
    word = _TYPED.search(before)
    return (word.start() if word else len(before)), ""


# Continuations of phrases


def candidates_at(place: Place, typed: str, vocabulary: Vocabulary) -> Named:
    """Return phrases that begin with what is typed, names among them, likeliest first.

    Another spelling of a phrase comes last, and only where its canonical one does not come.
    """
    before = place.before.lower() if place.before else ""
    ways = [
        way
        for way in continuations(place)
        if way.kind in DESCRIPTIONS
        and not (before and way.kind == ALONE)
        and (before != _ONLY or way.within)
    ]
    usual: Named = []
    unusual: Named = []
    for way in sorted(ways, key=_rank):
        named = [(text, DESCRIPTIONS[way.kind]) for text in _spellings(way, place, typed.lower())]
        (usual if _is_canonical(way) else unusual).extend(named)
    meant = {meaning for _, meaning in usual}
    others = [(text, meaning) for text, meaning in unusual if meaning not in meant]
    return [*usual, *names_at(place, typed, vocabulary), *others]


def _rank(way: Continuation) -> tuple[bool, int]:
    """Rank what goes on with a phrase before what joins phrases, and that before a new one."""
    joins = not way.within and way.terminals[0] in _JOINING
    return not way.within, _JOINING[way.terminals[0]] if joins else _RANKS[way.kind]


def _is_canonical(way: Continuation) -> bool:
    words = " ".join(_SPELLED.get(terminal, terminal.lower()) for terminal in way.terminals)
    return way.kind not in _CANONICAL or f" {words} " in f" {_CANONICAL[way.kind]} "


def _spellings(way: Continuation, place: Place, typed: str) -> Iterator[str]:
    """Yield a continuation as it may be written, if it begins with what is typed."""
    before = place.before
    first = way.terminals[0]
    if first != "NUMBER":
        numbers = [str(before).lower() if before and before.type == "NUMBER" else ""]
    elif _DIGITS.fullmatch(typed):
        numbers = [typed]
    elif typed:
        numbers = [number for number in NUMBERS[1:] if number.startswith(typed)][:2]
    elif before and before.type == "AND":
        return  # The larger number of “between”: any sample might be the smaller one.
    else:
        numbers = ["100" if "KB" in way.terminals else _SPELLED["NUMBER"]]
    chosen = first == "UNIT" or ("UNIT" in way.terminals and typed in numbers)
    units = _UNITS if chosen else _UNITS[:1]
    shares = (
        [*FRACTIONS, *([f"{typed}%"] if _DIGITS.fullmatch(typed) else [])]
        if first == "SHARE" and typed
        else [_SPELLED["SHARE"]]
    )
    files = tuple(FILE_TYPES) if first == "FILE_TYPE" and typed else (_SPELLED["FILE_TYPE"],)
    for number, unit, share, file_type in product(numbers, units, shares, files):
        words = _words(way, number, unit, {"SHARE": share, "FILE_TYPE": file_type})
        if words and words.lower().startswith(typed):
            yield words + " " * way.more


def _words(way: Continuation, number: str, unit: str, others: dict[str, str]) -> str:
    """Return a continuation's words, none if its noun is not in the grammatical number."""
    single = _SINGULAR_NUMBER.fullmatch(number)
    wrong = _SINGULAR.values() if single else _SINGULAR
    if number and any(terminal in wrong for terminal in way.terminals[:2]):
        return ""
    unit = unit.removesuffix("s") if single else unit
    spelled = {"NUMBER": number, "UNIT": unit, **others}
    spelled |= {name: name for name in ("I", "KB", "MB")}
    return " ".join(spelled.get(terminal, terminal.lower()) for terminal in way.terminals)


# Columns


def _columns(text: str, typed: str) -> Named:
    """Return the columns of a variable of TQL or SQL that begin with what is typed."""
    match = _COLUMN.search(typed)
    if match is None:
        return []
    var, begun = match[1], match[2].lower()
    bound = rf"\b{var}\s+IN\s+{ANNOTATIONS}\b|\b{ANNOTATIONS}\s+(AS\s+)?{var}\b"
    table = ANNOTATIONS if re.search(bound, text, re.IGNORECASE) else MESSAGES
    ranges = rf"[(,]\s*{var}\s*[,:]|\b{MESSAGES}\s+(AS\s+)?{var}\b"
    if table == MESSAGES and var != MESSAGE and not re.search(ranges, text, re.IGNORECASE):
        return []
    before = typed[: match.start(2)]
    return [
        (before + name, kind.value)
        for name, kind in COLUMNS[table].items()
        if name.startswith(begun)
    ]
