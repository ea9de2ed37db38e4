"""How many deliveries of a destination are remembered."""

from __future__ import annotations

from filters.delivery.dispatch import history
from filters.delivery.models import Delivery, Destination
from filters.people.models import User
from tapestry.core.clock import DAY, wall_clock


def test_the_latest_deliveries_and_those_of_a_week_are_kept(alice: User, hook: Destination) -> None:
    quiet = Destination.objects.create(owner=alice, kind="webhook", name="quiet")
    now = wall_clock()
    for destination, days, count in ((hook, 30, 15), (hook, 1, 12), (quiet, 30, 15)):
        for _ in range(count):
            Delivery.objects.create(destination=destination, at=now - days * DAY, state="retry")
    assert history.prune(now) == 20
    assert (hook.deliveries.count(), quiet.deliveries.count()) == (12, history.SHOWN)
    assert history.prune(now) == 0
