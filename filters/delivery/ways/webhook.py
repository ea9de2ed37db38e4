"""Webhooks: matches as JSON, in a signed POST to the address that a destination's owner named."""

from __future__ import annotations

import json
from dataclasses import replace

from django.conf import settings

from filters.delivery.ways.preview import Preview
from filters.models import Destination
from filters.runtime import encryption, services
from tapestry.core.clock import wall_clock
from tapestry.core.errors import TapestryError
from tapestry.deliver.batch import Batch, Outcome
from tapestry.deliver.http.signature import make_secret
from tapestry.deliver.ways import webhook
from tapestry.servers.private_hosts import read_target

MOST = 100
"""Matches of one request."""


def send(destination: Destination, batch: Batch) -> Outcome:
    """Send a batch to the address of a webhook, signed with its secret.

    Raise TapestryError if there is no secret to sign with.
    """
    return webhook.send(
        _named(batch),
        destination.settings["url"],
        _secret_of(destination),
        wall_clock(),
        destination=destination.name,
        allowed=settings.PRIVATE_HOSTS,
    )


def preview(destination: Destination, batch: Batch) -> Preview:
    """Return the request that a batch would make, its JSON set out in lines.

    The signature is that of the body as it is sent, in one line.
    """
    named = _named(batch)
    body = webhook.body_of(named, destination.name)
    signed = webhook.headers_of(named.key, body, _secret_of(destination), wall_clock())
    headers = {"Host": read_target(destination.settings["url"]).authority} | signed
    content = json.dumps(json.loads(body), indent=2, ensure_ascii=False)
    return Preview("json", content, tuple(headers.items()))


def renew_secret(destination: Destination) -> str:
    """Store a new secret of a webhook, encrypted, and return it; the old one signs nothing more."""
    secret = make_secret()
    ciphertext = encryption.encrypt(secret, services.data())
    Destination.objects.filter(pk=destination.pk).update(secret=ciphertext)
    return secret


def _named(batch: Batch) -> Batch:
    """Return a batch under a name that can be signed: one without full stops."""
    return replace(batch, key=batch.key.replace(".", "-"))


def _secret_of(destination: Destination) -> str:
    secret = encryption.decrypt(destination.secret, services.data())
    if not secret:
        raise TapestryError("The webhook has no secret yet.", hint="Make one on its page.")
    return secret
