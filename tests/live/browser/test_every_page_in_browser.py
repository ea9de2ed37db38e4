"""Every page in a browser, at a desk and on a phone, in light and dark.

None has an error in the console or asks another host, and axe finds nothing on any.
"""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import Group

from filters.authoring.models import Filter
from filters.delivery.mail.kept import keep
from filters.delivery.models import Address, Destination, Feed, KeptMail
from filters.inbox.models import Card, Match
from filters.people.membership.invitations import invite
from filters.people.models import User
from filters.runs.store.filter_store import DjangoClock
from filters.site.work.crypto import arrival_tokens
from filters.site.work.parts import services
from filters.sources.models import Folder, Pull, Source
from tapestry.core.clock import MINUTE, wall_clock
from tapestry.core.message import Message
from tapestry.tables.write.append import append_messages
from tests.support.answers.account_pages import (
    EXPIRED,
    confirm_session,
    give_account_things,
    pages_of_strangers,
)
from tests.support.answers.every_address import PARAMETER, every_address
from tests.support.browser.browsing import open_signed_in, sign_in
from tests.support.browser.every_page import DESK, Watch, faults_of_view
from tests.support.people.second_factors import give_app

pytestmark = [pytest.mark.live, pytest.mark.timeout(600)]

NO_PAGES = re.compile(
    r"admin/|api/|jmap|sign-out|sidebar|first-steps|read/|healthz|sw\.js|manifest|message/|make/"
    r"|subscribe/|understand/|complete/|filters/preview/|feeds/.*(atom|ics)|triage/|compose/(save|preview)/"
    r"|import/create/|filters/(like|ready-made|remind|why)/|backtest/|export/|security/sign-out/"
    r"|email/link/|sending/.+|follow/"
    r"|(un)?fold/|search/(select|forget)/|filters/dry-run/|lines/|sign-up/|sign-in/|forgot/|me/confirm/"
)
"""Routes that are no pages: parts that htmx asks for, acts, files, and what is Django's own.

The last are those of strangers, and the confirmation, which have a place of their own below.
"""

MORE = (
    "/in/jones/",
    "/?open=plan@x&in=public",
    "/message/?id=plan@x&in=public",
    "/message/?id=mine@x&in=public",
    "/filters/why/?id=plan@x&in=public",
    "/filter/jones/edit/",
    "/filter/jones/delete/",
    "/filters/new/?text=replies+by+Jones",
    "/source/{source}/",
    "/source/{source}/edit/",
    "/source/{source}/delete/",
    "/arrived/{token}/",
    "/delivery/{destination}/",
    "/delivery/{destination}/edit/",
    "/delivery/new/webhook/",
    "/mail/{mail}/",
    "/me/security/passkey/{passkey}/remove/",
    "/nothing/here/",
)
"""Pages about one thing, and one that there is not."""

MISSING = ("/nothing/here/", *EXPIRED)
"""Their status is 404, which is an error in the console of itself."""


@pytest.fixture
def things(jones, broker, settings):
    """Something of terry's, who is of the staff, for every page; return the keys."""
    terry, settings.SIGN_UP = jones.owner, "on"
    invite("mary@x.org")
    User.objects.filter(pk=terry.pk).update(is_staff=True, is_superuser=True, aliases=["me@x.org"])
    terry.groups.add(Group.objects.create(name="parc"))
    body = "Shall we?\n\n> What do you think?\n\nSee https://example.org/a\n-- \nMary\n"
    plan = Message(
        "plan@x", sender="mary@x.org", sender_name="Mary Jones", subject="The plan", body=body
    )
    mine = Message("mine@x", sender="me@x.org", subject="Mine", body="Shall we?", questions=1)
    append_messages(services.tables(), DjangoClock(), [plan, mine])
    now = wall_clock() - MINUTE
    for number in range(12):
        card = Card.objects.create(
            msgid="plan@x" if number == 0 else f"{number}@x", audience="public", ts=now,
            received=now, sender="mary@x.org", sender_name="Mary Jones", subject=f"Plan {number}",
        )  # fmt: skip
        Match.objects.create(
            filter=jones, msgid=card.msgid, audience="public", card=card, matched_at=now,
            stored_at=now, shown_at=now, refreshed_at=now, read_at=now if number % 3 else None,
        )  # fmt: skip
    Filter.objects.create(
        owner=terry, name="slow", text="from x", error="It takes more than 20 seconds to run."
    )
    source = Source.objects.create(
        owner=terry, kind="imap", host="imap.example.org", port=993, user="terry", active=True,
        audience="user:terry", folder_patterns=["INBOX"], pulled_at=now, failures=2,
        error="imap.example.org cannot be reached.", hint="Check the name.",
    )  # fmt: skip
    Folder.objects.create(source=source, name="INBOX", read=1204, added=1200, added_at=now)
    Pull.objects.create(source=source, started_at=now, ended_at=now, read=12, added=11, broken=1)
    address = Address.objects.create(owner=terry, email="t@example.org", confirmed_at=1)
    destination = Destination.objects.create(
        owner=terry, kind="digest", name="Digest", address=address, failures=2, failing_since=now,
        error="The server cannot be reached.",
    )  # fmt: skip
    Feed.objects.create(owner=terry)
    keep(b"Message-ID: <d@x>\r\nSubject: 3 new\r\n\r\nThree\r\n", "t@example.org", terry)
    return {
        "source": source.pk,
        "token": arrival_tokens.of_pull(source.pk, now),
        "destination": destination.pk,
        "mail": KeptMail.objects.get().pk,
    }


def pages(things):
    """Return the address of every page that needs no parameters, and of some that do."""
    routes = every_address(dict.fromkeys(("pk", "name", "kind", "task", "act", "token", "id",
        "step", "action", "uid", "key", "owner", "object_id", "content_type_id", "app_label", "url",
        "account", "blob"), "1"))  # fmt: skip
    plain = [
        route for route in routes if not PARAMETER.search(route) and not NO_PAGES.search(route)
    ]
    return [f"/{route}" for route in plain] + [address.format(**things) for address in MORE]


@pytest.fixture
def page(browser, jones, live_server):
    return browser.new_context(viewport=DESK).new_page()


@pytest.mark.browser_says("status of 404")
def test_every_page(page, things, live_server, jones):
    watch = Watch(page, live_server.url)
    wrong = {}

    def look(address):
        faults = [*faults_of_view(page), *watch.wrong]
        watch.wrong.clear()
        if address in MISSING:
            faults = [fault for fault in faults if "status of 404" not in fault]
        if faults:
            wrong[address] = faults
        page.set_viewport_size(DESK)

    def visit(address):
        page.goto(f"{live_server.url}{address}")
        look(address)

    for address in pages_of_strangers(jones.owner):
        visit(address)
        assert page.url == f"{live_server.url}{address}"
    give_app(User.objects.create_user("mary", password="secret"))
    page.goto(f"{live_server.url}/sign-in/")
    sign_in(page, "mary")
    page.wait_for_url(f"{live_server.url}/sign-in/code/")
    look("/sign-in/code/")
    page.context.clear_cookies()

    open_signed_in(page, f"{live_server.url}/")
    things |= give_account_things(jones.owner)
    visit("/me/confirm/")
    confirm_session(page)
    for address in pages(things):
        visit(address)
        assert not page.url.startswith(f"{live_server.url}/me/confirm/"), address
    page.goto(f"{live_server.url}/me/security/codes/")
    page.get_by_role("button", name="Make new codes").click()
    page.get_by_role("heading", name="Your recovery codes").wait_for()
    page.wait_for_load_state()
    look("new codes")
    assert wrong == {}, "\n".join(f"{at}: {faults}" for at, faults in wrong.items())


def test_the_first_steps(page, live_server, jones):
    """A person without anything: what to do first, and how far that is."""
    watch = Watch(page, live_server.url)
    jones.delete()
    open_signed_in(page, f"{live_server.url}/")
    page.get_by_role("link", name="Add your mailbox").wait_for()
    faults = list(faults_of_view(page))
    source = Source.objects.create(
        owner=jones.owner, kind="imap", host="imap.example.org", port=993, audience="user:terry"
    )
    page.get_by_role("link", name="Choose folders").wait_for()
    Source.objects.update(folder_patterns=["INBOX"], active=True)
    page.get_by_text("The first messages are here in a moment").wait_for()
    Folder.objects.create(source=source, name="INBOX", added=3, reached=3, total=9)
    page.get_by_text("3 of 9 read").wait_for()
    faults += faults_of_view(page)
    page.goto("about:blank")  # else it goes to the page to sign in by itself
    User.objects.all().delete()
    page.goto(f"{live_server.url}/sign-in/")
    page.get_by_text("Nobody has an account here yet").wait_for()
    faults += faults_of_view(page)
    assert faults + watch.wrong == []
