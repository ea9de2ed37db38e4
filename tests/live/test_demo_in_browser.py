"""The demo as a stranger meets it: mail to read, a filter to write, a search, a digest.

The README's pictures are made here: ``pytest --rewrite`` stores them anew.
"""

from __future__ import annotations

import json
import re
import shutil

import pytest
from playwright.sync_api import expect
from support.every_page import DESK, Watch
from support.paths import ROOT
from support.servers.site import end, start, wait_ready

pytestmark = [pytest.mark.live, pytest.mark.timeout(600)]

STATIC = ROOT / "filters" / "static" / "filters"
SECOND = 1_000


@pytest.fixture
def demo(tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    running = start(data, "--still", command="demo")
    try:
        wait_ready(running, 300)
        yield running
    finally:
        assert end(running) == 0


@pytest.fixture(autouse=True)
def patience():
    """Wait as long for what is expected as for a page: Spark has just started."""
    expect.set_options(timeout=120 * SECOND)
    yield
    expect.set_options(timeout=5 * SECOND)


@pytest.fixture
def page(browser, demo):
    opened = browser.new_context(viewport=DESK).new_page()
    opened.set_default_timeout(120 * SECOND)
    opened.goto(demo.url)
    passwords = json.loads((demo.data / "sample" / "people.json").read_text())
    opened.get_by_label("Name", exact=True).fill("terry")
    opened.get_by_label("Password").fill(passwords["terry"])
    opened.get_by_role("button", name="Sign in").click()
    return opened


def test_what_a_stranger_sees_of_the_demo(page, demo, pictures, request):
    watch = Watch(page, demo.url)
    expect(page.locator("#sidebar .count")).to_have_count(1 + 6)  # the inbox and every filter

    unread = page.locator("#in-all .count")
    before = unread.inner_text().split()[0]
    page.locator("#list a.row", has_text="Re:").first.click()
    expect(page.locator("#reading .letter-text").first).to_be_visible()
    assert page.locator("#reading .conversation").count() > 0
    expect(unread).not_to_contain_text(before)
    expect(page.locator("#list a.row[aria-current]")).not_to_have_class(re.compile("unread"))
    for letter in page.locator("#before details[open]").all():
        expect(letter.locator(".letter-text")).to_be_attached()
    page.screenshot(path=pictures / "screenshot.png")

    page.get_by_role("link", name="New filter").click()
    page.get_by_label("Filter", exact=True).fill(
        "replies by Jones or voted for by more than 3 people"
    )
    preview = page.locator("#preview")
    expect(preview.get_by_role("heading")).to_contain_text("So far it would have matched")
    assert int(preview.locator("h2 strong").inner_text()) > 10
    expect(preview.locator("svg")).to_be_visible()
    page.evaluate("document.activeElement.blur()")
    page.screenshot(path=pictures / "writing.png")

    page.get_by_label("Search all mail").fill("about index")
    page.keyboard.press("Enter")
    expect(page.locator("#list .found strong")).to_be_visible()
    assert page.locator("#list a.row").count() > 0

    page.get_by_role("link", name="Delivery", exact=True).click()
    page.get_by_role("link", name="Digest", exact=True).first.click()
    page.get_by_role("link", name="See what it would send").click()
    mail = page.frame_locator("iframe.written")
    expect(mail.get_by_role("link", name="Vote for").first).to_be_visible()
    page.locator("iframe.written").screenshot(path=pictures / "digest.png")

    assert watch.wrong == []
    if request.config.getoption("--rewrite"):
        for name in ("screenshot.png", "writing.png", "digest.png"):
            shutil.copyfile(pictures / name, STATIC / name)
