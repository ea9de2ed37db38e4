"""Slips of the pen: a word in a name that was meant to begin a phrase, as in “to joe frm mary”.

A name goes on up to the next word that begins a phrase, so that a misspelled one would silently
become part of the name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import get_close_matches

from tapestry.core.errors import Span
from tapestry.query.phrases.grammar import FIRST_WORDS
from tapestry.query.phrases.nodes import Joined, Negated, Person, Phrase, PhraseNode, Words
from tapestry.query.phrases.printer import quoted
from tapestry.query.phrases.spellings import (
    DAYS,
    NEVER_NAMES,
    NOBODY,
    NOUN,
    NUMBER,
    SIGN_AT_END,
    WORD,
)
from tapestry.query.tree.parsed import MisreadError

_WORD = re.compile(WORD)
_QUOTES = "\"“'"
_CONNECTED = re.compile(r"(?:,|\b(?:or|and))\s*\Z", re.IGNORECASE)
"""Words before the second name of a list, and the next."""

_NEVER_FIRST = {"about": ("to",), "tagged": ("by", "but"), "in_filter": ("filter",)}
"""Words with which a text of a kind of phrase does not begin: another phrase is meant."""

_NO_NAMES = (
    *("last", "next", "this", "that", "list", "newsgroup", "group", "filter"),
    *("a", "an", "certain", "find", "contains", "equals", "is", "like", "matches", "by"),
    *("includes", "include", "contain", "containing", "has", "says"),
    *("to", "from", "with", "without", "about", "at", "or", "reply", "specific"),
    *("you", "his", "her", "their", "my", "your", "our", "the"),
    *("any", "all", "both", "many", "several", "few", "multiple", "either", "neither"),
    *("nobody", "anyone", "anybody", "everybody"),
)
"""Words that begin no name: verbs that other programs want before a value, and a second “by”."""

_EXCEPT = ("except", "excluding", "unless")
_CLAUSES = """
    that which who whom whose i i'm i've you you've we we've she he they nobody somebody someone
    hasn't haven't didn't don't doesn't isn't wasn't
"""
"""Words with which a clause begins: “about the router that mary sent”."""

_CLOSED = """
    many several few multiple other others people persons person everyone anyone
    | || if when where what why how is are was were be been am has have had did do does will would
    can could should must not a an this these those my your his her our their me us them him it
    for with without from to by about in on at since until before after during within outside inside
    into over under between last next ago yet also only still sent wrote got received replied
    answered please sometime sometimes somewhere recently lately maybe perhaps again earlier later
    once already anymore both either neither too alone together everything anything any some no all
"""
_NOT_IN_NAMES = frozenset((*_EXCEPT, *_CLAUSES.split(), *_CLOSED.split()))
"""Words that are in no name of more than one word: a sentence goes on there."""

_NOT_IN_TEXTS = frozenset((*_EXCEPT, *_CLAUSES.split()))
"""Words that a text holds in quotes alone, but for its first."""

_PARTICIPLE = re.compile(
    r"cc['’]?e?d|copied|sent|received|written|answered|replied|tagged|voted|unanswered|please",
    re.IGNORECASE,
)
"""Words of other clauses: “to alice and cc'd to joe”."""

_COUNTS = ("more", "fewer", "less")
_VERBS = (
    *("says", "say", "includes", "include", "is", "line", "mentions", "either", "contains"),
    *("does", "doesn't", "isn't", "doesnt", "isnt", "has", "have", "of", "as", "longer", "shorter"),
)
"""Words that other programs want before a text."""

_OF_LIST = re.compile(r"(?:any|all)\s+of\b", re.IGNORECASE)
_COUNTED = re.compile(
    rf"(?:(?:only|just|more than|over|at least)\s+)?{NUMBER}\s+(?:{NOUN}|repl(?:y|ies)|answers?)",
    re.IGNORECASE,
)
_MAIL_AFTER = re.compile(rf"\s+{NOUN}", re.IGNORECASE)
_AND_AFTER = re.compile(r"\s+and\b", re.IGNORECASE)
_AND = ("adn", "andd", "annd")


_REAL = """
    bellow date flagged form inn large like linked massage massages senders sine subjects topic
    vote wit
"""
NO_SLIPS = frozenset(_REAL.split())
"""Words as they should be, though they are near to one that begins a phrase."""


def check_slips(node: PhraseNode, text: str) -> None:
    """Refuse an unquoted name that holds what looks like the beginning of another phrase.

    >>> from tapestry.query.phrases.grammar import grammar
    >>> check_slips(grammar().parse("to joe frm mary"), "to joe frm mary")
    Traceback (most recent call last):
    tapestry.query.tree.parsed.MisreadError: “frm” is not understood here.
    """
    for phrase in leaves(node):
        for value in (phrase.person, phrase.words):
            start = value.span.start
            is_quoted = not value.text or text[start] in _QUOTES
            is_checked = " " in value.text or _ends(value.text, text[value.span.end :])
            is_checked = is_checked or _is_nobody(value.text)
            if not is_quoted and (is_checked or _CONNECTED.search(text, 0, start)):
                _check(phrase.kind, value, text)
        if not may_be_newsgroup(phrase):
            raise _no_newsgroup(phrase)


def _is_nobody(name: str) -> bool:
    return NOBODY.fullmatch(name) is not None or _PARTICIPLE.fullmatch(name) is not None


def may_be_newsgroup(phrase: Phrase) -> bool:
    """Tell whether a phrase that names a newsgroup by “in” alone may: other names need its kind."""
    return phrase.kind != "in" or "." in phrase.words.text


def _no_newsgroup(phrase: Phrase) -> MisreadError:
    """Return why “in the machine room” is not read: it would be a newsgroup called “the”."""
    name = quoted(phrase.words.text)
    hint = f"Did you mean “in newsgroup {name}”, or “in filter {name}”?"
    return MisreadError(f"“{phrase.words.text[:40]}” is no newsgroup.", phrase.span, hint)


def leaves(node: PhraseNode) -> Iterator[Phrase]:
    """Yield the single phrases of a tree."""
    match node:
        case Joined():
            for part in node.parts:
                yield from leaves(part)
        case Negated():
            yield from leaves(node.part)
        case Phrase():
            yield node


def _check(kind: str, value: Person | Words, text: str) -> None:
    is_person = isinstance(value, Person)
    if isinstance(value, Person) and value.kind in ("me", "domain"):
        return
    first = value.text.split(maxsplit=1)[0].lower() if value.text else ""
    is_alone = value.text.lower() in NEVER_NAMES
    is_verb = (
        first.rstrip(":") in _VERBS
        or first in _NEVER_FIRST.get(kind, ())
        or (first in ("any", "all") and _OF_LIST.match(text, value.span.start))
        or (first == "both" and _AND_AFTER.match(text, value.span.end))
    )
    if not is_person and is_verb and (is_alone or " " in value.text):
        rest = text[: value.span.start] + value.text[len(first) :].lstrip()
        hint = (
            f"Leave it out: “{rest[:80]}”. If it is a word of the text, put that in double quotes."
        )
        verb = Span(value.span.start, value.span.start + len(first))
        raise _misread(first, verb, hint)
    if not is_person and _COUNTED.fullmatch(value.text):
        hint = f"If these are words of the text, put “{value.text[:40]}” in double quotes."
        raise _misread(value.text, value.span, hint)
    words = list(_WORD.finditer(text, value.span.start, value.span.end))
    if len(words) > 1 and not any(map(str.isalnum, words[0][0])):
        hint = f"Leave out “{words[0][0]}”."
        raise _misread(words[0][0], Span(*words[0].span()), hint)
    for place, match in enumerate(words):
        word, span = match[0], Span(*match.span())
        following = words[place + 1][0].lower() if place + 1 < len(words) else ""
        is_nobody = len(words) == 1 and _is_nobody(word)
        if is_person and (is_nobody or DAYS.fullmatch(word)):
            hint = f'If it is a name, put it in double quotes: “"{word}"”.'
            raise _misread(word, span, hint)
        if is_person and place == 0 and len(words) > 1 and word.lower() in _NO_NAMES:
            rest = value.text[len(word) :].strip()[:40]
            hint = f"Leave it out: “{rest}”. If it is a part of the name, put it in double quotes."
            raise _misread(word, span, hint)
        is_owner = is_person and following and word.lower().endswith(("'s", "’s"))
        is_sign = is_owner or (is_person and not following and _ends(word, text[span.end :]))
        if is_sign or (
            place
            and word.lower().replace("’", "'") in (_NOT_IN_NAMES if is_person else _NOT_IN_TEXTS)
        ):
            hint = f"If it is a part of the name, put “{value.text[:40]}” in double quotes."
            raise _misread(word, span, hint)
        meant = None
        if is_person and following == "than":
            meant = next(iter(get_close_matches(word.lower(), _COUNTS, n=1, cutoff=0)))
        elif is_person or place:
            meant = slip(word, only_left_out=not is_person)
        if meant:
            hint = f"Did you mean “{meant}”? If not, put “{value.text[:40]}” in double quotes."
            raise _misread(word, span, hint)
        if place and (kind == "in" or (is_person and "@" in value.text)):
            hint = f"Did you mean “mentioning {word}”?"
            raise _misread(word, span, hint)


def _misread(word: str, span: Span, hint: str) -> MisreadError:
    message = f"“{word[:40]}” is not understood here."
    return MisreadError(message, span, hint, is_general=True)


def _ends(name: str, after: str) -> bool:
    """Tell whether a name ends in a sign, or is whose mail is meant: “replies to Anna's mails”."""
    is_owner = name.endswith(("'s", "’s")) and _MAIL_AFTER.match(after)
    return bool(is_owner or SIGN_AT_END.search(name))


def slip(word: str, *, only_left_out: bool = False) -> str | None:
    """Return the first word of a phrase that this is but for one letter, if there is one.

    It lacks a letter, or has one twice, or two changed about; “thread” is
    no slip of “threads”.  ``only_left_out``: it lacks one.

    >>> slip("frm"), slip("form"), slip("form", only_left_out=True), slip("joe"), slip("andd")
    ('from', 'from', None, None, 'and')
    """
    written = word.lower()
    if written in _AND:
        return "and"
    is_meant = lacks_letter if only_left_out else is_slip
    firsts = (first for first in (*FIRST_WORDS, "yesterday") if len(first) > 3)
    meant = next((first for first in firsts if is_meant(written, first)), None)
    return None if meant == f"{written}s" else meant


def is_slip(word: str, meant: str) -> bool:
    """Tell whether a word lacks a letter, has one too many, or has two changed about.

    The first letter is right.

    >>> [is_slip(word, "received") for word in ("recieved", "receved", "receivved", "relieved")]
    [True, True, True, False]
    """
    return has_changed(word, meant) or lacks_letter(word, meant) or lacks_letter(meant, word)


def lacks_letter(word: str, meant: str) -> bool:
    """Tell whether a word is another one without one of its letters, not the first."""
    return len(word) + 1 == len(meant) and any(
        word == meant[:at] + meant[at + 1 :] for at in range(1, len(meant))
    )


def has_changed(word: str, meant: str) -> bool:
    """Tell whether a word is another one with two letters changed about, not the first."""
    return word != meant and any(
        word == meant[:at] + meant[at + 1] + meant[at] + meant[at + 2 :]
        for at in range(1, len(meant) - 1)
    )
