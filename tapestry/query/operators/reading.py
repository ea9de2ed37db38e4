"""A text with operators to phrases: what has an operator, and words that are looked for.

Words side by side that are a phrase, such as ``two weeks old``, are read as one; others are
mentioned, each by itself, and what is in quotes as it stands.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

from tapestry.core.errors import Span
from tapestry.query.limits import BIDI, LETTER
from tapestry.query.operators.notations import in_common
from tapestry.query.operators.syntax import (
    Dialect,
    Group,
    MisreadSearchError,
    Negation,
    Search,
    Term,
    Unknown,
    before_colon,
    parse_search,
)
from tapestry.query.operators.translation import (
    DIRECTLY,
    FLAGS,
    MUTT,
    NAMES,
    PLAIN,
    plain,
    says_elsewhere,
    translate,
)
from tapestry.query.phrases.grammar import FIRST_WORDS
from tapestry.query.phrases.joining import joined, negated
from tapestry.query.phrases.nodes import NOWHERE, PhraseNode, Refused, Words
from tapestry.query.phrases.parser import parse_phrase
from tapestry.query.phrases.printer import quoted
from tapestry.query.phrases.slips import is_slip
from tapestry.query.phrases.spellings import NOISE_WORD
from tapestry.query.phrases.wordings.rewording import placed_in
from tapestry.query.phrases.words import MOST, check_length_of_words, looked_for, mentioned
from tapestry.query.signs import is_notation, may_be_code
from tapestry.query.tree.parsed import MisreadError

_APART = ("from", "to", "cc", "bcc", "subject", "body")
"""Operators that may be written apart from their value, as ``From: mary`` in a message."""

_END = r"(?![^\s(){}|\"])"
_VALUE = r"(?=[^\s)}|])"
_NAMED = (
    rf"({before_colon(NAMES)}):{_VALUE}"
    rf"|({before_colon(_APART)}):\s+{_VALUE}"
    r"|(received|sent|date|size)(?=[<>]=?[0-9])"
    rf"|((?:is)?(?:{'|'.join(FLAGS)})):(?=(?:yes|no|true|false|[01]){_END})"
    rf"|(~(?-i:[{MUTT}]))\s+{_VALUE}"
)
_MINUS = r"[-!](?=[^\W\d]{2}|[(\"“~]|[a-z]:\S)"
COMMON = Dialect(
    operator=re.compile(_NAMED, re.IGNORECASE),
    sign=re.compile(rf"{_MINUS}|(?i:NOT){_END}\s*"),
    joiner=re.compile(rf"(?:(?i:AND){_END}|&&|((?i:OR){_END}|\|\|?))\s*"),
    around=re.compile(rf"(?:AROUND(?:\s+[0-9]+)?|(?:NEAR|ADJ)(?:/[0-9]+)?){_END}\s*"),
    people=frozenset(("from", "to", "cc", "bcc")),
    has_patterns=True,
)
"""What most programs agree on: AND binds closer than OR, and both may be in small letters."""

_BEGIN = r"(?:\A|\s)[({]*"
_SIGNS = re.compile(
    rf"{_BEGIN}(?:[-!]?(?:{_NAMED}|~(?-i:[{PLAIN}]){_END})|{_MINUS}|\^?~[a-z]{_END}|\+[^\W\d]{{2}})",
    re.IGNORECASE,
)
_NAMES = re.compile(rf"{_BEGIN}[-!]?(?:{_NAMED})", re.IGNORECASE)
_WEAK = re.compile(
    rf"\s(?:and|not)\s+\([^()]*\sor\s[^()]*\)|[\"“]|(?:\A|\s)NOT{_END}|\s(?:AND|OR|AROUND|(?:NEAR|ADJ)(?:/[0-9]+)?){_END}"
)
_QUOTE_OPEN = re.compile(r'\A(?:[^"]*"[^"]*")*[^"]*(?<!\S)"\w[^"]*\Z')
_LONGEST_WORDS = 500
"""Characters of words that are looked for, at most."""

_IN_QUOTES = re.compile('"[^"]*"|“[^”]*”')
_OF_SIEVE = re.compile(r"\s:[a-z]+\s", re.IGNORECASE)
_COMPARED = re.compile(r"\b(?:received|sent|date)[<>]=?[0-9]{4}-[0-9]", re.IGNORECASE)
_NOISE = re.compile(rf"{NOISE_WORD}(?:\s+{NOISE_WORD})*", re.IGNORECASE)
_NAME = re.compile(r"([^\W\d]\w{2,}):(?!//)\S")
_NEAR = 0.7
_SHORTEST = 3
_FIELD = re.compile(rf"\b(?:{'|'.join(_APART)}):\s+(?:field|line|header)\b", re.IGNORECASE)
_COUNTED = re.compile(r"\w+[<>]=?[0-9]+")
_TO = ("to", "t", "~t")
_ONE_NOT_OTHER = tuple(product(_TO, ("cc", "c", "~c"), (True, False)))
"""Operators that tell recipients from those of a copy, of which only one is to hold."""

_OF_MUTT = re.compile(r"\^?[~=%].?")


def are_in(text: str) -> bool:
    """Tell whether a text has an operator, or a minus before a word.

    >>> are_in("from:mary lunch"), are_in("index -composite"), are_in("Re: my - your plan")
    (True, True, False)
    """
    outside = _IN_QUOTES.sub('""', text)
    has_signs = _SIGNS.search(outside) is not None and not _OF_SIEVE.search(outside)
    return has_signs or in_common(text) is not None


def are_of_words(text: str) -> bool:
    """Tell whether a sentence has operators as words: “in to: field”.

    >>> are_of_words("sent to you directly (in to: field)"), are_of_words("to: mary")
    (True, False)
    """
    return _FIELD.search(text) is not None


def are_named_in(text: str) -> bool:
    """Tell whether a text has the name of an operator, and not a minus alone.

    >>> are_named_in("from:mary lunch"), are_named_in("index -composite")
    (True, False)
    """
    return _NAMES.search(_IN_QUOTES.sub('""', text)) is not None


def compares_days(text: str) -> bool:
    """Tell whether a text compares a time with a day, as Outlook does: TQL would subtract."""
    return _COMPARED.search(text) is not None


def may_be_in(text: str) -> bool:
    """Tell whether a text that is no phrase has quotes, or AND, OR, NOT in capitals alone."""
    return _WEAK.search(text) is not None and text.upper() != text and not may_be_code(text)


def are_words(text: str) -> bool:
    """Tell whether a text that is no phrase may be words: it has no sign of another notation.

    >>> are_words("new dog"), are_words("m.size > 5"), are_words("from:")
    (True, False, False)
    """
    if len(text) > _LONGEST_WORDS or not LETTER.search(text) or BIDI.search(text):
        return False
    return not (is_notation(text) or _SIGNS.search(text) or _QUOTE_OPEN.search(text))


def parse_operators(text: str) -> PhraseNode:
    """Return the phrases that a text with operators means; raises MisreadError if it is none."""
    check_length_of_words(text)
    common = in_common(text)
    if common is None:
        return _parsed(text)
    try:
        return placed_in(_parsed(common), text)
    except MisreadError as error:  # its place is one of what it was written as
        raise MisreadError(error.message, Span(0, len(text)), error.hint) from None


def _parsed(text: str) -> PhraseNode:
    try:
        parts = parse_search(text, COMMON)
    except MisreadSearchError as error:
        span = Span(0, len(text))
        message = f"This is no search: {error}."
        raise MisreadError(message, span, "Write “from:mary subject:lunch”.") from None
    signs = set(_operators(parts))
    if any((to, sign) in signs and (cc, not sign) in signs for to, cc, sign in _ONE_NOT_OTHER):
        parts = _directed(parts)
    nodes = list(_nodes(parts, text))
    if not nodes:
        span = Span(0, len(text))
        message = "A filter looks at all mail: this leaves nothing out."
        raise MisreadError(message, span, "Write “from:mary”.")
    return joined("and", nodes)


def _operators(parts: Sequence[Search], *, is_wanted: bool = True) -> Iterator[tuple[str, bool]]:
    """Yield the operators of a search, and whether what they say is to hold."""
    for part in parts:
        match part:
            case Term(operator):
                yield operator, is_wanted
            case Negation(inner):
                yield from _operators((inner,), is_wanted=not is_wanted)
            case Group(_, inner):
                yield from _operators(inner, is_wanted=is_wanted)


def _directed(parts: Sequence[Search]) -> tuple[Search, ...]:
    """Return a search in which ``to:`` is the field To alone, as ``cc:`` is the other."""
    return tuple(map(_directly, parts))


def _directly(part: Search) -> Search:
    match part:
        case Term(operator) if operator in _TO:
            return replace(part, operator=DIRECTLY)
        case Negation(inner):
            return replace(part, part=_directly(inner))
        case Group(_, inner):
            return replace(part, parts=_directed(inner))
    return part


def _nodes(parts: Sequence[Search], text: str) -> Iterator[PhraseNode]:
    """Yield what all parts mean; words side by side may be one phrase."""
    run: list[Term] = []
    for part in parts:
        if isinstance(part, Term) and not part.operator and not part.is_quoted:
            run.append(part)
            continue
        yield from _words(run, text)
        run = []
        node = _node(part, text)
        if node is not None:
            yield node
    yield from _words(run, text)


def _node(part: Search, text: str) -> PhraseNode | None:
    match part:
        case Term(operator=""):
            return next(_words([part], text), None)
        case Term(operator, value, _, span):
            is_quoted = part.is_quoted
            return translate(operator, value, span, is_quoted=is_quoted)
        case Negation(Term(operator, value)) if says_elsewhere(operator, value):
            return None
        case Negation():
            inner = _node(part.part, text)
            return _all_mail(part) if inner is None else negated(inner)
        case Group(word="and"):
            nodes = list(_nodes(part.parts, text))
            return joined("and", nodes) if nodes else None
        case Group():
            seen = [other for other in part.parts if not _is_blind(other)]
            found = [_node(alternative, text) for alternative in seen or part.parts]
            nodes = [node for node in found if node is not None]
            return joined("or", nodes) if nodes else None
        case Unknown():
            reason = part.reason or "this cannot be read"
            message = f"{reason[0].upper()}{reason[1:]}."
            return Refused(message, part.span, "Write “mentioning lunch”.")


def _is_blind(part: Search) -> bool:
    """Tell whether a part asks for a blind copy, which is in no message."""
    return isinstance(part, Term) and part.operator == "bcc"


def _words(terms: Sequence[Term], text: str) -> Iterator[PhraseNode]:
    """Yield what words side by side mean: a phrase, or each of them mentioned."""
    if not terms:
        return
    begin, end = terms[0].span.start, terms[-1].span.end
    run = text[begin:end].rstrip(",")
    if terms[0].is_quoted:
        if LETTER.search(terms[0].value):
            yield mentioned(Words(terms[0].value, terms[0].span))
        return
    if _NOISE.fullmatch(run):
        return
    try:
        yield parse_phrase(" " * begin + run)  # so that places in it are places in the text
    except MisreadError:
        if not are_in(text):
            _check_words(terms)
        yield from _looked_for(terms)


def _check_words(terms: Sequence[Term]) -> None:
    """Refuse a word that begins a phrase, where nothing else says that the text is a search."""
    for term in terms:
        if term.value.lower() in FIRST_WORDS:
            hint = f'If it is a word to look for, put it in double quotes: “"{term.value}"”.'
            message = f"“{term.value[:40]}” is not understood here."
            raise MisreadError(message, term.span, hint, is_general=True)


def _looked_for(terms: Sequence[Term]) -> Iterator[PhraseNode]:
    words = [term for term in terms if LETTER.search(term.value) or term.value[0] in "~^"]
    if len(words) > MOST:
        yield from looked_for([Words(term.value, term.span) for term in terms])
        return
    for term in words:
        known = plain(term.value, term.span) or _misspelt(term) or _refused(term)
        yield known or mentioned(Words(term.value, term.span))


def _misspelt(term: Term) -> PhraseNode | None:
    """Return what an operator with a slip in its name means, ``form:mary``."""
    name, _, value = term.value.partition(":")
    meant = next((known for known in NAMES if is_slip(name.lower(), known)), None)
    is_named = meant is not None and len(name) > _SHORTEST and _NAME.match(term.value)
    return translate(meant, value, term.span) if meant and is_named else None


def operator_near(pair: str) -> str | None:
    """Return an operator that a name nearly is, with its value, None unless both are understood.

    >>> operator_near("hass:attachment"), operator_near("lang:nl")
    ('has:attachment', None)
    """
    name, _, value = pair.partition(":")
    for known in difflib.get_close_matches(name.lower(), NAMES, cutoff=_NEAR):
        if not isinstance(translate(known, value, NOWHERE), Refused):
            return f"{known}:{value}"
    return None


def _refused(term: Term) -> Refused | None:
    """Return why a word is none: it is an operator misspelt, or a pattern of mutt."""
    name = _NAME.match(term.value)
    if name:
        meant = operator_near(term.value) or f"mentioning {quoted(term.value)}"
        return Refused(f"“{name[1]}:” is not understood.", term.span, f"Did you mean “{meant}”?")
    if term.value[0] == "+":
        words = quoted(term.value[1:])
        message = f"“{term.value[:40]}”: must the other words be there, too?"
        plus = Span(term.span.start, term.span.start + 1)
        return Refused(message, plus, f"Write “mentioning {words}”, or leave out the plus.")
    if _OF_MUTT.fullmatch(term.value) or _COUNTED.fullmatch(term.value):
        hint = "Write “mentioning lunch”."
        return Refused(f"The pattern “{term.value}” is not understood.", term.span, hint)
    return None


def _all_mail(part: Negation) -> Refused | None:
    """Return why what is not in the inbox cannot be asked for; a minus before nothing is none."""
    if isinstance(part.part, Group):
        return None
    hint = "Write “with attachments”, or leave it out."
    return Refused("A filter looks at all mail: a place is no part of it.", part.span, hint)
