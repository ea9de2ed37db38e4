"""Messages like this: parts of a filter that a message suggests, and the text that joins them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from tapestry.core.errors import TapestryError
from tapestry.core.message import Message
from tapestry.identity.base_subject import base_subject
from tapestry.query.context import Context
from tapestry.query.frontend import read
from tapestry.query.phrases.printer import quoted
from tapestry.query.tree.printer import print_condition, quote

MOST_GROUPS = 5
"""Newsgroups, and recipients, of a message that are offered."""

_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Part:
    """A condition that a message meets: its key in the form, what it means, and its text."""

    key: str
    meaning: str
    text: str
    is_tql: bool = False


def parts_of(message: Message, context: Context) -> list[Part]:
    """Return the parts of a filter that find messages like this one; each is a filter itself."""
    return [part for part in _proposed(message) if _is_filter(part, context)]


def usual_keys(parts: Sequence[Part]) -> list[str]:
    """Return the keys of the parts that are ticked at first: the list, otherwise the sender."""
    for wanted in ("list", "group-1", "from", "about", "thread"):
        if any(part.key == wanted for part in parts):
            return [wanted]
    return []


def join_parts(parts: Iterable[Part], context: Context) -> str:
    """Return the text of a filter that all these parts make: phrases where they suffice.

    >>> parts = [Part("from", "", "from joe"), Part("about", "", "about index")]
    >>> join_parts(parts, Context())
    'from joe and about index'
    """
    chosen = list(parts)
    if not any(part.is_tql for part in chosen):
        return " and ".join(part.text for part in chosen)
    return " AND ".join(_tql(part, context) for part in chosen)


def _proposed(message: Message) -> Iterator[Part]:
    if message.sender:
        yield Part("from", "from this sender", f"from {quoted(message.sender)}")
    if message.list:
        yield Part("list", "on this mailing list", f"on list {quoted(message.list)}")
    for number, group in enumerate(message.newsgroups[:MOST_GROUPS], 1):
        yield Part(f"group-{number}", "in this newsgroup", f"in {quoted(group)}")
    for number, address in enumerate(message.to[:MOST_GROUPS], 1):
        yield Part(f"to-{number}", "to this address", f"to {quoted(address)}")
    words = subject_words(message.subject or "")
    if words:
        yield Part("about", "with these words in the subject", f"about {quoted(words)}")
    yield Part("thread", "in this thread", _thread(message), is_tql=True)
    if message.attachments:
        yield Part("attachments", "with files attached", "with attachments")


def subject_words(subject: str) -> str:
    """Return the words of a subject, without what replies and lists put before them.

    >>> subject_words("Re: [pg-hackers] Fwd: The plan, again")
    'The plan again'
    """
    return " ".join(_WORD.findall(base_subject(subject))[:12])


def _thread(message: Message) -> str:
    """Return the condition that a message begins the thread, or refers to what began it."""
    root = next(iter(message.references), None) or message.inreplyto or message.msgid
    root = quote(root)
    return f"(m.msgid = {root} OR m.inreplyto = {root} OR m.references = {root})"


def _tql(part: Part, context: Context) -> str:
    return part.text if part.is_tql else print_condition(read(part.text, context).condition)


def _is_filter(part: Part, context: Context) -> bool:
    with suppress(TapestryError):
        read(part.text, context)
        return True
    return False
