"""The operator is told once that something stands still, and once that it moves again."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.core import mail as sent_mail
from django.test import Client

from filters.people.models import User
from filters.runs.models import Alarm
from filters.runs.operator import alarm
from filters.runs.tasks import sound_alarm
from filters.site.settings.alarm import read_addresses, read_webhook
from filters.sources.models import Source
from tapestry.core.clock import HOUR, MINUTE, wall_clock
from tapestry.core.errors import TapestryError
from tapestry.deliver.http.post import Answer, NoAnswerError

SignIn = Callable[[User], Client]
LATE = "The run of all filters together is late: it last moved 120 s ago."


class Site:
    """A site of which the parts are as a test has them, with a webhook that answers as it likes."""

    def __init__(self) -> None:
        self.late, self.answers = False, True
        self.posted: list[dict[str, Any]] = []
        self.keys: list[str] = []

    def states(self) -> dict[str, dict[str, object]]:
        return {"disk": {"ok": True, "says": "has room"},
                "shared_window": {"ok": not self.late, "says": LATE}}  # fmt: skip

    def post(self, _url: str, body: bytes, headers: dict[str, str], **_: Any) -> Answer:
        if not self.answers:
            raise NoAnswerError("No answer.")
        self.posted.append(json.loads(body))
        self.keys.append(headers["Idempotency-Key"])
        return Answer(204, "")

    @staticmethod
    def pass_time() -> None:
        """Have what is unwell have been so for an hour more."""
        for row in Alarm.objects.all():
            Alarm.objects.filter(pk=row.pk).update(since=row.since - HOUR)


@pytest.fixture
def site(data: object, db: None, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Site:
    made = Site()
    monkeypatch.setattr(alarm, "states", made.states)
    monkeypatch.setattr(alarm, "post", made.post)
    settings.ALARM_WEBHOOK = "https://hooks.example.org/"
    User.objects.create_superuser("root", "root@example.org", "secret")
    return made


def test_the_alarm_is_told_once_when_it_begins_and_once_when_it_ends(
    site: Site,
) -> None:
    sound_alarm()
    assert not Alarm.objects.exists()
    site.late = True
    sound_alarm()
    assert Alarm.objects.count() == 1 and not sent_mail.outbox, "it is late for a moment only"
    site.pass_time()
    site.answers = False
    for _ in range(3):
        sound_alarm()
    (told,) = sent_mail.outbox
    assert told.to == ["root@example.org"] and LATE in told.body and "stands still" in told.subject
    site.answers = True
    sound_alarm()
    sound_alarm()
    (posted,) = site.posted
    assert LATE in posted["standing_still"][0] and posted["moving_again"] == []
    site.late = False
    sound_alarm()
    sound_alarm()
    assert len(sent_mail.outbox) == 2 and "moves again" in sent_mail.outbox[1].subject
    assert LATE in site.posted[1]["moving_again"][0] and len(site.posted) == 2
    assert len(set(site.keys)) == 2 and not Alarm.objects.exists()
    site.late = True
    sound_alarm()
    site.late = False
    sound_alarm()
    assert len(sent_mail.outbox) == len(site.posted) == 2, "it was over before it was told"


def test_what_begins_again_before_its_end_was_told_is_told_no_more(site: Site) -> None:
    site.late = True
    sound_alarm()
    site.pass_time()
    sound_alarm()
    site.late = site.answers = False
    sound_alarm()
    assert Alarm.objects.get().ended_at is not None, "its end was posted nowhere"
    site.late = site.answers = True
    sound_alarm()
    assert Alarm.objects.get().ended_at is None and len(site.posted) == 1


def test_a_source_that_stands_still_is_named_to_the_operator_alone(
    site: Site, alice: User, as_user: SignIn, client: Client, settings: Any
) -> None:
    settings.ALARM_MAIL = ["ops@example.org"]
    now = wall_clock()
    source = Source.objects.create(
        owner=alice, kind="imap", host="mail.secret.example", port=993, audience="user:alice",
        active=True, due_at=now, pulled_at=now - 4 * HOUR, failures=2, folder_patterns=["Divorce"],
        error="mail.secret.example has no mailbox Divorce that alice may read.",
    )  # fmt: skip
    sound_alarm()
    site.pass_time()
    sound_alarm()
    (told,) = sent_mail.outbox
    says = "The mail of alice at mail.secret.example stands still: A folder or group is not there."
    assert told.to == ["ops@example.org"] and says in told.body and "Divorce" not in told.body
    page = as_user(User.objects.get(username="root")).get("/operator/").content.decode()
    assert says in page and "You were told." in page and "Divorce" not in page
    public = client.get("/healthz")
    assert public.json()["parts"]["sources"]["says"] == (
        "are pulled, but some have brought nothing for long"
    )
    assert "secret" not in public.content.decode()
    for changes in ({"failures": 0, "error": "", "pulled_at": now}, {"active": False}):
        Source.objects.filter(pk=source.pk).update(**changes)
        assert not alarm.standing()
    Source.objects.update(active=True, pulled_at=None, due_at=now - MINUTE)
    assert not alarm.standing(), "it was added a moment ago"
    Source.objects.update(due_at=now - HOUR)
    assert alarm.standing() == [source]


def test_settings_of_the_alarm_are_refused_in_one_sentence() -> None:
    with pytest.raises(TapestryError, match=r"TAPESTRY_ALARM_MAIL holds “ann”"):
        read_addresses("joe@example.org,ann")
    with pytest.raises(TapestryError, match=r"TAPESTRY_ALARM_WEBHOOK: This is not the address"):
        read_webhook("hooks.example.org")
