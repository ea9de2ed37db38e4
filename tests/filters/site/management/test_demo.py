"""The demo's data: people with filters, and mail that is as old as it says."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from django.test import Client

from filters.authoring.models import Filter
from filters.inbox.appraisal.upkeep import appraise
from filters.inbox.models import AppraiserRule, Match
from filters.people.models import User
from filters.runs import rounds
from filters.runs.store.filter_store import DjangoClock
from filters.sample.letter import Letter
from filters.sample.load import deliver
from filters.sample.people import FILTERS, LIVE, RULES
from filters.sample.story import Event, story
from filters.sample.trickle import Trickle
from filters.site.management.commands.demo import Demo
from filters.site.work.parts import services
from tapestry.core.clock import WEEK, wall_clock
from tapestry.core.errors import TapestryError
from tapestry.core.message import PUBLIC, Annotation
from tapestry.core.schema import ANNOTATIONS, MESSAGES

pytestmark = [pytest.mark.usefixtures("engine"), pytest.mark.django_db]


def counts() -> dict[str, int]:
    return {
        filter_.name: Match.objects.visible_to(filter_.owner).filter(filter=filter_).count()
        for filter_ in Filter.objects.select_related("owner")
    }


def held(name: str) -> set[str]:
    """What a filter holds now, whatever is shown yet."""
    return set(
        Match.objects.filter(filter__name=name, retracted_at=None).values_list("msgid", flat=True)
    )


def top_ten(until: int) -> set[str]:
    """The ten public messages with the most votes in the week before, by loops."""
    tables = services.tables()
    mail = tables.open(MESSAGES).to_pyarrow_table(columns=["msgid", "audience"]).to_pylist()
    public = {row["msgid"] for row in mail if row["audience"] == PUBLIC}
    votes: Counter[str] = Counter()
    for row in tables.open(ANNOTATIONS).to_pyarrow_table().to_pylist():
        if row["kind"] == "vote" and row["msgid"] in public and until - WEEK < row["ts"] <= until:
            votes[row["msgid"]] += row["number"]
    return set(sorted(votes, key=lambda msgid: (-votes[msgid], msgid))[:10])


def test_every_filter_is_there_and_the_mail_is_as_old_as_it_says(data: Path) -> None:
    demo = Demo(data / "sample", messages=300)
    demo.prepare()
    assert set(demo.passwords) == set(FILTERS)
    names = Filter.objects.values_list("owner__username", "name")
    assert set(names) == {(user, name) for user, texts in FILTERS.items() for name in texts}
    assert set(Filter.objects.filter(mode="live").values_list("name", flat=True)) == LIVE
    round_ = rounds.run_round()
    assert round_.failed == 0
    found = counts()
    assert found["unanswered"] > 30, "what is two weeks old has been here for two weeks"
    assert held("top-ten") == top_ten(round_.until)
    old = Match.objects.visible_to(Filter.objects.get(name="unanswered").owner)
    assert old.filter(filter__name="unanswered", matched_at__lt=wall_clock() - WEEK).exists()


def test_what_trickles_in_moves_the_live_filters(data: Path) -> None:
    Demo(data / "sample", messages=200).prepare()
    before = top_ten(rounds.run_round().until)
    assert held("top-ten") == before
    now = wall_clock()
    trickle = Trickle(story(now, messages=200), seed=1, now=now)
    events = [event for _ in range(40) for event in trickle.happen(now)]
    sent = [event.what for event in events if isinstance(event.what, Letter)]
    best = {letter.msgid for letter in sent[:10]}
    cheers = [Annotation(f"cheer.{msgid}", msgid, "jo", "vote", number=99.0) for msgid in best]
    deliver(
        [*events, *(Event(now, cheer) for cheer in cheers)],
        data / "sample",
        services.tables(),
        DjangoClock(),
    )
    assert top_ten(rounds.run_round().until) == best == held("top-ten")
    gone = Match.objects.filter(filter__name="top-ten").exclude(retracted_at=None)
    assert set(gone.values_list("msgid", flat=True)) == before
    left = Match.objects.exclude(retracted_at=None).values_list("filter__name", flat=True)
    assert set(left) <= LIVE


def test_preparing_it_again_adds_nothing(data: Path) -> None:
    Demo(data / "sample", messages=60).prepare()
    before = list(Filter.objects.values_list("pk", "since", "revision"))
    again = Demo(data / "sample", messages=60)
    again.prepare()
    assert list(Filter.objects.values_list("pk", "since", "revision")) == before


def test_there_is_an_operator_something_shared_and_something_important(data: Path) -> None:
    Demo(data / "sample", messages=200).prepare()
    rounds.run_round()
    appraise(services.tables())
    terry, mary = (User.objects.get(username=name) for name in ("terry", "mary"))
    client, other = Client(), Client()
    client.force_login(terry)
    other.force_login(mary)
    assert client.get("/operator/").status_code == 200
    assert other.get("/operator/").status_code != 200
    assert "mary’s databases" in client.get("/shared/").content.decode()
    page = client.get("/importance/").content.decode()
    assert "is ignored" not in page and page.count('name="weight"') == len(RULES) + 1
    rows = client.get("/by-importance/").context["rows"]
    assert rows[0].card.importance.total > rows[-1].card.importance.total
    AppraiserRule.objects.all().delete()
    Demo(data / "sample", messages=200).prepare()
    assert not AppraiserRule.objects.exists(), "what terry has removed stays removed"


def test_it_leaves_the_data_of_real_people_alone(data: Path, carol: object) -> None:
    with pytest.raises(TapestryError, match="holds the mail of real people"):
        Demo(data / "sample", messages=60).prepare()
    assert not (data / "sample" / "loaded").exists()
