"""The words of phrases as regular expressions: keywords in all their forms, and small words."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from tapestry.query.phrases.dates import DAY_PATTERN, NUMBERS, PERIOD_PATTERN, UNITS, WEEKDAYS
from tapestry.query.phrases.filetypes import FILE_TYPE, TYPE_OF_FILES

_BETWEEN = r"\s,()\"“”"
END = r"(?!(?![“”])[^\s,()\"])"
"""Nothing of a word follows.  In two sets, for one of both takes three times as long to compile."""

_TOP_LEVELS = (
    "com|org|net|edu|gov|mil|info|io|dev|app|at|au|be|br|ca|ch|cn|de|dk|es|eu|fi|fr|ie|in|it|jp|kr|"
    "nl|no|nz|pl|pt|ru|se|uk|us|za"
)
HOST = rf"(?:[\w-]+\.)+(?:{_TOP_LEVELS})"
HOST_NAME = re.compile(HOST, re.IGNORECASE)
"""The name of a host, which is no name of a person."""

_IN_BOOK = r"(?:in|from|of)\s+my\s+(?:address\s*book|contacts)"

_EVENT = "(?:events?|meetings?|appointments?)"

WORD = rf"[^{_BETWEEN}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+"

_PATH = r"(?!\S*@)[^\s,()\"“”]*/"
_FILE = rf"\s+(?:[\"“]|{_PATH}|[^\s,()\"“”]*[.*][\w*]|(?:makefile|kconfig|maintainers|readme){END})"
"""What follows “touching” where that is said of a patch, and not of a story."""

UNIT = f"{UNITS}{END}"
_NUMBER_WORDS = rf"(?:{'|'.join(NUMBERS)}){END}|an?(?=\s+{UNIT})"
NUMBER = rf"(?:-?[0-9]+(?:\.[0-9]+)?(?:(?=[km]b{END})|{END})|{_NUMBER_WORDS})"

FRACTIONS = {
    "half": "0.5",
    "a third": "0.3333333333333333",
    "two thirds": "0.6666666666666666",
    "a quarter": "0.25",
    "three quarters": "0.75",
}
"""Shares that have names; a third is the number that a quotient of counts is."""

_PERCENT = r"(?:100|[0-9]{1,2}(?:\.[0-9]+)?)\s*(?:%|per\s?cent)"
SHARE = rf"(?:{'|'.join(FRACTIONS)}|one third|one quarter|{_PERCENT})".replace(" ", r"\s+")

FORMS = {
    "ABOUT": "about|regarding|concerning",
    "BARE_AT": rf"at(?=\s+(?:least|most){END})",
    "BARE_FILE": rf"(?:an?\s+)?(?:attachments?|files?)(?=\s+(?:named|called){END})",
    "BARE_FILE_TYPE": TYPE_OF_FILES,
    "BARE_LESS": rf"(?:less|fewer)(?=\s+than{END})",
    "BARE_MORE": rf"more(?=\s+than{END})",
    "BARE_NO": rf"no(?=\s+(?:repl(?:y|ies)|answers?|responses?|attachments?|files?){END})",
    "BARE_TOP": rf"top(?=\s+{NUMBER})",
    "ATTACHMENT": "attachment|file",
    "ATTACHMENTS": "attachments|files",
    "CONTACTS": r"(?:(?:(?:any|every|some)(?:one|body)|people|an?\s+contact|contacts)\s+"
    rf"{_IN_BOOK}|people\s+(?:(?:that|whom?)\s+)?i\s+know|(?:my\s+)?(?:contacts|address\s*book))",
    "CANCELLED": rf"(?:an?\s+|the\s+)?cancell?ed(?=\s+{_EVENT}{END})",
    "CANCELLED_EVENT": rf"(?:an?\s+|the\s+)?{_EVENT}\s+(?:that|which)\s+"
    r"(?:(?:was|were|is|are)|(?:has|have)\s+been)\s+cancell?ed",
    "CONTAINING": "containing|contains?",
    "EVENTS": rf"events|(?<=ed\s){_EVENT}",
    "EVERYTHING": r"(?<![\s\S])(?:\*|(?:(?:show|find)\s+)?(?:all(?:\s+(?:my\s+)?(?:mails?|e-?mails?"
    r"|messages))?|everything))(?=\s*\Z)",
    "FEWER": "fewer|less",
    "HAS": "has|have|having",
    "ADDRESSES": rf"addresses(?=\s+like{END})",
    "AGREE": rf"agrees?(?=\s+with{END})",
    "ASKING": rf"asking(?=\s+(?:a\s+question|again){END})|asked(?=\s+again{END})",
    "BREAKING": rf"breaking(?=\s+a\s+silence{END})",
    "BY_DIFFERENT": r"by\s+different\s+(?:people|persons)",
    "DATED": rf"dated(?=\s+(?:since|after|before|until|on|in|between){END})",
    "DURING": rf"during|within(?=\s+(?:the\s+)?(?:last|past){END})",
    "FIRST_REPLY": r"(?:the\s+)?first\s+(?:repl(?:y|ies)|answers?|responses?)",
    "DIRECTLY": rf"directly(?=\s+to{END})",
    "I": rf"i(?=\s+(?:have\s+not|sent|wrote|meet){END})",
    "LARGER": "larger|bigger",
    "LAST": rf"the\s+(?:last|past)(?=\s+(?:{NUMBER}\s+)?{UNIT})"
    rf"|(?:last|past)(?=\s+{NUMBER}\s+{UNIT})|(?<=the\s)last",
    "LEAVING": rf"leaving(?=\s+out{END})",
    "LIST": r"(?:mailing\s+)?list",
    "ME": r"me|myself|my\s+(?:name|e-?mails?|mails?|messages?|posts?|letters?)",
    "MEET": rf"meet(?=\s+(?:within|today|this){END})",
    "MENTIONING": "mentioning|mentions?",
    "LIKED": rf"liked(?=\s+by{END})",
    "LINKS": "links?|urls?",
    "NAMED": "named|called",
    "NEW": rf"new(?=\s+(?:threads?|senders){END})",
    "ONLY": rf"only(?=\s+to{END})",
    "NO_CONTACT": r"(?:nobody|no(?:\s+|-)?one|(?:(?:any|some)(?:one|body)|people)\s+"
    rf"(?:(?:who|that)\s+(?:is|are)\s+)?not)\s+{_IN_BOOK}",
    "NOBODY": rf"nobody(?=\s+(?:has\s+)?(?:replied|answered|reviewed){END})",
    "PATCH": rf"(?<=with\sa\s)patch|(?:an?\s+)?patch(?=\s+series{END})",
    "BARE_PATCHES": rf"(?:an?\s+)?patch(?:es)?(?=\s+(?:(?:not\s+)?reviewed|unreviewed|nobody|from"
    rf"|by|(?:with\s+no|without)\s+(?:an?\s+)?(?:reply|replies|reviews?)){END})"
    rf"|(?<=reviewed\s)patch(?:es)?(?!\s+series{END})",
    "REPLIES": "replies|answers|responses",
    "REPLY": "reply|answer|response",
    "REVIEW": "reviews?",
    "SOMEBODY_I_MEET": r"(?:(?:any|every|some)(?:one|body)(?:\s+(?:that|whom?))?"
    r"|people\s+(?:that|whom?))\s+i\s+(?:meet|(?:am|will\s+be)\s+meeting|will\s+meet)",
    "THEN": rf"(?:and\s+)?then(?=\s+(?:unanswered|unreplied)\s+for{END})",
    "THREADS": "threads?",
    "TOUCHING": rf"(?:patch(?:es)?\s+)?touching(?=\s*\Z|{_FILE})"
    rf"|(?:patch(?:es)?\s+)?(?:that|which)\s+touch(?:es|ed)?(?={_FILE})"
    rf"|patch(?:es)?\s+(?:to|for|in|against)(?=\s+{_PATH})",
    "UNREVIEWED": "unreviewed",
    "WHO": rf"who(?=\s+agrees?\s+with{END})",
    "WITHIN": rf"within(?!\s+(?:the\s+)?(?:last|past){END})",
    "UNKNOWN": rf"unknown(?=\s+senders{END})",
    "UNANSWERED": "unanswered|unreplied",
    "THE_TEXT": r"the\s+(?:words?|phrase|text|string)(?=\s+\S)",
    "THE_WORD": "words?",
    "RECENT_DAY": "today",
    "RECENT_WEEK": r"this\s+week",
}
"""Keywords that have several forms, or are keywords only before certain words."""

EARLIER = {
    "the day before yesterday": ("between two and three days old", "on the day before yesterday"),
    "yesterday": ("between one and two days old", "on yesterday"),
    "last weekend": ("between one and eight days old", "newer than one week"),
    "last week": ("between one and two weeks old", "newer than two weeks"),
    "this month": ("newer than 30 days", "newer than four weeks"),
    "last month": ("between 30 and 60 days old", "newer than 60 days"),
    "this year": ("newer than 365 days", "newer than 52 weeks"),
    "last year": ("between 365 and 730 days old", "newer than 104 weeks"),
}
"""Spans that move with the calendar, and what to write instead."""

_LAST_DAY = rf"last\s+(?:{'|'.join(WEEKDAYS)})"
EARLIER_PATTERN = "|".join(words.replace(" ", r"\s+") for words in EARLIER)


def no_span(words: str) -> tuple[str, str]:
    """Return why a filter may not say “last week”, and what to write instead, in two sentences."""
    span = " ".join(words.casefold().split())
    first, second = EARLIER[span]
    message = f"“{span.capitalize()}” is another time whenever a filter is asked."
    return message, f"Write “{first}” or “{second}”."


# Small words that say nothing of their own

_NOUN = "(?:e-?)?m(?:ai|ia)ls?|mess?[ae]ges?|letters?|posts?|articles?|everything|anything"
NOUN = rf"(?:{_NOUN}){END}"
NOISE_WORD = rf"(?:{_NOUN}|show\s+me|(?:show|find)(?!\s*\Z)|all|any|every|my|the){END}"
_BEING = r"(?:is|are|was|were|(?:has|have)\s+been)"
_DONE = "(?:sent|written|posted|received|addressed|started)"
_LINK = rf"(?:(?:that|which|who)(?:\s+{_BEING})?(?:\s+{_DONE})?|{_BEING}(?:\s+{_DONE})?|{_DONE})"


_NEVER_NAMES = """
    doesn't isn't does or reply the something anything everything it them
    doesnt isnt arent wasnt dont didnt hasnt havent
    message messages mails emails posts lists strangers against
"""
NEVER_NAMES = frozenset(_NEVER_NAMES.split())
"""Words that are no name, and no text, unless they stand in quotes."""

_DAYS = (
    rf"(?:{'|'.join(WEEKDAYS)}|to(?:day|morrow|night)|yesterday|weekends?|mornings?|afternoons?"
    r"|evenings?|nights?|days?|weeks?|months?|years?|hours?|ago)"
)
DAYS = re.compile(_DAYS, re.IGNORECASE)
"""Words that are in nobody's name: “to be answered by friday”."""

NOBODY = re.compile(
    rf"(?:{'|'.join(NEVER_NAMES)}|(?:any|every|some)(?:one|body)|people|list|attachments?|questions?|not|nor|neither"
    rf"|and|this|outside|except|excluding|unless|be|been|being|is|are|was|were|do|did|have|has|had|here|there|now|then|what|{_DAYS})",
    re.IGNORECASE,
)
"""Words that are nobody, unless they stand in quotes."""

SIGN_AT_END = re.compile(r"(?:[&|;]|(?:\A|\s)\+)\Z")
"""A sign at which a name ends, and another phrase begins."""


def keyword(name: str) -> str:
    """Return the regular expression of a keyword."""
    return f"(?:{FORMS.get(name, name.lower())}){END}"


def beginning(first_words: Iterable[str]) -> str:
    """Return the regular expression of what begins or joins phrases, by its first keywords."""
    words = "|".join(FORMS.get(name, name.lower()) for name in first_words)
    return (
        rf"(?:\(|(?:{words}|{EARLIER_PATTERN}|{_LAST_DAY}|and|or|but|not|nor){END}"
        rf"|{NUMBER}\s+{UNIT})"
    )


def terminals(first_words: Iterable[str]) -> dict[str, str]:
    """Return the regular expressions that need to know what begins a phrase, by terminal.

    ``first_words`` are the keywords with which phrases begin.
    """
    begins = beginning(first_words)
    value = rf"(?!(?:{NOISE_WORD}\s+){{0,4}}(?:{_LINK}\s+)?{begins})(?:[\"“]|{WORD})"
    return {
        "LINK": rf"{_LINK}(?=\s+{begins})",
        "LISTED": rf"(?:(?:,\s*)?(?:or|and)\s+|,\s*)(?={value})",
    }


_LONGEST_RUN = 8


def run_of_words(first_words: Iterable[str]) -> re.Pattern[str]:
    """Return the pattern of words of which none but the first begins a phrase."""
    more = rf"(?:\s+(?!{beginning(first_words)}){WORD}){{0,{_LONGEST_RUN}}}"
    return re.compile(WORD + more, re.IGNORECASE)


_DATES = {"DAY": f"{DAY_PATTERN}{END}", "PERIOD": f"{PERIOD_PATTERN}{END}"}
_RUNS = {"DIGITS": rf"{NUMBER}(?!\s*{UNIT})", "NOUN": NOUN}
"""Words that go on with a name or a text, though they could stand elsewhere."""

FIXED_TERMINALS = {
    **_DATES,
    **_RUNS,
    "NOISE": rf"{NOISE_WORD}(?:\s+{NOISE_WORD})*",
    "EARLIER": f"(?:{EARLIER_PATTERN}){END}",
    "LAST_DAY": f"{_LAST_DAY}{END}",
    "IN_SUBJECT": rf"with\s+{WORD}(?:\s+{WORD}){{0,3}}?\s+in\s+(?:the\s+)?subject{END}",
    "FILE_TYPE": f"{FILE_TYPE}{END}",
    "LISTED_TYPE": rf"(?:(?:,\s*)?(?:or|and)\s+|,\s*)(?={FILE_TYPE}{END})",
    "THE_LIST": rf"the\s+{WORD}\s+(?:mailing\s+)?list{END}",
    "ANYONE": rf"(?:anyone|anybody|someone|people|everyone)\s+(?:at|from|in|of)\s+"
    rf"@?[\w-]+(?:\.[\w-]+)+{END}",
    "OR_MORE": rf"or\s+more{END}",
    "NUMBER": NUMBER,
    "UNIT": UNIT,
    "SHARE": rf"{SHARE}(?=\s*\Z|\s+of{END})",
}


@cache
def _form() -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{form})" for form in FORMS.values()), re.IGNORECASE)


def is_form(text: str) -> bool:
    """Return whether a text is another form of a keyword, such as ``answers`` of replies."""
    return _form().fullmatch(text) is not None
