"""The forms of destinations, by kind: where matches go, and which filters' they are.

Another kind is a class in a file here, and a line of ``FORMS``.
"""

from __future__ import annotations

from filters.delivery.forms.base import DestinationForm
from filters.delivery.forms.mail import DigestForm, ForwardForm
from filters.delivery.forms.mailbox import MailboxForm
from filters.delivery.forms.webhook import WebhookForm
from filters.delivery.models import Destination

FORMS: dict[str, type[DestinationForm]] = {
    Destination.Kind.DIGEST: DigestForm,
    Destination.Kind.FORWARD: ForwardForm,
    Destination.Kind.MAILBOX: MailboxForm,
    Destination.Kind.WEBHOOK: WebhookForm,
}


def form_of(kind: str) -> type[DestinationForm]:
    """Return the form of a kind; without one of its own it has a name and filters."""
    return FORMS.get(kind, DestinationForm)


def where(destination: Destination) -> str:
    """Say shortly where a destination delivers to: an address, a mailbox, a host."""
    return form_of(destination.kind).where(destination)
