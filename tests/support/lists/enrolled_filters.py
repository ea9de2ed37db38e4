"""Filters with their own window, enrolled filters of the shared one, and a match of a filter."""

from __future__ import annotations

from filters.authoring.models import Filter
from filters.people.models import User
from filters.runs.store.filter_store import DjangoFilterStore, latest_instant
from tapestry.core.ports import Match

STORE = DjangoFilterStore()


def with_own_window(owner: User, name: str = "jones", **fields: object) -> Filter:
    return Filter.objects.create(
        owner=owner, name=name, text="from jones", tql="from jones", **fields
    )


def run_and_enroll(until: int) -> int:
    """Run all filters to an instant, let them share their window, and begin the next."""
    due = [filter_due for filter_due in STORE.due(until) if filter_due.pending_window is None]
    assert STORE.commit(due, until, [])
    assert STORE.commit_shared(STORE.shared_since(), until, [], [])
    STORE.enroll(due, until)
    assert STORE.shared_since() == until
    return until


def enrolled(owner: User, name: str = "jones", **fields: object) -> Filter:
    made = with_own_window(owner, name, **fields)
    run_and_enroll(latest_instant())
    made.refresh_from_db()
    assert made.enrolled
    return made


def match_of(found_by: Filter, msgid: str = "a@x", at: int = 5) -> Match:
    return Match(found_by.pk, msgid, "public", at, 0, (msgid,))
