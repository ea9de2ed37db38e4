"""A filter that acts, in a browser: chosen on its page, told above its list, undone in its log."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from filters.authoring.models import Filter
from filters.inbox.models import MessageState
from filters.people.models import User
from filters.sources.models import Source
from tapestry.tables.delta.log import Tables
from tests.support.browser.browsing import open_as
from tests.support.browser.every_page import faults_of_view
from tests.support.lists.listed_mail import find, letters

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]


@pytest.fixture
def jones(transactional_db, settings, tmp_path, broker):
    """A filter of terry's that stars four messages of five, as many as it may in a day."""
    settings.DATA = tmp_path
    settings.SECRET_KEY = "of the tests"
    terry = User.objects.create_user("terry", password="secret")
    made = Filter.objects.create(
        owner=terry,
        name="jones",
        title="Jones",
        text="from jones",
        phrase="from Jones",
        acts="read star top label",
        acts_label="to do",
        acts_a_day=4,
    )
    Source.objects.create(
        owner=terry,
        kind="imap",
        host="imap.example.org",
        port=993,
        user="terry",
        audience="user:terry",
        may_act=True,
    )
    tables, names = Tables(tmp_path / "tables"), [f"m{number}" for number in range(5)]
    letters(tables, *names)
    find(tables, made, *names)
    return made


@pytest.mark.browser_says("status of 400")
@pytest.mark.parametrize("script", [True, False])
def test_what_a_filter_did_is_told_and_undone(browser, jones, live_server, script):
    page = browser.new_page(java_script_enabled=script)
    open_as(page, f"{live_server.url}/in/jones/")
    expect(page.locator(".acts")).to_contain_text("mark it read, star it, tag it “to do” and")
    expect(page.locator(".banner.warn")).to_contain_text("it had acted on 4 messages within a day")
    if script:
        assert [*faults_of_view(page)] == []
        page.goto(live_server.url)
        expect(page.locator("h2.day").first).to_have_text("At the top")
        assert [*faults_of_view(page)] == []
        page.goto(f"{live_server.url}/filter/jones/delete/")
        expect(page.get_by_label("Undo what it did with 4 messages first")).not_to_be_checked()
        assert [*faults_of_view(page)] == []
        page.go_back()
        page.goto(f"{live_server.url}/in/jones/")
    page.get_by_role("link", name="What it has done").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("What Jones has done")
    if script:
        assert [*faults_of_view(page)] == []
    page.get_by_role("button", name="Undo for About m1").click()
    expect(page.get_by_text("Undone for 1 message.")).to_be_visible()
    page.get_by_role("button", name="Undo all 3").press("Enter")
    expect(page.get_by_text("Undone for 3 messages.")).to_be_visible()
    assert not MessageState.objects.filter(starred_at__isnull=False).exists()
    page.get_by_role("main").get_by_role("link", name="Edit").click()
    expect(page.get_by_label("Star it")).to_be_checked()
    if script:
        page.get_by_label("Star it").scroll_into_view_if_needed()
        assert [*faults_of_view(page)] == []
    page.get_by_label("Star it").uncheck()
    page.get_by_label("Put it at the top of the inbox").uncheck()
    page.get_by_label("File it as done").check()
    expect(page.get_by_label("Tag", exact=True)).to_have_value("to do")
    page.get_by_label("Move it to a folder of the mailbox").check()
    page.get_by_role("button", name="Save").last.click()
    expect(page.get_by_text("Say which one.")).to_be_visible()
    page.get_by_label("Folder of the mailbox", exact=True).fill("Lists/Jones")
    page.get_by_role("button", name="Save").last.click()
    expect(page.get_by_text("Jones is changed.")).to_be_visible()
    jones.refresh_from_db()
    assert jones.acts == "read label done move" and jones.acts_since is not None
    page.goto(f"{live_server.url}{Source.objects.get().get_absolute_url()}")
    if script:
        assert [*faults_of_view(page)] == []
    expect(page.get_by_label("Let my filters flag")).to_be_checked()
    page.get_by_label("Keep read, starred and tags the same").check()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Your filters may act in it. Read, starred and tags")).to_be_visible()
    assert Source.objects.filter(may_act=True, syncs_flags=True).exists()
