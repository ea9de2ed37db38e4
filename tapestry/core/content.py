r"""What a message says: a content hash that all its copies share, and the key of other words.

A Message-ID is no proof: anybody can send other words under a known one.  Two messages with
one Message-ID are the same if they have the same author and the same words.  What differs between
copies of one message does not count: list footers, the list's name in the subject, where an
archive put attachments, how it hides addresses from robots, wrapping, and quoting marks.

    first:   a@x.org
    others:  a@x.org copy:8c4a2bd3f6a1c2f5b0f6b8f1a0d8e7c6

A Message-ID holds no space (tapestry.ingest.mime.headers), so no sender can choose such a key.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from hashlib import blake2b

_MARK = " copy:"
COPY_PATTERN = _MARK + "[0-9a-f]{32}"
_COPY = re.compile(rf"{COPY_PATTERN}\Z")

_BEFORE_SUBJECT = re.compile(r"\s*(?:(?:re|aw|sv|fwd?|antw) ?:|\[[^\[\]]{1,80}\])", re.IGNORECASE)
_AFTER_SUBJECT = re.compile(r"\[SCL:-?\d{1,2}\]\s*\Z")
"""What lists, answers and spam filters put before and after a subject."""

_SEPARATOR = re.compile(r"[ \t]*[_=*#~.-][_=*#~. \t-]+")
_OF_A_LIST = re.compile(r"mailing list|unsubscribe|listinfo|mailman|list-help|groups\.google", re.I)
_FOOTER_LINES = 12
_FOOTERS = 3
"""Each list that a message passes adds a footer."""

_SCRUBBED = re.compile(r"https?://\S{1,500}/attachments?/")
_DOMAIN = re.compile(r"\W?\w[\w.-]*\.\w+\W*")
_AT = ("at", "(at)", "[at]")
_WORD = re.compile(r"[^\W_]+")


def content_hash(sender: str | None, subject: str | None, body: str | None) -> str:
    r"""Return a hash of the author and the words of a message, 32 hexadecimal digits.

    >>> there = content_hash("joe@x.org", "[R] Lunch", "At noon\n____\nR mailing list\n")
    >>> there == content_hash("Joe@x.org", "Re: lunch", "> At\n> noon\n")
    True
    >>> there == content_hash("joe@x.org", "lunch", "At one")
    False
    """
    author = (sender or "").strip(" <>").casefold()
    said = (author, *words(subject_of(subject or "")), "", *words(without_footers(body or "")))
    return blake2b("\n".join(said).encode(), digest_size=16).hexdigest()


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


def without_footers(text: str) -> str:
    r"""Return a text without its last lines after a separator, if they speak of a mailing list.

    >>> without_footers("Lunch?\n-- \nJoe\n_______\nR-devel mailing list\n")
    'Lunch?\n-- \nJoe'
    """
    lines = text.rstrip().splitlines()
    for _ in range(_FOOTERS):
        end = len(lines)
        for place in range(end - 1, max(-1, end - 1 - _FOOTER_LINES), -1):
            if _SEPARATOR.fullmatch(lines[place]) and _OF_A_LIST.search("\n".join(lines[place:])):
                del lines[place:]
                break
        if len(lines) == end:
            break
        while lines and not lines[-1].strip():
            lines.pop()
    return "\n".join(lines)


def words(text: str) -> Iterator[str]:
    """Yield the words of a text, without addresses and where an archive put attachments.

    >>> list(words("At noon, ask joe at x.org or mary@x.org."))
    ['at', 'noon', 'ask', 'or']
    """
    kept: list[str] = []
    tokens = iter(unicodedata.normalize("NFKC", text).casefold().split())
    for token in tokens:
        if token in _AT:
            following = next(tokens, "")
            if _DOMAIN.fullmatch(following):
                del kept[-1:]
            else:
                kept += token, following
        elif "@" not in token and not _SCRUBBED.search(token):
            kept.append(token)
    for token in kept:
        yield from _WORD.findall(token)
