"""The installed app: without a connection it says so, keeps nobody's mail, and shows a number."""

from __future__ import annotations

import pytest

from filters.inbox.models import Card, Match
from tapestry.core.clock import MINUTE, wall_clock
from tests.support.browser.browsing import open_as

pytestmark = [pytest.mark.live, pytest.mark.timeout(120)]

RECORD_BADGES = """
window.badges = JSON.parse(localStorage.getItem("badges") || "[]");
function record(count) {
  badges.push(count);
  localStorage.setItem("badges", JSON.stringify(badges));
  return Promise.resolve();
}
Navigator.prototype.setAppBadge = count => record(count);
Navigator.prototype.clearAppBadge = () => record(0);
"""
"""The number on the icon is drawn by the system, where no page can read it."""

KEPT = """
async () => {
  const kept = {};
  for (const name of await caches.keys())
    kept[name] = (await (await caches.open(name)).keys()).map(({ url }) => new URL(url).pathname);
  return kept;
}
"""

WORKER_IS_READY = """
async () => {
  const { active } = await navigator.serviceWorker.ready;
  while (active.state !== "activated")
    await new Promise(resolve => active.addEventListener("statechange", resolve, { once: true }));
  return active.state;
}
"""


@pytest.fixture
def page(browser, jones, live_server):
    now = wall_clock() - MINUTE
    card = Card.objects.create(
        msgid="a@x", audience="public", ts=now, received=now, sender="j@x.org", subject="Secret"
    )
    Match.objects.create(
        filter=jones, msgid="a@x", audience="public", card=card, matched_at=now, stored_at=now,
        shown_at=now, refreshed_at=now,
    )  # fmt: skip
    context = browser.new_context(viewport={"width": 390, "height": 844})
    context.add_init_script(RECORD_BADGES)
    opened = context.new_page()
    open_as(opened, f"{live_server.url}/in/jones/")
    return opened


@pytest.mark.browser_says("'localStorage' property")
def test_without_a_connection(page, live_server):
    assert page.evaluate(WORKER_IS_READY) == "activated"
    assert page.evaluate("badges").pop() == 1
    page.goto(f"{live_server.url}/")  # the worker passes it on, and keeps nothing of it
    page.get_by_text("Secret").wait_for()
    (shell, kept), *others = page.evaluate(KEPT).items()
    assert others == [] and shell.startswith("shell-")
    assert kept[0] == "/offline/" and all(path.startswith("/static/") for path in kept[1:])

    page.goto("about:blank")  # a page that asks for news would say what it cannot have
    page.context.set_offline(True)
    page.goto(f"{live_server.url}/in/jones/")
    page.get_by_text("You are offline").wait_for()
    assert "Secret" not in page.content() and page.url.endswith("/in/jones/")
    page.context.set_offline(False)  # the page asks again by itself
    page.get_by_text("Secret").wait_for()

    page.goto(f"{live_server.url}/me/")
    page.locator("main").get_by_role("button", name="Sign out").click()
    page.wait_for_url(f"{live_server.url}/sign-in/")
    assert page.evaluate("badges").pop() == 0
    assert page.evaluate("sessionStorage.length") == 0
    assert list(page.evaluate(KEPT)) == [shell]
