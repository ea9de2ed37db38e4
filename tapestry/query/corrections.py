"""Corrections of a text that is no filter: what its writer may have meant, nearest first.

Candidates are made freely, from the words that can stand at the place of the error; those that
do not help are left out by reading the text with each.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from itertools import chain, islice

from tapestry.core.errors import Span, TapestryError
from tapestry.core.schema import COLUMNS
from tapestry.query.clauses import lost_words, says_less
from tapestry.query.context import Context
from tapestry.query.frontend import read
from tapestry.query.operators.reading import are_in, are_named_in
from tapestry.query.phrases.dates import NUMBERS
from tapestry.query.phrases.grammar import PLAIN
from tapestry.query.phrases.help.bare_words import has_clause
from tapestry.query.phrases.help.calendar import dated
from tapestry.query.phrases.help.completion import candidates_at
from tapestry.query.phrases.help.sentences import phrases_in, words_in
from tapestry.query.phrases.help.suggestions import Place, place_after
from tapestry.query.phrases.help.vocabulary import Vocabulary
from tapestry.query.phrases.parser import is_misspelt, parse_phrase
from tapestry.query.phrases.printer import quoted
from tapestry.query.phrases.states import StateError
from tapestry.query.phrases.wordings.senses import has_meaning, is_known, unsaid_word
from tapestry.query.remedies import (
    MOST,
    NEAR,
    SURE,
    SYNONYMS,
    VERBS,
    VERY_NEAR,
    Correction,
    lasting_at,
    months_at,
    newsgroups_at,
    pairs_split,
)
from tapestry.query.search import as_words
from tapestry.query.tql import parser as tql
from tapestry.query.tree.identifiers import RESERVED
from tapestry.query.tree.parsed import MisreadError, UnsaidError

LONGEST = 1500
"""A longer text is not corrected: each candidate costs a reading of all of it."""

_SENTENCE = 4
"""Words that are looked for rather than mended, if they are no phrase: at least so many."""

_TRIED = 40
_SLIPS = 2
"""Corrections that are tried one after the other."""

_PHRASE = 2
"""Blanks of words that are no keyword but for a slip."""

_LONGEST_WORD = 60
_WORD = re.compile(r"[^\s(),\"“”]+")
_IDENTIFIER = re.compile(r"[^\W\d][\w-]*(?![\w:-])")
_TWO_WORDS = re.compile(r"[^\W\d]+\s+[^\W\d]+")
_PLAIN = re.compile(r"[^\W_][\w.@'’+-]*")

_OPENINGS = ("from", "about", "mentioning")
_ADDRESS_OPENINGS = ("from", "to", "replies by")
"""Fields that a name alone may have been meant with."""


def corrections(
    text: str, error: TapestryError, context: Context, vocabulary: Vocabulary | None = None
) -> tuple[Correction, ...]:
    """Return up to ``MOST`` corrections of a text that is refused with this error.

    Each makes it a filter that says all that was written, but for what the error says cannot be
    said; of an unfinished text one may lead further.

    >>> error = MisreadError("Not understood.", Span(0, 7))
    >>> [found.text for found in corrections("replise by Jones", error, Context())]
    ['replies by', 'replied to']
    """
    if error.span is None or len(text) > LONGEST:
        return ()
    return tuple(islice(_mended(text, error, context, vocabulary or Vocabulary(), _SLIPS), MOST))


def _mended(
    text: str, error: TapestryError, context: Context, vocabulary: Vocabulary, slips: int
) -> list[Correction]:
    """Return what makes a text a filter, by up to so many corrections one after the other."""
    span = error.span or Span(0, len(text))
    further: list[Correction] = []
    tried = {_letters(text)}
    for candidates in _ways(text, span, error, context, vocabulary):
        found: list[Correction] = []
        later: list[tuple[Correction, TapestryError]] = []
        for correction in islice(dict.fromkeys(candidates), _TRIED):
            result = correction.applied_to(text)
            if _letters(result) in tried or _joins_words(correction, text):
                continue
            tried.add(_letters(result))
            after = _error_after(correction, text, context, isinstance(error, StateError))
            if after is None:
                found.append(correction)
            elif (after.offset or 0) >= max(correction.start + len(correction.text), 1):
                later.append((correction, after))
            if len(found) == MOST:
                break
        for correction, after in later[:slips] if not found else ():
            more = _mended(correction.applied_to(text), after, context, vocabulary, slips - 1)
            found += [_both(correction, other, text) for other in more]
        if found:
            return found
        further += [correction for correction, _ in later]
    return further if span.start >= len(text.rstrip()) else []


def _ways(
    text: str, span: Span, error: TapestryError, context: Context, vocabulary: Vocabulary
) -> Iterator[Iterator[Correction]]:
    """Yield ways to correct a text, each for where those before it do not help."""
    if isinstance(error, UnsaidError):
        yield iter([Correction(0, len(text), error.reading)])
        return
    if isinstance(error, StateError):
        yield _others(text, error)
        return
    likely = chain(lasting_at(text, span), _identifiers(text, span, vocabulary))
    if are_named_in(text) and (days := dated(text, context, has_operators=True)):
        likely = chain([Correction(0, len(text), days)], likely)
    if isinstance(error, MisreadError):
        likely = chain(_candidates(text, span, vocabulary), likely)
        if has_clause(text) and not is_misspelt(text):
            likely = chain(_of_sentence(text), likely)
        yield (found for found in likely if not _says_less(found, text))
    else:
        yield likely
    if len(text.split()) >= _SENTENCE and not is_misspelt(text):
        yield (found for found in _of_sentence(text) if not _says_less(found, text))
    yield _slips(text)
    rest = chain([_without(text, span)], _of_words(text))
    may_be_less = not isinstance(error, MisreadError)
    yield (found for found in rest if may_be_less or not _says_less(found, text))


def _error_after(
    correction: Correction, text: str, context: Context, may_be_less: bool
) -> TapestryError | None:
    """Return why a corrected text is no filter, or none that says all that was written."""
    try:
        query = read(correction.applied_to(text), context)
    except TapestryError as error:
        return error
    if may_be_less or are_in(text) or not query.phrase:
        return None
    lost = unsaid_word(text, query.phrase, parse_phrase)
    part = text[correction.start : correction.end]
    if lost is None or (lost in part and part != text and not is_known(lost)):
        return None
    return MisreadError(f"“{lost}” is left out.", Span(0, 0))


def _both(first: Correction, second: Correction, text: str) -> Correction:
    """Return two corrections as one, the second of a text with the first.

    >>> first, second = Correction(0, 3, "from"), Correction(11, 15, "about")
    >>> _both(first, second, "frm jones abot release").applied_to("frm jones abot release")
    'from jones about release'
    """
    result = second.applied_to(first.applied_to(text))
    end = max(len(first.applied_to(text)) - second.end, 0)
    end = min(end, len(text) - first.end)
    start = min(first.start, second.start)
    return Correction(start, len(text) - end, result[start : len(result) - end])


def _others(text: str, error: StateError) -> Iterator[Correction]:
    """Yield what a refusal offers, if it leaves out nothing but what is refused."""
    span = error.span or Span(0, len(text))
    kept = f"{text[: span.start]} {text[span.end :]}"
    for other in error.others:
        if not lost_words(other, kept):
            yield Correction(0, len(text), other)


def _says_less(correction: Correction, text: str) -> bool:
    part = text[correction.start : correction.end]
    return says_less(correction.text, part, is_part=part != text)


def _of_sentence(text: str) -> Iterator[Correction]:
    """Yield the phrases in a sentence, the words that it is about, and all of its words."""
    few = [] if are_in(text) else [phrases_in(text), words_in(text)]
    yield from (Correction(0, len(text), phrases) for phrases in few if phrases)
    yield from _of_words(text)


def _of_words(text: str) -> Iterator[Correction]:
    if words := as_words(text):
        yield Correction(0, len(text), words)


def _slips(text: str) -> Iterator[Correction]:
    """Yield a word of the phrases in place of each that is nearly one, wherever it stands."""
    for match in _WORD.finditer(text):
        word = match[0].lower()
        near = _nearest(word, list(PLAIN), VERY_NEAR)[:1]
        yield from (Correction(*match.span(), choice) for choice in near if choice != word)


def blame(text: str, error: TapestryError) -> TapestryError:
    """Return the error, at the verb before its place if that was taken for a value.

    >>> blame("in contains comp.misc", MisreadError("What?", Span(12, 21))).span
    Span(start=3, end=11)
    """
    verb = _verb_before(text, error)
    if verb is None:
        return error
    word = text[verb.start : verb.end]
    hint = f"Leave it out: “{text[: verb.start]}{text[verb.end :].lstrip()}”."
    return MisreadError(f"“{word}” is not understood here.", verb, hint[:200], text)


def _verb_before(text: str, error: TapestryError) -> Span | None:
    if not isinstance(error, MisreadError) or error.span is None or len(text) > LONGEST:
        return None
    place = place_after(text[: error.span.start])
    before = place.before if place else None
    if before is None or before.type != "WORD" or before.lower() not in VERBS:
        return None
    return Span(before.start_pos or 0, before.end_pos or 0)


def _joins_words(correction: Correction, text: str) -> bool:
    """Tell whether a word takes the place of a sign, without a blank before the next word.

    >>> _joins_words(Correction(10, 11, "by more"), "voted for (x)")
    True
    """
    replaced = text[correction.start : correction.end]
    following = text[correction.end : correction.end + 1]
    was_apart = not replaced[-1:].isalnum()
    return was_apart and correction.text[-1:].isalnum() and following.isalnum()


def _letters(text: str) -> str:
    return " ".join(text.lower().split())


# Candidates, nearest first


def _candidates(text: str, span: Span, vocabulary: Vocabulary) -> Iterator[Correction]:
    start, end = span.start, span.end
    place = place_after(text[:start])
    word = text[start:end].strip()
    yield from newsgroups_at(text, span, vocabulary)
    yield from pairs_split(text, start)
    yield from months_at(text, start)
    first = _WORD.match(text)
    if first and place is None:
        for choice in SYNONYMS.get(first[0].lower(), ()):
            yield Correction(*first.span(), choice)
    if place is not None and start >= len(text.rstrip()):
        yield from _endings(text, place, vocabulary)
    elif place is not None and len(word) <= _LONGEST_WORD:
        texts = _texts_at(place, vocabulary)
        yield from _two_words(text, start, texts)
        near = _nearest(word, texts) if word.count(" ") < _PHRASE else []
        if "NUMBER" in place.accepts and "FROM" not in place.accepts:
            near = [*_nearest(word, list(NUMBERS), SURE), *near]
        if near and place.before is None and near[0] not in _nearest(word, near, SURE):
            yield from _as_value(place, text, span)
        for choice in (*SYNONYMS.get(word.lower(), ()), *near):
            yield Correction(start, end, choice)
        yield from _quotes_closed(text, start)
        yield from _value_before(text, place, vocabulary)
        if not near:
            yield from _going_on(place, span)
            yield from _as_value(place, text, span)


def _two_words(text: str, start: int, texts: list[str]) -> Iterator[Correction]:
    """Yield two words as what they nearly are: the first of them may be right, “dated sice”."""
    written = _TWO_WORDS.match(text, start)
    if written and len(written[0]) <= _LONGEST_WORD:
        phrases = [known for known in texts if " " in known]
        for choice in difflib.get_close_matches(written[0].lower(), phrases, 1, VERY_NEAR):
            if choice != written[0].lower():
                yield Correction(*written.span(), choice)


_JOINED = re.compile(r"(?:(?:\A|(?<=\s))(?:and|or|not)\s+|[-!+]|\s)*\Z", re.IGNORECASE)
_JOINING = re.compile(r"\s*(?:(?:and|or)\s+)?", re.IGNORECASE)


def _without(text: str, span: Span) -> Correction:
    """Return the text without a place, and without what joined it.

    >>> _without("from:mary and -is:unread", Span(15, 24)).applied_to("from:mary and -is:unread")
    'from:mary'
    """
    start, end = span.start, span.end
    if text[end : end + 1].isalnum():  # a sign before a word
        return Correction(start, end, "")
    joined = _JOINED.search(text, 0, start)
    start = joined.start() if joined else start
    if start == 0 or text[start - 1] == "(":
        joining = _JOINING.match(text, end)
        end = joining.end() if joining else end
    return Correction(start, end, "")


def _texts_at(place: Place, vocabulary: Vocabulary) -> list[str]:
    """Return what can stand at a place, and the beginnings of that, whole words each."""
    texts: dict[str, None] = {}
    for candidate, _ in candidates_at(place, "", vocabulary):
        words = candidate.split()
        texts |= dict.fromkeys(" ".join(words[:count]) for count in range(1, len(words) + 1))
    return list(texts)


def _nearest(word: str, texts: list[str], cutoff: float = NEAR) -> list[str]:
    """Return the texts that look like a word, if blanks and capitals do not count."""
    by_letters: dict[str, str] = {}
    for text in texts:
        by_letters.setdefault(text.lower().replace(" ", ""), text)
    near = difflib.get_close_matches(word.lower(), by_letters, n=5, cutoff=cutoff)
    return [by_letters[letters] for letters in near]


def _endings(text: str, place: Place, vocabulary: Vocabulary) -> Iterator[Correction]:
    """Yield what an unfinished phrase may go on with."""
    at = len(text)
    blank = "" if not text or text[-1].isspace() or text[-1] == "(" else " "
    if "RPAR" in place.accepts and place.ends_phrase:
        yield Correction(at, at, ")")
    for candidate, _ in candidates_at(place, "", vocabulary):
        yield Correction(at, at, blank + candidate.rstrip())


def _going_on(place: Place, span: Span) -> Iterator[Correction]:
    """Yield the words that go on with an unfinished phrase."""
    if place.phrase is not None and not place.ends_phrase:
        for choice in _texts_at(place, Vocabulary()):
            yield Correction(span.start, span.end, choice)


def _as_value(place: Place, text: str, span: Span) -> Iterator[Correction]:
    """Yield a word with the phrase in which it may be a value, or together with the one before."""
    start, end = span.start, span.end
    word, before = text[start:end], place.before
    if not _PLAIN.fullmatch(word) or (before is not None and before.lower() in VERBS):
        return
    if has_clause(text) or has_meaning(text if len(text.split()) >= _SENTENCE else word):
        return
    if before is not None and before.type in ("WORD", "STRING"):
        value = before.strip('"“”')
        yield Correction(before.start_pos or 0, end, quoted(f"{value} {word}"))
    if "FROM" in place.accepts:
        for opening in _ADDRESS_OPENINGS if "@" in word else _OPENINGS:
            yield Correction(start, end, f"{opening} {quoted(word)}")


def _value_before(text: str, place: Place, vocabulary: Vocabulary) -> Iterator[Correction]:
    """Yield the value before a place as a word of the phrase, misspelt: “in fitler x”."""
    before = place.before
    if before is None or before.type != "WORD" or len(before) > _LONGEST_WORD:
        return
    start, end = before.start_pos or 0, before.end_pos or 0
    earlier = place_after(text[:start])
    if earlier is not None:
        for choice in _nearest(before, _texts_at(earlier, vocabulary)):
            yield Correction(start, end, choice)


def _quotes_closed(text: str, start: int) -> Iterator[Correction]:
    if text[start : start + 1] in ('"', "“"):
        yield Correction(len(text), len(text), "”" if text[start] == "“" else '"')


def _identifiers(text: str, span: Span, vocabulary: Vocabulary) -> Iterator[Correction]:
    """Yield the place with one of its words as a column, a keyword or a filter is called."""
    known = [*vocabulary.filters, *(name for _, name in vocabulary.shared)]
    if not (tql.cannot_be(text) or are_in(text)):
        columns = {name for table in COLUMNS.values() for name in table}
        known += [*sorted(columns), *COLUMNS, *sorted(RESERVED)]
    by_letters = {name.lower(): name for name in known}
    for word in islice(_IDENTIFIER.finditer(text, span.start, max(span.end, span.start)), 5):
        near = difflib.get_close_matches(word[0].lower()[:_LONGEST_WORD], by_letters, 3, NEAR)
        for name in near:
            yield Correction(*word.span(), by_letters[name])
