"""Delivery into a mailbox of the owner: the originals, in a folder for each filter.

The cursor advances with each message that is confirmed, so an attempt that breaks off goes on
after it, and what a person has deleted since is not put in again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from hashlib import sha256
from typing import Any

from django.conf import settings
from django.db import transaction

from filters.authoring.models import Filter
from filters.delivery.dispatch import claims
from filters.delivery.forms.mailbox import MailboxForm
from filters.delivery.models import Destination
from filters.delivery.ways.originals import message_fault
from filters.delivery.ways.way import Preview, Way
from filters.inbox.models import Match
from filters.people import people
from filters.site.work.crypto.encryption import decrypt
from filters.site.work.parts import services
from filters.sources.accounts import credentials
from tapestry.core.errors import TapestryError
from tapestry.core.files.site_lock import site_lock
from tapestry.deliver.batch import Batch, LaterError, Outcome
from tapestry.deliver.imap.folders import MailFolders
from tapestry.deliver.imap.renamed import Place, follow, place_of
from tapestry.deliver.one_line import one_line
from tapestry.deliver.ways import mailbox
from tapestry.deliver.ways.mailbox import Confirmation, Mailbox, MailboxSettings, deliver_to_mailbox
from tapestry.servers.account import Account
from tapestry.servers.imap import explained
from tapestry.tables.read.messages import same_message_id
from tapestry.tables.read.originals import Original, kept_original

FOLDERS = "folders"
"""The setting that says under which name each filter, by its key, has its folder."""

PLACES = "places"
"""The setting that says where these folders were last, with their UIDVALIDITY, in which mailbox."""

MADE_ANEW = "The folder {} is gone, or cannot be known again by another name; a new one was made."


def account_of(destination: Destination) -> Account:
    """Return the account of a mailbox; raise TapestryError if nobody can log in to it.

    It is that of its source, else ``destination.settings`` has its host, port, security (tls,
    starttls, none) and user.
    """
    if destination.source is not None:
        return credentials.account_of(destination.source)
    stored = destination.settings
    security: Any = stored.get("security", "tls")
    host, user = destination.mailbox
    if not host:
        raise TapestryError("No mail server is given.", hint="Name one on the destination's page.")
    if not destination.secret:
        raise TapestryError(
            "The source by which this mailbox was logged in to is deleted.",
            hint="Give a password on the destination's page.",
        )
    secret = decrypt(destination.secret, services.data())
    place = ("imap", host, int(stored.get("port") or 993), security)
    return Account(*place, user, secret, allowed=tuple(settings.PRIVATE_HOSTS))


def settings_of(destination: Destination) -> MailboxSettings:
    """Return the settings of the folders; raise TapestryError if the parent is the INBOX."""
    parent = destination.settings.get("parent")
    return MailboxSettings(str(parent)) if parent else MailboxSettings()


def send(destination: Destination, batch: Batch) -> Outcome:
    """Put the messages of a batch into their folders; move those that have left a live filter.

    A message whose original is not kept is left out, and the answer says so.  Raise LaterError
    while another delivery puts something into this mailbox.
    """
    with _alone(destination):
        return _send(destination, batch)


def _send(destination: Destination, batch: Batch) -> Outcome:
    names = _names(destination, batch)
    boxes: list[Mailbox] = []
    lost: dict[str, str] = {}

    def prepare(opened: Mailbox) -> None:
        opened.rename_filters(_renamed(destination, names))
        _keep(destination, FOLDERS, names)
        with explained(opened.account):
            lost.update(follow(opened.folders, _places(destination, names)))
        boxes.append(opened)

    outcome = deliver_to_mailbox(
        account_of(destination),
        settings_of(destination),
        batch,
        _original,
        lambda confirmation: _confirm(destination, confirmation),
        seen=_read(batch),
        shared=_shared(destination, batch),
        prepare=prepare,
    )
    anew = _keep_places(destination, names, boxes[0].folders) & lost.keys() if boxes else ()
    said = [f"{MADE_ANEW.format(lost[name])}" for name in sorted(anew)]
    return replace(outcome, answer=" ".join([outcome.answer, *said]))


def preview(destination: Destination, batch: Batch) -> Preview:
    """Return in which folder each message would be."""
    placed = mailbox.preview(batch, settings_of(destination))
    lines = [
        f"{folder}: {one_line(match.subject, 100) or '(no subject)'}, from "
        f"{one_line(match.sender_name or match.sender, 80) or '(nobody)'}"
        for folder, match in placed
    ]
    return Preview("text", "\n".join(lines) or "Nothing has been found yet.")


@contextmanager
def _alone(destination: Destination) -> Iterator[None]:
    """Hold the mailbox: of two that look for a message at once, each would put it in."""
    mailbox = "/".join(destination.mailbox).lower()
    name = sha256(mailbox.encode(errors="surrogatepass")).hexdigest()
    with site_lock(services.data() / "run" / "mailboxes" / f"{name}.lock") as is_free:
        if not is_free:
            raise LaterError(
                "Another delivery to this mailbox is under way. Ask again in a moment."
            )
        yield


def _original(msgid: str, audience: str) -> Original | None:
    """Return the copy of a message as it came; raise OwnFaultError if it alone is to blame."""
    try:
        return kept_original(services.tables(), msgid, audience)
    except Exception as error:
        raise message_fault(msgid, "mailbox", error) from error


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


def _shared(destination: Destination, batch: Batch) -> Collection[str]:
    """Return the msgids of messages whose Message-ID others have that say something else."""
    msgids = (match.msgid for match in batch.matches)
    seen = people.audiences(destination.owner)
    return same_message_id(services.tables(), msgids, seen).keys()


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


def _mailbox_of(destination: Destination) -> list[str]:
    """Return what tells where folders are: in other mailboxes and parents they are others."""
    return [*destination.mailbox, str(destination.settings.get("parent", ""))]


def _places(destination: Destination, names: Mapping[str, str]) -> dict[str, Place]:
    """Return where the folders of filters were last, by the filters' names."""
    stored = destination.settings.get(PLACES) or {}
    if stored.get("mailbox") != _mailbox_of(destination):
        return {}
    return {names[key]: Place(*at) for key, at in stored["filters"].items() if key in names}


def _keep_places(
    destination: Destination, names: Mapping[str, str], folders: MailFolders
) -> set[str]:
    """Store where folders are that were opened; return the names of all whose place is known."""
    before = _places(destination, names)
    places = {name: place_of(folders, name) or before.get(name) for name in names.values()}
    known = {key: list(at) for key, name in names.items() if (at := places[name]) is not None}
    stored = {"mailbox": _mailbox_of(destination), "filters": known}
    _keep(destination, PLACES, stored)
    return {name for name in names.values() if place_of(folders, name) is not None}


def _keep(destination: Destination, setting: str, value: Mapping[str, Any]) -> None:
    """Store a setting, and leave the others as they are by now.

    A sample does too, unlike with claims.store_settings: the folders that it makes are real.
    """
    if value == destination.settings.get(setting):
        return
    with transaction.atomic():
        current = Destination.objects.select_for_update().filter(pk=destination.pk).first()
        if current is not None:
            current.settings = {**current.settings, setting: value}
            current.save(update_fields=["settings"])
    destination.settings = {**destination.settings, setting: value}


WAY = Way(
    kind="mailbox",
    title="mailbox folders",
    about=(
        "Every message that a filter finds is put into a folder of your own mailbox, "
        "one for each filter. Nothing there is deleted."
    ),
    form=MailboxForm,
    send=send,
    preview=preview,
    most=100,
    reopens=True,
)
