"""The demo's data: people with filters, and mail that is as old as it says."""

from __future__ import annotations

from pathlib import Path

import pytest

from filters import listing, parts, rounds
from filters.management.commands.demo import Demo
from filters.models import Filter, Match
from filters.sample.load import deliver
from filters.sample.people import FILTERS, LIVE
from filters.sample.story import story
from filters.sample.trickle import Trickle
from filters.stores import DjangoClock
from tapestry.core.clock import WEEK, wall_clock
from tapestry.core.errors import TapestryError

pytestmark = [pytest.mark.usefixtures("engine"), pytest.mark.django_db]


def counts() -> dict[str, int]:
    return {
        each.name: listing.visible(each.owner).filter(filter=each).count()
        for each in Filter.objects.select_related("owner")
    }


def test_every_filter_is_there_and_the_mail_is_as_old_as_it_says(data: Path) -> None:
    demo = Demo(data / "sample", messages=300)
    demo.prepare()
    assert set(demo.passwords) == set(FILTERS)
    names = Filter.objects.values_list("owner__username", "name")
    assert set(names) == {(user, name) for user, texts in FILTERS.items() for name in texts}
    assert set(Filter.objects.filter(mode="live").values_list("name", flat=True)) == LIVE
    assert rounds.run_round().failed == 0
    found = counts()
    assert found["unanswered"] > 30, "what is two weeks old has been here for two weeks"
    assert 0 < found["top-ten"] <= 10, "as many as were voted on this week"
    old = listing.visible(Filter.objects.get(name="unanswered").owner)
    assert old.filter(filter__name="unanswered", matched_at__lt=wall_clock() - WEEK).exists()


def test_what_trickles_in_moves_the_live_filters(data: Path) -> None:
    Demo(data / "sample", messages=200).prepare()
    rounds.run_round()
    assert not Match.objects.exclude(gone_at=None).exists()
    now = wall_clock()
    trickle = Trickle(story(now, messages=200), seed=1, now=now)
    for _ in range(40):
        deliver(trickle.happen(now), data / "sample", parts.tables(), DjangoClock())
    rounds.run_round()
    left = Match.objects.exclude(gone_at=None).values_list("filter__name", flat=True)
    assert left and set(left) <= LIVE
    assert counts()["top-ten"] == 10


def test_preparing_it_again_adds_nothing(data: Path) -> None:
    Demo(data / "sample", messages=60).prepare()
    before = list(Filter.objects.values_list("pk", "since", "revision"))
    again = Demo(data / "sample", messages=60)
    again.prepare()
    assert list(Filter.objects.values_list("pk", "since", "revision")) == before


def test_it_leaves_the_data_of_real_people_alone(data: Path, carol: object) -> None:
    with pytest.raises(TapestryError, match="holds the mail of real people"):
        Demo(data / "sample", messages=60).prepare()
    assert not (data / "sample" / "loaded").exists()
