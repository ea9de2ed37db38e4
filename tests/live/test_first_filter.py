"""From an empty machine to the first useful filter on one's own mailbox, by the pages alone.

How long each step took stands in ``seconds.txt``: that it takes less than five minutes is for a
reader to see, on a machine that does nothing else.
"""

import random
import time
from datetime import UTC, datetime, timedelta
from email.message import EmailMessage
from email.utils import format_datetime

import pytest

from tests.support.servers.dovecot import PASSWORD as MAIL_PASSWORD
from tests.support.servers.dovecot import USER
from tests.support.servers.site import end, start, wait_ready

pytestmark = [pytest.mark.live, pytest.mark.long, pytest.mark.timeout(1800)]

PASSWORD = "of-the-tests-only"
SOON = 240_000
"""Milliseconds that a step may take on a machine with other tests."""

MESSAGES, BY_JONES = 300, 12


class Journey:
    """Steps with a name, and the seconds of each."""

    def __init__(self, report):
        self.report, self.steps = report, []
        self.begun = self.last = time.monotonic()

    def step(self, name):
        now = time.monotonic()
        self.steps.append((name, now - self.last))
        self.last = now

    def write(self):
        total = sum(seconds for _, seconds in self.steps)
        lines = [f"{seconds:6.1f}  {name}" for name, seconds in [*self.steps, ("in all", total)]]
        self.report.write_text("\n".join(lines) + "\n")
        print("\n".join(lines))


def came(number):
    """Return when a message came, the first of them last: a few weeks of mail."""
    return datetime.now(UTC) - timedelta(hours=1 + 3 * number)


def letter(number, chance):
    message = EmailMessage()
    by_jones = number % (MESSAGES // BY_JONES) == 0
    name = "Mary Jones" if by_jones else f"{chance.choice(['Ann', 'Bob', 'Cy', 'Di'])} Ames"
    message["From"] = f"{name} <{name.lower().replace(' ', '.')}@x.org>"
    message["To"] = USER
    message["Date"] = format_datetime(came(number))
    message["Message-ID"] = f"<{number}@x.org>"
    message["Subject"] = f"{chance.choice(['Lunch', 'The plan', 'Minutes', 'A draft'])} {number}"
    message.set_content(f"This is message {number}.\n" * chance.randint(1, 30))
    return bytes(message)


@pytest.fixture
def mailbox(dovecot):
    chance = random.Random(7)
    with dovecot.session() as client:
        for number in reversed(range(MESSAGES)):
            client.append("INBOX", letter(number, chance), msg_time=came(number))
    return dovecot


def test_from_nothing_to_the_first_filter(browser, data_dir, mailbox, tmp_path):
    journey = Journey(tmp_path / "seconds.txt")
    site = start(data_dir)
    try:
        wait_ready(site)
        journey.step("it starts")
        page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
        page.set_default_timeout(SOON)
        go(page, site, journey, mailbox)
        page.context.close()  # else it asks a site that has ended for its counts
    finally:
        journey.write()
        assert end(site) == 0


def go(page, site, journey, mailbox):
    page.goto(site.url)
    journey.step("the first page")
    options = ("--noinput", "--username", "terry", "--email", "terry@nowhere.invalid")
    site.manage("createsuperuser", *options, DJANGO_SUPERUSER_PASSWORD=PASSWORD)
    journey.step("an account is made")
    page.get_by_label("Name", exact=True).fill("terry")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("heading", name="Three steps to your first filter").wait_for()
    journey.step("signed in")

    page.get_by_role("link", name="Add your mailbox").click()
    page.get_by_role("button", name="Find my server").wait_for()
    journey.step("the page of a new source")
    page.get_by_role("button", name="Find my server").click()
    page.get_by_text("Looking for your mail server").wait_for()
    journey.step("the server is looked for")
    page.get_by_text("No mail server was found").wait_for()
    journey.step("no server is found")

    page.get_by_label("Server", exact=True).fill("127.0.0.1")
    page.get_by_label("Connection security").select_option("none")
    page.get_by_label("Port").fill(str(mailbox.port))
    page.get_by_label("User name").fill(USER)
    page.get_by_label("Password", exact=True).fill(MAIL_PASSWORD)
    journey.step("the server is written")
    page.get_by_role("button", name="Test and continue").click()
    journey.step("the server is tried")
    page.get_by_role("checkbox", name="INBOX").wait_for()
    journey.step("folders are offered")
    page.get_by_role("button", name="Start").click()
    page.get_by_text("Reading has begun").wait_for()
    journey.step("reading begins")
    page.get_by_role("link", name="Write your first filter").wait_for()
    journey.step("mail is here")

    page.get_by_role("link", name="Write your first filter").click()
    field = page.get_by_role("textbox", name="Filter", exact=True)
    field.wait_for()
    page.wait_for_load_state()
    journey.step("the page of a new filter")
    field.press_sequentially("from Jones")
    page.locator("#understood").get_by_text("from Jones", exact=True).wait_for()
    journey.step("the filter is understood")
    page.get_by_text(f"it would have matched {BY_JONES} messages").wait_for()
    journey.step("what it would have matched")
    page.get_by_role("button", name="Create filter").click()
    page.get_by_role("region", name="Messages").wait_for()
    journey.step("the filter is created")
    messages = page.get_by_role("region", name="Messages").get_by_role("listitem")
    messages.nth(BY_JONES - 1).wait_for()
    page.wait_for_load_state()
    journey.step("its list shows what it found")
    messages.first.get_by_role("link").click()
    page.get_by_role("region", name="Message", exact=True).get_by_text(
        "This is message"
    ).first.wait_for()
    journey.step("a message is read")
