"""Filters that have found something, as a run would have stored it: what pages show."""

from __future__ import annotations

from filters.authoring.models import Filter
from filters.inbox.lists.cards import refresh_cards
from filters.people.models import User
from filters.runs.store.filter_store import DjangoFilterStore
from tapestry.core.ports import Match
from tapestry.tables.delta.log import Tables


def deliver(
    tables: Tables, owner: User, name: str, *msgids: str, audience: str = "public"
) -> Filter:
    """Install a filter and let it have found these messages, as a run would store them."""
    made = Filter.objects.create(
        owner=owner, name=name, text="from jones", phrase="from Jones", tql="…"
    )
    store = DjangoFilterStore()
    due = [window for window in store.due(9) if window.filter_id == made.pk]
    found = [Match(made.pk, msgid, audience, 5 + i, 0, (msgid,)) for i, msgid in enumerate(msgids)]
    assert store.commit(due, 9, found)
    refresh_cards(tables)
    return made
