"""Beats of webhooks: once a minute, to those of which it is asked, that the site is at work.

    filters have run until T ─ nothing of it remains ─> complete until T ─ signed ─> webhook

So a receiver tells “nothing matched” from “nobody looked”.  What fails gets none: its deliveries
are tried again, and are the beat.
"""

from __future__ import annotations

import time

from django.db.models import Q, QuerySet

from filters.delivery.dispatch.scope import served
from filters.delivery.models import Destination
from filters.delivery.reached import Remaining, complete_until, remaining
from filters.delivery.ways.webhook import send_beat
from tapestry.core.clock import MINUTE, wall_clock
from tapestry.core.log import event
from tapestry.deliver.ways.webhook import Beat

SECONDS, TURN = 3.0, 6.0
"""That a server has to answer, and after which no other webhook of the same person is begun."""


def owners() -> list[int]:
    """Return the keys of the people of whom a webhook is to get a beat."""
    return list(_beating().order_by().values_list("owner", flat=True).distinct())


def beat(owner: int) -> None:
    """Send the webhooks of a person their beats, one after the other, in any order.

    One that is gone (410) is turned off, as by a delivery.  Slow servers cost their owner alone.
    """
    end = time.monotonic() + TURN
    for webhook in _beating().filter(owner=owner).select_related("owner").order_by("?"):
        if time.monotonic() > end:
            return
        outcome = send_beat(webhook, _beat_of(webhook), SECONDS)
        if outcome.state == "refused":
            _beating().filter(pk=webhook.pk).update(active=False, error=outcome.answer)
        event("beat", destination=webhook.pk, state=outcome.state)


def _beating() -> QuerySet[Destination]:
    asked = Q(kind="webhook", settings__beat=True, failures=0)
    return served().filter(asked)


def _beat_of(webhook: Destination) -> Beat:
    until, minute = complete_until(webhook.owner), wall_clock() // MINUTE
    rest = Remaining((), ()) if until is None else remaining(until, webhook.owner)
    key = f"{webhook.uid.hex}-beat-{minute}"
    return Beat(key, None if rest.now else until, rest.now, rest.later)
