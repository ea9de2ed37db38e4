"""Delivery into a mailbox of the owner: the originals, in a folder for each filter.

The cursor advances with each message that is confirmed, so an attempt that breaks off goes on
after it, and what a person has deleted since is not put in again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.db import transaction

from filters.delivery import claims
from filters.delivery.ways.originals import original_of
from filters.delivery.ways.preview import Preview
from filters.models import Destination, Filter, Match
from filters.runtime import services
from filters.runtime.encryption import decrypt
from tapestry.core.errors import TapestryError
from tapestry.deliver.batch import Batch, Outcome
from tapestry.deliver.one_line import one_line
from tapestry.deliver.ways import mailbox
from tapestry.deliver.ways.mailbox import Confirmation, Mailbox, MailboxSettings, deliver_to_mailbox
from tapestry.servers.account import Account

MOST = 100
"""Messages of one delivery."""

FOLDERS = "folders"
"""The setting that says under which name each filter, by its key, has its folder."""


def account_of(destination: Destination) -> Account:
    """Return the account of a mailbox; raise TapestryError if its password cannot be decrypted.

    ``destination.settings`` has its host, port, security (tls, starttls, none) and user.
    """
    stored = destination.settings
    security: Any = stored.get("security", "tls")
    host, user = str(stored.get("host", "")), str(stored.get("user", ""))
    if not host:
        raise TapestryError("No mail server is given.", hint="Name one on the destination's page.")
    secret = decrypt(destination.secret, services.data())
    place = ("imap", host, int(stored.get("port") or 993), security)
    return Account(*place, user, secret, allowed=tuple(settings.PRIVATE_HOSTS))


def settings_of(destination: Destination) -> MailboxSettings:
    """Return the settings of the folders; raise TapestryError if the parent is the INBOX."""
    parent = destination.settings.get("parent")
    return MailboxSettings(str(parent)) if parent else MailboxSettings()


def send(destination: Destination, batch: Batch) -> Outcome:
    """Put the messages of a batch into their folders; move those that have left a live filter.

    A message whose original is not kept is left out, and the answer says so.
    """
    names = _names(destination, batch)

    def prepare(opened: Mailbox) -> None:
        opened.rename_filters(_renamed(destination, names))
        _keep_names(destination, names)

    return deliver_to_mailbox(
        account_of(destination),
        settings_of(destination),
        batch,
        original_of,
        lambda confirmation: _confirm(destination, confirmation),
        seen=_read(batch),
        prepare=prepare,
    )


def preview(destination: Destination, batch: Batch) -> Preview:
    """Return in which folder each message would be."""
    placed = mailbox.preview(batch, settings_of(destination))
    lines = [
        f"{folder}: {one_line(match.subject, 100) or '(no subject)'}, from "
        f"{one_line(match.sender_name or match.sender, 80) or '(nobody)'}"
        for folder, match in placed
    ]
    return Preview("text", "\n".join(lines) or "Nothing has been found yet.")


def _confirm(destination: Destination, confirmation: Confirmation) -> None:
    """Advance the cursor: confirmations come in the order of the release sequence."""
    if not claims.advance(destination, confirmation.match.sequence):
        raise TapestryError("Another worker has taken over.")


def _read(batch: Batch) -> set[str]:
    """Return the msgids that their owner has read on the site."""
    matches = Match.objects.filter(
        filter__in={match.filter_id for match in batch.matches},
        msgid__in=[match.msgid for match in batch.matches],
        read_at__isnull=False,
    )
    return set(matches.values_list("msgid", flat=True))


def _names(destination: Destination, batch: Batch) -> dict[str, str]:
    """Return the names of the filters that have a folder, or get one, by their keys.

    A filter that was deleted is not among them; its folder stays.
    """
    keys = {int(key) for key in _stored_names(destination)}
    keys |= {match.filter_id for match in batch.matches}
    filters = Filter.objects.filter(pk__in=keys)
    return {str(key): name for key, name in filters.values_list("pk", "name")}


def _renamed(destination: Destination, names: Mapping[str, str]) -> dict[str, str]:
    """Return the folders to be renamed: old names and new ones."""
    return {
        old: names[key]
        for key, old in _stored_names(destination).items()
        if names.get(key, old) != old
    }


def _stored_names(destination: Destination) -> dict[str, str]:
    stored: dict[str, str] = destination.settings.get(FOLDERS) or {}
    return stored


def _keep_names(destination: Destination, names: dict[str, str]) -> None:
    """Store the names of folders, and leave the other settings as they are by now.

    A sample does too, unlike with claims.store_settings: the folders that it makes are real.
    """
    if names == _stored_names(destination):
        return
    with transaction.atomic():
        current = Destination.objects.select_for_update().filter(pk=destination.pk).first()
        if current is not None:
            current.settings = {**current.settings, FOLDERS: names}
            current.save(update_fields=["settings"])
    destination.settings = {**destination.settings, FOLDERS: names}
