"""Which appends were imports: mail that was there before anybody asked for it here.

What of it is old is nothing new to its reader: it arrives read, and in one block of a list.
"""

from __future__ import annotations

from collections.abc import Sequence

from filters.inbox.models import Card
from filters.runs.models import Import
from filters.site.work.db.batching import batched
from tapestry.core.clock import DAY
from tapestry.servers.quoted_reply import storable

OLD = DAY
"""How long before its import a message was received that arrives read."""


def record(name: str, ts: int) -> None:
    """Store that what becomes visible at ``ts`` is an import; called before it is."""
    Import.objects.get_or_create(ts=ts, defaults={"name": storable(name)})


def name_cards(cards: Sequence[Card]) -> None:
    """Give the cards of old messages of imports the name of their import."""
    old = [card for card in cards if card.ts - card.received > OLD]
    names: dict[int, str] = {}
    for batch in batched(sorted({card.ts for card in old})):
        names |= Import.objects.filter(ts__in=batch).values_list("ts", "name")
    for card in old:
        card.imported = names.get(card.ts, "")
