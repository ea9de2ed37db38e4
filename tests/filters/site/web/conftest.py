"""Something of alice's behind every address of the site, and what is answered to each person."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from functools import partial

import pytest
from django.apps import apps
from django.core.management.color import no_style
from django.db import connection
from django.test import Client

from filters.authoring.models import Filter
from filters.compose.models import OutgoingMessage
from filters.delivery.contents import links
from filters.delivery.mail.bounces import post_url
from filters.delivery.mail.kept import keep
from filters.delivery.models import Address, Destination, Feed, KeptMail
from filters.inbox.models import AppraiserRule, Card, Match, Mute
from filters.people.models import User
from filters.runs.models import SetAside
from filters.site.work.crypto import arrival_tokens
from filters.sources.models import Source, Trial
from tapestry.core.clock import wall_clock
from tapestry.tables.delta.log import Tables
from tests.support.answers.crawled import Crawled, crawl
from tests.support.answers.every_address import every_address

NOBODY = "http://127.0.0.1:1/"
"""Where nothing answers."""

MAIL = b"Message-ID: <d@x>\r\nSubject: 3 new\r\nContent-Type: text/html\r\n\r\n<p>Three</p>"


def _count_on() -> None:
    """Have PostgreSQL give the next rows other keys than those that were given here."""
    with connection.cursor() as cursor:
        for statement in connection.ops.sequence_reset_sql(no_style(), apps.get_models()):
            cursor.execute(statement)


@pytest.fixture
def addresses(mail: Tables, alice: User) -> dict[str, str]:
    """Every address by its route, with keys and tokens of what is alice's."""
    now = wall_clock()
    jones = Filter.objects.create(pk=1, owner=alice, name="jones", text="by jones")
    card = Card.objects.create(pk=1, msgid="plan@example.org", audience="public", ts=1, received=1)
    at = dict.fromkeys(("matched_at", "stored_at", "shown_at", "refreshed_at"), now)
    Match.objects.create(
        pk=1, filter=jones, msgid=card.msgid, audience="public", card=card, sequence=1, **at
    )
    hook = Destination.objects.create(
        pk=1, owner=alice, kind="webhook", name="hook", settings={"url": NOBODY}
    )
    Source.objects.create(pk=1, owner=alice, kind="imap", host="x", port=993, audience="public")
    Trial.objects.create(pk=1, owner=alice, subject="test:1", asked_at=now)
    Feed.objects.create(pk=1, owner=alice, token="of-alice")
    AppraiserRule.objects.create(pk=1, owner=alice, weight=5, text="from Jones")
    Mute.objects.create(pk=1, owner=alice, root="m")
    draft = OutgoingMessage.objects.create(pk=1, owner=alice, subject="A draft", changed_at=now)
    Address.objects.create(pk=1, owner=alice, email="al@example.org")
    tried = dict.fromkeys(("first_at", "last_at", "try_again_at"), now)
    SetAside.objects.create(pk=1, kind="source", key="1", **tried)
    _count_on()
    keep(MAIL, "al@example.org", alice)

    def token(address: str) -> str:
        return address.rstrip("/").rpartition("/")[2]

    values = {
        "pk": "1",
        "name": "jones",
        "kind": "webhook",
        "kept-mail.pk": str(KeptMail.objects.get().pk),
        "kept-mail-html.pk": str(KeptMail.objects.get().pk),
        "act.act": "vote",
        "act.token": token(links.acts_of()(1, "alice", card.msgid)[0].url),
        "unsubscribe.token": token(links.unsubscribe_url(hook)),
        "confirm.token": token(links.confirm_url(1, "al@example.org")),
        "bounces.token": token(post_url()),
        "arrived.token": arrival_tokens.of_letter(1),
        "feed.token": "of-alice",
        "feed-calendar.token": "of-alice",
        "key": "forged",
        "token": "forged",
        "task": str(uuid.UUID(int=7)),
        "step": str(uuid.UUID(int=7)),
        "action": "done",
        "uid": str(draft.uid),
        "owner": "alice",
        "id": str(alice.pk),
        "object_id": "1",
        "content_type_id": "1",
        "app_label": "filters",
        "url": "nothing",
        "account": "forged",
        "blob": "forged",
    }
    found = every_address(values)
    for route in found:
        if route.startswith("message/"):
            found[route] += "?id=plan@example.org&part=1"
    found["filters/like/"] += "?id=plan@example.org"
    return found


@pytest.fixture
def browsers(alice: User, carol: User, as_user: Callable[[User], Client]) -> dict[str, Client]:
    """Browsers of a stranger, of alice, of somebody else, and of the staff."""
    staff = User.objects.create_superuser("root", "root@example.org", "secret")
    signed_in = {"alice": as_user(alice), "carol": as_user(carol), "staff": as_user(staff)}
    for browser in (stranger := Client(), *signed_in.values()):
        browser.raise_request_exception = False
    return {"stranger": stranger, **signed_in}


@pytest.fixture
def crawled(
    addresses: dict[str, str],
    browsers: dict[str, Client],
    bob: User,
    as_user: Callable[[User], Client],
) -> Crawled:
    """Return a function: what each address answers to a person, who asks once for all tests.

    The source of alice is on a server that refuses connections at once.
    """
    Trial.objects.update(ended_at=1)
    Source.objects.update(host="127.0.0.1", port=1)
    member = as_user(bob)
    member.raise_request_exception = False
    return partial(crawl, browsers | {"bob": member}, addresses)
