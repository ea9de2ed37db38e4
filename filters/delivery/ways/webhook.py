"""Webhooks: matches as JSON, in a signed POST to the address that a destination's owner named."""

from __future__ import annotations

import json
from dataclasses import replace

from django.conf import settings
from django.db import transaction

from filters.delivery.forms.webhook import WebhookForm
from filters.delivery.models import Destination
from filters.delivery.ways.composing import Matches, composed, with_left_out
from filters.delivery.ways.way import Preview, Way
from filters.site.work.crypto import encryption
from filters.site.work.parts import services
from tapestry.core.clock import DAY, wall_clock
from tapestry.core.errors import TapestryError
from tapestry.deliver.batch import Batch, Outcome
from tapestry.deliver.http.signature import make_secret
from tapestry.deliver.ways import webhook
from tapestry.servers.private_hosts import read_target

ROTATING = DAY
"""How long requests are signed with former secrets too: the receiver is changed meanwhile."""

MOST_FORMER = 3
"""Former secrets that sign: the receiver may have any, where a new one is made twice."""


def send(destination: Destination, batch: Batch) -> Outcome:
    """Send a batch to the address of a webhook, signed with its secret.

    A match that cannot be written is set aside, and the answer counts it.  Raise TapestryError if
    there is no secret to sign with.
    """
    sent, left_out = _writable(destination, batch)
    if not sent.matches:
        return with_left_out(Outcome("delivered"), left_out)
    outcome = webhook.send(
        sent,
        destination.settings["url"],
        _secrets_of(destination),
        wall_clock(),
        destination=destination.name,
        allowed=settings.PRIVATE_HOSTS,
    )
    return with_left_out(outcome, left_out)


def send_beat(destination: Destination, beat: webhook.Beat, seconds: float) -> Outcome:
    """Send a beat to the address of a webhook, signed with its secret."""
    return webhook.send_beat(
        beat,
        destination.settings["url"],
        _secrets_of(destination),
        wall_clock(),
        destination=destination.name,
        allowed=settings.PRIVATE_HOSTS,
        seconds=seconds,
    )


def preview(destination: Destination, batch: Batch) -> Preview:
    """Return the request that a batch would make, its JSON set out in lines.

    The signature is that of the body as it is sent, in one line.
    """
    named, _ = _writable(destination, batch)
    body = webhook.body_of(named, destination.name)
    signed = webhook.headers_of(named.key, body, _secrets_of(destination), wall_clock())
    headers = {"Host": read_target(destination.settings["url"]).authority} | signed
    content = json.dumps(json.loads(body), indent=2, ensure_ascii=False)
    return Preview("json", content, tuple(headers.items()))


def renew_secret(destination: Destination) -> str:
    """Store a new secret of a webhook, and return it; for a day the old ones sign, too."""
    secret = make_secret()
    with transaction.atomic():
        stored = Destination.objects.select_for_update(no_key=True).get(pk=destination.pk)
        try:
            former = _secrets_of(stored)[:MOST_FORMER]
        except TapestryError:  # there is none yet, or none that can be read
            former = []
        stored.secret, stored.former_secret = (
            encryption.encrypt(text, services.data()) for text in (secret, " ".join(former))
        )
        stored.former_until = wall_clock() + ROTATING
        stored.save(update_fields=["secret", "former_secret", "former_until"])
    return secret


def _writable(destination: Destination, batch: Batch) -> tuple[Batch, int]:
    """Return a batch that can be sent, and how many of its matches were left out."""
    named = _named(batch)

    def written(matches: Matches, _left_out: int) -> bytes:
        return webhook.body_of(replace(named, matches=matches), destination.name)

    _, matches = composed(batch.matches, "webhook", written)
    return replace(named, matches=matches), len(batch.matches) - len(matches)


def _named(batch: Batch) -> Batch:
    """Return a batch under a name that can be signed: one without full stops."""
    return replace(batch, key=batch.key.replace(".", "-"))


def _secrets_of(destination: Destination) -> list[str]:
    """Return the secrets that sign: the one of now, and those before it while that is changed."""
    stored = [destination.secret]
    if (destination.former_until or 0) > wall_clock():
        stored.append(destination.former_secret)
    present, *former = [encryption.decrypt(secret, services.data()) for secret in stored]
    if not present:
        raise TapestryError("The webhook has no secret yet.", hint="Make one on its page.")
    return [present, *" ".join(former).split()]


WAY = Way(
    kind="webhook",
    title="webhook",
    about=(
        "Each batch of matches is sent to a server of yours as JSON, in a POST that is signed. "
        "Its page shows the latest answers."
    ),
    form=WebhookForm,
    send=send,
    preview=preview,
    most=100,
)
