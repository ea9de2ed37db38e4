"""What a person does with a source: add it, choose folders, see mail come at once, pause it."""

import pytest
from support.servers.dovecot import PASSWORD as MAIL_PASSWORD
from support.servers.dovecot import USER
from support.servers.site import end, manage, start, wait_ready

pytestmark = [pytest.mark.live, pytest.mark.timeout(900)]

PASSWORD = "of-the-tests-only"
SOON = 50_000
"""Milliseconds in which mail must be there that comes; a minute is what polling alone takes."""


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


def test_a_source_from_its_first_page_to_new_mail(browser, site, mailbox):
    page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
    page.set_default_timeout(SOON)
    page.goto(site.url)
    page.get_by_label("Name", exact=True).fill("terry")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()

    page.get_by_role("link", name="Sources").click()
    page.get_by_role("link", name="Add a source").click()
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
