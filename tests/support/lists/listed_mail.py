"""Messages in the lists of people, as a run and a refresh of the lists leave them."""

from __future__ import annotations

from filters.authoring.models import Filter
from filters.inbox.lists.cards import refresh_cards
from filters.people.models import User
from filters.runs.store.filter_store import DjangoClock, DjangoFilterStore
from tapestry.core.message import Message
from tapestry.core.ports import Match as Found
from tapestry.tables.delta.log import Tables
from tapestry.tables.write.append import append_messages


def letters(tables: Tables, *msgids: str, root: str = "", audience: str = "public") -> None:
    """Append messages, as replies to ``root`` unless it is empty."""
    append_messages(
        tables,
        DjangoClock(),
        [
            Message(
                msgid,
                sender="mary@example.org",
                sender_name="Mary Jones",
                subject=f"About {msgid}",
                body="Yes.",
                audience=audience,
                inreplyto=root or None,
                references=(root,) if root else (),
            )
            for msgid in msgids
        ],
    )


def find(tables: Tables, filter_: Filter, *msgids: str, audience: str = "public") -> None:
    """Let a filter find messages, one after another, and refresh the lists."""
    filter_.refresh_from_db()
    since = max(filter_.since, 8)
    until = since + max(len(msgids), 1)
    due = [window for window in DjangoFilterStore().due(until) if window.filter_id == filter_.pk]
    found = [
        Found(filter_.pk, msgid, audience, since + i, 0, (msgid,))
        for i, msgid in enumerate(msgids, start=1)
    ]
    assert DjangoFilterStore().commit(due, until, found)
    refresh_cards(tables)


def installed(owner: User, name: str) -> Filter:
    return Filter.objects.create(
        owner=owner, name=name, text="from jones", phrase="from Jones", tql="…"
    )
