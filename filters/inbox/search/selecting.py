"""All results of a search selected at once, as all messages of a list are."""

from __future__ import annotations

from collections.abc import Sequence

from filters.inbox.lists.cards import CopyKey, ensure_cards
from filters.inbox.models import Card, Selection
from filters.inbox.search.searches import Found
from filters.inbox.triage.lists import select_keys
from filters.people import people
from filters.people.models import User
from filters.site.work.db.batching import batched
from filters.site.work.parts import services
from tapestry.core.errors import TapestryError
from tapestry.core.schema import MESSAGES
from tapestry.tables.read.messages import lookup, narrowest_by_msgid

MOST = 10_000
"""Results that are selected at once: those that no filter found get their cards meanwhile."""


def select_found(user: User, found: Found) -> Selection:
    """Keep which messages a search has found, as far as the person may see them now.

    Raise TapestryError, in words, if they are too many.
    """
    if len(found.msgids) > MOST:
        raise TapestryError(
            f"You can select at most {MOST:,} results at once.", hint="Make the search narrower."
        )
    keys = [key for batch in batched(found.msgids) for key in _card_keys(user, batch)]
    return select_keys(user, keys)


def _card_keys(user: User, msgids: Sequence[str]) -> list[int]:
    """Return the keys of the cards of messages: of the copies that the results show."""
    tables, audiences = services.tables(), people.audiences(user)
    rows = lookup(tables, MESSAGES, "msgid", msgids, audiences, ("msgid", "audience"))
    shown = [CopyKey(msgid, row["audience"]) for msgid, row in narrowest_by_msgid(rows).items()]
    known = _keys(msgids, audiences)
    ensure_cards(tables, [copy for copy in shown if copy not in known])
    known = _keys(msgids, audiences)
    return [known[copy] for copy in shown if copy in known]


def _keys(msgids: Sequence[str], audiences: Sequence[str]) -> dict[tuple[str, str], int]:
    cards = Card.objects.filter(msgid__in=msgids, audience__in=audiences)
    return {(msgid, own): key for key, msgid, own in cards.values_list("pk", "msgid", "audience")}
