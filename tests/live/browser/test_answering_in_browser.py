"""A message goes round: answered in the browser, by SMTP, into a mailbox, to a filter's reader."""

from __future__ import annotations

import re
import time
from contextlib import contextmanager
from typing import Any

import pytest
from django.test import Client
from imapclient import IMAPClient
from playwright.sync_api import Page, Route, expect

from filters.authoring.lifecycle import install
from filters.compose import tasks
from filters.compose.drafting import texts
from filters.compose.models import OutgoingMessage
from filters.delivery.models import Address
from filters.inbox.models import Match
from filters.people.models import User
from filters.runs import rounds
from filters.site.work.parts import services
from filters.sources.accounts.credentials import keep_secret
from filters.sources.models import Source
from filters.sources.pull.pulling import pull
from tapestry.tables.delta.log import Tables
from tests.support.browser.contrast import too_faint
from tests.support.browser.every_page import faults_of_view
from tests.support.browser.page_errors import page_errors
from tests.support.delivery.composed import put, send_due
from tests.support.engines.sqlite_engine import SqliteEngine
from tests.support.servers.dovecot import (
    PASSWORD,
    PASSWORD_ABROAD,
    USER,
    USER_ABROAD,
    running_dovecot,
)
from tests.support.servers.smtp import running_smtp

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]

WAIT = 30
"""Seconds until a draft is saved, on a slow machine."""
DESK = {"width": 1280, "height": 900}
PHONE = {"width": 390, "height": 844}

QUESTION = b"""\
From: Mary Jones <jones@example.org>
To: terry@example.org, Ann <ann@example.net>
Subject: The plan
Message-ID: <plan@example.org>
Date: Thu, 01 Jan 2026 10:00:00 +0000

Shall we meet on Friday? I would like to talk about the looms, the dyes and the winter.

> Before or after lunch?
Before.
-- \nMary
"""


def person(name: str, port: int, user: str, password: str, *folders: str) -> User:
    made = User.objects.create_user(name, f"{name}@example.org", "secret")
    Address.objects.create(owner=made, email=made.email, confirmed_at=1)
    source = Source(
        owner=made, kind="imap", host="127.0.0.1", port=port, security="none", user=user,
        audience=f"user:{name}", folder_patterns=list(folders), active=True,
    )  # fmt: skip
    keep_secret(source, password)
    source.save()
    return made


@pytest.fixture
def world(transactional_db, settings, tmp_path, monkeypatch):
    """Terry and Jones, a mailbox of each, and a mail server that delivers into Jones's."""
    settings.DATA = tmp_path
    settings.SECRET_KEY = "of the tests"
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    monkeypatch.setenv("REDIS_URL", "redis://127.0.0.1:1/0")
    monkeypatch.setattr(tasks, "send", lambda *_, **__: True)
    tables = Tables(tmp_path / "tables")

    def engine_on(_: Any, **__: Any) -> SqliteEngine:
        names = ("messages", "annotations")
        return SqliteEngine({n: tables.open(n).to_pyarrow_table().to_pylist() for n in names})

    monkeypatch.setattr(services, "engine_on", engine_on)
    monkeypatch.setattr(services, "unproven_engine_on", engine_on)
    with running_dovecot(sent="Sent") as dovecot, delivering(dovecot.port) as smtp:
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", smtp.port
        terry = person("terry", dovecot.port, USER_ABROAD, PASSWORD_ABROAD, "INBOX", "Sent")
        jones = person("jones", dovecot.port, USER, PASSWORD, "INBOX")
        put(tables, QUESTION, "user:terry")
        install(jones, "from terry", name="terry")
        texts.store_signature(jones, jones.email, "Jones")
        texts.store_template(jones, "Thanks", "**Thank you**")
        yield terry, jones, tables


@contextmanager
def delivering(port: int):
    """Run a mail server that puts what is for Jones into the mailbox of Jones."""

    class Taken(list):
        """What is in the mailbox before the server answers that it took it."""

        def append(self, raw: bytes) -> None:
            super().append(raw)
            with IMAPClient("127.0.0.1", port, ssl=False) as client:
                client.login(USER, PASSWORD)
                client.append("INBOX", b"Received: from site by mx; now\r\n" + raw)

    with running_smtp() as server:
        server.taken = Taken()
        yield server


def test_what_was_typed_last_is_saved_when_the_page_is_left(opened, world):
    terry, _, _ = world
    page = opened(terry, "/drafts/", DESK)
    page.clock.install(time=0)
    page.clock.pause_at(1)  # The two seconds after which it is saved by itself never end.
    page.goto(page.url.replace("/drafts/", "/compose/"))
    page.get_by_label("Text").fill("Half a thought")
    page.get_by_role("link", name="Drafts and sent").first.click()
    page.locator("h1", has_text="Drafts and sent").wait_for()
    draft = waited_for("Half a thought")

    page.goto(page.url.replace("/drafts/", draft.get_absolute_url()))
    page.get_by_label("Text").fill("Half a thought, and the rest")
    hide = "Object.defineProperty(document, 'visibilityState', {value: 'hidden'});"
    page.evaluate(f"{hide} document.dispatchEvent(new Event('visibilitychange'))")
    version = page.locator("[name=version]")
    expect(version).to_have_value("2")
    assert waited_for("Half a thought, and the rest").version == 2

    page.get_by_label("Text").fill("x" * 150_000)
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    waited_for("x" * 150_000)
    expect(version).to_have_value("3")

    page.goto(page.url.partition("/compose/")[0] + "/compose/")
    page.get_by_role("link", name="Drafts and sent").first.click()
    page.locator("h1", has_text="Drafts and sent").wait_for()
    assert OutgoingMessage.objects.count() == 1, "a page on which nothing was typed is no draft"
    assert page.faults == []


def test_what_was_typed_before_the_script_ran_is_saved_when_the_page_is_left(opened, world):
    terry, _, _ = world
    page = opened(terry, "/drafts/", DESK)
    page.clock.install(time=0)
    page.clock.pause_at(1)
    held: list[Route] = []
    page.route(re.compile(r"/compose[^/]*\.js"), lambda route: held.append(route))
    page.goto(page.url.replace("/drafts/", "/compose/"), wait_until="commit")
    page.get_by_label("Text").fill("Typed at once")
    while not held:
        page.wait_for_timeout(20)
    with page.expect_event("load"):
        held.pop().continue_()
    page.get_by_role("link", name="Drafts and sent").first.click()
    page.locator("h1", has_text="Drafts and sent").wait_for()
    waited_for("Typed at once")
    assert page.faults == []


def waited_for(end: str) -> OutgoingMessage:
    """Return the draft once its text ends so: its request outlives the page."""
    until = time.monotonic() + WAIT
    while time.monotonic() < until:
        for draft in OutgoingMessage.objects.all():
            if draft.body.endswith(end):
                return draft
        time.sleep(0.1)
    raise AssertionError(f"“{end[:40]}” was not saved.")


@pytest.fixture
def opened(browser, live_server):
    """Open a page as somebody in a window of some size; what goes wrong on it is noted."""

    def open_window(user: User, address: str, viewport, **options) -> Page:
        client = Client()
        client.force_login(user)
        cookies = [
            {"name": name, "value": cookie.value, "url": live_server.url}
            for name, cookie in client.cookies.items()
        ]
        context = browser.new_context(viewport=viewport, **options)
        context.add_cookies(cookies)
        page = context.new_page()
        page.faults = page_errors(page)
        page.goto(live_server.url + address)
        return page

    return open_window


def test_an_answer_goes_round(opened, world):
    terry, jones, tables = world
    page = opened(terry, "/message/?id=plan%40example.org", DESK)
    page.get_by_role("link", name="Reply", exact=True).click()
    text = page.locator("#answer").get_by_label("Text", exact=True)
    text.fill("To one alone")
    page.get_by_role("link", name="Reply to all").click()
    alone = waited_for("To one alone")
    expect(page.get_by_label("To", exact=True)).to_have_value("Mary Jones <jones@example.org>")
    expect(page.get_by_label("Cc", exact=True)).to_have_value("Ann <ann@example.net>")
    expect(page.get_by_label("Subject")).to_have_value("Re: The plan")
    page.get_by_label("Cc", exact=True).fill("")
    quote = text.input_value()
    assert quote.endswith(">> Before or after lunch?\n> Before.")
    text.fill(f"Yes, at ten — in the café.\n{quote}")
    page.get_by_text("Draft saved at").wait_for()
    alone.delete()
    assert "/message/" in page.url and OutgoingMessage.objects.count() == 1
    text.press_sequentially("\nTerry")
    draft = waited_for("\nTerry")
    assert draft.version > 1
    expect(page.locator("[name=version]")).to_have_value(str(draft.version))
    page.get_by_role("button", name="Send").click()
    page.get_by_text("Sending in").wait_for()
    page.get_by_role("button", name="Undo").press("Enter")  # drawn anew each second, in focus
    page.get_by_role("button", name="Send").click()
    page.get_by_text("Sending in").wait_for()
    send_due()
    page.get_by_text("A copy is in Sent of").wait_for()
    page.get_by_role("link", name="Show it in the conversation").click()
    expect(page.locator("#before")).to_contain_text("Message 2 of a conversation of 2 messages")
    expect(page.locator("article .letter-text").last).to_contain_text("Yes, at ten — in the café.")
    assert page.faults == []

    before = tables.open("messages").to_pyarrow_table().num_rows
    came = pull(terry.sources.get())
    assert came is not None and (came.read, came.added, came.duplicates) == (1, 0, 1)
    arrived = pull(jones.sources.get())
    assert arrived is not None and arrived.added == 1
    assert tables.open("messages").to_pyarrow_table().num_rows == before + 1
    rounds.run_round()
    (match,) = Match.objects.filter(filter__owner=jones)
    assert (match.msgid, match.audience) == (OutgoingMessage.objects.get().message_id, "user:jones")
    page = opened(jones, "/", PHONE, has_touch=True, color_scheme="dark")
    page.locator("#list a.row", has_text="Re: The plan").tap()
    expect(page.locator("#reading .letter-text")).to_contain_text("Yes, at ten — in the café.")
    page.get_by_role("link", name="Reply", exact=True).tap()
    expect(page.get_by_label("To", exact=True)).to_have_value("terry <terry@example.org>")
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    assert too_faint(page) == [] and page.faults == []
    _write_for_later(page)
    page.goto(page.url.partition("/compose/")[0] + "/sending/")
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    assert too_faint(page) == [] and page.faults == []


def _write_for_later(page):
    """Format an answer, look at it, drop files on it, and have it sent tomorrow."""
    text = page.get_by_label("Text")
    assert "\n\n-- \nJones\n\nOn " in text.input_value()
    page.get_by_text("Templates", exact=True).tap()
    page.get_by_role("button", name="Thanks").tap()
    expect(text).to_have_value(re.compile("^\\*\\*Thank you\\*\\*"))
    page.get_by_text("Formatted", exact=False).first.tap()
    page.get_by_role("button", name="Preview").tap()
    expect(page.locator("#preview strong")).to_have_text("Thank you")
    text.press("Control+Home")
    text.press_sequentially("*Terry*, ")
    expect(page.locator("#preview em")).to_have_text("Terry")
    drop = """(sizes) => {
      const files = new DataTransfer();
      sizes.forEach((size, n) => files.items.add(new File(["x".repeat(size)], `plan${n}.txt`)));
      const event = { dataTransfer: files, bubbles: true, cancelable: true };
      document.getElementById("id_body").dispatchEvent(new DragEvent("drop", event));
    }"""
    told = page.locator("#chosen-files")
    page.evaluate(drop, [16 << 20])
    expect(told).to_have_text("The files are 16.0 MiB in total; the limit is 15 MiB.")
    page.locator("#files").set_input_files([])
    page.evaluate(drop, [3, 4])
    expect(told).to_have_text("Attached when you save or send: plan0.txt, plan1.txt")
    page.get_by_text("Send later", exact=True).tap()
    assert list(faults_of_view(page)) == []
    page.set_viewport_size(PHONE)
    page.get_by_role("button", name="Tomorrow morning").tap()
    page.get_by_text("It will be sent at 08:00 tomorrow.").wait_for()
    row = OutgoingMessage.objects.get(send_at__isnull=False)
    assert row.attachments.count() == 2 and row.formatted and row.due_at == row.send_at
    page.get_by_text("Change the time").tap()
    assert list(faults_of_view(page)) == []
    page.set_viewport_size(PHONE)
