"""Phrases about who sent and who received a message."""

from __future__ import annotations

from tapestry.query.phrases.catalogue.conditions import recipient_is, sender_is
from tapestry.query.phrases.catalogue.kind import PhraseKind
from tapestry.query.tree.parsed import MESSAGE

KINDS = (
    PhraseKind(
        spelling="from {person:Jones}",
        description="sent by somebody: a name, an address, a domain, me",
        rank=0,
        meaning=lambda phrase, context: sender_is(MESSAGE, phrase.person, context),
        others=("BY person", "myself (SENT | WROTE)"),
        listed="or",
    ),
    PhraseKind(
        spelling="to {person:Jones}",
        description="that this person received",
        rank=9,
        meaning=lambda phrase, context: recipient_is(("to", "cc"), phrase.person, context),
    ),
    PhraseKind(
        spelling="cc {person:Jones}",
        description="that this person received a copy of",
        rank=31,
        meaning=lambda phrase, context: recipient_is(("cc",), phrase.person, context),
    ),
)
