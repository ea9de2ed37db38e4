"""An example of each way of delivery, for tests that have a destination of every kind."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import Any, NamedTuple

from filters.delivery.models import Address, Destination
from filters.delivery.ways.table import WAYS
from filters.delivery.ways.way import MAIL
from filters.people.models import User
from filters.site.work.crypto import encryption
from filters.site.work.parts import services
from tapestry.deliver.http.signature import make_secret
from tests.support.servers.dovecot import PASSWORD, USER
from tests.support.servers.push_service import Browser


class Place(NamedTuple):
    """Where an example delivers to: by mail, by HTTP, to a browser there, or into a folder."""

    email: str
    url: str
    browser: Browser
    imap_port: int = 143
    parent: str = "Tapestry"


def _at_url(place: Place) -> tuple[dict[str, Any], str]:
    return {"url": place.url}, make_secret()


def _push(place: Place) -> tuple[dict[str, Any], str]:
    digest = hashlib.sha256(place.url.encode()).hexdigest()
    return {"digest": digest}, json.dumps(place.browser.subscription(place.url))


def _mailbox(place: Place) -> tuple[dict[str, Any], str]:
    settings = {"host": "127.0.0.1", "port": place.imap_port, "security": "none"}
    return settings | {"user": USER, "parent": place.parent}, PASSWORD


OUTBOUND: dict[str, Callable[[Place], tuple[dict[str, Any], str]]] = {
    "mailbox": _mailbox,
    "push": _push,
}
"""The settings and the secret of an example, by kind; without an entry it has a URL."""


def is_mail(kind: str) -> bool:
    """Tell whether what is sent in a way is mail."""
    return WAYS[kind].queue == MAIL


def example(owner: User, kind: str, name: str, place: Place, **fields: Any) -> Destination:
    """Store a destination of a kind and return it, with a confirmed address if it is of mail.

    ``fields`` are those of the address that begin with ``address_``, and of the destination.
    """
    of_address = {"confirmed_at": 1}
    of_address |= {key[8:]: fields.pop(key) for key in list(fields) if key.startswith("address_")}
    if is_mail(kind):
        fields["address"] = Address.objects.create(owner=owner, email=place.email, **of_address)
    else:
        settings, secret = OUTBOUND.get(kind, _at_url)(place)
        fields |= {"settings": settings, "secret": encryption.encrypt(secret, services.data())}
    return Destination.objects.create(owner=owner, kind=kind, name=name, **fields)
