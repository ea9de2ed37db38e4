"""Whom a person may mean by a few letters or a name: who is in mail that they may see, and to whom
they wrote.

    To: mary jones, b ──> Mary Jones <mary@x.org>, bill@x.org
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from filters.compose.models import OutgoingMessage
from filters.people import people
from filters.people.known_names import known_names
from filters.people.models import User
from filters.site.work.parts import services
from tapestry.compose.recipients import (
    LONGEST,
    Recipient,
    in_words,
    items_of,
    read_recipients,
    unique,
)
from tapestry.core.errors import TapestryError
from tapestry.deliver.one_line import one_line
from tapestry.query.phrases.help.completion import Completion

MOST = 8
"""Contacts that are offered at once, or named in a sentence."""

LETTERS = 200
"""Messages of their own, the newest, whose recipients a person is offered."""


def contacts(owner: User) -> tuple[Recipient, ...]:
    """Return whom a person may write to, each once: whom they wrote to, then who is in mail."""
    names = known_names(services.tables(), people.audiences(owner))
    known = list(_written_to(owner))
    for address, name in (*names.people, *names.recipients):
        if address:
            known.append(Recipient(address, one_line(name, 80)))
    named = {contact.key: contact for contact in reversed(known) if contact.name}
    return tuple(named.get(contact.key, contact) for contact in unique(known))


def complete(owner: User, text: str, at: int) -> tuple[Completion, ...]:
    """Return whom the recipient at a place of a text may be, at most ``MOST``.

    What is typed of a name or an address begins one of its words.
    """
    before = text[:at]
    begin = max(before.rfind(sign) for sign in ",;\n") + 1
    typed = before[begin:].strip().casefold().lstrip('"')
    if not typed:
        return ()
    start = begin + len(before[begin:]) - len(before[begin:].lstrip())
    ends = [end for sign in ",;\n" if (end := text.find(sign, at)) >= 0]
    end, after = min(ends, default=len(text)), "" if ends else ", "
    found = [contact for contact in contacts(owner) if _begins(contact, typed)]
    return tuple(
        Completion(start, end, f"{contact}{after}", contact.address if contact.name else "")
        for contact in found[:MOST]
    )


def recipients(owner: User, text: str) -> tuple[Recipient, ...]:
    """Return the recipients in a text, in which a name stands for its one known address.

    Raise TapestryError, in words: one that is the name of several has them named.
    """
    items = items_of(text) if len(text) <= LONGEST else []
    if all("@" in item for item in items):
        return read_recipients(text)
    known = contacts(owner)
    return read_recipients(", ".join(_named(item, known) for item in items))


def _named(item: str, known: tuple[Recipient, ...]) -> str:
    """Return a recipient for a name; what is no known name as it is."""
    name = " ".join(item.strip('"').split()).casefold()
    if "@" in item:
        return item
    same = [contact for contact in known if contact.name.casefold() == name]
    if len(same) > 1:
        raise TapestryError(
            f"“{item}” is the name of several people.",
            hint=f"Choose one: {in_words(same[:MOST])}.",
        )
    return str(same[0]) if same else item


def _begins(contact: Recipient, typed: str) -> bool:
    name, address = contact.name.casefold(), contact.address.casefold()
    words = (name, *name.split(), address, address.partition("@")[2])
    return any(word.startswith(typed) for word in words)


def _written_to(owner: User) -> Iterator[Recipient]:
    """Yield the recipients of a person's own letters, of the newest first; not of drafts."""
    sent = OutgoingMessage.objects.filter(owner=owner).exclude(state=OutgoingMessage.State.DRAFT)
    fields = sent.order_by("-changed_at").values_list("to", "cc", "bcc")[:LETTERS]
    for text in (text for row in fields for text in row if text):
        with suppress(TapestryError):
            yield from read_recipients(text)
