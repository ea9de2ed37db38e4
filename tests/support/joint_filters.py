"""Filters apart and joined, and what one of them found."""

from __future__ import annotations

from django.contrib.auth.models import User

from filters.models import Filter
from filters.store.filter_store import DjangoFilterStore, latest_instant
from tapestry.core.ports import Match

STORE = DjangoFilterStore()


def apart(owner: User, name: str = "jones", **fields: object) -> Filter:
    return Filter.objects.create(
        owner=owner, name=name, text="from jones", tql="from jones", **fields
    )


def run_jointly(until: int) -> int:
    """Run all filters to an instant and let them share their window from there."""
    due = [one for one in STORE.due(until) if one.pending_window is None]
    assert STORE.commit(due, until, [])
    assert STORE.commit_shared(STORE.shared_since(), until, [], [])
    STORE.enroll(due, until)
    return until


def joined(owner: User, name: str = "jones", **fields: object) -> Filter:
    made = apart(owner, name, **fields)
    run_jointly(latest_instant())
    made.refresh_from_db()
    assert made.enrolled
    return made


def found_in(joined: Filter, msgid: str = "a@x", at: int = 5) -> Match:
    return Match(joined.pk, msgid, "public", at, 0, (msgid,))
