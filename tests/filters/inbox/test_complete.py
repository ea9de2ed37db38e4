"""Up to when a filter's list is complete, and what it waits for beyond that."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from filters.authoring import lifecycle
from filters.authoring.models import Filter, PendingWindow
from filters.inbox.complete import completeness
from filters.people.models import User
from filters.runs import rounds
from filters.runs.models import Heartbeat
from filters.sources.models import Source
from tapestry.core.clock import DAY, HOUR, MINUTE, wall_clock
from tapestry.tables.delta.log import Tables


@pytest.mark.usefixtures("engine")
def test_a_filter_says_up_to_when_it_is_complete_and_what_it_waits_for(
    mail: Tables, alice: User, bob: User, as_user: Callable[[User], Client]
) -> None:
    made = lifecycle.install(alice, "about plan", name="f")
    assert completeness(made).until is None, "it has not been run"
    rounds.run_round()
    page = as_user(alice).get("/in/f/").content.decode()
    assert "Complete up to" in page and "It waits for" not in page
    made.refresh_from_db()
    Filter.objects.filter(pk=made.pk).update(enrolled=False, proven=True, since=wall_clock() - HOUR)
    Heartbeat.objects.filter(pk=Heartbeat.OWN).delete()
    Heartbeat.objects.update_or_create(
        pk=Heartbeat.OWN, defaults={"ended_at": wall_clock() - HOUR, "error": "secret.example"}
    )
    Source.objects.create(
        owner=alice, kind=Source.Kind.IMAP, host="mail.example.org", port=993, user="al",
        audience="user:alice", active=True, failures=2, error="It refused the password.",
        due_at=wall_clock() + DAY,
    )  # fmt: skip
    hidden = Source(owner=bob, kind=Source.Kind.IMAP, host="bobs.example.org", port=993)
    hidden.audience, hidden.active, hidden.failures = "user:bob", True, 2
    hidden.save()
    made.refresh_from_db()
    said = completeness(made)
    assert said.until == made.since
    words = " ".join(said.waits_for)
    assert "It waits for the run of filters by themselves" in words and "and failed" in words
    assert "No mail of al at mail.example.org has come yet: It refused the password." in words
    assert "bobs" not in words and "secret" not in words and "Other people" not in words
    Source.objects.filter(owner=alice).update(complete_until=wall_clock() - 3 * HOUR - MINUTE)
    Source.objects.filter(owner=bob).update(complete_until=wall_clock() - HOUR, audience="public")
    page = as_user(alice).get("/in/f/").content.decode()
    assert "al at mail.example.org is 3 hours behind: It refused the password." in page
    assert "Other people’s sources, whose mail you see, are behind." in page
    assert "bobs.example.org" not in page
    Source.objects.update(failures=0, error="", complete_until=wall_clock(), due_at=wall_clock())
    assert "behind" not in as_user(alice).get("/in/f/").content.decode()
    PendingWindow.objects.create(
        filter=made, tql="…", start=None, since=made.since - MINUTE, until=made.since, error="x"
    )
    assert completeness(made).until == made.since - MINUTE
    assert "an error of this site is to be mended first" in completeness(made).waits_for[0]
