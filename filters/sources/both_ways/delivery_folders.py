"""Folders that hold our own deliveries: a source of the same mailbox does not take them in."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from filters.delivery.models import Destination
from filters.sources.models import Source
from tapestry.core.errors import TapestryError
from tapestry.deliver.ways.mailbox import MailboxSettings
from tapestry.servers.imap import Hierarchy

Mailbox = tuple[int, str, str]
"""An owner, and the host and user of a mailbox in lower case."""

_USUAL = (Hierarchy("", "/"), Hierarchy("", "."), Hierarchy("INBOX.", "."))


def delivery_parents(source: Source) -> list[str]:
    """Return the parents of the folders that this site delivers to in the mailbox of a source.

    Only destinations of its owner count, so that nobody hides the folders of others.
    """
    return parents_by_mailbox(source.owner_id).get(mailbox_of(source), [])


def parents_by_mailbox(owner_id: int | None = None) -> Mapping[Mailbox, list[str]]:
    """Return the parents of delivery folders by mailbox: those of one owner, or of all."""
    mailboxes = Destination.objects.filter(kind="mailbox").order_by("pk")
    if owner_id is not None:
        mailboxes = mailboxes.filter(owner=owner_id)
    parents: defaultdict[Mailbox, list[str]] = defaultdict(list)
    for mailbox in mailboxes.select_related("source"):
        parent = _parent(mailbox.settings)
        if parent:
            host, user = mailbox.mailbox
            parents[mailbox.owner_id, host.lower(), user.lower()].append(parent)
    return dict(parents)


def _parent(settings: Mapping[str, object]) -> str:
    """Return the parent in the settings of a destination; empty if nothing is delivered there."""
    default = MailboxSettings()
    try:
        return MailboxSettings(str(settings.get("parent") or default.parent)).parent
    except TapestryError:
        return ""


def mailbox_of(source: Source) -> Mailbox:
    """Return the mailbox that a source pulls."""
    return source.owner_id, source.host.lower(), source.user.lower()


def is_delivery_folder(folder: str, parents: Sequence[str]) -> bool:
    """Tell whether a folder holds deliveries by its name alone, as most servers write names.

    >>> is_delivery_folder("INBOX.Tapestry.lunch", ["Tapestry"])
    True
    >>> is_delivery_folder("Tapestry of Bayeux", ["Tapestry"])
    False
    """
    return any(
        hierarchy.is_within(folder, hierarchy.path(parent))
        for hierarchy in _USUAL
        for parent in parents
    )
