"""Web push: one notification of each batch, to a browser that asked for it.

The subscription of a browser is a secret: whoever has it could write to that browser.  It is
stored encrypted, and found by the digest of its address.
"""

from __future__ import annotations

import hashlib
import json

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.urls import reverse

from filters.delivery import links
from filters.delivery.ways.preview import Preview
from filters.delivery.ways.vapid import vapid_keys
from filters.models import Destination, ReleaseCounter
from filters.runtime import encryption, services
from tapestry.core.clock import wall_clock
from tapestry.core.errors import TapestryError
from tapestry.deliver.batch import Batch, Outcome
from tapestry.deliver.http.push_keys import PushSubscription, read_subscription
from tapestry.deliver.ways import push

MOST_BROWSERS = 20
"""Browsers that notify one person."""


def send(destination: Destination, batch: Batch) -> Outcome:
    """Send a notification of a batch to the browser of a destination."""
    return push.send(
        batch,
        subscription_of(destination),
        vapid_keys(),
        wall_clock(),
        page_url=_page_url(batch),
        allowed=settings.PRIVATE_HOSTS,
    )


def preview(destination: Destination, batch: Batch) -> Preview:
    """Return the notification of a batch as JSON; it is encrypted when it is sent."""
    if not batch.entered():
        return Preview("json", "")
    notification = json.loads(push.payload(batch, _page_url(batch)))
    content = json.dumps(notification, indent=2, ensure_ascii=False)
    return Preview("json", content, tuple(push.headers_of(batch.key).items()))


def subscribe(owner: User, subscription: PushSubscription, name: str) -> Destination:
    """Notify a browser of its owner's matches from now on, and of nobody else's.

    One that is known is notified again.  Raise TapestryError if the owner has too many.
    """
    digest = digest_of(subscription.endpoint)
    document = json.dumps(subscription.as_browsers_write_it())
    secret = encryption.encrypt(document, services.data())
    with transaction.atomic():
        position = ReleaseCounter.lock().last
        known = Destination.objects.filter(kind=Destination.Kind.PUSH, settings__digest=digest)
        known.exclude(owner=owner).delete()
        browsers = Destination.objects.filter(owner=owner, kind=Destination.Kind.PUSH)
        destination = browsers.filter(settings__digest=digest).first()
        if destination is not None:
            now = wall_clock()
            again = {"active": True, "failures": 0, "failing_since": None, "error": ""}
            rows = Destination.objects.filter(pk=destination.pk)
            rows.update(name=name, secret=secret, **again)
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
            kind=Destination.Kind.PUSH,
            name=name,
            settings={"digest": digest},
            secret=secret,
            all_since=position,
            cursor=position,
            latest=position,
        )


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
