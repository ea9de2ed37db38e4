"""Delivery by web push: one notification of a batch, to a browser that asked for it.

The browser's push service takes the message (RFC 8030) and cannot read it (RFC 8291); it knows
this site by a key (VAPID, RFC 8292).  The browser named the service's address, so it is an
address that a person named: requests go by tapestry/deliver/http/post.py.
"""

from __future__ import annotations

import hashlib
import json
from base64 import urlsafe_b64encode
from collections.abc import Mapping, Sequence
from typing import Unpack

from py_vapid import Vapid02, VapidException

from tapestry.core.clock import HOUR, SECOND
from tapestry.deliver.batch import Batch, DeliveredMatch, Outcome
from tapestry.deliver.http.post import Limits, posted
from tapestry.deliver.http.push_keys import PushSubscription, VapidKeys
from tapestry.deliver.one_line import one_line
from tapestry.servers.private_hosts import AddressRefusedError, read_target

LONGEST_LINE = 120
LINES = 4
"""Characters that a notification shows."""
LARGEST = 3900
"""Bytes of a notification: a push service takes 4,096, encryption included (RFC 8291)."""
TIME_TO_LIVE = 24 * HOUR
TOKEN_TIME = 12 * HOUR


def send(
    batch: Batch,
    subscription: PushSubscription,
    vapid: VapidKeys,
    now: int,
    *,
    page_url: str,
    unread: int,
    **limits: Unpack[Limits],
) -> Outcome:
    """Send one notification of what entered the lists, and return what became of it.

    An answer of 2xx is a delivery; 404 and 410 say that the browser is no longer subscribed.
    After any other the batch is to be tried again.  ``page_url`` is what the notification opens
    where it is about several messages, ``unread`` how many the inbox has for the site's icon.
    """
    if not batch.entered():
        return Outcome("delivered", "Nothing entered a list, so nothing was sent.")
    return send_document(
        payload(batch, page_url, unread),
        subscription.endpoint,
        subscription,
        vapid,
        now,
        headers_of(batch.key),
        **limits,
    )


def send_document(
    document: bytes,
    endpoint: str,
    keys: PushSubscription | None,
    vapid: VapidKeys,
    now: int,
    headers: Mapping[str, str],
    **limits: Unpack[Limits],
) -> Outcome:
    """Send a document to a push service, encrypted if the subscription has keys."""
    from pywebpush import WebPusher  # it brings aiohttp: a tenth of a second of each process

    try:
        signed = authorization(read_target(endpoint).origin, vapid, now)
    except AddressRefusedError as error:
        return Outcome("refused", error.message)
    if keys is not None:
        document = WebPusher(keys.as_browsers_write_it()).encode(document)["body"]
    return posted(endpoint, document, {**headers, **signed}, gone={404, 410}, **limits)


def headers_of(key: str) -> dict[str, str]:
    """Return the header fields of a notification without its authorization; also to preview one."""
    return {
        "Content-Encoding": "aes128gcm",
        "Content-Type": "application/octet-stream",
        "TTL": str(TIME_TO_LIVE // SECOND),
        "Urgency": "normal",
        "Topic": topic(key),
    }


def payload(batch: Batch, page_url: str, unread: int) -> bytes:
    """Return the notification as JSON: title, body, url, tag, unread; the service worker shows it.

    A notification with the tag of an earlier one takes its place, so a batch that is sent again
    is not shown twice.  It has at most ``LARGEST`` bytes if those of ``page_url`` are fewer than
    2,000: it opens that page where the address of the message is too long.
    """
    entered = batch.entered()
    only = entered[0].url if len(entered) == 1 else ""
    lines = [one_line(_line(match), LONGEST_LINE) for match in entered[:LINES]]
    if len(entered) > LINES:
        lines[LINES - 1 :] = [f"and {len(entered) - LINES + 1} more"]
    words = one_line(title(entered), LONGEST_LINE)
    document = _json(words, lines, only or page_url, batch.key, unread)
    if len(document) > LARGEST:  # the address of a message is as long as its Message-ID
        document = _json(words, lines, page_url, batch.key, unread)
    while len(document) > LARGEST and lines:
        lines.pop()
        document = _json(words, lines, page_url, batch.key, unread)
    return document


def _json(words: str, lines: Sequence[str], url: str, tag: str, unread: int) -> bytes:
    body = "\n".join(lines)
    notification = {"title": words, "body": body, "url": url, "tag": tag, "unread": unread}
    return json.dumps(notification, ensure_ascii=False, separators=(",", ":")).encode()


def title(matches: Sequence[DeliveredMatch]) -> str:
    """Return how many messages are new, and where: ``3 new in jones-replies``."""
    filters = {match.filter_id: match.filter_label for match in matches}
    if len(filters) == 1:
        return f"{len(matches)} new in {matches[0].filter_label}"
    return f"{len(matches)} new in {len(filters)} filters"


def topic(key: str) -> str:
    """Return the Topic of a batch: a push service keeps one message of it (RFC 8030 section 5.4).

    >>> topic("d7-1-3") == topic("d7-1-3"), len(topic("d7-1-3"))
    (True, 32)
    """
    return urlsafe_b64encode(hashlib.sha256(key.encode()).digest()[:24]).decode("ascii")


def authorization(origin: str, vapid: VapidKeys, now: int) -> dict[str, str]:
    """Return the header field by which a push service knows this site (RFC 8292).

    ``origin`` is that of the service, the token's audience.

    Raise AddressRefusedError if it is none that a token can have.
    """
    claims = {"aud": origin, "exp": (now + TOKEN_TIME) // SECOND, "sub": vapid.contact}
    try:
        return dict(Vapid02.from_pem(vapid.private_pem.encode("ascii")).sign(claims))
    except VapidException as error:
        raise AddressRefusedError(f"No push service is at {origin}.") from error


def _line(match: DeliveredMatch) -> str:
    sender = match.sender_name or match.sender
    subject = match.subject or "(no subject)"
    return f"{sender}: {subject}" if sender else subject
