"""What a person does with a source: add it, choose folders, see mail come at once, pause it."""

import pytest
from playwright.sync_api import expect
from support.accessibility import faults
from support.servers.dovecot import PASSWORD as MAIL_PASSWORD
from support.servers.dovecot import USER
from support.servers.site import end, manage, start, wait_ready

pytestmark = [pytest.mark.live, pytest.mark.timeout(900)]

PASSWORD = "of-the-tests-only"
SOON = 50_000
"""Milliseconds in which mail must be there that comes; a minute is what polling alone takes."""

SIZES = {
    "desk": {"viewport": {"width": 1280, "height": 900}},
    "phone": {"viewport": {"width": 390, "height": 844}},
}


def mail(n):
    return (
        f"Message-ID: <{n}@x.org>\r\nFrom: joe@x.org\r\nSubject: number {n}\r\n\r\nHi\r\n".encode()
    )


@pytest.fixture
def mailbox(dovecot):
    dovecot.put("INBOX", *map(mail, range(3)))
    dovecot.put("Lists", mail(7))
    return dovecot


@pytest.fixture
def site(data_dir):
    manage(data_dir, "migrate", "--verbosity", "0")
    options = ("--noinput", "--username", "terry", "--email", "terry@example.org")
    manage(data_dir, "createsuperuser", *options, DJANGO_SUPERUSER_PASSWORD=PASSWORD)
    running = start(data_dir)
    try:
        wait_ready(running)
        yield running
    finally:
        assert end(running) == 0


def sign_in(browser, site, **options):
    page = browser.new_context(**options).new_page()
    page.set_default_timeout(SOON)
    page.goto(site.url)
    page.get_by_label("Name", exact=True).fill("terry")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("link", name="Sources").first.wait_for()
    return page


def ask(page, site, address):
    """Ask for the server of an address, on the page that adds a source."""
    page.goto(f"{site.url}sources/new/")
    page.get_by_label("Your e-mail address").fill(address)
    page.get_by_role("button", name="Find my server").click()


def test_what_a_person_does_with_sources(browser, site, mailbox, pictures):
    """One site for all: to start one takes a minute."""
    a_source_from_its_first_page_to_new_mail(browser, site, mailbox)
    for size, view in SIZES.items():
        a_server_is_found_from_an_address(sign_in(browser, site, **view), site, pictures, size)
    a_server_is_found_without_javascript(browser, site)


def a_server_is_found_from_an_address(page, site, pictures, size):
    page.goto(f"{site.url}sources/new/")
    assert page.get_by_label("Your e-mail address").input_value() == "terry@example.org"
    assert not page.get_by_label("Server", exact=True).is_visible()
    ask(page, site, "joe@gmail.com")
    password = page.get_by_label("Password", exact=True)
    expect(password).to_be_focused()
    assert page.get_by_label("Server", exact=True).input_value() == "imap.gmail.com"
    assert page.get_by_label("User name").input_value() == "joe@gmail.com"
    assert page.get_by_role(
        "link", name="Gmail’s page about it, at myaccount.google.com"
    ).is_visible()
    assert not page.evaluate("document.documentElement.scrollWidth > innerWidth")
    assert faults(page) == []
    page.screenshot(path=pictures / f"found-{size}.png", full_page=True)

    ask(page, site, "joe@nowhere.invalid")
    page.get_by_text("No mail server was found for nowhere.invalid").wait_for()
    assert page.get_by_label("Server", exact=True).input_value() == ""
    assert page.get_by_label("User name").input_value() == "joe@nowhere.invalid"
    assert faults(page) == []
    page.screenshot(path=pictures / f"not-found-{size}.png", full_page=True)


def a_server_is_found_without_javascript(browser, site):
    page = sign_in(browser, site, java_script_enabled=False)
    ask(page, site, "joe@gmail.com")
    assert page.get_by_label("Server", exact=True).input_value() == "imap.gmail.com"
    ask(page, site, "joe@nowhere.invalid")
    found, again = page.get_by_text("No mail server was found"), page.locator("noscript a")
    while not found.is_visible():
        again.click()
    assert page.get_by_label("User name").input_value() == "joe@nowhere.invalid"


def a_source_from_its_first_page_to_new_mail(browser, site, mailbox):
    page = sign_in(browser, site, **SIZES["desk"])
    page.get_by_role("link", name="Sources").click()
    page.get_by_role("link", name="Add a source").click()
    page.get_by_text("Or write the server yourself").click()
    page.get_by_label("Server").fill("127.0.0.1")
    page.get_by_label("Connection security").select_option("none")
    page.get_by_label("Port").fill(str(mailbox.port))
    page.get_by_label("User name").fill(USER)
    page.get_by_label("Password", exact=True).fill("wrong")
    page.get_by_role("button", name="Test and continue").click()
    page.get_by_text("refused the user name or password").wait_for()
    assert page.get_by_label("Password", exact=True).input_value() == ""
    page.get_by_label("Password", exact=True).fill(MAIL_PASSWORD)
    page.get_by_role("button", name="Test and continue").click()

    assert page.get_by_role("checkbox", name="INBOX").is_checked()
    page.get_by_role("checkbox", name="Lists").check()
    page.get_by_role("button", name="Start").click()
    inbox = page.get_by_role("row").filter(has_text="INBOX")
    inbox.get_by_role("cell", name="3", exact=True).first.wait_for()
    page.get_by_text("gets new mail at once").wait_for()
    mailbox.put("INBOX", mail(9))
    inbox.get_by_role("cell", name="4", exact=True).first.wait_for()

    page.get_by_role("button", name="Pause").click()
    page.get_by_text("paused", exact=True).wait_for()
    # The command takes in the same mailbox from where the source stands.
    said = manage(site.data, "ingest", mailbox.url(), "--audience", "user:terry")
    assert said == "Nothing new.\n"
