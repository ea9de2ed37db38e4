"""Phrases about who sent and who received a message."""

from __future__ import annotations

from tapestry.query.phrases.catalogue.conditions import recipient_is, sender_is
from tapestry.query.phrases.catalogue.kind import PhraseKind
from tapestry.query.tree.parsed import MESSAGE

KINDS = (
    PhraseKind(
        spelling="from {who:Jones}",
        description="sent by somebody: a name, an address, a domain, me",
        rank=0,
        meaning=lambda phrase, context: sender_is(MESSAGE, phrase.who, context),
        others=("(BY | SENT BY | MESSAGES FROM) who",),
    ),
    PhraseKind(
        spelling="to {who:Jones}",
        description="that this person received",
        rank=9,
        meaning=lambda phrase, context: recipient_is(("to", "cc"), phrase.who, context),
    ),
    PhraseKind(
        spelling="cc {who:Jones}",
        description="that this person received a copy of",
        rank=31,
        meaning=lambda phrase, context: recipient_is(("cc",), phrase.who, context),
    ),
)
