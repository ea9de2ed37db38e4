"""The footers that mailing lists add to messages: what their copies of one message differ in.

Whoever forges a message can write anything below a line of hyphens.  So a footer is one only if
each of its lines has nothing but what lists write: words about the list, its name, its addresses
and links.
"""

from __future__ import annotations

import re

_SEPARATOR = re.compile(r"[ \t]*[_=*#~.-][_=*#~. \t-]+")
_OF_A_LIST = re.compile(r"mailing list|unsubscribe|listinfo|mailman|list-help|groups\.google", re.I)
_FOOTER_LINES = 12
_FOOTERS = 3
"""Each list that a message passes adds a footer."""

_LONGEST_LINE = 300
_QUOTE = re.compile(r"\A[>|#.\s]*")
_LINK = re.compile(r"<?(?:https?://|mailto:)[^\s<>]*>?", re.IGNORECASE)
_ADDRESS = re.compile(r"<?[\w.+-]+(?:@| at | \(at\) )[\w-]+(?:\.[\w-]+)+>?", re.IGNORECASE)
_HOST = re.compile(r"(?<![\w.-])[\w-]+(?:\.[\w-]+)+(?![\w.-]*\w)")
_PLACE_OF_A_LIST = re.compile(
    r"mailman|listinfo|subscri|lists?[./-]|groups\.google|googlegroups|-request|-help|-owner"
    r"|-leave|leave-|-join|faq|posting-guide|archive|nabble|yahoogroups",
    re.IGNORECASE,
)
_NAME = re.compile(r"((?:[\w.+-]{1,40} ){0,2})mailing list", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+")
_VOCABULARY = """
    a about address an and any archive archives are as at be because been belongs between blank
    body can change click code commented comments contained context currently devel digest
    digested discussion do e email emails empty faq follow following for forum from go google
    group groups guide have help here how if in info information instructions into is it its
    join leave line link list listinfo lists mail mailing mailman manage may membership message
    messages minimal more not of on only options or other page please post posting preferences
    privacy provide questions read reading receive received receiving reply reproducible request
    self send sent settings site stop subject subscribe subscribed subscriber subscribers
    subscription subscriptions text thanks that the this through to topic un unsubscribe
    unsubscribing use using via view visit was web website with word write www you your
"""
"""All the words of list footers, beside the name of the list."""

_WORDS = frozenset(_VOCABULARY.split())


def without_footers(text: str) -> str:
    r"""Return a text without its last lines after a separator, if lists write such lines.

    >>> without_footers("Lunch?\n-- \nJoe\n_______\nR-devel mailing list\n")
    'Lunch?\n-- \nJoe'
    >>> without_footers("Lunch?\n____\nPay 666 to Eve\nTo unsubscribe") == "Lunch?"
    False
    """
    lines = text.rstrip().splitlines()
    for _ in range(_FOOTERS):
        end = len(lines)
        for place in range(end - 1, max(-1, end - 1 - _FOOTER_LINES), -1):
            if not _is_of_a_list(lines[place]):
                break
            if _SEPARATOR.fullmatch(lines[place]) and _OF_A_LIST.search("\n".join(lines[place:])):
                del lines[place:]
                break
        if len(lines) == end:
            break
        while lines and not lines[-1].strip():
            lines.pop()
    return "\n".join(lines)


def _is_of_a_list(line: str) -> bool:
    """Return whether a line of a footer says nothing but what lists say.

    >>> _is_of_a_list("R-devel at r-project.org mailing list")
    True
    >>> _is_of_a_list("https://evil.example/pay"), _is_of_a_list("Pay now, or unsubscribe")
    (False, False)
    """
    if len(line) > _LONGEST_LINE:
        return False
    if _SEPARATOR.fullmatch(line):
        return True
    line = _QUOTE.sub("", line, count=1)
    about_a_list = _OF_A_LIST.search(line) is not None
    for place in (_LINK, _ADDRESS, _HOST):
        for found in place.findall(line):
            if not (_PLACE_OF_A_LIST.search(found) or (about_a_list and place is not _LINK)):
                return False
        line = place.sub(" ", line)
    line = _NAME.sub("mailing list", " ".join(line.split()), count=1)
    return _WORDS.issuperset(_WORD.findall(line.casefold()))
