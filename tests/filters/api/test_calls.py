"""The calls of the API: each does what the page does, for the owner of its token alone."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from threading import BoundedSemaphore
from zoneinfo import ZoneInfo

import pytest
from django.db.models import Model
from django.test import Client
from django.utils import timezone

from filters.api import waits
from filters.api.authentication import make_token
from filters.authoring.models import Filter
from filters.people.models import User
from filters.runs.store.expiry import last_instant
from filters.runs.store.release import release
from filters.site.work.crypto import arrival_tokens
from tapestry.core.clock import to_datetime, wall_clock
from tapestry.tables.delta.log import Tables, newest_instant
from tests.filters.api.conftest import Caller
from tests.support.answers.tokens import ENDINGS, end_all
from tests.support.lists.live_filters import arrive, run

Programs = Callable[..., Caller]


def show(*names: str) -> None:
    """Run filters, and release what they found."""
    run(*names)
    release()


def test_a_filter_from_its_creation_to_its_end(
    mail: Tables, alice: User, program: Programs
) -> None:
    call = program(alice)
    made = call("POST", "filters", status=201, text="from mary", name="mary", existing=True)
    assert (made["phrase"], made["mode"], made["active"]) == ("from mary", "keep", True)
    assert [filter_["name"] for filter_ in call("GET", "filters")] == ["mary"]
    call("POST", "filters", status=409, text="from bill", name="mary")
    assert call("GET", "filters/mary")["text"] == "from mary", "it is as it was"
    changed = call("PATCH", "filters/mary", text="from bill", title="Bill", active=False)
    assert (changed["phrase"], changed["title"], changed["active"]) == ("from bill", "Bill", False)
    call("PATCH", "filters/mary", status=422, timeliness="whenever I like")
    assert call("GET", "filters/mary")["timeliness"] == ""
    assert call("PATCH", "filters/mary", active=True)["text"] == "from bill"
    call("DELETE", "filters/mary", status=204)
    call("GET", "filters/mary", status=404)
    refused = call("POST", "filters", status=422, text="replies bye Jones")
    assert "Did you mean" in refused["detail"]
    assert call("POST", "understand", text="from mary")["tql"].startswith("m.sender")


def test_a_last_day_ends_where_the_owner_of_the_token_is(alice: User, program: Programs) -> None:
    User.objects.filter(pk=alice.pk).update(time_zone="Pacific/Honolulu")
    call = program(User.objects.get(pk=alice.pk))
    today = to_datetime(wall_clock()).astimezone(ZoneInfo("Pacific/Honolulu")).date()
    call("POST", "filters", status=201, text="from mary", name="mary", until=f"{today:%F}")
    stored = Filter.objects.get()
    assert stored.end == last_instant(today, ZoneInfo("Pacific/Honolulu"))
    call("PATCH", "filters/mary", until=f"{today:%F}", title="Mary")
    assert Filter.objects.get().end == stored.end
    yesterday = today - timedelta(days=1)
    call("PATCH", "filters/mary", status=422, until=f"{yesterday:%F}")


def test_a_time_is_said_by_the_clock_of_the_owner_of_the_token(
    mail: Tables, engine: None, alice: User, program: Programs
) -> None:
    alice.time_zone = "Pacific/Honolulu"
    alice.save()
    call = program(alice)
    given = {"text": "from mary", "name": "f", "timeliness": "daily at 03:47"}
    call("POST", "filters", status=201, **given)
    show("f")
    everything = arrival_tokens.of_mail(newest_instant(mail))
    (later,) = call("GET", f"arrived/{everything}")["later"]
    assert "are shown later, the first at 03:47" in later
    secret = make_token(alice, "of a mail program", ["jmap"], 7)[1]
    Client().get("/.well-known/jmap", headers={"Authorization": f"Bearer {secret}"})
    assert timezone.get_current_timezone_name() == "UTC", "no later call has this clock"


def test_each_step_of_a_list_is_given_once(
    mail: Tables, engine: None, alice: User, program: Programs
) -> None:
    call = program(alice)
    call("POST", "filters", status=201, text="from mary and with no reply", name="f", mode="live")
    show("f")
    first = call("GET", "filters/f/matches?limit=1")
    rest = call("GET", f"filters/f/matches?after={first['next']}")
    steps = [*first["matches"], *rest["matches"]]
    assert [step["op"] for step in steps] == ["insert"] * 2
    assert {step["id"] for step in steps} == {"secret@example.org", "parc@example.org"}
    end = call("GET", f"filters/f/matches?after={rest['next']}")
    assert end == {"matches": [], "next": rest["next"], "is_end": True}
    arrive(mail, "answer", "parc")
    show("f")
    (left,) = call("GET", f"filters/f/matches?after={rest['next']}")["matches"]
    assert (left["op"], left["id"]) == ("delete", "parc@example.org")
    call("GET", "filters/f/matches?after=forged", status=422)


def test_a_call_waits_until_a_step_is_released(
    mail: Tables, engine: None, alice: User, program: Programs, monkeypatch: pytest.MonkeyPatch
) -> None:
    call, pauses = program(alice), []
    call("POST", "filters", status=201, text="from mary", name="f", existing=True)
    run("f")

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        release()

    monkeypatch.setattr(waits, "sleep", pause)
    page = call("GET", "filters/f/matches?wait=20")
    assert len(page["matches"]) == 3 and len(pauses) == 1
    end = f"filters/f/matches?after={page['next']}"
    assert call("GET", f"{end}&wait=0.001")["is_end"]
    monkeypatch.setattr(waits, "_places", BoundedSemaphore(1))
    with waits._places:
        pauses.clear()
        assert call("GET", f"{end}&wait=20")["is_end"] and not pauses, "no thread is left for it"
    call("GET", f"{end}&wait=21", status=422)


@pytest.mark.parametrize(("of", "changed"), ENDINGS)
def test_a_call_that_waits_ends_with_its_token(
    mail: Tables,
    engine: None,
    alice: User,
    program: Programs,
    monkeypatch: pytest.MonkeyPatch,
    of: type[Model],
    changed: dict[str, int],
) -> None:
    call = program(alice)
    call("POST", "filters", status=201, text="from mary", name="f", existing=True)
    run("f")

    def pause(seconds: float) -> None:
        end_all(of, changed)
        release()

    monkeypatch.setattr(waits, "sleep", pause)
    call("GET", "filters/f/matches?wait=20", status=401)


@pytest.mark.usefixtures("worker")
def test_questions_are_answered_as_on_the_pages(
    mail: Tables, alice: User, carol: User, program: Programs
) -> None:
    call = program(alice)
    task = call("POST", "previews", status=202, text="from mary@example.org")["task"]
    found = call("GET", f"previews/{task}")
    assert found["count"] == 3
    assert "The plan" in {message["subject"] for message in found["messages"]}
    task = call("POST", "searches", status=202, text="between us")["task"]
    assert [line["id"] for line in call("GET", f"searches/{task}")["messages"]] == [
        "secret@example.org"
    ]
    program(carol)("GET", f"searches/{task}", status=404)
    call("POST", "filters", status=201, text="voted for by more than 3 people", name="liked")
    task = call("POST", "whys?filter=liked&id=plan@example.org", status=202)["task"]
    assert call("GET", f"whys/{task}")["holds"] is False
    call("POST", "whys?filter=liked&id=nothing@example.org", status=404)
    call("POST", "searches", status=422, text="(((")


def test_a_message_and_what_is_said_and_done_about_it(
    mail: Tables, engine: None, alice: User, program: Programs
) -> None:
    call = program(alice)
    message = call("GET", "message?id=plan@example.org")
    assert message["subject"] == "The plan" and message["voted_for"] == ["carol"]
    assert call("POST", "annotations", id="plan@example.org", kind="vote", number=1)["changed"]
    again = call("POST", "annotations", id="plan@example.org", kind="vote", number=1)
    assert not again["changed"]
    waits = call("GET", f"arrived/{again['token']}")
    assert waits["waits_for"] == ["What was said of a message is being stored."]
    assert not waits["complete"]
    call("POST", "annotations", id="plan@example.org", kind="tag", value="urgent")
    message = call("GET", "message?id=plan@example.org")
    assert set(message["voted_for"]) == {"alice", "carol"}
    assert message["tags"] == {"urgent": ["alice"]}
    call("POST", "annotations", status=422, id="plan@example.org", kind="vote", number=7)
    call("POST", "filters", status=201, text="from mary", name="mary")
    show("mary")
    target = {"id": "plan@example.org"}
    done = call("POST", "acts", action="done", messages=[target])
    assert done["count"] == 1
    call("DELETE", f"acts/{done['step']}", status=204)
    call("POST", "acts", status=422, action="burn", messages=[target])
    call("POST", "acts", status=422, action="snooze", messages=[target], until="2001-01-01T00:00Z")
    call("POST", "acts", status=409, action="done", messages=[{"id": "reply@example.org"}])


def test_nobody_learns_of_what_they_may_not_see(
    mail: Tables, alice: User, carol: User, program: Programs
) -> None:
    call = program(carol)
    program(alice)("POST", "filters", status=201, text="from mary", name="mary")
    for path in ("message", "message/original"):
        hidden = call("GET", f"{path}?id=secret@example.org", status=404)
        assert hidden == call("GET", f"{path}?id=nothing@example.org", status=404)
    call("POST", "annotations", status=404, id="secret@example.org", kind="vote", number=1)
    given = {"id": "plan@example.org", "kind": "vote", "number": 1}
    vote = program(alice)("POST", "annotations", **given)["token"]
    refused = call("GET", f"arrived/{vote}", status=404)
    assert refused == call("GET", "arrived/forged", status=404)
    everything = arrival_tokens.of_mail(newest_instant(mail))
    assert call("GET", f"arrived/{everything}") == {"complete": True, "waits_for": [], "later": []}
    assert not program(alice)("GET", f"arrived/{everything}")["complete"]
    call("GET", "filters/mary", status=404)
    call("GET", "filters/mary/matches", status=404)
    assert call("GET", "filters") == []


def test_what_is_misformed_is_told_with_its_place(alice: User, program: Programs) -> None:
    call = program(alice)
    wrong = call("POST", "filters", status=422, text=7)
    assert wrong["errors"][0]["pointer"] == "#/text"
    beyond = call("GET", "filters/f/matches?limit=1000", status=422)
    assert beyond["errors"][0]["parameter"] == "limit"
    assert "no JSON" in call("POST", "filters", status=400, raw="{")["detail"]
    assert call("PATCH", "filters", status=405, title="x")["detail"] == "Use GET, POST here."
    assert "There is no such call" in call("GET", "nowhere", status=404)["detail"]
    assert "There is no such call" in call("POST", "filters/f/nowhere", status=404)["detail"]
