"""Web push of the site: browsers that ask, what they are sent, and how they end."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client

from filters.authoring.models import Filter
from filters.delivery.batches import batches_of
from filters.delivery.dispatch import claims, holder
from filters.delivery.models import Destination
from filters.delivery.ways import push as by_push
from filters.delivery.ways.browser_name import browser_name
from filters.delivery.ways.vapid import vapid_keys
from filters.inbox.counts import sidebar
from filters.people.models import User
from filters.runs.store.release import release
from tapestry.core.errors import TapestryError
from tests.support.delivery.recorded_way import Store
from tests.support.delivery.turn import turn
from tests.support.servers.http_recorder import LOOPBACK, Recorder, Reply, recording_server
from tests.support.servers.push_service import Browser, vapid_claims

SignIn = Callable[[User], Client]

BROWSER = Browser.new()
LINUX = "Mozilla/5.0 (X11; Linux x86_64; rv:150.0) Gecko/20100101 Firefox/150.0"


@pytest.fixture
def server(settings: Any) -> Iterator[Recorder]:
    settings.PRIVATE_HOSTS = LOOPBACK
    with recording_server(Reply(201)) as running:
        yield running


def ask(client: Client, server: Recorder, path: str = "/send/1") -> HttpResponse:
    """Ask for notifications as a browser does."""
    given = {"subscription": json.dumps(BROWSER.subscription(server.url(path)))}
    return client.post("/delivery/push/subscribe/", given, headers={"User-Agent": LINUX})


def test_a_browser_that_asks_is_notified_of_what_is_new(
    as_user: SignIn, alice: User, jones: Filter, store: Store, server: Recorder
) -> None:
    store(jones, "before")
    turn()
    assert ask(as_user(alice), server).status_code == 302
    turn()
    assert server.requests == []
    store(jones, "after")
    turn()
    (request,) = server.requests
    shown = BROWSER.decrypt(request)
    assert (shown["title"], shown["body"]) == ("1 new in jones", "Joe: About after")
    assert shown["url"] == "http://127.0.0.1:8000/message/?id=after&in=public"
    assert shown["unread"] == sidebar(alice).unread == 2, "as the pages say it on the icon"
    _, key = vapid_claims(request)
    assert key == vapid_keys().public_key


def test_the_page_lists_the_browsers_that_asked(
    as_user: SignIn, alice: User, bob: User, server: Recorder
) -> None:
    client = as_user(alice)
    assert "No browser notifies you yet." in client.get("/delivery/push/").content.decode()
    ask(client, server)
    page = client.get("/delivery/push/").content.decode()
    assert "Firefox on Linux" in page
    assert by_push.digest_of(server.url("/send/1")) in page
    assert server.url("/send/1") not in page, "the address is a secret of the browser"
    assert f'data-key="{vapid_keys().public_key}"' in page
    path = f"/delivery/push/{Destination.objects.get().pk}/remove/"
    assert as_user(bob).post(path).status_code == 404
    assert client.post(path).status_code == 302
    assert not Destination.objects.exists()


def test_what_a_browser_sent_is_stored_encrypted(
    as_user: SignIn, alice: User, server: Recorder
) -> None:
    ask(as_user(alice), server)
    stored = Destination.objects.get()
    assert "send" not in stored.secret + str(stored.settings)
    assert by_push.subscription_of(stored).endpoint == server.url("/send/1")


def test_a_browser_that_ended_may_ask_again(
    as_user: SignIn, alice: User, jones: Filter, store: Store, server: Recorder
) -> None:
    client = as_user(alice)
    ask(client, server)
    server.replies[:] = [Reply(410), Reply(201)]
    store(jones, "a")
    turn()
    assert not Destination.objects.get().active
    assert "ended" in client.get("/delivery/push/").content.decode()
    ask(client, server)
    assert Destination.objects.get().active
    turn()
    tags = [BROWSER.decrypt(request)["tag"] for request in server.requests]
    assert len(tags) == 2 and tags[0] == tags[1]


def test_a_browser_notifies_whoever_asked_last_and_nobody_else(
    as_user: SignIn, alice: User, bob: User, jones: Filter, store: Store, server: Recorder
) -> None:
    ask(as_user(alice), server)
    ask(as_user(bob), server)
    assert [browser.owner for browser in Destination.objects.all()] == [bob]
    store(jones, "of alice")
    turn()
    assert server.requests == []


@pytest.mark.parametrize(
    "text",
    [
        *("", "no json", "[" * 4000, "1", "[]", "{}", '{"endpoint": 1, "keys": {}}', "x" * 9000),
        json.dumps(BROWSER.subscription("file:///etc/passwd")),
        json.dumps({"endpoint": "https://x.org/", "keys": {"p256dh": "AAAA", "auth": "AAAA"}}),
    ],
)
def test_what_is_no_subscription_is_refused_in_a_sentence(
    as_user: SignIn, alice: User, text: str
) -> None:
    page = as_user(alice).post("/delivery/push/subscribe/", {"subscription": text})
    assert page.status_code == 400
    assert 'class="banner bad"' in page.content.decode()
    assert not Destination.objects.exists()


def test_a_person_has_so_many_browsers_at_most(
    as_user: SignIn, alice: User, server: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(by_push, "MOST_BROWSERS", 2)
    client = as_user(alice)
    answers = [ask(client, server, f"/send/{number}").status_code for number in (1, 2, 2, 3)]
    assert answers == [302, 302, 302, 400]
    assert Destination.objects.count() == 2


def test_a_batch_of_one_filter_opens_its_list_and_the_preview_says_so(
    as_user: SignIn, alice: User, jones: Filter, store: Store, server: Recorder
) -> None:
    ask(as_user(alice), server)
    store(jones, "a")
    store(jones, "b")
    release()
    destination = Destination.objects.get()
    with holder.claiming() as name:
        (claim,) = claims.claim(name, [destination.pk])
    batch = batches_of([claim])[claim.destination.pk]
    preview = by_push.preview(destination, batch)
    by_push.send(destination, batch)
    (request,) = server.requests
    assert json.loads(preview.content) == BROWSER.decrypt(request)
    assert json.loads(preview.content)["url"] == "http://127.0.0.1:8000/in/jones/"
    assert dict(preview.headers).items() <= dict(request.headers).items()


def test_the_key_of_the_site_is_made_once_and_is_its_own(data: Path, settings: Any) -> None:
    keys = vapid_keys()
    assert vapid_keys() == keys
    assert (data / "vapid.key").stat().st_mode & 0o777 == 0o600
    assert keys.contact == "mailto:tapestry@127.0.0.1"
    settings.SITE_URL = "https://tapestry.example.org:8443"
    assert vapid_keys().contact == "https://tapestry.example.org"
    settings.SITE_URL, settings.DEFAULT_FROM_EMAIL = "https://tapestry", "T <t@x.org>"
    assert vapid_keys().contact == "mailto:t@x.org"


def test_a_damaged_key_is_named(data: Path) -> None:
    (data / "vapid.key").write_text("nonsense")
    with pytest.raises(TapestryError, match="no private key of P-256"):
        vapid_keys()


@pytest.mark.parametrize(
    ("user_agent", "name"),
    [
        (LINUX, "Firefox on Linux"),
        (
            "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) "
            "Chrome/150.0.0.0 Mobile Safari/537.36",
            "Chrome on Android",
        ),
        (
            "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) "
            "Chrome/150.0.0.0 Safari/537.36 Edg/150.0.0.0",
            "Edge on Windows",
        ),
        (
            "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 "
            "(KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1",
            "Safari on iPhone",
        ),
        ("", "A browser"),
    ],
)
def test_a_browser_is_named_as_its_owner_knows_it(user_agent: str, name: str) -> None:
    assert browser_name(user_agent) == name
