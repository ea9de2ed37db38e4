"""The grammar of phrases, made of the catalogue; lark builds its parser once for an installation.

A name, and the words of a text, go on up to the next word that begins a phrase or joins phrases.
The lexer sees to that: of what can stand in a place, a keyword comes before a word.  A list
(``from mary or farid``) is joined by tokens of its own, which are there only where a value
follows and no phrase.
"""

from __future__ import annotations

import functools
import os
import re
import sys
from importlib.util import cache_from_source
from pathlib import Path

import lark

from tapestry.core.files.file_lock import file_lock
from tapestry.query.phrases.build import OPPOSITE, PREFIX, SHORTHAND, Build
from tapestry.query.phrases.catalogue import KINDS
from tapestry.query.phrases.dates import NUMBERS
from tapestry.query.phrases.spellings import (
    FIXED_TERMINALS,
    FORMS,
    WORD,
    is_form,
    keyword,
    terminals,
)

_SLOTS = r"""
person: one_person (LISTED one_person)*
one_person: ME | ANYONE | STRING | WORD (WORD | DIGITS)*
words: one_text (LISTED one_text)*
one_text: STRING | WORD (WORD | DIGITS | NOUN)*
myself: I
the_list: THE_LIST
in_subject: IN_SUBJECT
filetype: one_type (LISTED_TYPE one_type)*
one_type: FILE_TYPE
type_of_files: BARE_FILE_TYPE
owner: OWNER
number: NUMBER
share: SHARE
age: NUMBER UNIT
recent: LAST NUMBER UNIT | LAST UNIT
"""

_JOINING = r"""
start: disjunction
disjunction: conjunction (OR conjunction)*
conjunction: _items (NOISE | LINK)?
_items: item | _items (AND | BUT | COMMA)? item
?item: NOT item -> negated
    | LPAR disjunction RPAR -> group
    | NEITHER item NOR item -> neither
    | (NOISE | LINK) item -> noisy
    | phrase
"""

_TERMINALS = r"""
OR.2: /(,\s*)?or(?![^\s,()"“”])/i
AND.2: /(,\s*)?and(?![^\s,()"“”])/i
BUT.2: /(,\s*)?but(?![^\s,()"“”])/i
COMMA.1: /,/
LPAR: /\(/
RPAR: /\)/
OWNER.1: /[^\s,()"“”\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+['’]s(?![^\s,()"“”])/i
STRING.1: /"[^"]*(""[^"]*)*"|“[^”]*”|'[^']*'(?![^\s,()"“”])/
%ignore /\s+/
"""
_PRIORITIES = {
    "THEN": 6,
    **dict.fromkeys(
        ("LISTED", "LISTED_TYPE", "OR_MORE", "IN_SUBJECT", "BARE_FILE_TYPE", "SHARE"), 5
    ),
    **dict.fromkeys(("DAY", "PERIOD", "LAST_DAY", "ANYONE", "THE_LIST"), 4),
    **dict.fromkeys(("LINK", "DIGITS", "NOUN"), 3),
    **dict.fromkeys(("NUMBER", "UNIT"), 2),
    **dict.fromkeys(("EARLIER", "RECENT_DAY", "RECENT_WEEK"), 1),
    **{"NOISE": 0, "WORD": -1},
}
_KEYWORD_PRIORITY = 2

_ALTERNATIVES = [
    *(
        (alternative, f"{prefix}{kind.name}")
        for kind in KINDS.values()
        for prefix, alternatives in ((PREFIX, kind.grammar), (OPPOSITE, kind.opposites))
        for alternative in alternatives
    ),
    *(
        (alternative, f"{SHORTHAND}{kind.name}_{place}")
        for kind in KINDS.values()
        for place, (alternative, _) in enumerate(kind.shorthands)
    ),
    ("FROM? EARLIER", "earlier"),
    ("LEAVING OUT person", "left_out"),
    ("DATED? BETWEEN (number | DAY | PERIOD) AND (DAY | PERIOD)", "between_days"),
]
_PHRASE = "?phrase: " + "\n    | ".join(f"{rule} -> {name}" for rule, name in _ALTERNATIVES)

_DEFINED = {
    *re.findall(r"^([A-Z_]+)[.:]", _TERMINALS, re.MULTILINE),
    *FIXED_TERMINALS,
    *terminals(()),
    "WORD",
}
_NAMES = dict.fromkeys((*re.findall(r"\b[A-Z_]+\b", _PHRASE + _SLOTS), "NOT", "NEITHER", "NOR"))
KEYWORDS = tuple(name.lower() for name in _NAMES if name not in _DEFINED)
CONNECTIVES = ("and", "or", "but")


_AHEAD = re.compile(r"\(\?=.*\)\Z")
"""What must follow a keyword, where it is one before certain words alone."""


def _is_plain(name: str) -> bool:
    form = _AHEAD.sub("", FORMS.get(name, name.lower()))
    return re.fullmatch(form, name.lower()) is not None


PLAIN = tuple(word for word in KEYWORDS if _is_plain(word.upper()))
"""The keywords that are spelled as they are called, wherever they stand."""


@functools.cache
def first_words() -> tuple[str, ...]:
    """Return the keywords with which phrases begin."""
    first = []
    for rule, _ in _ALTERNATIVES:
        for part in re.finditer(r"(\([^)]*\)|\w+)(\??)", rule):
            first += [words.split()[0] for words in part[1].strip("()").split("|")]
            if not part[2]:
                break
    found = dict.fromkeys((*first, "I", "BARE_FILE_TYPE", "NOT", "NEITHER"))
    return tuple(name for name in found if name.isupper() and name not in _DEFINED)


FIRST_WORDS = tuple(name.lower() for name in first_words() if _is_plain(name))
"""The words with which phrases begin."""


def is_taken(text: str) -> bool:
    """Return whether a text needs quotes, as it would be read as a word of phrases."""
    lower = text.lower()
    return lower in (*KEYWORDS, *CONNECTIVES, *NUMBERS) or is_form(lower)


@functools.cache
def grammar(start: str = "start") -> lark.Lark:
    """Return the parser of ``start``; it gives a ``PhraseNode``.

    ``start`` is a whole text, ``phrase`` one phrase that is not joined with others.  It is kept
    beside what Python compiles, if that is kept: lark takes a second to build it.
    """
    kept = Path(f"{cache_from_source(__file__)}.{start}")
    if sys.dont_write_bytecode or not os.access(kept.parent, os.W_OK):
        return _built(start, False)
    with file_lock(Path(f"{kept}.lock"), wait=10.0) as is_alone:
        return _built(start, is_alone and str(kept))


def _built(start: str, cache: str | bool) -> lark.Lark:
    """Return the parser of ``start``, read from the file ``cache`` or else written there."""
    expressions = {name.upper(): keyword(name.upper()) for name in KEYWORDS}
    expressions |= FIXED_TERMINALS | terminals(first_words()) | {"WORD": WORD}
    lines = [
        f"{name}.{_priority(name)}: /{_escaped(expression)}/i"
        for name, expression in expressions.items()
    ]
    return lark.Lark(
        "\n".join((_JOINING, _PHRASE, _SLOTS, _TERMINALS, *lines)),
        start=start,
        parser="lalr",
        lexer="contextual",
        transformer=Build(),
        cache=cache,
    )


def _priority(name: str) -> int:
    return _PRIORITIES.get(name, _KEYWORD_PRIORITY)


def _escaped(expression: str) -> str:
    """Return a regular expression as lark has it between slashes."""
    return expression.replace("/", r"\/")
