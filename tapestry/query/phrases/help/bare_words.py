"""Keyword search: words without a phrase, as people type them into a search box.

A filter says what each of its words is for; a search box takes words alone.  Those that stand
where a phrase could begin become phrases.
"""

from __future__ import annotations

import re

from tapestry.query.limits import LETTER
from tapestry.query.phrases.grammar import CONNECTIVES, FIRST_WORDS, first_words
from tapestry.query.phrases.help.suggestions import place_after
from tapestry.query.phrases.nodes import (
    NO_AMOUNT,
    NO_DATE,
    NOWHERE,
    Joined,
    Negated,
    Phrase,
    PhraseNode,
    Words,
)
from tapestry.query.phrases.parser import parse_phrase
from tapestry.query.phrases.printer import print_phrase, quoted
from tapestry.query.phrases.slips import leaves
from tapestry.query.phrases.spellings import NOUN, run_of_words
from tapestry.query.phrases.wordings.lexicon import class_pattern
from tapestry.query.phrases.wordings.rewording import reworded
from tapestry.query.phrases.wordings.senses import misread_word
from tapestry.query.phrases.words import looked_for
from tapestry.query.signs import is_condition, may_be_code
from tapestry.query.tree.parsed import MisreadError

_RUNS = 8
"""Places in a text at which words without a phrase are taken for what is mentioned."""

_FEW = 3
"""Words before a phrase, at most: more of them are a sentence."""

MOST_BEFORE, MOST_WORDS = 6, 16
"""Words before a phrase and in it, and words of a request for words, at most."""

_OF_SENTENCES = """
    a all an another are be being did do does how i i'm if is it me my not nothing nobody of or
    people someone that the them they this those unless we what when where whether which who
    whose why you your
"""
_SENTENCE = frozenset(_OF_SENTENCES.split())
"""Words that begin a sentence, and no list of words."""

_CLAUSE = frozenset(
    (
        *(
            "that",
            "which",
            "who",
            "whom",
            "whose",
            "where",
            "when",
            "if",
            "whether",
            "were",
            "been",
        ),
        *(
            "i",
            "i'm",
            "he",
            "she",
            "we",
            "they",
            "nobody",
            "somebody",
            "someone",
            "anyone",
            "anybody",
        ),
    )
)
"""Words of a clause: it says more than its words."""

_GOVERNING = frozenset(("for", "of", "at", "on", "in", "with", "to", "by", "as", "the", "than"))
"""Words that what follows belongs to."""

_DONE = ("received", "sent", "posted", "written", "forwarded", "addressed", "mailed", "emailed")

_RANKING = frozenset(
    [
        *("last", "latest", "newest", "oldest", "old", "first", "recent", "new"),
        *("top", "most", "best", "next"),
    ]
)
"""Words that say which of the messages."""

_AFTER_WORDS = ("with_attachments", "with_no_reply", "with_no_review", "with_a_patch", "on_list")
"""Kinds of phrases that may follow words, and have no name, number or day."""

_MAIL = re.compile(rf"{NOUN}|stuff|things", re.IGNORECASE)
_BY = re.compile(r"\s+(?:by|to)\b", re.IGNORECASE)
_GROUP = re.compile(class_pattern("HIERARCHY"), re.IGNORECASE)
_LEFT_OUT = re.compile(r'(?:leaving out|not mentioning) "')
"""What a rule says of a word that is left out."""

_OF_ME = re.compile(r"\b(?:i|me|my|mine|myself|we|us|our)\b", re.IGNORECASE)
_NO_PERSON = re.compile(r"[^\W\d_]\.?|[^\s@]*[+_/][^\s@]*")
"""A name of one letter, or with a sign that no name has."""

_SAID = re.compile(r"\b(?:without|with\s+no)\b", re.IGNORECASE)
_NOUN = re.compile(
    r"(?:list|filter|get|give|query|select|display|match|include|view|check|see|show|search)"
    r"\s+(?!(?:me|all|the|an?|any|every|only|just|my|for|through|of|in|on|from|to|by|with|about)\b)"
    r"(?=[^\W\d_])",
    re.IGNORECASE,
)
"""A word before another noun: “filter coffee” asks for no coffee."""

_LONGEST = 1500
_QUOTE = re.compile('"[^"]+"|“[^”]+”')


def with_phrases(text: str) -> str | None:
    """Return a text that begins with words as a filter that finds them, None if it is none.

    Each word is mentioned somewhere; those in quotes, and many in a row, as they stand.  An
    address is that of the sender or of a recipient.

    >>> with_phrases("lunch friday from mary")
    'mentioning lunch and mentioning friday from mary'
    >>> with_phrases('joe@x.org or "next friday"')
    '(from joe@x.org or to joe@x.org) or mentioning "next friday"'
    >>> with_phrases("replies bye jones") is None
    True
    """
    if len(text) > _LONGEST or may_be_code(text):
        return None
    text = text.strip()
    for number in range(_RUNS):
        try:
            parse_phrase(text)
        except MisreadError as error:
            at = -1 if error.span is None else error.span.start
            result = _with_phrases_at(text, at, is_first=number == 0)
            if result is None or result == text:
                return None
            text = result
        else:
            return text if number else None
    return None


def in_subject(text: str) -> str | None:
    """Return the filter that finds a text in subjects as it stands, None if it is no subject.

    >>> in_subject("Replies by  June"), in_subject("m.size > 5")
    ('about "Replies by June"', None)
    """
    if len(text) > _LONGEST or not LETTER.search(text) or is_condition(text):
        return None
    return f"about {quoted(' '.join(text.split()))}"


def says_words_alone(phrases: str) -> bool:
    """Tell whether a filter only mentions words, so that a text with all of them matches it."""
    node = parse_phrase(phrases)
    parts = node.parts if isinstance(node, Joined) else (node,)
    return all(isinstance(part, Phrase) and part.kind == "mentioning" for part in parts)


def mentioned_words(phrases: str) -> list[str]:
    """Return the words of a filter that only mentions several, each as phrases write it; else none.

    >>> mentioned_words('mentioning lunch and mentioning "reply"')
    ['lunch', '"reply"']
    >>> mentioned_words("mentioning lunch or mentioning tea"), mentioned_words("from joe")
    ([], [])
    """
    node = parse_phrase(phrases)
    if not (isinstance(node, Joined) and node.word == "and" and says_words_alone(phrases)):
        return []
    return [print_phrase(part).removeprefix("mentioning ") for part in node.parts]


def words_with_phrases(text: str, most: int = MOST_BEFORE) -> str | None:
    """Return a few words and a phrase after them, such as “lunch from mary”, as a filter.

    None of a sentence, which has more words than ``most``: a phrase among them is some of them.

    >>> words_with_phrases("lunch from mary"), words_with_phrases("how to build it from source")
    ('mentioning lunch from mary', None)
    >>> words_with_phrases("lunch invitations over 1 mb")
    'mentioning lunch and mentioning invitations larger than 1 MB'
    """
    if sum(word.lower() not in _GOVERNING for word in text.split()) > most:
        return None
    for reading in filter(None, (reworded(text), text)):
        phrases = with_phrases(reading)
        may_leave_out = reading is not text and _LEFT_OUT.search(reading) is not None
        may_be = (
            keeps_to_me(text, reading)
            and phrases
            and _begins_with_words(phrases, may_leave_out=may_leave_out)
        )
        if may_be and phrases and misread_word(text, phrases, parse_phrase) is None:
            return phrases
    return None


def keeps_to_me(text: str, reading: str) -> bool:
    """Tell whether nothing is said of oneself in a reading that a text says of others.

    >>> keeps_to_me("alice read but did not answer", "alice read and with no reply by me")
    False
    """
    return _OF_ME.search(text) is not None or not _OF_ME.search(reading)


def begins_sentence(request: str) -> bool:
    """Tell whether a request begins with a word that stands for nothing in a message.

    >>> begins_sentence("if someone answers to me"), begins_sentence("invoices to me")
    (True, False)
    """
    return request.lower().split()[0] in _SENTENCE


def after_noun(text: str) -> str | None:
    """Return what follows a verb that may be a noun; None if a text does not begin with one.

    >>> after_noun("filter coffee"), after_noun("filter my mail")
    ('coffee', None)
    """
    found = _NOUN.match(text)
    return text[found.end() :] if found else None


def opens_with_words(text: str, request: str) -> bool:
    """Tell whether a request is for a few words alone: the end of a text, and nothing of a phrase.

    >>> opens_with_words("search for invoices", "invoices")
    True
    """
    words = request.lower().split()
    return (
        len(words) <= _FEW
        and text.rstrip(" ?!.").endswith(request)
        and not {*FIRST_WORDS, *CONNECTIVES}.intersection(words)
    )


def _begins_with_words(phrases: str, *, may_leave_out: bool = False) -> bool:
    node = parse_phrase(phrases)
    parts = node.parts if isinstance(node, Joined) and node.word == "and" else ()
    words = [part for part in parts if _is_of_words(part)]
    after = [part for part in parts[len(words) :] if not (may_leave_out and _leaves_out(part))]
    if not _SAID.search(phrases) and any(part.kind == "with_no_reply" for part in leaves(node)):
        return False  # “bugs waiting for a reply” may be what it is about
    return 0 < len(words) <= _FEW and len(words) < len(parts) and all(map(_follows_words, after))


def _leaves_out(part: PhraseNode) -> bool:
    return isinstance(part, Negated) and _is_of_words(part.part)


def _is_of_words(part: PhraseNode) -> bool:
    """Tell whether a part mentions a word, or one of several: “lunch or dinner from mary”."""
    if isinstance(part, Joined) and part.word == "or":
        return all(map(_is_of_words, part.parts))
    return isinstance(part, Phrase) and part.kind == "mentioning"


def _follows_words(phrase: PhraseNode) -> bool:
    if isinstance(phrase, Negated):
        is_about = isinstance(phrase.part, Phrase) and phrase.part.kind == "about"
        return is_about or _follows_words(phrase.part)
    if isinstance(phrase, Phrase) and phrase.kind.startswith("replied_to"):
        return False  # the words before it may say by whom
    if isinstance(phrase, Phrase) and phrase.kind == "on" and phrase.date.weekday is not None:
        return False  # “lunch on tuesday” is what it is about
    if not isinstance(phrase, Phrase):
        return False
    if phrase.kind == "from" and _NO_PERSON.fullmatch(phrase.person.text):
        return False  # “calling Fortran from C++”
    if phrase.kind in ("to", "cc"):
        return phrase.person.kind != "name"
    if phrase.kind in _AFTER_WORDS or _GROUP.match(phrase.words.text):
        return phrase.kind != "mentioning"
    values = (phrase.person.text, phrase.amount != NO_AMOUNT, phrase.date != NO_DATE)
    return any(values) and phrase.kind != "mentioning"


def has_clause(text: str) -> bool:
    """Tell whether a text has a clause in it, which says more than its words.

    >>> has_clause("mail that mary sent"), has_clause("mail from mary")
    (True, False)
    """
    return not _CLAUSE.isdisjoint(text.lower().split())


def other_phrases(text: str) -> tuple[str, ...]:
    """Return what else a text that is nothing but words may have been meant for.

    >>> other_phrases("lunch friday")
    ('from "lunch friday"', 'about "lunch friday"', 'mentioning "lunch friday"')
    >>> other_phrases("lunch from mary")
    ()
    """
    text = text.strip()
    quote = _QUOTE.fullmatch(text)
    run = quote or run_of_words(first_words()).fullmatch(text)
    words = text[1:-1] if quote else text
    if run is None or may_be_code(text) or not LETTER.search(words):
        return ()
    return tuple(
        f"{opening} {quoted(' '.join(words.split()))}"
        for opening in ("from", "about", "mentioning")
    )


def _with_phrases_at(text: str, at: int, *, is_first: bool) -> str | None:
    """Return the text with phrases in place of the words at ``at``, None if it has none there."""
    place = None if at < 0 or at >= len(text) else place_after(text[:at])
    if place is None or "FROM" not in place.accepts or (is_first and place.phrase is not None):
        return None
    found = _QUOTE.match(text, at)
    if found:
        words = [found[0][1:-1]]
    else:
        found = run_of_words(first_words()).match(text, at)
        words = found[0].split() if found else []
    if not found or not any(map(LETTER.search, words)) or words[0].lower() in CONNECTIVES:
        return None
    if not found[0].startswith(('"', "“")) and has_clause(found[0]):
        return None
    if words[-1].lower() in _GOVERNING and text[found.end() :].strip():
        return None  # “plans for today”
    last = words[-1].lower()
    if last.endswith("ed") and last not in _DONE and _BY.match(text, found.end()):
        return None  # “names returned by apply”, “bugs assigned to me”
    if len(words) > 1 and at == 0 and _MAIL.fullmatch(words[-1]):
        words.pop()  # “urgent mails from mary”
        if any(word.isdigit() or word.lower() in _RANKING for word in words):
            return None
    if len(words) > 1 and words[-1].lower() in _DONE and text[found.end() :].strip():
        words.pop()  # “invoices received since monday”
    nodes = looked_for([Words(word, NOWHERE) for word in words])
    either = len(words) == _FEW and words[1].lower() == "or"
    phrases = [print_phrase(node, "and") for node in (nodes[::2] if either else nodes)]
    joined = f"({' or '.join(phrases)})" if either else " and ".join(phrases)
    end = found.end()
    needs_parentheses = len(phrases) > 1 and place.before is not None and place.before == "not"
    before = text[:at] + " " if at and text[at - 1].isalnum() else text[:at]
    return before + (f"({joined})" if needs_parentheses else joined) + text[end:]
