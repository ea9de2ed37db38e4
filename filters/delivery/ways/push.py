"""Web push: one notification of each batch, to a browser that asked for it.

The subscription of a browser is a secret: whoever has it could write to that browser.  It is
stored encrypted, and found by the digest of its address.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.urls import reverse
from django.utils.module_loading import import_string

from filters.delivery.contents import links
from filters.delivery.forms.base import DestinationForm
from filters.delivery.models import Destination
from filters.delivery.ways.composing import Matches, composed, with_left_out
from filters.delivery.ways.vapid import vapid_keys
from filters.delivery.ways.way import Preview, Way
from filters.inbox.counts import unread_of
from filters.people.models import User
from filters.runs.models import ReleaseCounter
from filters.site.work.crypto import encryption
from filters.site.work.db.deleting import delete_locked
from filters.site.work.parts import services
from tapestry.core.clock import wall_clock
from tapestry.core.errors import TapestryError
from tapestry.deliver.batch import Batch, Outcome
from tapestry.deliver.http.push_keys import PushSubscription, read_subscription
from tapestry.deliver.ways import push

MOST_BROWSERS = 20
"""Browsers, and mail programs, that notify one person."""

PROGRAM = "program"
"""The setting of what notifies a mail program: that app stands above this one."""


def send(destination: Destination, batch: Batch) -> Outcome:
    """Send a notification of a batch to the browser of a destination.

    A match that cannot be written is set aside, and the answer counts it.
    """
    if PROGRAM in destination.settings:
        outcome: Outcome = import_string("filters.jmap.push.send")(destination, batch)
        return outcome
    unread = unread_of(destination.owner) if batch.entered() else 0
    sent = _writable(batch, unread)
    outcome = push.send(
        sent,
        subscription_of(destination),
        vapid_keys(),
        wall_clock(),
        page_url=_page_url(sent),
        unread=unread,
        allowed=settings.PRIVATE_HOSTS,
    )
    return with_left_out(outcome, len(batch.matches) - len(sent.matches))


def preview(destination: Destination, batch: Batch) -> Preview:
    """Return the notification of a batch as JSON; it is encrypted when it is sent."""
    unread = unread_of(destination.owner)
    shown = _writable(batch, unread)
    if not shown.entered():
        return Preview("json", "")
    document = push.payload(shown, _page_url(shown), unread)
    notification = json.loads(document)
    content = json.dumps(notification, indent=2, ensure_ascii=False)
    return Preview("json", content, tuple(push.headers_of(batch.key).items()))


def _writable(batch: Batch, unread: int) -> Batch:
    """Return a batch without the matches of which no notification can be written."""

    def written(matches: Matches, _left_out: int) -> bytes:
        some = replace(batch, matches=matches)
        return push.payload(some, _page_url(some), unread) if some.entered() else b""

    return replace(batch, matches=composed(batch.matches, "push", written)[1])


def subscribe(
    owner: User, subscription: PushSubscription, name: str, browser: str = ""
) -> Destination:
    """Notify a browser of its owner's matches from now on, and of nobody else's.

    One that is known is notified again.  ``browser`` is the digest by which it is known where its
    owner signs in, empty if it is not.  Raise TapestryError if the owner has too many.
    """
    digest = digest_of(subscription.endpoint)
    known_by = {"digest": digest, "browser": browser}
    document = json.dumps(subscription.as_browsers_write_it())
    secret = encryption.encrypt(document, services.data())
    with transaction.atomic():
        position = ReleaseCounter.lock().last
        known = Destination.objects.filter(kind="push", settings__digest=digest)
        delete_locked(known.exclude(owner=owner))
        browsers = browsers_of(owner)
        locked = browsers.select_for_update(no_key=True)
        destination = locked.filter(settings__digest=digest).first()
        if destination is not None:
            now = wall_clock()
            again = {"active": True, "failures": 0, "failing_since": None, "error": ""}
            rows = Destination.objects.filter(pk=destination.pk)
            rows.update(name=name, settings=known_by, secret=secret, **again)
            rows.filter(holder="", due_at=None).update(due_at=now)
            destination.refresh_from_db()
            return destination
        if browsers.count() >= MOST_BROWSERS:
            raise TapestryError(
                f"{MOST_BROWSERS} browsers notify you already.",
                hint="Remove one that you no longer use.",
            )
        return Destination.objects.create(
            owner=owner,
            kind="push",
            name=name,
            settings=known_by,
            secret=secret,
            all_since=position,
            cursor=position,
            latest=position,
        )


def browsers_of(owner: User) -> QuerySet[Destination]:
    """Return the browsers that notify a person."""
    return Destination.objects.filter(owner=owner, kind="push")


def is_notified(owner: User, browser: str) -> bool:
    """Tell whether a browser, by its digest, is known to be one that notifies a person."""
    return bool(browser) and browsers_of(owner).filter(settings__browser=browser).exists()


def forget_others(owner: User, browser: str) -> int:
    """Notify a person in no browser other than this; return how many no longer do.

    Those are all where it is not known which of them this one is.
    """
    others = [
        row.pk
        for row in browsers_of(owner)
        if not browser or row.settings.get("browser") != browser
    ]
    return delete_locked(browsers_of(owner).filter(pk__in=others))


def subscription_of(destination: Destination) -> PushSubscription:
    """Return the subscription of a browser; raise TapestryError if it cannot be decrypted."""
    document = encryption.decrypt(destination.secret, services.data())
    return read_subscription(json.loads(document or "null"))


def digest_of(endpoint: str) -> str:
    """Return the digest of a browser's address at its push service, as the page computes it."""
    return hashlib.sha256(endpoint.encode()).hexdigest()


def _page_url(batch: Batch) -> str:
    """Return the page of all matches of a batch: of their filter, if it is one, or the inbox."""
    names = {match.filter_name for match in batch.entered()}
    path = reverse("filter", args=[names.pop()]) if len(names) == 1 else reverse("inbox")
    return links.absolute(path)


WAY = Way(
    kind="push",
    title="browser notifications",
    about="Your computer or phone shows new matches as they come, even while Tapestry is closed.",
    form=DestinationForm,
    send=send,
    preview=preview,
    most_an_hour=30,
    page="push",
)
