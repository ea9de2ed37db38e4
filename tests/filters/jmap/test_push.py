"""Push subscriptions of programs: a code, what is told of what is new, and how they end."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from filters.api.models import AccessToken
from filters.authoring.models import Filter
from filters.delivery.models import Destination
from filters.jmap import arguments, push
from filters.jmap.records import forget_accounts
from filters.people.membership.ending import end_access
from filters.people.models import User
from tapestry.core.clock import DAY, wall_clock
from tapestry.tables.delta.log import Tables
from tests.filters.jmap.conftest import Program
from tests.support.delivery.turn import turn
from tests.support.lists.listed_mail import find, installed, letters
from tests.support.servers.http_recorder import LOOPBACK, Recorder, Reply, recording_server
from tests.support.servers.push_service import Browser, vapid_claims

Sign = Callable[..., Program]


@pytest.fixture
def server(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Recorder]:
    """A push service; its address has http, which a program may not name."""
    settings.PRIVATE_HOSTS = LOOPBACK
    with recording_server(Reply(201)) as running:
        read = push.read_target

        class Secure:
            scheme = "https"

        monkeypatch.setattr(push, "read_target", lambda url: read(url) and Secure)
        yield running


class AsRead:
    """What happens once, after a program's change was read and before it is stored."""

    meanwhile: Callable[[], object] | None = None

    def read(self, *given: Any) -> Any:
        meanwhile, self.meanwhile = self.meanwhile, None
        if meanwhile is not None:
            meanwhile()
        return arguments.read(*given)


@pytest.fixture
def as_read(monkeypatch: pytest.MonkeyPatch) -> AsRead:
    seam = AsRead()
    monkeypatch.setattr(push, "read", seam.read)
    return seam


@pytest.fixture
def plans(tables: Tables, alice: User) -> Filter:
    letters(tables, "a@x", "b@x", "c@x")
    return installed(alice, "plans")


def subscribed(call: Program, server: Recorder, **more: Any) -> str:
    """Make a subscription and send its code back; return its id."""
    given = {"deviceClientId": "phone", "url": server.url("/push"), **more}
    made = call("PushSubscription/set", create={"new": given})["created"]["new"]
    push.verify(Destination.objects.latest("pk").pk)
    code = push.code_of(Destination.objects.latest("pk"))
    answer = call("PushSubscription/set", update={made["id"]: {"verificationCode": code}})
    assert answer["updated"] == {made["id"]: None}
    return made["id"]


def test_a_program_is_told_once_its_code_came_back(
    program: Sign, tables: Tables, alice: User, plans: Filter, server: Recorder
) -> None:
    call = program(alice)
    given = {"deviceClientId": "phone", "url": server.url("/push")}
    made = call("PushSubscription/set", create={"new": given})["created"]["new"]
    push.verify(Destination.objects.get().pk)
    (request,) = server.requests
    sent = json.loads(request.body)
    assert (sent["@type"], sent["pushSubscriptionId"]) == ("PushVerification", made["id"])
    find(tables, plans, "a@x")
    turn()
    assert len(server.requests) == 1
    wrong = call("PushSubscription/set", update={made["id"]: {"verificationCode": "x"}})
    assert wrong["notUpdated"][made["id"]]["type"] == "invalidProperties"
    code = {"verificationCode": sent["verificationCode"]}
    assert call("PushSubscription/set", update={made["id"]: code})["updated"]
    turn()
    find(tables, plans, "b@x")
    turn()
    _, request = server.requests
    sent = json.loads(request.body)
    states = sent["changed"][call.account]
    assert sent["@type"] == "StateChange"
    assert states.keys() == {"Email", "Mailbox", "Thread", "EmailDelivery"}
    assert states["Email"] == call("Email/get", ids=[])["state"]
    assert vapid_claims(request)[0]["aud"].startswith("http")


def test_keys_encrypt_what_is_sent_and_types_choose_it(
    program: Sign, tables: Tables, alice: User, plans: Filter, server: Recorder
) -> None:
    call, phone = program(alice), Browser.new()
    keys = phone.subscription("x")["keys"]
    subscribed(call, server, keys=keys, types=["Mailbox"])
    find(tables, plans, "a@x")
    turn()
    shown = phone.decrypt(server.requests[-1])
    assert list(shown["changed"][call.account]) == ["Mailbox"]
    (row,) = call("PushSubscription/get")["list"]
    assert row["types"] == ["Mailbox"] and row["deviceClientId"] == "phone"
    assert call.refusal("PushSubscription/get", properties=["url"]) == "forbidden"
    assert server.url("/push") not in Destination.objects.get().secret


def test_a_filter_is_the_filter_of_what_is_pushed(
    program: Sign, tables: Tables, alice: User, plans: Filter, server: Recorder
) -> None:
    other = installed(alice, "other")
    call = program(alice)
    box = call.boxes()["plans"]["id"]
    wanted = {"filter": {"inMailbox": box}, "properties": ["subject", "preview"]}
    key = subscribed(call, server, types=[], emailPush={call.account: wanted})
    server.requests.clear()
    find(tables, other, "a@x")
    turn()
    assert server.requests == []
    find(tables, plans, "b@x", "c@x")
    turn()
    (request,) = server.requests
    sent = json.loads(request.body)
    assert sent["@type"] == "EmailPush" and sent["accountId"] == call.account
    assert sorted(row["subject"] for row in sent["emails"]) == ["About b@x", "About c@x"]
    (row,) = call("PushSubscription/get")["list"]
    assert row["emailPush"] == {call.account: wanted}
    for unknown in (
        {"filter": {"text": "x"}, "properties": ["id"]},
        {"filter": None, "properties": ["unknown"]},
        {"filter": None, "properties": []},
        {"filter": {"inMailbox": call.boxes()["INBOX"]["id"]}, "properties": ["id"]},
    ):
        change = {key: {"emailPush": {call.account: unknown}}}
        answer = call("PushSubscription/set", update=change)
        assert answer["notUpdated"][key]["type"] == "invalidProperties"


def test_a_subscription_that_is_changed_meanwhile_is_told_nothing_twice(
    program: Sign, tables: Tables, alice: User, plans: Filter, server: Recorder, as_read: AsRead
) -> None:
    call = program(alice)
    key = subscribed(call, server)
    find(tables, plans, "a@x")
    as_read.meanwhile = turn
    assert call("PushSubscription/set", update={key: {"types": ["Email"]}})["updated"]
    requests = len(server.requests)
    Destination.objects.update(due_at=wall_clock())
    turn()
    assert len(server.requests) == requests == 2, "its code, and what was found"
    as_read.meanwhile = lambda: Destination.objects.update(active=False)
    call("PushSubscription/set", update={key: {"types": ["Thread"]}})
    assert not Destination.objects.get().active, "its owner has turned it off"


def test_subscriptions_are_pushed_what_filters_find_after_a_restore(
    program: Sign, tables: Tables, alice: User, plans: Filter, server: Recorder
) -> None:
    call = program(alice)
    wanted = {"filter": None, "properties": ["subject"]}
    subscribed(call, server, types=[], emailPush={call.account: wanted})
    forget_accounts()
    find(tables, plans, "a@x")
    turn()
    sent = json.loads(server.requests[-1].body)
    assert sent["@type"] == "EmailPush" and sent["accountId"] != call.account
    assert [row["subject"] for row in sent["emails"]] == ["About a@x"]


def test_what_is_too_long_for_a_push_service_has_fewer_properties(
    program: Sign,
    tables: Tables,
    alice: User,
    plans: Filter,
    server: Recorder,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    call = program(alice)
    wanted = {"filter": None, "properties": ["subject", "preview"]}
    subscribed(call, server, types=[], emailPush={call.account: wanted})
    monkeypatch.setattr(push.push, "LARGEST", 260)
    find(tables, plans, "a@x", "b@x", "c@x")
    turn()
    sent = json.loads(server.requests[-1].body)
    assert len(sent["emails"]) == 2 and all(list(row) == ["subject"] for row in sent["emails"])


def test_a_subscription_ends_with_its_token_its_time_or_the_password(
    program: Sign, tables: Tables, alice: User, bob: User, plans: Filter, server: Recorder
) -> None:
    call = program(alice)
    first = subscribed(call, server)
    AccessToken.objects.update(ends_at=1)
    count = len(server.requests)
    find(tables, plans, "a@x")
    turn()
    assert len(server.requests) == count and not Destination.objects.get().active
    again = program(alice)
    assert again("PushSubscription/get", ids=[first])["notFound"] == [first]
    second = subscribed(again, server)
    theirs = program(bob)("PushSubscription/set", destroy=[second])
    assert theirs["notDestroyed"][second]["type"] == "notFound"
    row = Destination.objects.latest("pk")
    row.settings["program"]["until"] = wall_clock() - DAY
    row.save()
    assert again("PushSubscription/get")["list"] == []
    third = subscribed(again, server)
    assert again("PushSubscription/set", destroy=[third])["destroyed"] == [third]
    subscribed(again, server)
    end_access(alice)
    assert not Destination.objects.exists()


@pytest.mark.parametrize(
    "given",
    [
        {"deviceClientId": "x", "url": "http://example.com/push"},
        {"deviceClientId": "x", "url": "https://a:b@example.com/push"},
        {"deviceClientId": "x", "url": "https://example.com/push", "keys": {"p256dh": "x"}},
        {"deviceClientId": "x", "url": "https://example.com/push", "expires": "soon"},
        {"deviceClientId": "x", "url": "https://example.com/push", "emailPush": {"x": {}}},
        {"deviceClientId": "x", "url": "https://example.com/push", "verificationCode": "y"},
        {"url": "https://example.com/push"},
    ],
)
def test_what_is_no_subscription_is_refused(
    program: Sign, alice: User, given: dict[str, Any]
) -> None:
    answer = program(alice)("PushSubscription/set", create={"new": given})
    assert answer["notCreated"]["new"]["type"] == "invalidProperties"
    assert not Destination.objects.exists()


def test_codes_are_not_sent_without_end(program: Sign, alice: User) -> None:
    call = program(alice)
    given = {"deviceClientId": "x", "url": "https://example.com/push"}
    refused = set()
    for _ in range(3):
        create = {str(number): given for number in range(push.MOST_BROWSERS)}
        answer = call("PushSubscription/set", create=create)
        refused |= {error["type"] for error in (answer["notCreated"] or {}).values()}
        call(
            "PushSubscription/set",
            destroy=[row["id"] for row in (answer["created"] or {}).values()],
        )
    assert refused == {"rateLimit"}
