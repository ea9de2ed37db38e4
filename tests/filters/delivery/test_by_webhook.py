"""Webhooks of the site: claimed matches reach a real server, signed with the site's secret."""

from __future__ import annotations

import json
import random
import runpy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from filters.authoring.models import Filter
from filters.delivery import beats
from filters.delivery.batches import batches_of
from filters.delivery.dispatch import claims, holder
from filters.delivery.forms.webhook import WebhookForm
from filters.delivery.models import Delivery, Destination
from filters.delivery.ways import webhook as by_webhook
from filters.people.models import User
from filters.runs.store.release import release
from filters.site.work.crypto import encryption
from tapestry import settings as own_settings
from tapestry.core.clock import HOUR, format_instant, parse_instant, wall_clock
from tapestry.core.errors import TapestryError
from tapestry.deliver.http.signature import make_secret
from tests.support.delivery.recorded_way import Store
from tests.support.delivery.turn import turn
from tests.support.delivery.webhook_receiver import verify
from tests.support.servers.http_recorder import LOOPBACK, Recorder, Reply, recording_server

SECRET = make_secret()

SignIn = Callable[[User], Client]


@pytest.fixture
def server(settings: Any) -> Iterator[Recorder]:
    settings.PRIVATE_HOSTS = LOOPBACK
    with recording_server(Reply(204)) as running:
        yield running


@pytest.fixture
def webhook(hook: Destination, server: Recorder, data: Path) -> Destination:
    hook.settings = {"url": server.url("/hook/7")}
    hook.secret = encryption.encrypt(SECRET, data)
    hook.save()
    return hook


def msgids(server: Recorder) -> list[list[str]]:
    bodies = [json.loads(request.body) for request in server.requests]
    return [[match["msgid"] for match in body["matches"]] for body in bodies]


def test_matches_come_as_signed_json_each_once(
    jones: Filter, store: Store, webhook: Destination, server: Recorder
) -> None:
    store(jones, "a")
    turn()
    store(jones, "b")
    turn()
    assert msgids(server) == [["a"], ["b"]]
    keys = [
        verify(request.headers, request.body, SECRET, wall_clock()) for request in server.requests
    ]
    assert len(set(keys)) == 2
    assert server.requests[0].path == "/hook/7"
    assert json.loads(server.requests[0].body)["destination"] == "hook"


def test_what_is_tried_again_has_the_same_id_and_body(
    jones: Filter, store: Store, webhook: Destination, server: Recorder
) -> None:
    server.replies[:] = [Reply(500, b"busy"), Reply(204)]
    store(jones, "a")
    turn()
    assert Delivery.objects.get().answer == "500 Internal Server Error: busy"
    store(jones, "b")
    Destination.objects.update(due_at=wall_clock())
    turn()
    first, second, third = server.requests
    assert first.headers["webhook-id"] == second.headers["webhook-id"]
    assert first.body == second.body
    assert msgids(server)[2] == ["b"] and third.headers["webhook-id"] != first.headers["webhook-id"]


def test_a_request_carries_a_hundred_matches(
    jones: Filter, store: Store, webhook: Destination, server: Recorder
) -> None:
    for number in range(101):
        store(jones, f"m{number}")
    turn()
    assert [len(part) for part in msgids(server)] == [100, 1]


def test_a_server_that_is_gone_turns_the_webhook_off(
    jones: Filter, store: Store, webhook: Destination, server: Recorder
) -> None:
    server.replies[:] = [Reply(410)]
    store(jones, "a")
    turn()
    webhook.refresh_from_db()
    assert not webhook.active and webhook.error == "410 Gone"


def beats_of(server: Recorder) -> list[dict[str, Any]]:
    bodies = [json.loads(request.body) for request in server.requests]
    return [body for body in bodies if not body["matches"]]


def test_a_beat_says_up_to_when_all_was_sent(
    jones: Filter, store: Store, webhook: Destination, server: Recorder
) -> None:
    Destination.objects.filter(pk=webhook.pk).update(settings=webhook.settings | {"beat": True})
    long_ago = wall_clock() - HOUR
    Filter.objects.filter(pk=jones.pk).update(since=long_ago)
    assert beats.owners() == [webhook.owner_id]
    store(jones, "a")
    beats.beat(webhook.owner_id)
    turn()
    beats.beat(webhook.owner_id)
    waiting, complete = beats_of(server)
    assert (waiting["complete_until"], waiting["waits_for"]) == (
        None,
        ["1 match is being listed."],
    )
    assert (complete["complete_until"], complete["waits_for"]) == (format_instant(long_ago), [])
    assert complete["later"] == []
    last = server.requests[-1]
    assert verify(last.headers, last.body, SECRET, wall_clock()) == complete["delivery"]
    assert msgids(server) == [[], ["a"], []]


def test_what_a_beat_promises_has_been_sent(
    jones: Filter, store: Store, webhook: Destination, server: Recorder
) -> None:
    """Whatever comes between: a server that refuses, a claim, a release that is late."""
    Destination.objects.update(settings=webhook.settings | {"beat": True})
    chance = random.Random(7)
    found: dict[str, int] = {}
    steps = chance.choices(["find", "release", "turn", "refused", "beat"], k=40)
    for number, step in enumerate([*steps, "find", "turn", "beat"]):
        if step == "find":
            found[f"m{number}"] = store(jones, f"m{number}").matched_at
            Filter.objects.update(since=wall_clock())
        elif step == "release":
            release()
        elif step == "beat":
            beats.beat(webhook.owner_id)
        else:
            server.replies[:] = [Reply(503 if step == "refused" else 204)]
            Destination.objects.update(due_at=wall_clock())
            turn()
            server.replies[:] = [Reply(204)]
    promised, sent = 0, set[str]()
    for request in server.requests:
        body = json.loads(request.body)
        if until := body.get("complete_until"):
            due = {msgid for msgid, at in found.items() if at <= parse_instant(until)}
            assert due <= sent
            promised += bool(due)
        elif request.status == 204:
            sent.update(match["msgid"] for match in body["matches"])
    assert promised


@pytest.mark.parametrize(
    "changes",
    [
        {"active": False},
        {"failures": 1},
        {"settings": {"url": "x", "beat": False}},
        {"settings": {"url": "x"}},
        {"kind": "push"},
    ],
)
def test_nothing_else_gets_a_beat(webhook: Destination, changes: dict[str, Any]) -> None:
    Destination.objects.update(settings=webhook.settings | {"beat": True})
    assert beats.owners() == [webhook.owner_id]
    Destination.objects.update(**changes)
    assert beats.owners() == []
    beats.beat(webhook.owner_id)


def test_slow_servers_cost_their_owner_a_turn_alone(
    webhook: Destination, server: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(beats, "TURN", -1.0)
    Destination.objects.update(settings=webhook.settings | {"beat": True})
    beats.beat(webhook.owner_id)
    assert server.requests == []


def test_a_server_that_is_gone_ends_its_beats(webhook: Destination, server: Recorder) -> None:
    Destination.objects.update(settings=webhook.settings | {"beat": True})
    server.replies[:] = [Reply(410, b"Nobody is here.")]
    beats.beat(webhook.owner_id)
    webhook.refresh_from_db()
    assert (webhook.active, beats.owners()) == (False, [])
    assert "410 Gone" in webhook.error


def test_a_private_host_is_refused_unless_the_operator_allows_it(
    jones: Filter, store: Store, webhook: Destination, server: Recorder, settings: Any
) -> None:
    settings.PRIVATE_HOSTS = []
    webhook.settings["url"] = server.url().replace("http:", "https:")
    webhook.save()
    store(jones, "a")
    turn()
    webhook.refresh_from_db()
    assert (webhook.active, server.requests) == (False, [])
    assert webhook.error == "127.0.0.1 is not a public host, so nothing is sent to it."


def test_the_operator_names_private_hosts_in_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TAPESTRY_PRIVATE_HOSTS", "10.0.0.0/8, hooks.lan,")
    assert runpy.run_path(own_settings.__file__)["PRIVATE_HOSTS"] == ["10.0.0.0/8", "hooks.lan"]
    monkeypatch.delenv("TAPESTRY_PRIVATE_HOSTS")
    assert runpy.run_path(own_settings.__file__)["PRIVATE_HOSTS"] == []


def test_without_a_secret_nothing_is_sent(
    jones: Filter, store: Store, webhook: Destination, server: Recorder
) -> None:
    Destination.objects.update(secret="")
    store(jones, "a")
    turn()
    webhook.refresh_from_db()
    assert (webhook.error, server.requests) == ("The webhook has no secret yet.", [])


def test_the_preview_is_what_is_sent(
    jones: Filter, store: Store, webhook: Destination, server: Recorder
) -> None:
    store(jones, "a")
    release()
    with holder.claiming() as name:
        (claim,) = claims.claim(name, [webhook.pk])
    batch = batches_of([claim])[claim.destination.pk]
    preview = by_webhook.preview(webhook, batch)
    assert server.requests == []
    by_webhook.send(webhook, batch)
    (request,) = server.requests
    assert json.loads(preview.content) == json.loads(request.body)
    shown = dict(preview.headers)
    assert verify(shown, request.body, SECRET, wall_clock()) == request.headers["webhook-id"]
    assert shown["Host"] == request.headers["Host"]
    assert set(shown) == set(request.headers) - {"Content-Length", "Connection", "Accept-Encoding"}


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("ftp://example.org/", "not the address of a web server"),
        ("nonsense", "not the address of a web server"),
        ("https://me:secret@example.org/", "user name or password"),
        ("https://example.org/" + "a" * 2000, "at most 2000"),
    ],
)
def test_the_form_refuses_what_is_no_address(alice: User, url: str, words: str) -> None:
    form = WebhookForm({"url": url, "which": "all"}, destination=Destination(owner=alice))
    assert not form.is_valid()
    assert words in str(form.errors["url"])


def test_a_webhook_is_added_on_a_page_and_keeps_its_secret(alice: User, as_user: SignIn) -> None:
    client = as_user(alice)
    given = {"url": " https://example.org/hook ", "which": "all", "beat": "on"}
    assert client.post("/delivery/new/webhook/", given).status_code == 302
    webhook = Destination.objects.get(kind="webhook")
    assert (webhook.settings, webhook.name) == (
        {"url": "https://example.org/hook", "beat": True},
        "Webhook at example.org",
    )
    before = webhook.secret
    assert before
    page = f"/delivery/{webhook.pk}/edit/"
    assert client.post(page, given | {"url": "https://example.org/b"}).status_code == 302
    webhook.refresh_from_db()
    assert (webhook.settings["url"], webhook.secret) == ("https://example.org/b", before)


def test_a_new_secret_is_shown_once_and_signs_from_then_on(
    as_user: SignIn,
    alice: User,
    bob: User,
    jones: Filter,
    store: Store,
    webhook: Destination,
    server: Recorder,
) -> None:
    path = f"/delivery/webhook/{webhook.pk}/secret/"
    assert as_user(bob).post(path).status_code == 404
    client = as_user(alice)
    assert "whsec_" not in client.get(path).content.decode()
    page = client.post(path)
    secret = page.context["secret"]
    assert f'value="{secret}"' in page.content.decode() and secret != SECRET
    assert "no-store" in page.headers["Cache-Control"]
    assert secret not in client.get(path).content.decode()
    webhook.refresh_from_db()
    assert secret not in webhook.secret
    store(jones, "a")
    turn()
    (request,) = server.requests
    for either in (secret, SECRET):
        assert verify(request.headers, request.body, either, wall_clock())
    Destination.objects.update(former_until=wall_clock())
    store(jones, "b")
    turn()
    later = server.requests[-1]
    assert verify(later.headers, later.body, secret, wall_clock())
    with pytest.raises(TapestryError):
        verify(later.headers, later.body, SECRET, wall_clock())


def test_a_secret_that_is_renewed_twice_signs_for_its_day(
    jones: Filter, store: Store, webhook: Destination, server: Recorder
) -> None:
    renewed = by_webhook.renew_secret(webhook), by_webhook.renew_secret(webhook)
    store(jones, "a")
    turn()
    (request,) = server.requests
    for secret in (SECRET, *renewed):
        assert verify(request.headers, request.body, secret, wall_clock())
