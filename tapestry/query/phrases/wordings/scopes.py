"""Scopes of words: what is negated, joined or done by whom is so in the reading of a text, too.

A reading may say each word of its text, and yet say it of something else: “tagged urgent by joe
but not by mary” is no mail that is not from Mary.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tapestry.query.phrases.dates import MONTHS
from tapestry.query.phrases.nodes import Joined, Phrase, PhraseNode
from tapestry.query.phrases.slips import leaves

_WORD = re.compile(r"[^\W_]+(?:['’.@-][^\W_]+)*")
_INNER = frozenset(("a", "an", "the", "my", "our", "of", "and", "for", "at", "in", "by", "to"))
"""Words that stand within names: “Bank of America”."""

_NOBODY = frozenset(
    f"""
    i he she it we us they him her them his its their this these that those who whom which what
    when where how both each either neither every everyone everybody everything anyone anybody
    anything someone somebody none no not never else once twice again also only than then
    of off for with as without from to by in on at about since until before after during within
    between and or but except unless if first last latest second third next one other others
    another more most least fewer less many few several all any some ever yet instead together
    himself herself themselves replies reply answers mails mail messages message threads
    {" ".join(MONTHS).lower()}
    """.split()
)
"""Words that name nobody, unless they are in quotes."""

_PARTIES = ("from", "to", "cc", "directly_to")
_NO_DOER = _NOBODY.union(
    ("nobody", "no-one", "noone"),
    ("late", "early", "soon", "often", "fast", "quickly", "slowly", "lately", "immediately"),
)
"""Mail may be from a person with such a name; who did nothing with it is nobody."""

_YEAR = re.compile(r"[12][0-9]{3}")
_SENDERS = ("from", "replies_by", "earliest_replies_by", "among_the_latest_from")
_PASSIVE = (
    r"(?:(?:un)?answered|replied|voted(?: (?:for|against))?|(?:up|down)voted|liked|tagged"
    r"|label+ed|reviewed|noted|annotated|starred|confirmed|read|seen|opened)"
)
_ACTIVE = "sent|written|posted|wrote|from|replies|reply|answers?|e?-?mails?|messages?|posts?"

_NO = r"\b(?:no|not|never|nothing|nobody|none|without|\w+n't)\b"
_EXCEPTED = (
    rf"(?:{_NO}|\b(?:any|every)thing but\b).*"
    r"\b(except|unless|other than|apart from|(?<=body )but|(?<=one )but)\b"
)
_TWICE_DENIED = r"\b(no|nothing)\b(?:(?!\b(?:and|or|nor|but|with)\b|,).)+\b(?:without|\w+n't)\b"
_REPLY = r"(?:repl(?:y|ies)|answers?|respon\w+|answering|replying)"
_NAME = r"(?P<who>[\w.@-]+)"

_SCOPES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), reading)
    for pattern, reading in (
        # An exception from what is denied, and what is denied twice
        (_EXCEPTED, r"(?!.*\bor\b|.*not \()(?:.*\b(?:not|without|no)\b){2}"),
        (_TWICE_DENIED, r"(?!.*not \()(?:.*\b(?:not|without|no)\b){2}"),
        (r"\bnot(?: \w+)? (both)\b", r"(?!.*not \(.* and )"),
        # Replies to messages of which something is said
        (
            rf"\b{_REPLY} (to) (?:(?:a|any|all|the) )?(?:e?-?mails?|messages?|posts?|letters?) "
            r"(?:that|which|with(?:out)?|in|of)\b",
            r"(?!.*(?:repl\w+ to \S|below))",
        ),
        # Of which kind what is absent would have been
        (
            r"\b(?:no|without(?: any)?) (?:attachments?|files?|pictures|links) "
            r"(larger|bigger|smaller|over|above|below|named|called)\b",
            r".*\bnot with (?:[^()]* )?(?:attachments|pictures|links)\b",
        ),
        # Who got what everybody else got
        (
            r"\b(?:wrote|sent|writes?|sends?|posted|forwarded)\b.* to (every)(?:one|body) "
            r"(?:but|except|other than)\b",
            r".*\bnot (?:directly )?(?:to|cc)\b",
        ),
        # Who did it, if not somebody
        (
            r"\b(?:tagged|label+ed|reviewed|annotated|noted|liked|voted)\b(?: [\w-]+)? by "
            r"(?:any|every)(?:one|body) (but|except|excluding|other than)\b",
            "",
        ),
        # Who else does what somebody does
        (
            rf"\b(?:some|any|every)(?:one|body)\b.* (but) not {_NAME}\Z",
            r".*not (?:replies )?(?:to|cc) {who}",
        ),
        (
            rf"\b(?P<one>[\w.@-]+) \w+(?: \w+)? (but|and|though) {_NAME}"
            r" (?:did|does|has|do|have)(?:n't| not)\Z",
            r"(?!.*from {one}).*not from {who}",
        ),
        # How many replies of somebody, which is no number of all replies
        (
            r"\b(?:most|least|than|exactly|no more|[0-9]+|two|three|four|five)\b(?: \w+)*? "
            rf"(?:replies|reply|answers?) (from|by) {_NAME}",
            r".*\bwith [^()]*\brepl\w+\b.*\bfrom {who}",
        ),
        # Alternatives of one kind, beside what holds for each of them
        (
            r"(?<=\w )(?P<sign>with|without|to|cc|about|mentioning|tagged) "
            r"(?:(?!\b(?:and|or|but)\b)[^,()])+ (or) (?P=sign)\b",
            r"[^()]* and [^()]* or [^()]*\Z",
        ),
    )
)
"""Patterns of texts, and what the phrases begin with that are no reading of them."""


def misplaced_word(text: str, quoted: str, phrase: str, node: PhraseNode) -> str | None:
    """Return a word of a text that its reading says of something else, or of nobody.

    ``quoted`` is what the text has in quotes, which is not in ``text``.

    >>> from tapestry.query.phrases.parser import parse_phrase as read
    >>> phrase = "tagged urgent by joe and not from me"
    >>> misplaced_word("tagged urgent by joe but not by me", "", phrase, read(phrase))
    'by'
    """
    for found in (
        _of_nobody(text, quoted, node),
        _of_others(text, node),
        _out_of_scope(text, phrase),
    ):
        if word := next(found, None):
            return word
    return None


def _of_nobody(text: str, quoted: str, node: PhraseNode) -> Iterator[str]:
    """Yield a word of a text that was taken for somebody, or for a part of a name."""
    written = _WORD.findall(text.casefold())
    bare = [word.removesuffix("'s") for word in written]
    named = [phrase for phrase in leaves(node) if phrase.person.kind == "name"]
    for phrase in named:
        words = _WORD.findall(phrase.person.text.casefold())
        nobody = _NOBODY if phrase.kind in _PARTIES else _NO_DOER
        meant = _INNER.intersection(words[1:-1]).union(_WORD.findall(quoted))
        for word in set(words).intersection(written) - meant:
            if word in nobody or word.endswith("'s") or _YEAR.fullmatch(word):
                yield word
        if set(words).issubset(bare) and " ".join(words) not in " ".join(bare):
            yield words[-1]


def _of_others(text: str, node: PhraseNode) -> Iterator[str]:
    """Yield a word before somebody who does something else in a reading, or one of two senders."""
    for phrase in leaves(node):
        if phrase.kind in _SENDERS and phrase.person.text:
            who = rf"(?:not )?{re.escape(phrase.person.text)}\b"
            of = rf"\b{_PASSIVE}\b(?:(?!\b(?:{_ACTIVE})\b)[^,()])*? (by) {who}"
            found = re.search(of, text, re.IGNORECASE)
            if found and not re.search(rf"\bfrom {who}", text, re.IGNORECASE):
                yield found[1]
    parts = node.parts if isinstance(node, Joined) and node.word == "and" else ()
    senders = [part for part in parts if isinstance(part, Phrase) and part.kind == "from"]
    people = {part.person.text.casefold() for part in senders if part.person.kind in ("name", "me")}
    if len(people) > 1:
        yield next((name for name in sorted(people) if name in text.casefold()), "from")


def _out_of_scope(text: str, phrase: str) -> Iterator[str]:
    """Yield a word of a text that holds for more, or for less, in its reading."""
    for pattern, reading in _SCOPES:
        if found := pattern.search(text):
            values = {name: re.escape(value) for name, value in found.groupdict().items()}
            for name, value in values.items():
                reading = reading.replace(f"{{{name}}}", value)
            if re.match(reading, phrase, re.IGNORECASE):
                named = set(found.re.groupindex.values())
                yield next(
                    group for number, group in enumerate(found.groups(), 1) if number not in named
                )
