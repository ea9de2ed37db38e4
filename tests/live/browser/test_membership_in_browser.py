"""A person comes, loses the password, sets up a second step, takes their data, and leaves."""

from __future__ import annotations

import io
import re
import threading
import time
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.core import mail as sent_mail
from django.core.management import call_command
from playwright.sync_api import Page, expect

from filters.people.membership.views import data as data_views
from filters.people.models import User
from filters.people.second_factor import totp
from filters.people.tasks import tend_accounts
from filters.runs.store.filter_store import DjangoClock
from filters.site.work.parts import services
from tapestry.celery import app
from tapestry.core.message import Message
from tapestry.tables.write.append import append_messages
from tests.support.browser.browsing import assert_fits, end_session, open_signed_in, sign_in
from tests.support.browser.page_errors import page_errors

pytestmark = [pytest.mark.live, pytest.mark.timeout(120)]

SIZES = {"desk": {"width": 1280, "height": 900}, "phone": {"width": 390, "height": 844}}
EMAIL = "mary@example.org"
FIRST, SECOND = "an old grey loom", "three quiet looms"


@pytest.fixture
def site(live_server, transactional_db, settings, tmp_path, monkeypatch):
    """The address of a site to which people are invited.

    Mail is sent where it is asked for; exports and deletions wait for ``tend_accounts``.
    """
    settings.DATA = tmp_path
    settings.SECRET_KEY = "of the tests"
    settings.SITE_URL, settings.SIGN_UP = live_server.url, "invitation"
    monkeypatch.setenv("REDIS_URL", "redis://127.0.0.1:1/0")
    monkeypatch.setattr(data_views, "send", lambda *_, **__: True)
    app.conf.task_always_eager = True
    yield live_server.url
    app.conf.task_always_eager = False


class Visitor:
    """A person with a browser, who reads their mail."""

    def __init__(self, page: Page, site: str) -> None:
        self.page, self.site = page, site

    def press(self, name: str) -> None:
        self.page.get_by_role("button", name=name, exact=True).click()

    def fits(self, name: str) -> None:
        """Fail unless the page fits into its window."""
        assert_fits(self.page, name)

    def follow_mail(self) -> None:
        """Open the link of the newest mail."""
        newest = sent_mail.outbox[-1]
        assert newest.to == [EMAIL]
        self.page.goto(re.findall(rf"{self.site}/\S+/\S+/", newest.body)[-1])

    def choose_password(self, password: str) -> None:
        self.page.get_by_label("New password", exact=True).fill(password)
        self.page.get_by_label("New password again").fill(password)

    def sign_in(self, password: str) -> None:
        sign_in(self.page, "mary", password)

    def sign_out(self) -> None:
        end_session(self.page)
        self.page.goto(f"{self.site}/sign-in/")


@pytest.fixture(params=list(SIZES))
def mary(request, browser, site):
    opened = browser.new_context(viewport=SIZES[request.param]).new_page()
    errors = page_errors(opened)
    yield Visitor(opened, site)
    assert errors == []


def make_account(mary: Visitor) -> None:
    call_command("invite", EMAIL)
    mary.follow_mail()
    mary.page.get_by_label("Name", exact=True).fill("mary")
    mary.choose_password(FIRST)
    mary.fits("make-account")
    mary.press("Make the account")
    expect(mary.page.get_by_text("Welcome, mary. Please sign in.")).to_be_visible()
    mary.sign_in(FIRST)
    mary.page.wait_for_url(f"{mary.site}/")


def get_new_password(mary: Visitor) -> None:
    mary.sign_out()
    mary.page.get_by_role("link", name="Forgot your password?").click()
    mary.page.get_by_label("E-mail").fill(EMAIL)
    mary.press("Send me a link")
    expect(mary.page.get_by_role("status")).to_contain_text("a link is on its way")
    mary.fits("sent")
    mary.follow_mail()
    mary.choose_password(SECOND)
    mary.fits("new-password")
    mary.press("Set the password")
    expect(mary.page.get_by_text("Your password is changed.")).to_be_visible()
    mary.sign_in(SECOND)
    mary.page.wait_for_url(f"{mary.site}/")


def set_up_app(mary: Visitor) -> list[str]:
    """Set up an authenticator app, and sign in by it; return the recovery codes."""
    page = mary.page
    page.goto(f"{mary.site}/me/security/")
    page.get_by_role("link", name="Set up an app").click()
    page.get_by_label("Your password").fill(SECOND)
    mary.press("Continue")
    secret = page.locator(".key").inner_text().replace(" ", "")
    page.get_by_label("The code that it shows").fill(totp.code_at(secret, totp.step_now()))
    mary.fits("app")
    mary.press("Turn it on")
    expect(page.get_by_role("heading", name="Your recovery codes")).to_be_visible()
    codes = page.locator(".codes li").all_inner_texts()
    mary.fits("codes")
    mary.sign_out()
    mary.sign_in(SECOND)
    page.get_by_role("heading", name="One more step, mary").wait_for()
    # The code of this step was taken: a phone whose clock is a little fast shows the next one.
    page.get_by_label("Code").fill(totp.code_at(secret, totp.step_now() + 1))
    mary.fits("code")
    mary.press("Continue")
    page.wait_for_url(f"{mary.site}/")
    return codes


def fetch_export(mary: Visitor, code: str) -> zipfile.ZipFile:
    page = mary.page
    page.goto(f"{mary.site}/me/")
    page.get_by_role("link", name="Export my data").click()
    page.get_by_label("Your password").fill(SECOND)
    page.get_by_label("Code").fill(code)
    mary.fits("confirm")
    mary.press("Continue")
    mary.press("Make the file")
    expect(page.get_by_text("We started making it at")).to_be_visible()
    tend_accounts()
    page.reload()
    link = page.get_by_role("link", name="Download it")
    link.wait_for()
    mary.fits("export")
    with page.expect_download() as download:
        link.click()
    assert download.value.suggested_filename == "tapestry-mary.zip"
    return zipfile.ZipFile(io.BytesIO(Path(download.value.path()).read_bytes()))


def delete_account(mary: Visitor, code: str) -> None:
    page = mary.page
    page.goto(f"{mary.site}/me/")
    page.get_by_role("link", name="Delete my account").click()
    page.get_by_label("Your password").fill(SECOND)
    page.get_by_label("Code").fill(code)
    page.get_by_label("Delete my account and my mail for good").check()
    mary.fits("delete")
    mary.press("Delete my account")
    expect(page.get_by_role("heading", name="Your account is being deleted")).to_be_visible()
    tend_accounts()
    page.reload()
    expect(page.get_by_role("heading", name="All of it is gone")).to_be_visible()
    mary.fits("deleted")
    page.goto(f"{mary.site}/me/")
    expect(page).to_have_url(f"{mary.site}/sign-in/?next=/me/")


def test_a_person_comes_stays_and_leaves(mary):
    make_account(mary)
    letter = Message("plan@x.org", sender="joe@x.org", subject="The plan", audience="user:mary")
    append_messages(services.tables(), DjangoClock(), [letter])
    get_new_password(mary)
    codes = set_up_app(mary)
    archive = fetch_export(mary, codes[0])
    assert b"Subject: The plan" in archive.read("mail.mbox")
    delete_account(mary, codes[1])
    assert not User.objects.filter(username="mary").exists()


def test_a_poll_of_the_page_does_not_lead_away_from_what_was_sent_off(browser, site, monkeypatch):
    """Signed out by the deletion, a page that still asks for news would go to the sign-in page."""
    User.objects.create_user("mary", EMAIL, SECOND)
    page = browser.new_context(viewport=SIZES["desk"]).new_page()
    mary = Visitor(page, site)
    open_signed_in(page, f"{site}/me/delete/", name="mary", password=SECOND)
    page.get_by_label("Your password").fill(SECOND)
    page.get_by_label("Delete my account and my mail for good").check()

    is_led_away = threading.Event()

    def answer_late(*_: Any, **__: Any) -> None:
        assert is_led_away.wait(240)
        time.sleep(1)  # for the page to follow, if it does

    monkeypatch.setattr(data_views, "send", answer_late)
    page.on("response", lambda got: is_led_away.set() if "hx-redirect" in got.headers else None)
    page.evaluate("setInterval(() => htmx.trigger(document.body, 'read'), 200)")
    mary.press("Delete my account")
    expect(page.get_by_role("heading", name="Your account is being deleted")).to_be_visible()
