"""`manage.py wait`: mail has reached every delivery, or it is said what is still to come."""

from __future__ import annotations

import pytest
from django.core.management import call_command

from filters.authoring import lifecycle
from filters.authoring.models import Filter
from filters.delivery.models import Destination
from filters.delivery.reached import Remaining, remaining
from filters.people.models import User
from filters.runs import rounds
from filters.runs.store.release import release
from tapestry.core.clock import BEGINNING, HOUR, wall_clock
from tapestry.core.errors import TapestryError
from tapestry.deliver.batch import Outcome
from tapestry.tables.delta.log import Tables, newest_instant
from tests.support.delivery_turn import turn
from tests.support.recorded_way import Recorder


@pytest.mark.usefixtures("engine")
def test_each_step_of_mail_is_waited_for_until_it_was_sent(
    mail: Tables, alice: User, hook: Destination, way: Recorder, capsys: pytest.CaptureFixture[str]
) -> None:
    newest = newest_instant(mail)
    call_command("wait")
    assert "Complete up to 20" in capsys.readouterr().out, "there is no filter"
    lifecycle.install(alice, "about plan", name="f")
    assert "1 filter that runs by itself is not there yet." in remaining(newest).now
    with pytest.raises(TapestryError, match=r"has not come everywhere: .* not there yet"):
        call_command("wait", timeout=0.0)
    rounds.run_round()
    assert not any("not there yet" in sentence for sentence in remaining(newest).now)
    release()
    assert remaining(newest).now == ("1 delivery is under way.",)
    way.outcome = Outcome("retry", "The server is busy.")
    turn()
    assert remaining(newest).now == ()
    call_command("wait")
    assert "1 delivery comes later, the first at " in capsys.readouterr().out
    way.outcome = Outcome("delivered")
    Destination.objects.update(due_at=wall_clock())
    turn()
    assert remaining(newest) == Remaining((), ())
    assert way.delivered


@pytest.mark.usefixtures("engine")
def test_what_was_turned_off_is_not_waited_for_and_what_is_timed_is_named(
    mail: Tables, alice: User
) -> None:
    made = lifecycle.install(alice, "about plan", name="f", timeliness="daily at 08:00")
    Filter.objects.filter(pk=made.pk).update(since=BEGINNING, active=False)
    assert remaining(wall_clock()).now == ()
    Filter.objects.update(active=True)
    rounds.run_round()
    assert remaining(wall_clock() - HOUR).now == ()
    assert any("shown later" in sentence for sentence in remaining(wall_clock()).later)
