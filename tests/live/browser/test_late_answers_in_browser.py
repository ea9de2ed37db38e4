"""Answers that come late, in another order or not at all: no list keeps what one has removed."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from filters.inbox.models import Match, MessageState
from filters.people.models import User
from tapestry.core.clock import DAY, wall_clock
from tapestry.tables.delta.log import Tables
from tests.support.browser.listed_page import LateAnswer, open_list, open_row, row
from tests.support.lists.listed_mail import find, installed, letters

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]

LIST = "**/in/jones/?page=1"
SLOW_BACK = """() => {
  const back = history.back.bind(history);
  history.back = () => setTimeout(back, 1500);
}"""


@pytest.fixture
def jones(transactional_db, settings, tmp_path, monkeypatch):
    """A filter of terry's that has found four messages."""
    settings.DATA = tmp_path
    settings.SECRET_KEY = "of the tests"
    monkeypatch.setenv("REDIS_URL", "redis://127.0.0.1:1/0")
    made = installed(User.objects.create_user("terry", password="secret"), "jones")
    tables = Tables(tmp_path / "tables")
    letters(tables, "a", "b", "c", "d")
    find(tables, made, "a", "b", "c", "d")
    return made


def load_again(page: Page) -> None:
    """Have the list asked for, as it is when something has come."""
    page.evaluate("htmx.trigger(document.body, 'arrived')")


def drawn(page: Page) -> None:
    """Wait until the page has worked on the last list that it asked for."""
    expect(page.locator("#listed:not(.htmx-request)")).to_have_count(1)


def hold_back(page: Page) -> None:
    """Have the list asked for beside a pointer; the page has looked at it, and not shown it."""
    load_again(page)
    expect(page.locator("#list[data-waiting]")).to_have_count(1)


def msgids(page: Page) -> list[str]:
    rows = page.locator("#list a.row")
    return sorted(rows.evaluate_all("rows => rows.map((row) => row.dataset.msgid)"))


def test_a_list_that_was_asked_for_before_is_not_shown_after(browser, jones, live_server):
    page = open_list(browser, live_server.url, "desk")
    late = LateAnswer(page, LIST)
    load_again(page)
    late.wait()
    row(page, "a").focus()
    page.keyboard.press("e")
    expect(page.locator("#toast")).to_contain_text("1 message done.")
    with page.expect_response("**/sidebar/**"):
        page.evaluate("htmx.trigger(document.body, 'read')")
    late.give()
    expect(row(page, "a")).to_have_count(0)


@pytest.mark.parametrize("size", ["desk", "phone"])
def test_what_was_open_leaves_though_the_list_comes_before_the_way_back(
    browser, jones, live_server, size
):
    page = open_list(browser, live_server.url, size)
    page.evaluate(SLOW_BACK)
    open_row(page, "a")
    with page.expect_response(LIST):
        page.locator("#reading").get_by_role("button", name="Done").click()
    expect(page.locator("#reading article.message")).to_have_count(0)
    expect(row(page, "b")).to_be_visible()
    expect(row(page, "a")).to_have_count(0)


def test_what_was_open_leaves_though_another_has_been_opened(browser, jones, live_server):
    page = open_list(browser, live_server.url, "desk")
    open_row(page, "a")
    late = LateAnswer(page, "**/triage/do/done/")
    page.locator("#reading").get_by_role("button", name="Done").click()
    late.wait()
    open_row(page, "b")
    late.give()
    expect(page.locator("#toast")).to_contain_text("1 message done.")
    expect(row(page, "a")).to_have_count(0)
    expect(page.locator("#reading article.message")).to_have_attribute("data-msgid", "b")


def test_what_was_open_by_its_address_leaves_at_once(browser, jones, live_server):
    page = open_list(browser, live_server.url, "desk")
    page.goto(f"{live_server.url}/in/jones/?open=a")
    page.route("**/sidebar/**", lambda route: route.fulfill(status=204))
    with page.expect_response(LIST):
        page.locator("#reading").get_by_role("button", name="Done").click()
    expect(row(page, "a")).to_have_count(0)
    expect(page.locator("#reading article.message")).to_have_count(0)


def test_what_is_no_longer_starred_leaves_the_starred_though_it_is_open(
    browser, jones, live_server
):
    now = wall_clock()
    terry = User.objects.get()
    for msgid in "ab":
        MessageState.objects.create(
            owner=terry, msgid=msgid, audience="public", starred_at=now, changed_at=now
        )
    page = open_list(browser, live_server.url, "desk")
    page.goto(f"{live_server.url}/starred/")
    open_row(page, "a")
    page.locator("#star").click()
    expect(row(page, "a")).to_have_count(0)
    expect(page.locator("#reading article.message")).to_have_attribute("data-msgid", "a")
    page.locator("#star[aria-pressed=false]").click()
    expect(row(page, "a")).to_have_count(1)


def test_what_left_by_itself_stays_when_it_is_starred_and_leaves_with_what_is_done(
    browser, jones, live_server
):
    page = open_list(browser, live_server.url, "desk")
    open_row(page, "a")
    Match.objects.filter(msgid="a").update(retracted_at=wall_clock())
    load_again(page)
    expect(page.locator("#list")).to_have_attribute("data-count", "3")
    assert "a" in msgids(page)
    with page.expect_response(LIST):
        page.locator("#star").click()
    expect(page.locator("#star")).to_have_attribute("aria-pressed", "true")
    load_again(page)
    drawn(page)
    assert "a" in msgids(page)
    for msgid in "bc":
        page.locator(f'.pick[value="{msgid}"]').check()
    page.locator("#bulk").get_by_role("button", name="Done").click()
    expect(page.locator("#list")).to_have_attribute("data-count", "1")
    assert msgids(page) == ["d"]


def test_news_that_comes_while_the_list_is_asked_for_is_not_lost(browser, jones, live_server):
    page = open_list(browser, live_server.url, "phone")
    late = LateAnswer(page, LIST)
    load_again(page)
    late.wait()
    Match.objects.filter(msgid="d").update(retracted_at=wall_clock())
    with page.expect_response("**/sidebar/**"):
        page.evaluate("htmx.trigger(document.body, 'read')")
    late.give()
    expect(row(page, "d")).to_have_count(0)


def test_news_that_was_held_back_is_not_taken_in_instead_of_what_is_newer(
    browser, jones, live_server
):
    page = open_list(browser, live_server.url, "desk")
    row(page, "b").hover()
    Match.objects.filter(msgid="d").update(retracted_at=wall_clock())
    hold_back(page)
    late = LateAnswer(page, LIST)
    Match.objects.filter(msgid="c").update(retracted_at=wall_clock())
    with page.expect_response("**/sidebar/**"):
        page.evaluate("htmx.trigger(document.body, 'read')")
    late.wait()
    page.locator(".rail .brand").hover()
    expect(row(page, "d")).to_have_count(0)
    late.give()
    expect(row(page, "c")).to_have_count(0)


def test_what_is_ticked_is_still_ticked_when_the_news_is_taken_in(browser, jones, live_server):
    page = open_list(browser, live_server.url, "desk")
    page.locator('.pick[value="a"]').check()
    row(page, "b").hover()
    Match.objects.filter(msgid="c").update(retracted_at=wall_clock())
    hold_back(page)
    ticked = """() => {
      document.getElementById("news").click();
      return document.querySelector('.pick[value="a"]').checked;
    }"""
    assert page.evaluate(ticked), "nothing else has to come before it is drawn"
    expect(row(page, "c")).to_have_count(0)
    expect(page.locator("#chosen")).to_have_text("1 selected")


def test_what_was_done_twice_at_once_is_shown_as_the_last_time(browser, jones, live_server):
    page = open_list(browser, live_server.url, "desk")
    open_row(page, "a")
    late = LateAnswer(page, "**/actions/**")
    page.keyboard.press("s")
    late.wait()
    row(page, "a").focus()
    page.evaluate(
        """() => htmx.ajax("POST", "/triage/do/unstar/",
                           { target: "#toast", swap: "innerHTML", values: { id: ["a"] } })"""
    )
    expect(page.locator("#toast")).to_contain_text("1 message no longer starred.")
    late.give()
    page.wait_for_timeout(500)
    expect(page.locator("#star")).to_have_attribute("aria-pressed", "false")


def test_the_message_that_was_asked_for_last_is_open(browser, jones, live_server):
    page = open_list(browser, live_server.url, "desk")
    late = LateAnswer(page, "**/message/?id=a**")
    row(page, "a").click()
    late.wait()
    open_row(page, "b")
    late.give()
    page.wait_for_timeout(500)
    expect(page.locator("#reading article.message")).to_have_attribute("data-msgid", "b")
    expect(page).to_have_url(f"{live_server.url}/in/jones/?open=b&in=public")


def test_who_has_gone_back_to_the_list_stays_there(browser, jones, live_server):
    page = open_list(browser, live_server.url, "desk")
    open_row(page, "a")
    late = LateAnswer(page, "**/message/?id=b**")
    row(page, "b").click()
    late.wait()
    page.keyboard.press("u")
    expect(page.locator("#reading article.message")).to_have_count(0)
    late.give()
    page.wait_for_timeout(500)
    expect(page.locator("#reading article.message")).to_have_count(0)
    expect(page).to_have_url(f"{live_server.url}/in/jones/")


@pytest.mark.browser_says("status of 503", "Response Status Error Code 503")
def test_a_list_that_could_not_be_had_is_asked_for_again(browser, jones, live_server):
    page = open_list(browser, live_server.url, "desk")
    snoozed = {"snoozed_until": wall_clock() + DAY, "changed_at": 1, "audience": "public"}
    MessageState.objects.create(owner=User.objects.get(), msgid="a", **snoozed)
    page.goto(f"{live_server.url}/snoozed/")
    row(page, "a").click()
    page.locator("#reading article.message").wait_for()
    MessageState.objects.create(owner=User.objects.get(), msgid="b", **snoozed)
    away = {"status": 503, "body": "<p>The database is away.</p>"}
    page.route("**/snoozed/?page=1", lambda route: route.fulfill(**away), times=2)
    page.get_by_role("button", name="Bring back now").click()
    expect(page.locator("#notice")).to_have_text("The database is away.")
    expect(page.locator("#list")).to_have_count(1)
    expect(page.locator("#notice")).to_have_count(0)
    expect(row(page, "b")).to_be_visible()
    expect(row(page, "a")).to_have_count(0)


def test_of_acts_that_come_faster_than_their_answers_none_is_dropped(browser, jones, live_server):
    page = open_list(browser, live_server.url, "desk")
    late = LateAnswer(page, "**/triage/do/done/")
    for msgid in "abc":
        row(page, msgid).focus()
        page.keyboard.press("e")
    late.give()
    expect(page.locator("#list")).to_have_attribute("data-count", "1")
    assert msgids(page) == ["d"]
