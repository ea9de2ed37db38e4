"""Writing a filter in a browser: completed with Tab, red only after a pause, mended by a button."""

import pytest
from django.test import Client
from playwright.sync_api import expect

from filters.people.models import User
from filters.runs.store.filter_store import DjangoClock
from tapestry.core.message import Message
from tapestry.tables.delta.log import Tables
from tapestry.tables.write.append import append_messages

pytestmark = [pytest.mark.live, pytest.mark.timeout(120)]

SAMPLE = (
    '<div class="preview" id="preview"><ol class="rows"><li>'
    '<a class="row flat" href="/me/">The plan</a></li></ol></div>'
)


@pytest.fixture
def signed_in(transactional_db, live_server, settings, tmp_path, monkeypatch):
    """Cookies of Alice, who may see a message of Jones."""
    settings.DATA = tmp_path
    monkeypatch.setenv("REDIS_URL", "redis://127.0.0.1:1/0")
    alice = User.objects.create_user("alice", "alice@example.org", "secret")
    jones = Message("plan@example.org", sender="mary@example.org", sender_name="Mary Jones")
    append_messages(Tables(tmp_path / "tables"), DjangoClock(), [jones])
    client = Client()
    client.force_login(alice)
    return [
        {"name": name, "value": cookie.value, "url": live_server.url}
        for name, cookie in client.cookies.items()
    ]


@pytest.fixture
def page(signed_in, live_server, browser):
    """The page of a new filter; its preview has one message."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    context.add_cookies(signed_in)
    opened = context.new_page()
    opened.route("**/filters/preview/", lambda route: route.fulfill(body=SAMPLE))
    opened.goto(f"{live_server.url}/filters/new/")
    return opened


def field_of(page):
    return page.get_by_role("textbox", name="Filter", exact=True)


def understood(page, text):
    return page.locator("#understood .phrase").get_by_text(text, exact=True)


def test_tab_accepts_also_after_a_whole_phrase_and_leaves_where_no_list_is_open(page):
    field = field_of(page)
    field.press_sequentially("replies by J")
    page.get_by_role("option", name='"Mary Jones"', selected=True).wait_for()
    field.press("Tab")
    expect(field).to_have_value('replies by "Mary Jones"')
    expect(field).to_be_focused()
    expect(page.get_by_role("listbox")).to_have_count(0)
    understood(page, 'replies by "Mary Jones"').wait_for()
    field.press("Tab")
    expect(field).not_to_be_focused()


def test_escape_closes_the_list(page):
    field = field_of(page)
    field.press_sequentially("repl")
    page.get_by_role("listbox").wait_for()
    field.press("Escape")
    expect(page.get_by_role("listbox")).to_have_count(0)
    field.press("Tab")
    expect(field).to_have_value("repl")


def test_after_escape_no_list_comes_that_was_on_its_way(page):
    field = field_of(page)
    held = []
    page.route("**/filters/complete/*", lambda route: held.append(route))
    with page.expect_request("**/filters/complete/*"):
        field.press_sequentially("replies b")
    field.press("Escape")
    held[-1].continue_()
    page.locator(".misread").wait_for()
    expect(page.get_by_role("listbox")).to_have_count(0)


def test_an_error_waits_for_a_pause_and_goes_with_the_next_key(page):
    page.clock.install(time=0)
    page.clock.pause_at(1)  # A pause is as long as it is said here, however slow the machine.
    field, error = field_of(page), page.locator(".misread")
    field.press_sequentially("replies b")
    with page.expect_response(lambda response: "/understand/" in response.url) as answer:
        page.clock.run_for(1100)
    assert answer.value.status == 204
    expect(field).not_to_have_attribute("aria-invalid", "true")
    page.clock.run_for(100)
    error.wait_for()
    expect(field).to_have_attribute("aria-invalid", "true")
    box, listed = error.bounding_box(), page.get_by_role("listbox").bounding_box()
    assert listed["y"] + listed["height"] <= box["y"]
    field.press_sequentially("y")
    expect(error).to_have_count(0)
    expect(field).not_to_have_attribute("aria-invalid", "true")
    field.press("Backspace")
    page.clock.run_for(1200)
    error.wait_for()


def test_a_button_replaces_what_is_misread_and_the_cursor_stands_after_it(page):
    field = field_of(page)
    field.press_sequentially("from joe, voted fr by Jones")
    page.get_by_role("button", name="from joe, voted for by Jones", exact=True).click()
    expect(field).to_have_value("from joe, voted for by Jones")
    expect(field).to_be_focused()
    assert field.evaluate("field => field.selectionStart") == len("from joe, voted for by")
    understood(page, "from joe and voted for by Jones").wait_for()
    page.get_by_role("link", name="The plan").wait_for()
    expect(page.locator(".misread")).to_have_count(0)
    field.press("Control+z")
    expect(field).to_have_value("from joe, voted fr by Jones")


@pytest.mark.browser_says("status of 400")
def test_a_refused_filter_says_why_without_a_pause(page):
    field = field_of(page)
    field.fill("replies bye jones")
    create = page.get_by_role("button", name="Create filter")
    expect(create, "it is in sight, however long the page is").to_be_in_viewport()
    create.click()
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(page.locator(".misread")).to_contain_text("is not understood here")


@pytest.mark.browser_says("status of 400")
def test_an_empty_filter_stays_marked_as_wrong(page):
    field_of(page).evaluate("field => { field.required = false; }")
    page.get_by_role("button", name="Create filter").click()
    page.get_by_text("Describe the messages you want").wait_for()
    expect(field_of(page)).to_have_attribute("aria-invalid", "true")


def test_back_from_a_message_the_text_is_still_there(page):
    field = field_of(page)
    field.press_sequentially("about plan")
    understood(page, "about plan").wait_for()  # The preview that comes then is the last.
    page.get_by_role("link", name="The plan").click()
    page.wait_for_url("**/me/")
    page.go_back()
    expect(field).to_have_value("about plan")
    page.get_by_role("link", name="The plan").wait_for()
