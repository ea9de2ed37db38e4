"""Two copies of a message in one list in a browser: keys, boxes and buttons mean the one shown."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Group
from playwright.sync_api import Locator, Page, expect

from filters.inbox.models import MessageState, Mute
from filters.people.models import User
from tapestry.tables.delta.log import Tables
from tests.support.browser.browsing import open_as
from tests.support.lists.listed_mail import find, installed, letters

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]

COPIES = ("group:parc", "public")


@pytest.fixture
def terry(transactional_db, settings, tmp_path, monkeypatch):
    """Terry, whose filters have found another message, and two copies of one: the public one last.

    Each copy names its audience as the root of its thread.
    """
    settings.DATA = tmp_path
    settings.SECRET_KEY = "of the tests"
    monkeypatch.setenv("REDIS_URL", "redis://127.0.0.1:1/0")
    made = User.objects.create_user("terry", password="secret")
    made.groups.add(Group.objects.create(name="parc"))
    tables = Tables(tmp_path / "tables")
    letters(tables, "other")
    for audience in COPIES:
        letters(tables, "m", root=audience, audience=audience)
        find(tables, installed(made, audience.replace(":", "-")), "m", audience=audience)
    find(tables, installed(made, "other"), "other")
    return made


@pytest.fixture
def page(browser, terry, live_server):
    """Terry's inbox."""
    opened = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
    open_as(opened, f"{live_server.url}/")
    return opened


def row(page: Page, audience: str) -> Locator:
    return page.locator(f'#list a.row[data-msgid="m"][data-audience="{audience}"]')


def said(page: Page, words: str) -> None:
    expect(page.locator("#toast")).to_contain_text(words)


@pytest.mark.parametrize("audience", COPIES)
def test_a_key_means_the_copy_of_the_row(page, audience):
    row(page, audience).focus()
    page.keyboard.press("s")
    said(page, "1 message starred.")
    assert MessageState.objects.get().audience == audience
    page.keyboard.press("e")
    said(page, "1 message done.")
    expect(row(page, audience)).to_have_count(0)
    assert MessageState.objects.get().audience == audience
    page.keyboard.press("z")
    said(page, "Undone for 1 message.")
    expect(row(page, audience)).to_have_count(1)


@pytest.mark.parametrize("audience", COPIES)
def test_a_key_and_a_button_mean_the_copy_that_is_open(page, audience):
    row(page, audience).click()
    page.locator("#actions").wait_for()
    page.keyboard.press("s")
    expect(page.locator("#star")).to_have_attribute("aria-pressed", "true")
    expect(page.locator("#list a.row[aria-current]")).to_have_attribute("data-audience", audience)
    assert MessageState.objects.get().audience == audience
    page.get_by_role("button", name="Mute thread").first.click()
    said(page, "1 message muted")
    assert Mute.objects.get().root == audience
    expect(row(page, audience)).to_have_count(0)
    expect(page.locator("#list a.row")).to_have_count(2)
    expect(page.locator("#reading article.message")).to_have_count(0)


@pytest.mark.parametrize("audience", COPIES)
def test_a_box_is_that_of_one_copy(page, audience):
    row(page, audience).focus()
    page.keyboard.press("x")
    expect(page.locator("#chosen")).to_have_text("1 selected")
    expect(page.locator(".pick:checked")).to_have_attribute("name", f"id:{audience}")
    page.evaluate("htmx.trigger(document.body, 'arrived')")
    expect(page.locator("#listed:not(.htmx-request)")).to_have_count(1)
    expect(page.locator(".pick:checked")).to_have_attribute("name", f"id:{audience}")
    page.locator('.pick[value="other"]').check()
    expect(page.locator("#chosen")).to_have_text("2 selected")
    page.locator("#bulk").get_by_role("button", name="Mute thread").click()
    said(page, "2 messages muted")
    expect(page.locator("#list a.row")).to_have_count(1)
    assert {mute.root for mute in Mute.objects.all()} == {audience, "other"}


def test_a_page_that_was_open_before_means_what_it_meant(page):
    """Its boxes name messages alone, in a list that comes from the site as it is now too."""
    page.evaluate(
        """() => {
          for (const pick of document.querySelectorAll(".pick")) pick.name = "id";
          for (const row of document.querySelectorAll("#list a.row")) delete row.dataset.audience;
        }"""
    )
    page.locator('.pick[value="m"]').first.check()
    page.keyboard.press("s")
    said(page, "1 message starred.")
    assert MessageState.objects.get().audience == "public"
