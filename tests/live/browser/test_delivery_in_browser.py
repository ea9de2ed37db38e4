"""What a person does so that matches reach them: add a digest, confirm it, see what it sends."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

import pytest
from django.core import mail
from playwright.sync_api import Page, expect

from filters.authoring.models import Filter
from filters.delivery.models import Delivery, Destination
from filters.delivery.samples import send
from filters.inbox.models import Card, Match
from filters.people.models import User
from filters.runs.store.release import release
from filters.sources.accounts import trials
from filters.sources.tasks import run_trial
from tapestry.core.clock import MINUTE, wall_clock
from tests.support.browser.browsing import open_as
from tests.support.browser.page_errors import page_errors

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]

SIZES = {"desktop": {"width": 1280, "height": 900}, "phone": {"width": 390, "height": 844}}


@pytest.fixture
def jones(transactional_db, settings, tmp_path, monkeypatch):
    """A filter of terry's that has found three messages."""
    settings.DATA = tmp_path
    settings.SECRET_KEY = "of the tests"
    monkeypatch.setenv("REDIS_URL", "redis://127.0.0.1:1/0")
    terry = User.objects.create_user("terry", "terry@example.org", "secret")
    made = Filter.objects.create(owner=terry, name="jones", text="from jones", phrase="from Jones")
    Filter.objects.create(owner=terry, name="lunch", text="about lunch", phrase="about lunch")
    now = wall_clock() - MINUTE
    for number in range(3):
        card = Card.objects.create(
            msgid=f"m{number}", audience="public", ts=now, received=now, sender="j@x.org",
            sender_name="Mary Jones", subject=f"Plan number {number}", root=f"m{number}",
        )  # fmt: skip
        Match.objects.create(
            filter=made, msgid=card.msgid, audience="public", card=card, matched_at=now,
            stored_at=now, shown_at=now, refreshed_at=now, explanation="from Mary Jones",
        )  # fmt: skip
    release()
    return made


@pytest.fixture
def page(browser, jones, live_server, size):
    opened = browser.new_context(viewport=SIZES[size]).new_page()
    open_as(opened, f"{live_server.url}/")
    return opened


def fits(page: Page) -> bool:
    """Tell whether nothing of a page is beyond its right edge, once its styles are there."""
    page.wait_for_load_state()
    return page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


@pytest.mark.parametrize("size", ["desktop", pytest.param("phone", marks=pytest.mark.long)])
def test_a_digest_from_the_first_page_to_its_first_mail(page, live_server, size, monkeypatch):
    page.get_by_role("link", name="Delivery", exact=True).click()
    page.get_by_text("Nothing is sent to you yet").wait_for()
    assert fits(page)
    page.get_by_role("link", name="Add email digest").click()
    expect(page.get_by_label("Address")).to_have_value("terry@example.org")
    expect(page.get_by_role("checkbox", name="jones")).to_be_hidden()
    page.get_by_label("only these").check()
    page.get_by_role("checkbox", name="jones").check()
    assert fits(page)
    page.get_by_role("button", name="Add").click()

    page.get_by_text("waiting for confirmation").wait_for()
    page.get_by_text("We sent a link to terry@example.org just now.").wait_for()
    page.get_by_role("button", name="Send me one now").click()
    page.get_by_text("before you confirm that it is yours").wait_for()
    url = re.search(r"^http\S+/confirm/\S+$", mail.outbox[0].body, re.MULTILINE)
    confirming = page.context.new_page()
    confirming.goto(f"{live_server.url}{urlsplit(url[0]).path}")
    confirming.get_by_role("button", name="Confirm this address").click()
    confirming.get_by_text("Your address is confirmed.").wait_for()
    confirming.close()
    state = page.locator("#destination .state")
    page.reload()
    expect(state).to_have_text("on")

    page.get_by_role("link", name="See what it would send").click()
    framed = page.frame_locator("iframe.written")
    framed.get_by_role("link", name="Plan number 2").wait_for()
    expect(page.get_by_text("List-Unsubscribe", exact=True)).to_be_visible()
    assert fits(page)
    page.go_back()

    made = Destination.objects.get()
    with monkeypatch.context() as patched:
        patched.setattr(trials, "send", lambda *_args, **_options: True)
        asked = trials.begin(made.owner, f"sample:{made.pk}", send, {"destination": made.pk})
    page.reload()
    page.get_by_text("Sending it").wait_for()
    run_trial(asked.pk)
    page.get_by_text("The mail server took it.").wait_for()  # the page asks by itself
    assert len(mail.outbox) == 2 and mail.outbox[1].to == ["terry@example.org"]
    Delivery.objects.create(
        destination=made, key="k", at=wall_clock(), state="delivered", matches=2, answer="Fine."
    )
    page.reload()
    page.get_by_text("Fine.").wait_for()
    assert fits(page)

    page.route("**/filters/preview/", lambda route: route.fulfill(body=""))  # no Redis is here
    page.goto(f"{live_server.url}/filter/jones/edit/")
    expect(page.get_by_role("checkbox", name="Email digest to terry")).to_be_checked()
    assert fits(page)
    page.goto(f"{live_server.url}/delivery/")
    page.get_by_role("button", name="Turn off").click()
    expect(page.locator("#destination .state")).to_have_text("off")
    page.goto(f"{live_server.url}/delivery/")
    assert fits(page)


@pytest.mark.browser_says("status of 400")
@pytest.mark.usefixtures("smtp")
@pytest.mark.parametrize("size", [pytest.param("desktop", marks=pytest.mark.long), "phone"])
def test_every_other_way_has_pages_that_fit_and_do_what_they_say(page, live_server, size):
    complaints = page_errors(page)
    for path in ("new/forward/", "new/mailbox/", "new/webhook/", "push/", "../feeds/", "../me/"):
        page.goto(f"{live_server.url}/delivery/{path}")
        assert fits(page), path

    page.goto(f"{live_server.url}/delivery/new/forward/")
    page.get_by_label("attached to a note").check()
    page.get_by_role("button", name="Add").click()
    page.get_by_text("waiting for confirmation").wait_for()
    assert Destination.objects.get(kind="forward").settings == {"style": "attached"}

    page.goto(f"{live_server.url}/delivery/new/webhook/")
    page.get_by_label("Address").fill("https://hooks.example.org/7")
    page.get_by_role("button", name="Add").click()
    page.get_by_text("Webhook at hooks.example.org is added.").wait_for()
    page.get_by_role("link", name="See what it would send").click()
    page.get_by_text("webhook-signature").wait_for()
    assert fits(page)
    page.go_back()
    page.get_by_role("link", name="Secret").click()
    page.get_by_role("button", name="Make a new secret").click()
    expect(page.get_by_label("Secret", exact=True)).to_have_value(re.compile("^whsec_"))
    assert fits(page)

    page.goto(f"{live_server.url}/delivery/new/mailbox/")
    page.get_by_label("Server").fill("127.0.0.1")
    page.get_by_label("Connection security").select_option("none")
    page.get_by_label("Port").fill("1")
    page.get_by_label("User name").fill("terry")
    page.get_by_label("Password").fill("secret")
    page.get_by_role("button", name="Add").click()
    page.locator(".fault, .banner.bad").first.wait_for()
    assert fits(page) and not Destination.objects.filter(kind="mailbox").exists()
    assert [line for line in complaints if "400" not in line] == []
