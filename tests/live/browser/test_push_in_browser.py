"""A browser asks for notifications, shows what comes, and opens it: all but Google's service."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import suppress
from itertools import product
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, Worker, expect

from filters.authoring.models import Filter
from filters.delivery import sending
from filters.delivery.models import Destination
from filters.delivery.ways import table as ways
from filters.inbox.models import Card, Match
from filters.runs.store.filter_store import DjangoClock
from filters.runs.store.release import release
from tapestry.core.clock import wall_clock
from tapestry.core.message import Message
from tapestry.tables.delta.log import Tables
from tapestry.tables.write.append import append_messages
from tests.support.browser.browsing import open_as
from tests.support.browser.page_errors import page_errors
from tests.support.servers.http_recorder import LOOPBACK, Reply, recording_server
from tests.support.servers.push_service import Browser

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]

PHONE = {"width": 390, "height": 844}

PROGRAM = "chromium"
"""The headless shell shows no notifications."""

BROWSER = Browser.new()

SUBSCRIPTION = """
(() => {
  // In place of the service of the browser's maker, which no test may reach.
  const given = %s;
  const kept = () => JSON.parse(localStorage.getItem("key"));
  const subscription = () => ({
    endpoint: given.endpoint,
    options: { applicationServerKey: Uint8Array.from(kept()).buffer },
    toJSON: () => given,
    unsubscribe: async () => {
      localStorage.removeItem("key");
      localStorage.setItem("unsubscribed", "yes");
    },
  });
  PushManager.prototype.getSubscription = async () => (kept() ? subscription() : null);
  PushManager.prototype.subscribe = async ({ userVisibleOnly, applicationServerKey }) => {
    const known = kept() || [...applicationServerKey];
    if (!userVisibleOnly || known.join() !== applicationServerKey.join()) throw Error();
    localStorage.setItem("key", JSON.stringify(known));
    return subscription();
  };
})();
"""


@pytest.fixture
def jones(jones, settings):
    """A filter of terry's, on a site that may ask hosts of this machine."""
    settings.PRIVATE_HOSTS = LOOPBACK
    return jones


@pytest.fixture
def service():
    """A push service on loopback."""
    with recording_server(Reply(201)) as running:
        yield running


@pytest.fixture
def context(browser, service):
    made = browser.new_context(viewport=PHONE, permissions=["notifications"])
    made.add_init_script(SUBSCRIPTION % json.dumps(BROWSER.subscription(service.url("/send/1"))))
    return made


@pytest.fixture
def page(context, jones, live_server, settings):
    """Terry's page about notifications."""
    settings.SITE_URL = live_server.url
    opened = context.new_page()
    open_as(opened, f"{live_server.url}/delivery/push/")
    return opened


def find(filter_: Filter, data) -> None:
    """Have a message come, and the filter find it."""
    message = Message(
        "lunch@x.org",
        date=wall_clock(),
        sender="jones@x.org",
        sender_name="Jones",
        subject="Lunch at noon?",
        body="Shall we?",
    )
    append_messages(Tables(data / "tables"), DjangoClock(), [message])
    now = wall_clock()
    card = Card.objects.create(
        msgid=message.msgid, audience="public", ts=now, received=now, sender=message.sender,
        sender_name=message.sender_name, subject=message.subject,
    )  # fmt: skip
    Match.objects.create(
        filter=filter_, msgid=message.msgid, audience="public", card=card, matched_at=now,
        stored_at=now, shown_at=now, refreshed_at=now,
    )  # fmt: skip


def deliver() -> None:
    release()
    sending.deliver(list(ways.WAYS), 10)


def ask(page: Page) -> None:
    page.get_by_role("button", name="Notify this browser").click()
    page.get_by_text("This browser notifies you of new matches from now on.").wait_for()
    page.get_by_text("this browser", exact=True).wait_for()  # the script of that page has run


def eventually(page: Page, read: Callable[[], Any], tries: int = 1000) -> Any:
    """Return what ``read`` returns once there is something."""
    for _ in range(tries):
        if value := read():
            return value
        page.wait_for_timeout(20)
    raise AssertionError("nothing came")


def worker_of(context, page: Page) -> Worker:
    """Return the service worker, once it is active and Playwright knows it."""
    page.evaluate(ACTIVATED)
    return eventually(page, lambda: context.service_workers)[0]


def push(context, page: Page, notification: dict[str, str]) -> None:
    """Hand a notification to the service worker, as the browser does when its service sends one."""
    page.evaluate(ACTIVATED)  # before that, what is handed over is lost
    session = context.new_cdp_session(page)
    registrations: list[dict[str, str]] = []
    session.on(
        "ServiceWorker.workerRegistrationUpdated",
        lambda event: registrations.extend(event["registrations"]),
    )
    session.send("ServiceWorker.enable")
    eventually(page, lambda: registrations)
    session.send(
        "ServiceWorker.deliverPushMessage",
        {
            "origin": page.evaluate("location.origin"),
            "registrationId": registrations[0]["registrationId"],
            "data": json.dumps(notification),
        },
    )


def shown_by_push(context, page: Page, notification: dict[str, str]) -> Any:
    """Hand a notification over until it is shown: a worker that starts may lose one.

    Returns all that are shown.
    """
    title = notification["title"]
    for _ in range(5):
        push(context, page, notification)
        worker = worker_of(context, page)
        with suppress(AssertionError):
            eventually(page, lambda worker=worker: title in worker.evaluate(TITLES), 200)
            return worker.evaluate(SHOWN)
    raise AssertionError("nothing was shown")


ACTIVATED = """async () => {
  const { active } = await navigator.serviceWorker.ready;
  while (active.state !== "activated") await new Promise((resolve) => setTimeout(resolve, 20));
}"""

SHOWN = """async () => {
  const shown = await self.registration.getNotifications();
  return shown.map(({ title, body, tag }) => ({ title, body, tag }));
}"""

TITLES = """async () => (await self.registration.getNotifications()).map(({ title }) => title)"""

CLICK = """async () => {
  const [notification] = await self.registration.getNotifications();
  self.dispatchEvent(new NotificationEvent("notificationclick", { notification }));
}"""


RECORD_OPENED = """() => {
  // A browser opens a window after a real click only.
  self.opened = [];
  Clients.prototype.openWindow = async (url) => self.opened.push(url);
}"""


RECORD_BADGE = """() => {
  // The number on the icon is drawn by the system, where nothing can read it.
  WorkerNavigator.prototype.setAppBadge = async (count) => (self.shown_unread = count);
}"""


def test_a_new_match_is_shown_and_opened(context, page, service, jones, live_server, tmp_path):
    errors = page_errors(page, "warning", "log", "info")
    page.get_by_role("button", name="Notify this browser").wait_for()
    ask(page)
    assert errors == []

    find(jones, tmp_path)
    deliver()
    (request,) = service.requests
    notification = BROWSER.decrypt(request)
    page.goto(f"{live_server.url}/")
    worker = worker_of(context, page)
    worker.evaluate(RECORD_BADGE)
    assert shown_by_push(context, page, notification) == [
        {"title": "1 new in jones", "body": "Jones: Lunch at noon?", "tag": notification["tag"]}
    ]
    assert worker.evaluate("self.shown_unread") == 1
    shown = shown_by_push(context, page, notification | {"title": "again"})
    assert len(shown) == 1, "one that is sent again takes the other's place"

    worker.evaluate(CLICK)
    page.wait_for_url("**/message/?**")
    assert parse_qs(urlsplit(page.url).query)["id"] == ["lunch@x.org"]
    expect(page.get_by_role("heading", name="Lunch at noon?")).to_be_visible()
    assert eventually(page, lambda: worker.evaluate(SHOWN) == [])


def test_a_page_on_which_one_writes_is_left_alone(context, page, live_server):
    ask(page)
    page.goto(f"{live_server.url}/filters/new/")
    notification = {"title": "1 new", "body": "", "url": f"{live_server.url}/", "tag": "t"}
    shown_by_push(context, page, notification)
    worker = worker_of(context, page)
    worker.evaluate(RECORD_OPENED)
    worker.evaluate(CLICK)
    assert eventually(page, lambda: worker.evaluate("self.opened")) == [f"{live_server.url}/"]
    assert page.url == f"{live_server.url}/filters/new/"


WINDOWS = ["/starred/", "/search/", "/filters/", "/delivery/"]
SOME = {("/starred/", False), ("/delivery/", True)}
"""The windows of the short run."""


@pytest.mark.parametrize(
    ("address", "reloaded"),
    [
        pytest.param(*window, marks=[pytest.mark.long] * (window not in SOME))
        for window in product(WINDOWS, [False, True])
    ],
)
def test_a_window_of_the_site_shows_it_and_no_second_one(
    context, page, live_server, address, reloaded
):
    ask(page)
    page.goto(f"{live_server.url}{address}")
    url = f"{live_server.url}/in/jones/"
    shown_by_push(context, page, {"title": "1 new", "body": "", "url": url, "tag": "t"})
    worker = worker_of(context, page)
    worker.evaluate(RECORD_OPENED)
    if reloaded:  # as by Shift and F5: this page is loaded without the worker
        with page.expect_navigation():
            context.new_cdp_session(page).send("Page.reload", {"ignoreCache": True})
        assert page.evaluate("!navigator.serviceWorker.controller")
    worker.evaluate(CLICK)
    page.wait_for_url("**/in/jones/")
    assert worker.evaluate("self.opened") == []


def test_a_browser_is_removed(context, page, service):
    ask(page)
    page.get_by_role("button", name="Remove").click()
    page.get_by_text(re.compile("no longer notifies you")).wait_for()
    page.get_by_role("button", name="Notify this browser").wait_for()
    assert not Destination.objects.exists()
    assert page.evaluate("localStorage.getItem('unsubscribed')") == "yes"


REGISTER_LATER = """
  const { register } = ServiceWorkerContainer.prototype;
  const told = new Promise((resolve) => (window.goOn = resolve));
  ServiceWorkerContainer.prototype.register = async function (...of) {
    await told;
    return register.apply(this, of);
  };"""


def test_a_browser_is_removed_whose_page_does_not_know_it_yet(context, page, service):
    ask(page)
    page.add_init_script(REGISTER_LATER)
    page.reload()
    page.get_by_role("button", name="Remove").click()
    page.evaluate("goOn()")
    page.get_by_text(re.compile("no longer notifies you")).wait_for()
    assert page.evaluate("localStorage.getItem('unsubscribed')") == "yes"


@pytest.mark.parametrize("reason", ["ended", "key"])
def test_a_subscription_of_no_use_is_made_anew(context, page, service, tmp_path, reason):
    ask(page)
    if reason == "ended":
        Destination.objects.update(active=False)
    else:
        (tmp_path / "vapid.key").unlink()
    page.reload()
    ask(page)
    assert page.evaluate("localStorage.getItem('unsubscribed')") == "yes"
    assert Destination.objects.get().active
    expect(page.get_by_role("button", name="Notify this browser")).to_be_hidden()


@pytest.mark.parametrize(
    ("script", "sentence"),
    [
        ("Object.defineProperty(window, 'isSecureContext', {value: false})", "sites with https"),
        ("delete window.PushManager", "does not accept notifications from sites"),
        (
            "Object.defineProperty(Notification, 'permission', {get: () => 'denied'})",
            "You have blocked notifications",
        ),
        (
            "delete window.PushManager;"
            "Object.defineProperty(navigator, 'userAgent', {get: () => 'iPhone'})",
            "home screen first",
        ),
        ("navigator.serviceWorker.register = async () => { throw Error() }", "could not ask"),
    ],
)
def test_what_stands_in_the_way_is_said(context, page, script, sentence):
    context.add_init_script(script)
    page.reload()
    shown = page.locator("#push [data-when]:visible")
    expect(shown).to_contain_text(sentence)
    expect(shown).to_have_count(1)
    expect(page.get_by_role("button", name="Notify this browser")).to_be_hidden()


def test_the_site_can_be_installed(context, page):
    session = context.new_cdp_session(page)
    manifest = session.send("Page.getAppManifest")
    assert manifest["url"].endswith("/manifest.webmanifest") and manifest["errors"] == []
    errors = session.send("Page.getInstallabilityErrors")["installabilityErrors"]
    assert [error["errorId"] for error in errors] == ["in-incognito"], "as tests are, and no other"
