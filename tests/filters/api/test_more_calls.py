"""Calls about lists, sources, destinations, drafts and files of filters, from first to last."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable

import pytest

from filters.authoring.models import Filter
from filters.compose.models import OutgoingMessage
from filters.delivery.models import Address, Destination
from filters.people.models import User
from filters.sources.models import Source
from tapestry.core.clock import DAY, format_instant, wall_clock
from tapestry.tables.delta.log import Tables
from tests.filters.api.conftest import Caller
from tests.filters.api.test_calls import show
from tests.support.lists.live_filters import arrive

Programs = Callable[..., Caller]

NEWS = {"id": "news@example.org"}


def test_lists_are_counted_read_and_put_right(
    mail: Tables, engine: None, alice: User, program: Programs
) -> None:
    call = program(alice)
    call("POST", "filters", status=201, text="from news@x.org", name="f", acts=["star"])
    arrive(mail, "news")
    show("f")
    (counted,) = call("GET", "counts")["filters"]
    assert (counted["filter"], counted["total"], counted["unread"]) == ("f", 1, 1)
    assert [line["id"] for line in call("GET", "lists/inbox")] == [NEWS["id"]]
    assert [line["id"] for line in call("GET", "lists/starred")] == [NEWS["id"]]
    assert call("GET", "lists/inbox?page=2") == []
    step = call("POST", "read", filter="f")
    assert step["count"] == 1 and call("GET", "counts")["unread"] == 0
    call("DELETE", f"acts/{step['step']}", status=204)
    assert call("GET", "counts")["unread"] == 1
    assert [line["stand"] for line in call("GET", "filters/f/acts")] == [["star"]]
    assert call("POST", "filters/f/acts/undo", id=NEWS["id"])["count"] == 1
    assert call("GET", "lists/starred") == []
    said = call("POST", "annotations", kind="tag", value="soon", **NEWS)
    call("POST", "annotations/undo", status=204, change=said["change"])
    assert call("GET", "message?id=news@example.org")["tags"] == {}
    until = format_instant(wall_clock() + DAY)
    call("POST", "reminders", until=until, every=7, **NEWS)
    assert [line["every"] for line in call("GET", "reminders")] == [7]
    call("POST", "reminders", status=422, until="2001-01-01T00:00:00Z", **NEWS)
    call("DELETE", "reminders?id=news@example.org", status=204)
    assert call("GET", "reminders") == []


def test_a_filter_is_shared_sent_and_followed(
    mail: Tables, alice: User, carol: User, program: Programs
) -> None:
    call, other = program(alice), program(carol)
    hook = call("POST", "destinations", status=201, kind="webhook", url="https://x.example.org/")
    call("PATCH", f"destinations/{hook['key']}", filters=[], status=422)
    call("POST", "filters", status=201, text="from mary", name="mary", visibility="shared")
    assert call("PATCH", f"destinations/{hook['key']}", filters=["mary"])["filters"] == ["mary"]
    call("PATCH", f"destinations/{hook['key']}", filters=["other"], status=422)
    kept = call("PATCH", "filters/mary", title="Mary")
    assert (kept["title"], kept["visibility"]) == ("Mary", "shared")
    assert call("GET", f"destinations/{hook['key']}")["filters"] == ["mary"], "as it was"
    call("PATCH", "filters/mary", destinations=[])
    assert call("GET", f"destinations/{hook['key']}")["filters"] == []
    (shared,) = other("GET", "shared")
    assert (shared["owner"], shared["name"], shared["own"]) == ("alice", "mary", "")
    followed = other("POST", "shared/alice/mary/follow", status=201)
    assert followed["text"] == shared["reference"]
    assert other("GET", "shared")[0]["own"] == followed["name"]
    call("PATCH", "filters/mary", visibility="private")
    assert other("GET", "shared") == []
    assert call("POST", f"destinations/{hook['key']}/off")["status"] == "off"
    assert call("POST", f"destinations/{hook['key']}/secret")["secret"].startswith("whsec_")
    call("DELETE", f"destinations/{hook['key']}", status=204)
    assert not Destination.objects.exists()


def test_a_server_that_does_not_answer_is_told(alice: User, program: Programs) -> None:
    call = program(alice)
    server = {"host": "127.0.0.1", "port": 1, "user": "al", "secret": "s3cret"}
    tried = call("POST", "sources", status=202, **server)
    assert tried["is_done"] and tried["error"] and not Source.objects.exists()
    assert call("GET", f"trials/{tried['trial']}") == tried
    program(User.objects.create_user("eve"))("GET", f"trials/{tried['trial']}", status=404)
    refused = call("POST", "sources", status=422, host="not a host!", user="al", secret="s3cret")
    assert refused["errors"][0]["pointer"] == "#/host"
    call("POST", "sources", status=422, audience="group:parc2", **server)
    source = Source.objects.create(owner=alice, kind="imap", host="x", port=1, audience="public")
    key = call("GET", "sources")[0]["key"]
    assert call("PUT", f"sources/{key}/folders", folders=["INBOX"])["active"]
    assert not call("POST", f"sources/{key}/pause")["active"]
    assert call("PUT", f"sources/{key}/acts", may_act=True, syncs_flags=False)["may_act"]
    call("DELETE", f"sources/{key}", status=204)
    assert not Source.objects.filter(pk=source.pk).exists()


def test_a_draft_is_written_and_sent(mail: Tables, alice: User, program: Programs) -> None:
    Address.objects.create(owner=alice, email="alice@example.org", confirmed_at=1)
    call = program(alice)
    file = {"name": "a.txt", "content": b64encode(b"hello").decode()}
    draft = call("POST", "drafts", status=201, answers="plan@example.org", files=[file])
    assert (draft["to"], draft["subject"]) == (*("Mary Jones <mary@example.org>", "Re: The plan"),)
    assert "> Shall we?" in draft["body"] and draft["files"][0]["size"] == 5
    here = f"drafts/{draft['id']}"
    changed = call("PATCH", here, body="Yes.", version=draft["version"])
    assert (changed["body"], changed["to"]) == ("Yes.", draft["to"])
    call("PATCH", here, status=409, body="No.", version=draft["version"])
    call("PATCH", here, status=422, files=[{"name": "b", "content": "?"}])
    call("PATCH", here, remind_at=format_instant(wall_clock() + DAY))
    OutgoingMessage.objects.update(remind_at=1)
    problem = call("PATCH", here, status=422, subject="Later")
    assert problem["detail"] == "That time has passed. Choose a later one."
    assert call("PATCH", here, subject="Later", remind_at=None)["remind_at"] is None
    call("DELETE", f"{here}/files/{draft['files'][0]['key']}", status=204)
    program(alice, "drafts", "acts")("POST", f"{here}/send", status=403)
    later = format_instant(wall_clock() + DAY)
    assert call("POST", f"{here}/send", at=later)["state"] == "queued"
    call("PATCH", here, status=409, body="No.")
    call("DELETE", here, status=409)
    assert call("POST", f"{here}/undo")["state"] == "draft"
    call("POST", f"{here}/send", status=422, at="2001-01-01T00:00:00Z")
    call("DELETE", here, status=204)
    assert not OutgoingMessage.objects.exists()


@pytest.mark.usefixtures("worker")
def test_filters_leave_and_come_back(mail: Tables, alice: User, program: Programs) -> None:
    call = program(alice)
    call("POST", "filters", status=201, text="from mary", name="mary")
    text = call("GET", "export").content.decode()
    call("DELETE", "filters/mary", status=204)
    task = call("POST", "imports", status=202, text=text)["task"]
    (offer,) = call("GET", f"imports/{task}")["offers"]
    assert offer["is_ticked"] and not Filter.objects.exists()
    task = call("POST", "creations", status=202, documents=[offer["document"]])["task"]
    assert call("GET", f"creations/{task}")["created"] == 1
    assert call("GET", "filters/mary")["text"] == "from mary"
    call("POST", "imports", status=422, text="  ")
    call("POST", "creations", status=422, documents=["nonsense"])
    task = call("POST", "backtests", status=202, text="from mary", weeks=4)["task"]
    assert call("GET", f"backtests/{task}")["count"] == 3
