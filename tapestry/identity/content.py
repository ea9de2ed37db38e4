"""The content hash of a message, which all its copies share, and the key of other words.

A Message-ID is no proof: anybody can send other words under a known one.  Two messages with
one Message-ID are the same if they have the same author, the same words and the same other parts
(tapestry.identity.other_parts): HTML that says something else, its links, and attachments.  What
differs between copies of one message does not count: list footers
(tapestry.identity.list_footers), the list's name in the subject, where an archive put
attachments, how it hides addresses from robots, wrapping, and quoting marks.

    first:   a@x.org
    others:  a@x.org copy:8c4a2bd3f6a1c2f5b0f6b8f1a0d8e7c6

A Message-ID holds no space (tapestry.identity.message_id), so no sender can choose such a key.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from hashlib import blake2b

from tapestry.identity.base_subject import REPLY
from tapestry.identity.list_footers import without_footers

_MARK = " copy:"
COPY_PATTERN = _MARK + "[0-9a-f]{32}"
_COPY = re.compile(rf"{COPY_PATTERN}\Z")

_BEFORE_SUBJECT = re.compile(
    rf"\s*(?:(?:{REPLY}|fwd?) ?:|\[[\w.+-]{{1,40}}(?: [\w.+-]{{1,40}})?\])", re.IGNORECASE
)
_AFTER_SUBJECT = re.compile(r"\[SCL:-?\d{1,2}\]\s*\Z")
"""Additions of lists, answers and spam filters before and after a subject."""

_SCRUBBED = re.compile(r"(https?://\S{1,500}/pipermail/\S{1,500}/attachments/)[0-9]\S*")
_DOMAIN = re.compile(r"\W?\w[\w.-]*\.\w+\W*")
_AT = ("at", "(at)", "[at]")
_WORD = re.compile(r"[^\W_]+")


def content_hash(
    sender: str | None, subject: str | None, body: str | None, others: str = ""
) -> str:
    r"""Return a hash of what a message says, 32 hexadecimal digits.

    ``others`` is the hash of its other parts (tapestry.identity.other_parts).

    >>> there = content_hash("joe@x.org", "[R] Lunch", "At noon\n____\nR mailing list\n")
    >>> there == content_hash("Joe@x.org", "Re: lunch", "> At\n> noon\n")
    True
    >>> there == content_hash("joe@x.org", "lunch", "At one")
    False
    """
    author = (sender or "").strip(" <>").casefold()
    texts = [author, *words(subject_of(subject or "")), "", *words(without_footers(body or ""))]
    if others:
        texts += "", others
    return blake2b("\n".join(texts).encode(), digest_size=16).hexdigest()


def copy_key(msgid: str, content: str) -> str:
    """Return the key of a message whose Message-ID another message has, by the hash of its content.

    >>> copy_key("a@x.org", "8c4a2bd3f6a1c2f5b0f6b8f1a0d8e7c6")
    'a@x.org copy:8c4a2bd3f6a1c2f5b0f6b8f1a0d8e7c6'
    """
    return f"{msgid}{_MARK}{content}"


def message_id_of(key: str) -> str:
    """Return the Message-ID of a message by its key.

    >>> message_id_of("a@x.org copy:8c4a2bd3f6a1c2f5b0f6b8f1a0d8e7c6"), message_id_of("a@x.org")
    ('a@x.org', 'a@x.org')
    """
    return _COPY.sub("", key) if _MARK in key else key


def is_copy(key: str) -> bool:
    """Return whether a key is that of a message that came after another with its Message-ID."""
    return _COPY.search(key) is not None


def subject_of(subject: str) -> str:
    """Return a subject without what lists, answers and spam filters put around it.

    >>> subject_of("[R] Re: [R] lunch [today]")
    ' lunch [today]'
    """
    while prefix := _BEFORE_SUBJECT.match(subject):
        subject = subject[prefix.end() :]
    return _AFTER_SUBJECT.sub("", subject)


def words(text: str) -> Iterator[str]:
    """Yield the words of a text, but not the place where an archive put attachments.

    An address is its words, hidden from robots or not.

    >>> list(words("At noon, ask joe at x.org or mary@x.org."))
    ['at', 'noon', 'ask', 'joe', 'x', 'org', 'or', 'mary', 'x', 'org']
    """
    kept: list[str] = []
    tokens = iter(unicodedata.normalize("NFKC", text).casefold().split())
    for token in tokens:
        if token in _AT:
            following = next(tokens, "")
            kept += (following,) if _DOMAIN.fullmatch(following) else (token, following)
        else:
            kept.append(_SCRUBBED.sub(r"\1", token))
    for token in kept:
        yield from _WORD.findall(token)
