"""Search in a browser, on a desk and on a phone, through the web server, the worker and Spark."""

from email.message import EmailMessage

import pytest
from playwright.sync_api import Page, expect
from support.servers.site import end, manage, start, wait_ready

pytestmark = [pytest.mark.live, pytest.mark.timeout(900)]

PASSWORD = "of-the-tests-only"
WAIT = 240_000
DESK = {"width": 1280, "height": 800}
PHONE = {"width": 390, "height": 844}


def letter(number: int, subject: str) -> bytes:
    message = EmailMessage()
    message["From"] = "Mary Jones <mary@example.org>"
    message["Date"] = f"Sat, 31 Jan 2026 12:{number:02}:00 +0000"
    message["Message-ID"] = f"<{number}@example.org>"
    message["Subject"] = subject
    message.set_content("The table is booked.\n")
    return b"From x@example.org Sat Jan 31 12:00:00 2026\n" + bytes(message) + b"\n"


@pytest.fixture
def site(data_dir, tmp_path):
    """Tapestry with 53 messages about lunch and one that is not."""
    manage(data_dir, "migrate", "--verbosity", "0")
    options = ("--noinput", "--username", "terry", "--email", "terry@example.org")
    manage(data_dir, "createsuperuser", *options, DJANGO_SUPERUSER_PASSWORD=PASSWORD)
    letters = [letter(n, f"Lunch on Friday, number {n}") for n in range(53)]
    (tmp_path / "old.mbox").write_bytes(b"".join([*letters, letter(53, "Something else")]))
    manage(data_dir, "ingest", str(tmp_path / "old.mbox"))
    running = start(data_dir)
    try:
        wait_ready(running)
        yield running
    finally:
        assert end(running) == 0


def signed_in(browser, site, viewport, **options) -> Page:
    page = browser.new_context(viewport=viewport, **options).new_page()
    page.set_default_timeout(WAIT)
    page.on("console", lambda message: faults.append(message.text))
    page.on("pageerror", lambda error: faults.append(str(error)))
    faults = page.faults = []
    page.goto(site.url)
    page.get_by_label("Name").fill("terry")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("link", name="New filter").wait_for()
    page.wait_for_load_state()
    return page


def box(page: Page):
    return page.get_by_role("searchbox", name="Search all mail")


def search(page: Page, text: str, found: str) -> None:
    """Search, again if the worker was not there yet, until the page says what was found."""
    box(page).fill(text)
    box(page).press("Enter")
    results, again = page.get_by_text(found).first, page.get_by_role("link", name="Search again")
    results.or_(again).first.wait_for()
    while not results.is_visible():
        again.click()
        results.or_(again).first.wait_for()


def test_search(site, browser, pictures):
    expect.set_options(timeout=WAIT)
    page = signed_in(browser, site, DESK)
    page.keyboard.press("/")
    expect(box(page)).to_be_focused()
    search(page, "lunch friday", "53 messages")
    expect(page.get_by_role("status")).to_have_text("53 messages")
    expect(page.locator("#list a.row")).to_have_count(50)
    first = page.locator("#list a.row").first
    assert first.locator(".subject").inner_html().startswith("<mark>Lunch</mark> on <mark>Friday")
    expect(first).to_contain_text("number 52")
    expect(page.get_by_text("mentioning lunch and mentioning friday", exact=True)).to_be_visible()
    page.screenshot(path=pictures / "desk.png")

    page.get_by_role("link", name="Older").click()
    page.wait_for_url("**page=2")
    expect(page.locator("#list a.row")).to_have_count(3)
    page.locator("#list a.row", has_text="number 1").first.click()
    page.locator("#reading .body", has_text="The table is booked.").wait_for()
    assert "open=1%40example.org" in page.url or "open=1@example.org" in page.url
    page.screenshot(path=pictures / "desk-open.png")
    page.go_back()
    page.wait_for_url("**page=2")
    expect(page.locator("#list a.row")).to_have_count(3)

    box(page).fill("replies bye jones")
    box(page).press("Enter")
    page.locator(".misread").wait_for()
    page.screenshot(path=pictures / "desk-misread.png")
    page.get_by_role("link", name="replies by jones").click()
    page.get_by_text("Nothing that you may see matches this now.").wait_for()

    box(page).fill("lunch friday")
    box(page).press("Enter")
    page.get_by_role("link", name="Keep as filter").click()
    kept = page.get_by_role("textbox", name="Filter", exact=True)
    expect(kept).to_have_value("mentioning lunch and mentioning friday")
    page.get_by_role("button", name="Create filter").click()
    page.wait_for_url("**/in/*/")
    expect(page.locator("#list a.row")).to_have_count(50)
    page.get_by_label("only in").check()
    search(page, "table from mary", "53 messages")
    page.get_by_role("heading", name="Search in mentioning-lunch-and-mentioning-friday").wait_for()
    page.screenshot(path=pictures / "desk-within.png")
    assert [fault for fault in page.faults if "400" not in fault] == []

    phone = signed_in(browser, site, PHONE, has_touch=True, color_scheme="dark")
    box(phone).fill("lunch friday")
    box(phone).press("Enter")
    expect(phone.locator("#list a.row")).to_have_count(50)
    phone.screenshot(path=pictures / "phone.png")
    phone.locator("#list a.row").first.tap()
    phone.locator("#reading .body", has_text="The table is booked.").wait_for()
    phone.screenshot(path=pictures / "phone-open.png")
    phone.get_by_role("link", name="Back to the list").tap()
    expect(phone.locator("#list a.row").first).to_be_visible()
    assert phone.url.endswith("/search/?q=lunch+friday")
    assert phone.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    assert phone.faults == []
