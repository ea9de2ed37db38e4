"""People with filters and a destination of every kind, and matches that are stored for them."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from filters.authoring.models import Filter
from filters.delivery.models import Destination, Feed, Subscription
from filters.delivery.ways.table import WAYS
from filters.inbox.models import Card, Match, Mute
from filters.people.models import User
from filters.runs.models import ReleaseCounter
from filters.runs.store.filter_store import DjangoClock
from filters.site.work.parts import services
from tapestry.core.clock import DAY, SECOND, wall_clock
from tapestry.core.message import Message
from tapestry.tables.read.originals import Original
from tapestry.tables.write.append import append_messages
from tests.support.delivery.ways import Place, example
from tests.support.servers.cutting_proxy import CuttingProxy
from tests.support.servers.http_recorder import Recorder
from tests.support.servers.push_service import Browser
from tests.support.servers.smtp import SmtpServer

NAMES = ("ann", "bob")
FILTERS = ("kept", "live")
LOUD = "loud@x.org"
"""The first message of a thread that everybody has muted."""


@dataclass
class Servers:
    """Where everything is delivered to: real servers, which may misbehave."""

    smtp: SmtpServer
    http: Recorder
    imap: CuttingProxy


@dataclass
class People:
    """The people of a campaign, and what was stored for them so far.

    ``left`` and ``returned`` count how often each match has left its filter, and has come back.
    """

    servers: Servers
    chance: random.Random
    browsers: dict[int, Browser] = field(default_factory=dict)
    left: Counter[int] = field(default_factory=Counter)
    returned: Counter[int] = field(default_factory=Counter)
    stored: int = 0

    def settle(self) -> None:
        """Make people, filters, feeds and destinations; some of these may never be served."""
        for name in NAMES:
            person = User.objects.create_user(name, f"{name}@x.org")
            Mute.objects.create(owner=person, root=LOUD)
            for own_name in FILTERS:
                filter_ = Filter.objects.create(owner=person, name=own_name, text="x", phrase="x")
                Feed.objects.create(owner=person, filter=filter_)
            for kind in WAYS:
                self.destination(person, kind)
            self.destination(person, "digest", "never-confirmed", address_confirmed_at=None)
            self.destination(person, "forward", "never-usable", address_problem="It bounced.")
            self.destination(person, "digest", "never-active", active=False)

    def destination(self, person: User, kind: str, name: str = "", **fields: Any) -> Destination:
        """Make a destination of a kind; mail has an address of its own."""
        key = 1 + max(Destination.objects.values_list("pk", flat=True), default=0)
        browser = self.browsers[key] = Browser.new()
        place = Place(
            f"{name or kind}.{person.username}@x.org",
            self.servers.http.url(f"/{kind}/{key}"),
            browser,
            self.servers.imap.port,
            f"Of {person.username} {key}",
        )
        return example(person, kind, name or kind, place, pk=key, **fields)

    def subscribe(self) -> None:
        """Give each person a webhook that takes one filter, from now on."""
        position = ReleaseCounter.position()
        for live in Filter.objects.filter(name="live"):
            hook = self.destination(live.owner, "webhook", "of one filter")
            Destination.objects.filter(pk=hook.pk).update(all_filters=False, cursor=position)
            Subscription.objects.create(destination=hook, filter=live, since=position)

    def store(self, count: int) -> None:
        """Store so many matches, each of a message of its own; some may never be sent."""
        filters = list(Filter.objects.order_by("pk"))
        chosen = [self._match(self.chance.choice(filters)) for _ in range(count)]
        messages = [
            Message(each.msgid, sender="joe@x.org", subject=each.card.subject) for each in chosen
        ]
        originals = [Original(_raw(message)) for message in messages]
        append_messages(services.tables(), DjangoClock(), messages, originals=originals)
        for each in chosen:
            each.card.save()
            each.card_id = each.card.pk
            each.save()

    def _match(self, filter_: Filter) -> Match:
        self.stored += 1
        what = self.chance.choices(
            ["plain", "later", "never-early", "never-muted", "never-secret"], [60, 20, 5, 8, 7]
        )[0]
        name, now = f"{what}-{self.stored:05}-x", wall_clock()
        later = {"later": SECOND, "never-early": DAY}.get(what, 0)
        audience = "user:stranger" if what == "never-secret" else "public"
        card = Card(
            msgid=f"{name}@x.org",
            audience=audience,
            ts=now,
            received=now,
            subject=name,
            sender="joe@x.org",
            root=LOUD if what == "never-muted" else f"{name}@x.org",
        )
        return Match(
            filter=filter_,
            msgid=card.msgid,
            audience=audience,
            card=card,
            matched_at=now,
            stored_at=now,
            shown_at=now + later,
            refreshed_at=now,
        )

    def leave_and_return(self) -> None:
        """Have a match of each live filter leave it, and one that has left come back."""
        for live in Filter.objects.filter(name="live"):
            released = Match.objects.filter(filter=live, sequence__isnull=False).order_by("pk")
            now = wall_clock()
            if inside := list(released.filter(retracted_at=None)):
                leaving = self.chance.choice(inside)
                self.left[leaving.pk] += 1
                Match.objects.filter(pk=leaving.pk).update(retracted_at=now, sequence=None)
            outside = list(released.exclude(retracted_at=None))
            if outside and self.chance.random() < 0.3:
                returning = self.chance.choice(outside)
                self.returned[returning.pk] += 1
                back = {"retracted_at": None, "sequence": None, "matched_at": now}
                Match.objects.filter(pk=returning.pk).update(**back)


def _raw(message: Message) -> bytes:
    fields = {
        "Message-ID": f"<{message.msgid}>",
        "From": message.sender,
        "Subject": message.subject,
    }
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"{head}\r\nThis is {message.msgid}.\r\n".encode()
