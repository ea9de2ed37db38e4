"""Triage in a browser: keys, undo, bulk, and a list from which nothing vanishes while one reads."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from filters.inbox.models import Match
from filters.people.models import User
from tapestry.core.clock import wall_clock
from tapestry.tables.delta.log import Tables
from tests.support.browser.contrast import too_faint
from tests.support.browser.listed_page import open_list, row
from tests.support.browser.page_errors import page_errors
from tests.support.lists.listed_mail import find, installed, letters

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]

MANY = [f"m{number:02}" for number in range(60)]


@pytest.fixture
def jones(transactional_db, settings, tmp_path, monkeypatch):
    """A filter of terry's that has found two pages of messages, three of them a thread."""
    settings.DATA = tmp_path
    settings.SECRET_KEY = "of the tests"
    monkeypatch.setenv("REDIS_URL", "redis://127.0.0.1:1/0")
    made = installed(
        User.objects.create_user("terry", password="secret", conversations=False), "jones"
    )
    tables = Tables(tmp_path / "tables")
    letters(tables, *MANY)
    letters(tables, "reply-1", "reply-2", root="m00")
    find(tables, made, *MANY, "reply-1", "reply-2")
    return made


def first(page: Page, at: int = 0) -> str:
    return page.locator("#list a.row").nth(at).get_attribute("data-msgid")


def test_with_keys_at_a_desk(browser, jones, live_server):
    page = open_list(browser, live_server.url, "desk")
    errors = page_errors(page)
    toast = page.locator("#toast")
    page.keyboard.press("j")
    one, two, three = first(page, 0), first(page, 1), first(page, 2)
    expect(row(page, one)).to_be_focused()

    page.keyboard.press("e")
    expect(toast).to_contain_text("1 message done.")
    expect(row(page, one)).to_have_count(0)
    expect(row(page, two)).to_be_focused()
    page.keyboard.press("z")
    expect(toast).to_contain_text("Undone for 1 message.")
    expect(row(page, one)).to_have_count(1)

    row(page, two).focus()
    page.keyboard.press("o")
    page.locator("#reading article.message").wait_for()
    page.keyboard.press("s")
    expect(page.locator("#star")).to_have_attribute("aria-pressed", "true")
    expect(toast).to_contain_text("1 message starred.")
    expect(row(page, two).locator(".starred")).to_be_visible()
    expect(page.locator(".htmx-request"), "the list after that act has come").to_have_count(0)

    Match.objects.filter(msgid=two).update(retracted_at=wall_clock())
    page.evaluate("htmx.trigger(document.body, 'arrived')")
    expect(page.locator("#list")).to_have_attribute("data-count", "61")
    assert first(page, 1) == two, "what one is reading stays where it is"
    Match.objects.filter(msgid=two).update(retracted_at=None)
    page.evaluate("htmx.trigger(document.body, 'arrived')")
    expect(page.locator("#list")).to_have_attribute("data-count", "62")

    Match.objects.update(retracted_at=wall_clock())
    page.evaluate("htmx.trigger(document.body, 'arrived')")
    expect(page.locator("#list")).to_have_attribute("data-count", "0")
    assert page.locator("#list a.row").count() == 1 and first(page) == two, "nor if it is the last"
    Match.objects.update(retracted_at=None)
    page.evaluate("htmx.trigger(document.body, 'arrived')")
    expect(page.locator("#list")).to_have_attribute("data-count", "62")

    row(page, "reply-1").click()
    article = page.locator("#reading article.message")
    expect(article).to_have_attribute("data-msgid", "reply-1")
    for key, msgid in (("p", "m00"), ("n", "reply-1"), ("n", "reply-2")):
        page.keyboard.press(key)
        expect(article).to_have_attribute("data-msgid", msgid)
        expect(row(page, one)).to_be_visible()
    expect(page).to_have_url(f"{live_server.url}/in/jones/?open=reply-2")

    page.keyboard.press("u")
    expect(page.locator("#reading article.message")).to_have_count(0)
    row(page, three).focus()
    expect(page.locator(f'.pick[value="{three}"]')).to_have_css("opacity", "0")
    page.keyboard.press("x")
    expect(page.locator(f'.pick[value="{three}"]')).to_have_css("opacity", "1")
    page.keyboard.press("j")
    page.keyboard.press("x")
    expect(page.locator("#chosen")).to_have_text("2 selected")
    page.get_by_role("button", name="Select all 62 in this list").click()
    expect(page.locator("#chosen")).to_have_text("All 62 messages in this list are selected")
    page.keyboard.press("e")
    expect(toast).to_contain_text("62 messages done.")
    expect(page.locator("#list .empty")).to_be_visible()
    page.keyboard.press("z")
    expect(row(page, one)).to_have_count(1)

    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    assert too_faint(page) == []
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    page.keyboard.type("j?ez")
    expect(page.locator("#search")).to_have_value("j?ez")
    page.locator("#search").blur()
    page.keyboard.type("gi")  # within a second and a half
    page.wait_for_url(f"{live_server.url}/")
    page.keyboard.press("c")
    page.wait_for_url("**/compose/")
    page.goto(f"{live_server.url}/message/?id={two}")
    page.keyboard.press("a")
    page.locator("#answer").get_by_label("Text", exact=True).wait_for()
    assert errors == []


@pytest.mark.parametrize(("size", "scheme"), [("desk", "dark"), ("phone", "light")])
def test_all_of_a_page_a_range_and_the_menu_to_snooze(browser, jones, live_server, size, scheme):
    Match.objects.exclude(msgid__in=MANY[:9]).delete()
    page = open_list(browser, live_server.url, size, scheme)
    errors = page_errors(page)
    expect(page.locator("#list a.row")).to_have_count(9)
    boxes = page.locator("#list .pick")
    boxes.nth(1).check()
    boxes.nth(5).click(modifiers=["Shift"])
    expect(page.locator("#chosen")).to_have_text("5 selected")
    boxes.nth(4).click(modifiers=["Shift"])
    expect(page.locator("#chosen")).to_have_text("3 selected")
    page.keyboard.press("*")
    expect(page.locator("#chosen")).to_have_text("9 selected")
    expect(page.get_by_role("button", name="Select all")).to_be_hidden()
    page.keyboard.press("*")
    expect(page.locator("#list .pick:checked")).to_have_count(0)
    row(page, first(page, 2)).focus()
    page.keyboard.press("x")
    row(page, first(page, 4)).focus()
    page.keyboard.press("X")
    expect(page.locator("#chosen")).to_have_text("3 selected")
    page.keyboard.press("b")
    menu = page.locator("#bulk .menu")
    pane, shown = page.locator(".pane.list").bounding_box(), menu.bounding_box()
    assert shown["x"] >= pane["x"]
    assert shown["x"] + shown["width"] <= pane["x"] + pane["width"]
    assert shown["y"] >= 0
    page.keyboard.press("Escape")
    expect(menu).to_be_hidden()
    page.get_by_role("button", name="Select all 9 in this list").click()
    expect(page.locator("#chosen")).to_have_text("All 9 messages in this list are selected")
    page.keyboard.press("m")
    expect(page.locator("#toast")).to_contain_text("9 messages muted")
    page.goto(f"{live_server.url}/muted/")
    row(page, MANY[3]).click()
    page.locator("#reading article.message").wait_for()
    page.keyboard.press("b")
    menu = page.locator("#actions .menu")
    expect(menu).to_be_visible()
    shown, width = menu.bounding_box(), page.viewport_size["width"]
    assert shown["x"] >= 0 and shown["x"] + shown["width"] <= width
    assert too_faint(page) == []
    assert errors == []


def test_with_a_finger_on_a_phone_in_the_dark(browser, jones, live_server):
    page = open_list(browser, live_server.url, "phone", "dark")
    one, two = first(page, 0), first(page, 1)
    box = page.locator(f'.pick[value="{one}"]').bounding_box()
    assert box["x"] + box["width"] <= row(page, one).locator(".face").bounding_box()["x"]
    for msgid in (one, two):
        page.locator(f'.pick[value="{msgid}"]').check()
    assert too_faint(page) == []
    page.locator("#bulk summary").click()
    page.locator("#bulk").get_by_role("button", name="Tomorrow morning").click()
    expect(page.locator("#toast")).to_contain_text("2 messages snoozed until 08:00 tomorrow.")
    expect(row(page, one)).to_have_count(0)
    page.goto(f"{live_server.url}/snoozed/")
    row(page, one).click()
    page.locator("#reading article.message").wait_for()
    page.get_by_role("button", name="Bring back now").click()
    expect(row(page, two)).to_be_visible()
    expect(row(page, one)).to_have_count(0)
