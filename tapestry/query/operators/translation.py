"""Translate operators of other mail programs, such as ``from:mary``, to our phrases."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from decimal import Decimal

from tapestry.core.errors import Span
from tapestry.query.limits import LETTER
from tapestry.query.operators.files import attached_file, file_of_type, of_media_type
from tapestry.query.operators.sizes import size_of
from tapestry.query.operators.times import (
    age_of,
    by_date_header,
    compared_age,
    compared_day,
    day_or_age,
    days_of_mutt,
    range_of,
)
from tapestry.query.phrases.build import person_of
from tapestry.query.phrases.joining import joined, negated
from tapestry.query.phrases.nodes import Amount, Person, Phrase, PhraseNode, Refused, Words
from tapestry.query.phrases.printer import quoted
from tapestry.query.phrases.slips import is_slip
from tapestry.query.phrases.spellings import HOST_NAME
from tapestry.query.phrases.states import STATES, refusal
from tapestry.query.phrases.wildcards import of_regex

Reader = Callable[[str, str, Span], PhraseNode | None]
"""The name of an operator, its value and its place, to what they mean; None: not understood."""

DIRECTLY = "directly-to"
"""The operator of the field To alone: ``to:`` in a search that tells it from ``cc:``."""

THREAD_WITH = "thread-with"
"""The operator of threads in which a person wrote, ``thread:{from:mary}`` of notmuch."""

_FROM, _TO, _EITHER = ("from",), ("to",), ("from", "to")
_PEOPLE = {
    **dict.fromkeys(("from", "f", "sender", "author", "von", "~f"), _FROM),
    **dict.fromkeys(("to", "t", "tc", "deliveredto", "recip", "recipient", "recipients"), _TO),
    **dict.fromkeys(("an", "~t", "~C"), _TO),
    DIRECTLY: ("directly_to",),
    THREAD_WITH: ("in_a_thread_with",),
    **dict.fromkeys(("cc", "c", "~c"), ("cc",)),
    **dict.fromkeys(("a", "contact", "contacts", "participants", "fromto", "with", "~L"), _EITHER),
}
"""Operators with a person, and the phrases that mean them."""

_TEXTS = {
    **dict.fromkeys(("subject", "s", "betreff", "subjecttitle", "title", "~s"), "about"),
    **dict.fromkeys(("body", "b", "content", "nq", "~b"), "saying"),
    **dict.fromkeys(("bs", "text", "entire", "~B"), "mentioning"),
    **dict.fromkeys(("list", "l"), "on_list"),
    **dict.fromkeys(("label", "tag", "keyword", "category", "kw", "~y"), "tagged"),
    **dict.fromkeys(("group", "newsgroup", "ng"), "in"),
    **dict.fromkeys(("id", "m", "mid", "msgid", "i", "rfc822msgid", "~i"), "identified_by"),
}
_SINCE = ("after", "since", "newer")
_BEFORE = ("before", "older")
_RANGES = ("d", "dt", "rt", "on", "date", "dates", "received", "sent", "~d", "~r")
_SIZES = ("larger", "smaller", "minsize", "maxsize", "size", "messagesize", "~z")
_FILES = ("has", "attachment", "attachments", "hasattachment", "hasattachments", "~X")
_STATES = ("is", "flag")
_NAMES_OF_FILES = ("filename", "attachmentnames", "file", "att", "n")
_PATCHED = ("dfn",)
_LINES = ("dfhh", "dfa", "dfb", "dfctx", "dfpre", "dfpost", "dfblob")
_TYPES_OF_FILES = ("mime", "mimetype", "~M")
_PLACES = ("folder", "maildir", "path")
_OTHERS = (*_STATES, "thread", "in", "bcc", "age", "newer_than", "older_than", "year")

NAMES = (
    *(name for name in (*_PEOPLE, *_TEXTS) if name[0] != "~"),
    *(*_SINCE, *_BEFORE, *_SIZES[:-1], *_RANGES[:-2], *_FILES[:-1]),
    *(*_NAMES_OF_FILES, *_TYPES_OF_FILES[:-1], *_PATCHED, *_LINES, *_PLACES, *_OTHERS),
)
_OF_MUTT = (*_PEOPLE, *_TEXTS, *_RANGES, *_SIZES, *_FILES, *_TYPES_OF_FILES, "~x")
MUTT = "".join(sorted(name[1] for name in _OF_MUTT if name[0] == "~"))
"""The letters of mutt's patterns that have a value; capitals count."""

PLAIN = "pPlQ$ANORUFDTE"
"""The letters of mutt's patterns that have no value."""

FLAGS = ("read", "unread", "seen", "unseen", "flagged", "starred", "snoozed")
"""States that are operators as well: ``read:no``, ``isflagged:true``."""

EVERYWHERE = ("anywhere", "all", "mail", "allmail")
_NOTHING = ("inbox", *EVERYWHERE, "archive")
"""Places that say nothing here: every filter looks at all mail."""

_LIKE = {
    "from": "from_addresses_like",
    "to": "to_addresses_like",
    "cc": "cc_addresses_like",
    "directly_to": "directly_to_addresses_like",
    "about": "with_a_subject_like",
    "saying": "with_a_body_like",
}
"""The phrases with a text that may have wildcards, by those with words or a person."""

_WHOLE = ("tagged", "identified_by", "in")
_CUT_SHORT = re.compile(r"\w\*\Z")
_SINGLE = re.compile(r"\A'(.*)'\Z", re.DOTALL)
_PEOPLE_ALONE = ("from", "to", "cc", "directly_to")
_OF_DOMAIN = re.compile(r"(\^?(?:\.\*)?)(@(?:[\w-]|\\?\.|\[\.\])+)(\$)?")


def translate(name: str, value: str, span: Span, *, is_quoted: bool = False) -> PhraseNode | None:
    """Return what an operator and its value mean, None if they say nothing.

    >>> translate("from", "mary", Span(0, 9)).kind
    'from'
    """
    if name in _PEOPLE:
        people = [value] if is_quoted else re.split(r"[,;]\s*", value.strip(",;")) or [value]
        return _any_of(_person(kind, who, span) for kind in _PEOPLE[name] for who in people)
    if name == "tag" and value.lower() == "replied":
        return _state("flag", value, span)
    if name in _TEXTS:
        return _text(_TEXTS[name], value, span, is_quoted=is_quoted)
    if name == "in" and value.lower() in _NOTHING:
        return None
    return _READERS[name](name, value, span) or _unknown(name, span)


def plain(value: str, span: Span) -> PhraseNode | None:
    """Return what a pattern of mutt without a value means, None of another word."""
    if len(value) != 2 or value[0] != "~" or value[1] not in PLAIN:
        return None
    match value[1]:
        case "p":
            return Phrase("to", span, person=Person("me", "me", span))
        case "P":
            return Phrase("from", span, person=Person("me", "me", span))
        case "A":
            return Phrase("everything", span)
        case "l":
            return Phrase("on_any_list", span)
        case "Q":
            return Phrase("replied_to", span)
        case "$":
            return Phrase("with_no_reply", span)
    message = f"“{value}” is each reader’s own, and no part of a filter."
    return Refused(message, span, "Write “newer than one week”, or leave it out.")


def _any_of(parts: Iterable[PhraseNode]) -> PhraseNode:
    return joined("or", list(parts))


def _unknown(name: str, span: Span) -> Refused:
    example = next((hint for names, hint in _EXAMPLES if name in names), "has:attachment")
    return Refused(f"The value of “{name}:” is not understood.", span, f"Write “{example}”.")


def _person(kind: str, value: str, span: Span) -> PhraseNode:
    """Return who an operator names: ``*@x.org`` and ``x.org`` are a domain, ``joe@`` is a name."""
    if value.lower() == "me":
        return Phrase(kind, span, person=Person("me", value, span))
    if len(value) > 1 and value[0] == value[-1] == "/":
        return _like(kind, value[1:-1], span)
    name = value.strip("<>").removeprefix("*")
    if kind in _LIKE and ("*" in name or "?" in name):
        return Phrase(_LIKE[kind], span, words=Words(value.strip("<>"), span))
    if name.endswith("@"):
        name = name[:-1]
    elif HOST_NAME.fullmatch(name) and "@" not in name:
        name = f"@{name}"
    return Phrase(kind, span, person=person_of(name, span))


def _text(kind: str, value: str, span: Span, *, is_quoted: bool) -> PhraseNode:
    value = value if is_quoted else value.rstrip(",;") or value
    if not is_quoted and len(value) > 1 and kind in ("about", "saying", "mentioning"):
        if value[0] == "-":
            return negated(_text(kind, value[1:], span, is_quoted=False))
        if value[0] == value[-1] == "/":
            return _like(kind, value[1:-1], span)
    value = value if is_quoted else _SINGLE.sub(r"\1", value)
    if kind in _WHOLE and not is_quoted and _CUT_SHORT.search(value):
        hint = f"Write “mentioning {value}”."
        return Refused("Only a whole name can be looked for here.", span, hint)
    if kind == "about" and is_quoted and not value.strip():
        return Phrase("without_a_subject", span)
    if kind == "on_list":
        value = value.strip("<>*").replace("@", ".")
    elif kind == "in" and "." not in value:
        kind = "in_newsgroup"
    elif kind == "identified_by":
        value = value.strip("<>")
    elif kind == "tagged" and value.lower() in _OF_STATE and value.lower() not in _TAGS:
        return _state("is", value, span) or _unknown("is", span)
    return Phrase(kind, span, words=Words(value, span))


def _like(kind: str, pattern: str, span: Span) -> PhraseNode:
    r"""Return what a regular expression says, if wildcards can say it too.

    One of a whole address, ``.*@x\.org``, is a domain; ``@x\.org`` may be anywhere in it.
    """
    domain = _OF_DOMAIN.fullmatch(pattern)
    if domain and kind in _PEOPLE_ALONE:
        name = re.sub(r"\\|[\[\]]", "", domain[2])
        if domain[1] or domain[3]:
            return _person(kind, name, span)
        return Phrase(_LIKE[kind], span, words=Words(f"*{name}*", span))
    like = of_regex(pattern)
    if like is not None and kind in _LIKE:
        return Phrase(_LIKE[kind], span, words=Words(like, span))
    words = " ".join(re.findall(r"\w{2,}", pattern)) or "words"
    begin = "mentioning" if kind == "saying" else kind.replace("_", " ")
    hint = f'Write “{begin} "{words}"”.'
    return Refused("This regular expression cannot be asked for.", span, hint)


# What is attached, where it is, and what one did with it


def _has(name: str, value: str, span: Span) -> PhraseNode | None:
    written = value.lower().strip("<>=")
    if is_slip(written, "attachment") or is_slip(written, "attachments"):
        return Phrase("with_attachments", span)
    if written in ("attachment", "attachments", "file", "files", "true", "yes", "1-", "1"):
        is_more = value.startswith(">") and written == "1"
        return _more_files(written, span) if is_more else Phrase("with_attachments", span)
    if name == "has" and written in ("link", "links", "url", "urls"):
        return Phrase("with_links", span)
    if written in ("false", "no", "0"):
        return negated(Phrase("with_attachments", span))
    if name == "has" and written in ("userlabels", "nouserlabels"):
        mine = Phrase("without_a_tag", span, person=Person("me", "me", span))
        return mine if written.startswith("no") else negated(mine)
    if value.startswith(">") and written.isdecimal():
        return _more_files(written, span)
    if name.startswith("attachment"):
        return attached_file(name, value, span)
    return file_of_type(value, span)


def _patched(_: str, value: str, span: Span) -> PhraseNode | None:
    return Phrase("touching", span, words=Words(value, span)) if LETTER.search(value) else None


def _more_files(number: str, span: Span) -> Phrase:
    return Phrase("with_more_than_attachments", span, amount=Amount(Decimal(number), span))


def _in(_: str, value: str, span: Span) -> PhraseNode | None:
    if value.lower() == "sent":
        return Phrase("from", span, person=Person("me", "me", span))
    if "." in value:
        return Phrase("in", span, words=Words(value, span))
    if value.lower() in _OF_STATE or says_elsewhere("in", value):
        return _state("is", value, span)
    name = quoted(value)
    hint = f"Did you mean “tagged {name}”, “in filter {name}” or “in newsgroup {name}”?"
    return Refused(f"“{value[:40]}” is no newsgroup: its name has no dot.", span, hint)


def _no_references(_: str, value: str, span: Span) -> PhraseNode:
    msgid = value.strip("<>").replace("'", "''")
    return Refused(
        "No phrase says to which messages another refers.",
        span,
        f"Write “m.references = '{msgid}' OR m.inreplyto = '{msgid}'”.",
    )


_OF_STATE = (*STATES, "important", "replied", "answered", "unanswered", "unreplied", "attach")


_TAGS = ("done", "inbox", "new", "snoozed", "archived", "muted")
"""States that are names of tags as well."""


_KINDS = {"attach": "with_attachments", "list": "on_any_list"}
"""What mu calls a message by what it is, and not by what was done with it."""


def _state(name: str, value: str, span: Span) -> PhraseNode | None:
    written = value.lower()
    if written in ("unanswered", "unreplied"):
        return Phrase("with_no_reply", span)
    if written in ("replied", "answered"):
        if name == "flag":
            return Phrase("replied_to_by", span, person=Person("me", "me", span))
        return Phrase("replied_to", span)
    if written in _KINDS and (name == "flag" or written == "attach"):
        return Phrase(_KINDS[written], span)
    if name == "is" and written == "sent":
        return Phrase("from", span, person=Person("me", "me", span))
    if name == "is" and written in ("reply", "response"):
        return Phrase("replies", span)
    if says_elsewhere(name, value):
        message = f"What is “{written}” elsewhere is no mail here, or all of it."
        return Refused(message, span, "Write “newer than one week”, or leave it out.")
    if written in STATES or written == "important":
        message, hint = refusal(STATES.get(written, "starred"))
        return Refused(message, span, hint)
    return Phrase("tagged", span, words=Words(value, span)) if name == "is" else None


ELSEWHERE = ("draft", "drafts", "spam", "junk", "trash", "trashed", "bin", "deleted", "chat")


def says_elsewhere(name: str, value: str) -> bool:
    """Tell whether an operator asks for what is no mail here, such as ``in:spam``."""
    return name in ("is", "in", "flag") and value.lower() in ELSEWHERE


def _flagged(name: str, value: str, span: Span) -> PhraseNode | None:
    return _state("is", name.removeprefix("is"), span)


def _no_lines(name: str, value: str, span: Span) -> PhraseNode:
    message = f"“{name}:” asks for lines of a patch, which are in the body."
    return Refused(message, span, f"Write “with a patch and saying {quoted(value)}”.")


def _days(value: str, span: Span) -> PhraseNode | None:
    return compared_day(value, span) or range_of(value, span)


def _no_places(name: str, value: str, span: Span) -> PhraseNode:
    message = f"A filter looks at all mail: “{name}:” is no part of it."
    place = quoted(value.strip("/").rpartition("/")[2])
    return Refused(message, span, f"Write “tagged {place}”, or leave it out.")


def _no_thread(_: str, value: str, span: Span) -> PhraseNode:
    message = "Of a thread one can ask who wrote in it, who began it, and how long it is."
    hint = "Write “in a thread with mary” or “in a thread of more than three”."
    return Refused(message, span, hint)


def _no_copies(_: str, value: str, span: Span) -> PhraseNode:
    hint = f"Write “to {person_of(value, span).text}”."
    return Refused("Blind copies are not in a message.", span, hint)


_READERS: dict[str, Reader] = {
    "newer_than": lambda _, value, span: age_of("newer_than", value, span),
    "older_than": lambda _, value, span: age_of("old", value, span),
    "age": lambda _, value, span: compared_age(value, span),
    "year": lambda _, value, span: day_or_age("on", "on", value, span),
    **dict.fromkeys(_SINCE, lambda _, value, span: day_or_age("since", "newer_than", value, span)),
    **dict.fromkeys(_BEFORE, lambda _, value, span: day_or_age("before", "old", value, span)),
    **dict.fromkeys(_RANGES, lambda _, value, span: _days(value, span)),
    "sent": lambda _, value, span: by_date_header(_days(value, span)),
    **dict.fromkeys(
        ("~d", "~r"),
        lambda _, value, span: compared_age(value, span) or days_of_mutt(value, span),
    ),
    **dict.fromkeys(_SIZES, size_of),
    **dict.fromkeys(_FILES, _has),
    **dict.fromkeys(_STATES, _state),
    **dict.fromkeys(_NAMES_OF_FILES, attached_file),
    **dict.fromkeys(_TYPES_OF_FILES, of_media_type),
    **dict.fromkeys(_PATCHED, _patched),
    **dict.fromkeys(_LINES, _no_lines),
    **dict.fromkeys((*FLAGS, *(f"is{flag}" for flag in FLAGS)), _flagged),
    **dict.fromkeys(_PLACES, _no_places),
    "in": _in,
    "thread": _no_thread,
    "bcc": _no_copies,
    "~x": _no_references,
}
_EXAMPLES = (
    (("newer_than", "older_than", "age"), "newer_than:3d"),
    (_SIZES, "larger:5M"),
    ((*_SINCE, *_BEFORE), "after:2024/01/31"),
    ((*_RANGES, "year"), "date:2024-01-01..2024-01-31"),
    (_NAMES_OF_FILES, "filename:report.pdf"),
    (_TYPES_OF_FILES, "mimetype:application/pdf"),
    (_PATCHED, "dfn:drivers/net"),
)
