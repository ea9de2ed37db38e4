"""What a person does: sign in, write a filter, look, install it, get new mail, open it, vote.

And what a live filter does then: let go of what no longer matches.  Then with a source: add it,
choose folders, see mail come at once, pause it.  And every part of the site is killed, and starts
again.  One site for all: to start one takes a minute.
"""

import re
from collections import Counter
from datetime import UTC, datetime, timedelta
from email.message import EmailMessage
from email.utils import format_datetime

import pytest
from imapclient import IMAPClient
from playwright.sync_api import expect

from filters.site.launch.stack import unhealthy
from tapestry.core.processes.child_process import free_port
from tests.support.browser.accessibility import faults
from tests.support.processes.site_parts import (
    PARTS,
    WORKERS,
    all_parts_of,
    eventually,
    kill,
    parts_of,
    start_sparks,
    wait_for_nobody,
)
from tests.support.servers.dovecot import PASSWORD as MAIL_PASSWORD
from tests.support.servers.dovecot import USER
from tests.support.servers.site import manage, set_asides_in, start, wait_ready
from tests.support.servers.smtp import running_smtp

pytestmark = [pytest.mark.live, pytest.mark.timeout(1800)]

PASSWORD = "of-the-tests-only"
SOON = 240_000
"""Milliseconds in which new mail must be in the inbox, while all parts start on a busy machine."""

POLLED_LATER = """
from filters.sources.models import Source
from tapestry.core.clock import HOUR, wall_clock
Source.objects.update(every=3600, due_at=wall_clock() + HOUR)
"""
"""What comes soon from a source after this, it was listened for."""

SIZES = {
    "desk": {"viewport": {"width": 1280, "height": 900}},
    "phone": {"viewport": {"width": 390, "height": 844}},
}


def letter(name, subject, parent=None):
    message = EmailMessage()
    address = name.lower().replace(" ", ".")
    message["From"] = f"{name} <{address}@example.org>"
    message["Date"] = format_datetime(datetime.now(UTC) - timedelta(hours=1))
    message["Message-ID"] = f"<{re.sub('[^a-z]+', '.', subject.lower())}.{address}@example.org>"
    message["Newsgroups"] = "comp.databases"
    message["Subject"] = subject
    if parent is not None:
        message["In-Reply-To"] = parent["Message-ID"]
        message["References"] = parent["Message-ID"]
    message.set_content(f"This is what {name} has to say of {subject}.\n")
    return message


def write_mbox(path, messages):
    separator = b"From x@example.org Sat Jan 31 12:00:00 2026\n"
    path.write_bytes(b"".join(separator + bytes(m) + b"\n" for m in messages))
    return str(path)


QUESTION = letter("Ann Ames", "A question of keys")


@pytest.fixture(scope="module")
def smtp():
    """The server that the site sends its mail to."""
    with running_smtp() as server:
        yield server


@pytest.fixture(scope="module")
def imap_port():
    """Where the site serves mail programs."""
    return free_port()


@pytest.fixture(scope="module")
def site(tmp_path_factory, smtp, imap_port):
    """Tapestry with three people and four messages, two of which are replies by Jones."""
    place = tmp_path_factory.mktemp("site")
    data_dir = place / "data"
    data_dir.mkdir(0o700)
    running = start(data_dir, EMAIL_URL=smtp.url, TAPESTRY_IMAP=f"127.0.0.1:{imap_port}")
    try:
        wait_ready(running)
        for name in ("terry", "alice", "sue"):
            options = ("--noinput", "--username", name, "--email", f"{name}@example.org")
            running.manage("createsuperuser", *options, DJANGO_SUPERUSER_PASSWORD=PASSWORD)
        mail = [
            QUESTION,
            letter("Mary Jones", "Re: A question of keys", QUESTION),
            letter("Bob Jones", "Re: A question of locks", QUESTION),
            letter("Mary Jones", "Something of my own"),
        ]
        running.manage("ingest", write_mbox(place / "old.mbox", mail))
        yield running
    finally:
        # Nothing outlives it when it is killed; the others of these tests end in good order.
        running.process.kill()
        running.process.wait()
        wait_for_nobody(data_dir)
        assert not set_asides_in(data_dir)


def sign_in(browser, site, name, **options):
    page = browser.new_context(**(options or SIZES["desk"])).new_page()
    page.set_default_timeout(SOON)
    page.goto(site.url)
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("link", name="Sources").first.wait_for()
    return page


def write(page, text):
    """Open the page of a new filter, and write a text once its scripts run."""
    page.get_by_role("link", name="New filter").click()
    field = page.get_by_role("textbox", name="Filter", exact=True)
    field.wait_for()
    page.wait_for_load_state()
    field.fill(text)
    return field


def install(page, text, name, preview, mode="keep"):
    """Write a filter, see how it is understood and what it would have matched; install it."""
    write(page, text)
    page.locator("#understood").get_by_text(text, exact=True).wait_for()
    page.locator(f"[name=mode][value={mode}]").check()
    expect(page.locator("#preview")).to_contain_text(preview, timeout=SOON)
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_label("with existing mail").check()
    page.get_by_role("button", name="Create filter").click()
    page.locator(f'#sidebar a[href="/in/{name}/"]').wait_for()


def complete(page):
    """Write a few letters of a phrase and of a name, and accept what is offered."""
    field = write(page, "repl")  # at once: no list comes that was asked for between two letters
    offered = page.get_by_role("listbox", name="Suggestions")
    offered.get_by_role("option", name="replies by", selected=False).wait_for()
    page.keyboard.press("ArrowDown")
    offered.get_by_role("option", name="replies by", selected=True).wait_for()
    page.keyboard.press("Enter")
    assert field.input_value() == "replies by "
    field.press_sequentially("jon")
    offered.get_by_role("option", name='"Mary Jones"').click()
    assert field.input_value() == 'replies by "Mary Jones"'
    page.locator("#understood").get_by_text('replies by "Mary Jones"', exact=True).wait_for()
    offered.wait_for(state="detached")


def test_what_two_people_do_with_new_mail_and_votes(site, browser, tmp_path):
    people = [sign_in(browser, site, name) for name in ("terry", "alice")]
    a_live_filter_empties_and_a_first_place_moves(people, site, browser, tmp_path)
    a_reply_arrives_and_a_vote_for_it_reaches_another(people, site, tmp_path)


def a_reply_arrives_and_a_vote_for_it_reaches_another(people, site, tmp_path):
    terry, alice = people
    complete(terry)
    install(terry, "replies by Jones", "jones", "it would have matched 2 messages")
    terry.goto(f"{site.url}in/jones/")
    messages = terry.get_by_role("region", name="Messages")
    messages.get_by_role("link", name="Re: A question of locks").wait_for()
    expect(messages.get_by_role("listitem")).to_have_count(2, timeout=SOON)

    install(alice, "voted for by terry", "terrys", "it would have matched 1 message")
    alice.goto(f"{site.url}in/terrys/")
    alice.get_by_role("link", name="Re: A question of keys").wait_for()

    new = [letter("Mary Jones", "Re: News of the index", QUESTION), letter("Cy Cole", "Silence")]
    site.manage("ingest", write_mbox(tmp_path / "new.mbox", new))
    arrived = messages.get_by_role("link", name="Re: News of the index")
    arrived.wait_for()
    expect(messages.get_by_role("listitem")).to_have_count(3, timeout=SOON)
    arrived.click()
    reading = terry.get_by_role("region", name="Message", exact=True)
    reading.get_by_text("This is what Mary Jones has to say of Re: News of the index.").wait_for()
    reading.get_by_role("button", name="Vote for").click()
    reading.locator("#vote-for[aria-pressed=true]").wait_for()

    alice.get_by_role("link", name="Re: News of the index").wait_for()
    listed = alice.get_by_role("region", name="Messages").get_by_role("listitem")
    expect(listed).to_have_count(2, timeout=SOON)


def list_messages(page):
    """Make each message a line of its own, in a list that has some."""
    page.reload()
    page.get_by_role("button", name="Conversations").click()
    page.locator("[aria-pressed=false]", has_text="Conversations").wait_for()


def vote(page, site, subject):
    """Open a message from the list of the filter all and vote for it."""
    page.goto(f"{site.url}in/all/")
    page.get_by_role("region", name="Messages").get_by_role("link", name=subject).click()
    page.get_by_role("region", name="Message", exact=True).get_by_role(
        "button", name="Vote for"
    ).click()
    page.locator("#vote-for[aria-pressed=true]").wait_for()


def a_live_filter_empties_and_a_first_place_moves(people, site, browser, tmp_path):
    terry, alice = people
    text = "starting a thread and with no reply"
    install(terry, text, "open", "Now it matches 1 message", "live")
    messages = terry.get_by_role("region", name="Messages")
    terry.goto(f"{site.url}in/open/")
    messages.get_by_role("link", name="Something of my own").wait_for()
    list_messages(terry)
    install(alice, "replies", "all", "it would have matched 2 messages")
    alice.goto(f"{site.url}in/all/")
    alice.get_by_role("link", name="Re: A question of locks").wait_for()
    list_messages(alice)
    install(terry, "replies", "all", "it would have matched 2 messages")
    install(alice, "among the top one by votes", "first", "Now it matches 0 messages", "live")

    terry.goto(f"{site.url}in/open/")
    own = letter("Mary Jones", "Something of my own")
    answer = letter("Cy Cole", "Re: Something of my own", own)
    site.manage("ingest", write_mbox(tmp_path / "answer.mbox", [answer]))
    messages.get_by_text("Nothing matches now").wait_for()
    messages.get_by_role("link", name="1 message that no longer matches").click()
    messages.get_by_role("link", name="Something of my own").wait_for()
    it_is_said_why_a_message_left(terry, "Something of my own", "open")

    vote(alice, site, "Re: A question of locks")
    alice.goto(f"{site.url}in/first/")
    first = alice.get_by_role("region", name="Messages")
    first.get_by_role("link", name="Re: A question of locks").wait_for()
    vote(terry, site, "Re: A question of keys")
    other = browser.contexts[1].new_page()
    other.set_default_timeout(SOON)
    vote(other, site, "Re: A question of keys")
    first.get_by_role("link", name="Re: A question of keys").wait_for()
    expect(first.get_by_role("listitem")).to_have_count(1, timeout=SOON)


def it_is_said_why_a_message_left(page, subject, name):
    page.get_by_role("region", name="Messages").get_by_role("link", name=subject).click()
    page.get_by_role("link", name="Why is it not in a filter?").click()
    page.get_by_label("Filter", exact=True).select_option(label=name)
    page.get_by_role("button", name="Ask").click()
    page.get_by_text("the message does not match “open”").wait_for()
    parts = page.locator("#results .parts .parts > li")
    assert parts.locator("> .phrase").all_inner_texts() == ["starting a thread", "with no reply"]
    assert parts.locator("> .tick").all_inner_texts() == ["✓", "✗"]
    assert faults(page) == []


def mail(n):
    return (
        f"Message-ID: <{n}@x.org>\r\nFrom: joe@x.org\r\nSubject: number {n}\r\n\r\nHi\r\n".encode()
    )


@pytest.fixture
def mailbox(dovecot):
    dovecot.put("INBOX", *map(mail, range(3)))
    dovecot.put("Lists", mail(7))
    return dovecot


def ask(page, site, address):
    """Ask for the server of an address, on the page that adds a source."""
    page.goto(f"{site.url}sources/new/")
    page.get_by_label("Your e-mail address").fill(address)
    with page.expect_navigation():
        page.get_by_role("button", name="Find my server").click()


def test_what_a_person_does_with_sources(browser, site, mailbox):
    a_source_from_its_first_page_to_new_mail(browser, site, mailbox)
    for view in SIZES.values():
        a_server_is_found_from_an_address(sign_in(browser, site, "sue", **view), site)
    a_server_is_found_without_javascript(browser, site)


def a_server_is_found_from_an_address(page, site):
    page.goto(f"{site.url}sources/new/")
    assert page.get_by_label("Your e-mail address").input_value() == "sue@example.org"
    assert not page.get_by_label("Server", exact=True).is_visible()
    ask(page, site, "joe@gmail.com")
    password = page.get_by_label("Password", exact=True)
    expect(password).to_be_focused(timeout=SOON)
    assert page.get_by_label("Server", exact=True).input_value() == "imap.gmail.com"
    assert page.get_by_label("User name").input_value() == "joe@gmail.com"
    assert page.get_by_role(
        "link", name="Gmail’s page about it, at myaccount.google.com"
    ).is_visible()
    assert not page.evaluate("document.documentElement.scrollWidth > innerWidth")
    assert faults(page) == []

    ask(page, site, "joe@nowhere.invalid")
    page.get_by_text("No mail server was found for nowhere.invalid").wait_for()
    assert page.get_by_label("Server", exact=True).input_value() == ""
    assert page.get_by_label("User name").input_value() == "joe@nowhere.invalid"
    assert faults(page) == []


def a_server_is_found_without_javascript(browser, site):
    page = sign_in(browser, site, "sue", java_script_enabled=False)
    ask(page, site, "joe@gmail.com")
    assert page.get_by_label("Server", exact=True).input_value() == "imap.gmail.com"
    ask(page, site, "joe@nowhere.invalid")
    found, again = page.get_by_text("No mail server was found"), page.locator("noscript a")
    while not found.is_visible():
        with page.expect_navigation():
            again.click()
    assert page.get_by_label("User name").input_value() == "joe@nowhere.invalid"


def a_source_from_its_first_page_to_new_mail(browser, site, mailbox):
    page = sign_in(browser, site, "sue")
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
    site.manage("shell", "-v", "0", "-c", POLLED_LATER)
    mailbox.put("INBOX", mail(9))
    inbox.get_by_role("cell", name="4", exact=True).first.wait_for()

    page.get_by_role("button", name="Pause").click()
    page.get_by_text("paused", exact=True).wait_for()
    # The command takes in the same mailbox from where the source stands.
    printed = manage(site.data, "ingest", mailbox.url(), "--audience", "user:sue")
    summary, token = printed.splitlines()
    assert summary == "Nothing new."
    assert manage(site.data, "wait", token.removeprefix("Token: ")).startswith("Complete.")


FORWARDED = """
from filters.people.models import User
from filters.authoring.lifecycle import install
from filters.delivery.models import Address, Destination
joe = User.objects.create_user("joe")
address = Address.objects.create(owner=joe, email="joe@x.org", confirmed_at=1)
Destination.objects.create(owner=joe, kind="forward", name="forward", address=address)
install(joe, "from ann@x.org", existing=False)
from filters.api.authentication import make_token
print(make_token(joe, "phone", ["imap"], 1)[1])
"""

MOST_WORKERS = 5


def test_a_site_starts_once_per_directory_and_says_what_it_takes(site, tmp_path):
    ready, processes = (site.data / "up.log").read_text().splitlines()[:2]
    assert ready.startswith("Nobody can sign in yet.")
    assert processes.startswith(f"Tapestry is ready at {site.url}")
    assert re.search(r": (\d+) processes, (\d\.\d) GB of memory\.", processes)
    assert processes.endswith("Spark, which is not needed yet, will take at least 0.3 GB more.")
    assert len(WORKERS) <= MOST_WORKERS
    code, refused = start(tmp_path, "--data", str(site.data)).ended()
    assert code == 1
    assert f"error: The data directory {site.data} is in use by another Tapestry" in refused


def test_killed_parts_start_again_and_each_message_is_forwarded_once(site, smtp, imap_port):
    token = manage(site.data, "shell", "-v", "0", "-c", FORWARDED).strip()
    program = mail_program(imap_port, token)
    program.idle()
    joes_letter(site, 1)
    eventually(lambda: forwarded(smtp) == {"<1@x>": 1})
    assert (1, b"EXISTS") in program.idle_check(timeout=60)
    start_sparks(site.data)
    before = all_parts_of(site.data)
    workers = [numbers for kind, numbers in before.items() if kind.startswith("worker of ")]
    assert sum(map(len, workers)) == len(WORKERS)
    joes_letter(site, 2)
    kill(before, PARTS - {"redis"} | {"imap"})
    eventually(lambda: forwarded(smtp) == {"<1@x>": 1, "<2@x>": 1})
    joes_letter(site, 3)
    kill(parts_of(site.data), {"redis"})
    joes_letter(site, 4)
    eventually(lambda: forwarded(smtp) == {f"<{number}@x>": 1 for number in range(1, 5)})
    after = all_parts_of(site.data)
    assert not set().union(*before.values()) & set().union(*after.values())
    eventually(lambda: unhealthy(site.url) is None)
    assert len(mail_program(imap_port, token).search()) == 4
    log = (site.data / "up.log").read_text()
    assert "The worker of shared ended by signal 9; the last line of" in log
    assert "Traceback" not in log


def mail_program(port, token):
    """Return a mail program that has opened Joe's inbox."""
    client = IMAPClient("127.0.0.1", port, ssl=False, timeout=60)
    client.login("joe", token)
    client.select_folder("INBOX")
    return client


def joes_letter(site, number):
    path = site.data / f"{number}.eml"
    path.write_text(f"Message-ID: <{number}@x>\nFrom: ann@x.org\nSubject: s\n\nHello.\n")
    site.manage("ingest", str(path), "--audience", "user:joe")


def forwarded(smtp):
    """How often each message was forwarded; the same sending, tried again, is one."""
    sendings = {(m["Message-ID"], m["Resent-Message-ID"]) for m in smtp.messages}
    return Counter(name for name, _ in sendings)
