"""An archive of last year, taken in today: its filters are right at once, in the browser."""

from __future__ import annotations

import random
import re
from datetime import UTC, datetime, timedelta
from email.message import EmailMessage
from email.utils import format_datetime

import pytest

from tests.support.servers.site import end, manage, start, wait_ready

pytestmark = [pytest.mark.live, pytest.mark.long, pytest.mark.timeout(900)]

PASSWORD = "of-the-tests-only"
SOON = 240_000
"""Milliseconds in which an answer must be there, while all parts start on a busy machine."""

PEOPLE = ("Ann Ames", "Mary Jones", "Bob Cole")
VOTES = """
from filters.people.models import User
from filters.reading.annotations.outbox import annotate
for number in range(6):
    person = User.objects.create_user(f"voter{{number}}", password=None)
    annotate(person, {msgid!r}, "public", "vote", private=False, number=1)
"""


class Archive:
    """An mbox of 90 messages, one every eight hours of a month of last year, in threads."""

    def __init__(self, path):
        self.path = path
        self.subjects, self.threads = {}, {}
        self.answered = set()
        self.replies_by_jones = set()
        chance, begin = random.Random(7), datetime.now(UTC) - timedelta(days=365)
        with path.open("wb") as file:
            for number in range(90):
                is_reply = number > 0 and chance.random() < 0.7
                parent = chance.choice(list(self.subjects)) if is_reply else None
                letter = self._letter(number, chance.choice(PEOPLE), parent)
                letter["Date"] = format_datetime(begin + timedelta(hours=8 * number))
                file.write(b"From x@example.org Sat Jan 31 12:00:00 2026\n")
                file.write(bytes(letter) + b"\n")

    def _letter(self, number, sender, parent):
        letter, msgid = EmailMessage(), f"{number}@example.org"
        letter["Message-ID"], letter["Subject"] = f"<{msgid}>", f"Subject {number} of last year"
        letter["From"] = f"{sender} <{sender.lower().replace(' ', '.')}@example.org>"
        letter.set_content("Hello\n")
        self.threads[msgid] = self.threads.get(parent, msgid)
        if parent is not None:
            letter["In-Reply-To"] = f"<{parent}>"
            self.answered.add(parent)
            if sender == "Mary Jones":
                self.replies_by_jones.add(msgid)
        self.subjects[msgid] = letter["Subject"]
        return letter

    @property
    def silent(self):
        """The messages that nobody answered."""
        return set(self.subjects) - self.answered

    def newest(self, msgids):
        """Return the subject of the newest of these messages."""
        return self.subjects[max(msgids, key=list(self.subjects).index)]


@pytest.fixture
def archive(tmp_path):
    return Archive(tmp_path / "last-year.mbox")


@pytest.fixture
def site(data_dir, archive):
    manage(data_dir, "migrate", "--verbosity", "0")
    options = ("--noinput", "--username", "terry", "--email", "terry@example.org")
    manage(data_dir, "createsuperuser", *options, DJANGO_SUPERUSER_PASSWORD=PASSWORD)
    running = start(data_dir)
    try:
        wait_ready(running)
        running.manage("ingest", str(archive.path))
        yield running
    finally:
        assert end(running) == 0


def write(page, text, name):
    """Write a filter; return how many messages its preview finds, and create it."""
    page.get_by_role("link", name="New filter").click()
    page.get_by_role("textbox", name="Filter", exact=True).fill(text)
    answer = page.get_by_text(re.compile("would have matched"))
    answer.wait_for(timeout=SOON)
    count = int(re.search(r"matched (\d+) message", answer.inner_text())[1])
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_role("button", name="Create filter").click()
    page.get_by_role("region", name="Messages").wait_for()
    return count


def test_the_headline_filters_find_what_is_in_an_archive_of_last_year(site, browser, archive):
    page = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
    page.set_default_timeout(60_000)
    page.goto(site.url)
    page.get_by_label("Name", exact=True).fill("terry")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()

    first = page.get_by_role("region", name="Messages").get_by_role("listitem").first
    for text, name, expected in (
        ("two weeks old with no reply", "silent", archive.silent),
        ("replies by Jones", "jones", archive.replies_by_jones),
    ):
        assert write(page, text, name) == len(expected) > 5
        count = len({archive.threads[msgid] for msgid in expected})
        block = f"{count} conversations of the import “last-year.mbox” match, newest first"
        page.get_by_text(block).wait_for(timeout=SOON)
        first.get_by_text(archive.newest(expected), exact=True).wait_for()

    popular = min(archive.silent)
    site.manage("shell", "-c", VOTES.format(msgid=popular))
    write(page, "voted for by more than 5 people", "popular")
    first.get_by_text(archive.subjects[popular], exact=True).wait_for(timeout=SOON)
    assert write(page, "newer than 3 days", "young") == 0
    page.get_by_text("Nothing has matched yet").wait_for(timeout=SOON)
