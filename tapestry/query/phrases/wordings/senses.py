"""Senses of words: a reading says each word of its text that means something.

A rule of rewording says its pattern in other words, and may leave some out.  Whatever rules there
are, a reading is one only if nothing is lost on the way from the text to its phrase: no name or
other word that no rule knows, no number, and no word of a sense such as “not”, “or”, “last”.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from difflib import get_close_matches
from functools import cache

from tapestry.query.phrases.dates import MONTHS, NUMBERS, WEEKDAYS
from tapestry.query.phrases.filetypes import file_type
from tapestry.query.phrases.grammar import KEYWORDS
from tapestry.query.phrases.nodes import PhraseNode
from tapestry.query.phrases.spellings import FORMS, NOUN, is_form
from tapestry.query.phrases.wordings.lexicon import known_words, left_out
from tapestry.query.phrases.wordings.rewording import spelled
from tapestry.query.phrases.wordings.rules import RULES
from tapestry.query.phrases.wordings.scopes import misplaced_word

_QUOTED = re.compile(r'"[^"]*"|“[^”]*”|(?<!\w)\'[^\']*\'(?!\w)|(?:[A-Z]\S* )+(?=<\S+@)')
_WORD = re.compile(r"[^\W_]+(?:['’.@-][^\W_]+)*")
_NUMBER = re.compile(rf"\b(?:[0-9]+|{'|'.join(NUMBERS[2:])})", re.IGNORECASE)
_LOOKED_FOR = r'(?:mentioning (?:"(?:[^"]|"")*"|[^\s"()]+)|\(from (?P<who>\S+) or to (?P=who)\))'
_WORDS_ALONE = re.compile(rf"{_LOOKED_FOR}(?: and {_LOOKED_FOR.replace('who', 'whom')})*")
"""A reading of a text as nothing but its words."""

_DATE = re.compile(r"[0-9]+([-/.])[0-9]+\1[0-9]+(?:T[0-9:]+)?")
_NUMBERED = re.compile(rf"\bone\b|averaging|{'|'.join(MONTHS)}", re.IGNORECASE)
"""What stands for a number in a phrase, beside digits and other numbers in words."""

_NOUN = re.compile(NOUN, re.IGNORECASE)
_TIMES = ("week", "month", "year", "yesterday")
_SHORTEST, _SAME = 3, 0.85
"""Letters of a word that is more than a sign, and likeness of one to another form of it."""


_DAYS = "|".join(WEEKDAYS).lower()
_MONTHS = "|".join(MONTHS).lower()
_WHEN = (
    "old|older|newer|since|between|until|before|after|within|today|this|pause|latest"
    rf"|(?:on|in|for)(?= (?:[0-9]|{_MONTHS}|{'|'.join(NUMBERS)}))"
)

SENSES: dict[str, tuple[str, str]] = {
    "negation": (
        "(?:not|no)(?! (?:fewer|less) than)|never|nor|neither|none|nobody|without|except"
        "|excluding|apart from"
        "|(?:is|are|was|were|do|does|did|has|have|had|would|could|should)n'?t",
        "not|no|without|unanswered|unreviewed|unknown|new senders|only|since|until|fewer|less"
        "|below|smaller|starting a thread|leaving out",
    ),
    "or": (
        r"(?<!to )or(?! (?:cc|later|older|newer|more|above|higher|up)\b)|either",
        "or|not|no|before|since|until|with|mentioning",
    ),
    "only": (
        r"alone|solely|exclusively|only(?= to\b)|only\Z",
        "only|not|starting",
    ),
    "rank": (
        "last|latest|newest|most recent|recent|oldest|earliest|first|second|third|next|top|best"
        "|random|largest|biggest|smallest|longest|shortest"
        r"|(?:1st|2nd|3rd|[4-9]th)(?= (?:repl|answer|response|e?-?mail|message|post))",
        f"{_WHEN}|top|numbered|earliest|half|third|quarter|most|starting a thread|new senders"
        "|with no reply",
    ),
    "quantity": (
        "more than|fewer|less|at least|at most|exactly|half",
        "more|fewer|less|larger|smaller|above|below|old|newer|half|at least|like|not|and"
        "|since|until|before|after|latest|top|pause|replied to|%",
    ),
    "time": (
        f"today|yesterday|tomorrow|tonight|(?:week|month|year)s?|days|hours|{_DAYS}|since|until"
        f"|(?:{_MONTHS})(?= [0-9])|(?<=[0-9] )(?:{_MONTHS})",
        _WHEN,
    ),
    "me": (
        r"(?<=to )me|(?<=from )me|(?<=by )me|(?<=cc )me|(?<=but )me|(?<=except )me|myself"
        r"|(?<=to )my(?= (?:questions?|posts?|messages?|e-?mails?|mails?|letters?|patch)\b)",
        "me|unanswered by others|i",
    ),
}
"""Words of a sense, and words of phrases of which one must be there, by the name of the sense."""


_CLOSED = """
    i you we they he she it me us them him her my our your their his its this these those that who
    which whom what when where how if is are was were be been has have had do does did will would
    can could should may might must the a an all any every each both few several many no not never
    none neither nor or and but without except of at by to from in on for with since until before
    after than only just also last first latest newest oldest earliest second third fourth next
    half top best random largest biggest smallest longest shortest got sent wrote
    exactly if unless except else other another others once twice again instead together ago
    later earlier within during between ever yet anyone someone everyone anybody somebody
    what's who's where's that's there's i'm i've reply replies answers
"""
_STATES = ("unread", "unseen", "starred", "flagged", "snoozed", "unstarred")
_NOT_SOUGHT = frozenset((*_CLOSED.split(), *_STATES))
"""Words that are looked for among words alone: beside a phrase they have a meaning."""

_SOUGHT = re.compile(r"\b(?:mentioning|saying|about|word|tag) \S+")
_NOT_MENTIONED = re.compile(r'not mentioning "?(\w+)')
_PARTIES = frozenset(["people", "persons", "thread", "threads", "lists", "newsgroups", "votes"])
"""Words that are none to look for beside a phrase, as what they are called is in others."""

_MENTIONED = re.compile(r'mentioning (?:"([^"]*)"|([^\s()]+))')
NAMED_MAIL = re.compile(
    r"\b(from|to|by|cc) (?!(?:a|an|the|my|our|your|his|her|their|any|each|every|that|this|one) )"
    r"([^\W\d_][\w.-]* (mail|post|letter|message))(?! (?:list|to|from)\b)(?![\w@-])",
    re.IGNORECASE,
)
"""A name that ends as mail is called, such as “Royal Mail”, and that end."""

_RANKED_AMONG_ALL = re.compile(r"\band among the top|\bamong the top [^()]* and ")
"""A rank of all mail beside another condition: of mail by joe with the most replies it is not."""


def misread_word(text: str, phrase: str, parsed: Callable[[str], PhraseNode]) -> str | None:
    """Return a word of a text with whose meaning its reading as a phrase has nothing to do.

    >>> from tapestry.query.phrases.parser import parse_phrase as parsed
    >>> misread_word("latest mails from joe", "from joe", parsed)
    'latest'
    >>> misread_word("mail of joe", "from joe", parsed) is None
    True
    """
    if text == phrase or _WORDS_ALONE.fullmatch(phrase):
        return None
    plain = " ".join(_QUOTED.sub(" ", text).replace("’", "'").split())
    quoted = " ".join(_QUOTED.findall(text)).casefold()
    lost = _unsaid(plain, phrase) or _misused(plain, quoted, phrase)
    return lost or misplaced_word(plain, quoted, phrase, parsed(phrase))


def unsaid_word(text: str, phrase: str, parsed: Callable[[str], PhraseNode]) -> str | None:
    """Return a word that is lost where a text is offered in other words, or is but looked for.

    >>> from tapestry.query.phrases.parser import parse_phrase as parsed
    >>> unsaid_word("tax unless urgent", "mentioning tax and mentioning unless", parsed)
    'unless'
    """
    if _WORDS_ALONE.fullmatch(phrase):
        return next((word for word in _WORD.findall(text) if has_meaning(word)), None)
    named = NAMED_MAIL.search(text)
    if named and f'"{named[2]}"' in phrase:
        text = NAMED_MAIL.sub(r'\1 "\2"', text)
    return misread_word(text, phrase, parsed)


def has_meaning(text: str) -> bool:
    """Tell whether a text has a word that says how others are meant: it is none to look for."""
    return not _NOT_SOUGHT.isdisjoint(_WORD.findall(_QUOTED.sub(" ", text.casefold())))


def _misused(plain: str, quoted: str, phrase: str) -> str | None:
    """Return a word with a meaning that is looked for, or that is no name by itself."""
    written = frozenset(_WORD.findall(_SOUGHT.sub(" ", plain.casefold())))
    written = written.difference(_WORD.findall(quoted))
    sought = (found[1] or found[2] for found in _MENTIONED.finditer(phrase) if found[2] != "me")
    words = [word for value in sought for word in _WORD.findall(value.casefold())]
    wrong = [word for word in words if word in _NOT_SOUGHT]
    wrong += [word for word in words if word in _PARTIES]
    wrong += [word for word in _NOT_MENTIONED.findall(phrase.casefold()) if left_out(word)]
    named = NAMED_MAIL.search(plain)
    if named and named[3].casefold() not in _WORD.findall(phrase.casefold()):
        wrong.append(named[3].casefold())
    if _RANKED_AMONG_ALL.search(phrase) and written.isdisjoint(("top", "among")):
        wrong.append("most")
    return next((word for word in wrong if word in written), None)


def _unsaid(plain: str, phrase: str) -> str | None:
    """Return the first word of a text that its reading as a phrase does not say, None if none."""
    folded = phrase.casefold()
    words = frozenset(_WORD.findall(folded))
    if words.issuperset(_WORD.findall(plain.casefold())):
        return None
    for pattern, signs in _senses():
        found = pattern.search(plain)
        if found and found[0].casefold() not in words and not signs.search(folded):
            return found[0]
    numbers: list[str] = _NUMBER.findall(_DATE.sub(" 1 1 1 ", plain))
    if len(numbers) > len(_NUMBER.findall(folded)) + len(_NUMBERED.findall(folded)):
        return next((number for number in numbers if number not in words), numbers[0])
    return next((word for word in _WORD.findall(plain) if not _is_said(word, folded, words)), None)


@cache
def _senses() -> list[tuple[re.Pattern[str], re.Pattern[str]]]:
    return [
        (
            re.compile(rf"(?<![\w.@'-])(?:{of})(?![\w'@-])", re.IGNORECASE),
            re.compile(rf"(?<![\w'])(?:{signs})(?![\w'])"),
        )
        for of, signs in SENSES.values()
    ]


@cache
def _known() -> frozenset[str]:
    times = f"{_DAYS} {_MONTHS} weekend percent".replace("|", " ").split()
    patterns = [*(pattern for pattern, _ in RULES), *FORMS.values()]
    return known_words(patterns).union(KEYWORDS, times)


def is_known(word: str) -> bool:
    """Tell whether a word is one of phrases or rules, or small: it is no slip of another.

    Parts of domains and newsgroups may be: “voted fr by jones”.
    """
    return has_meaning(word) or (len(word) > 2 and word.casefold() in _known())


def _is_said(word: str, phrase: str, words: frozenset[str]) -> bool:
    """Tell whether a phrase has a word, or a rule knows it; numbers and signs are counted."""
    lower = word.casefold()
    bare = lower.removesuffix("'s").removesuffix("s")
    if bare in phrase or len(bare) < _SHORTEST or any(map(str.isdigit, lower)):
        return True
    known, right = _known(), spelled(lower)
    if right in known or bare in known or is_form(right) or _NOUN.fullmatch(lower):
        return True
    is_slip = bool(get_close_matches(lower, [*words, *_TIMES], 1, _SAME))
    return is_slip or file_type(bare) is not None
