"""The form of folders of a mailbox."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError

from filters.delivery.forms.base import DestinationForm
from filters.delivery.models import Destination
from filters.site.work.crypto.encryption import decrypt, encrypt
from filters.site.work.parts import services
from filters.sources.accounts import credentials
from filters.sources.forms import ServerForm
from filters.sources.models import Source
from filters.sources.writing import try_out
from tapestry.core.errors import TapestryError
from tapestry.deliver.ways.mailbox import MailboxSettings
from tapestry.servers.account import Account


class MailboxForm(ServerForm, DestinationForm):
    """Folders of a mailbox, by IMAP; settings: host, port, security, user and parent folder."""

    is_tried = True
    SETTINGS = ("host", "port", "security", "user", "parent")

    field_order = ("source", "host", "security", "port", "user", "secret", "parent")

    source = forms.ModelChoiceField(
        Source.objects.none(),
        label="Mailbox",
        required=False,
        empty_label="another one",
        help_text="Into the mailbox of a source, Tapestry logs in as it does there.",
    )
    parent = forms.CharField(
        label="Folder",
        max_length=100,
        initial="Tapestry",
        help_text=(
            "The folders of the filters are created inside it. You may rename or move them: what "
            "comes goes on into the same folder, if your server lets it be known again. Else a "
            "new one is made, and the latest deliveries say so."
        ),
    )

    def __init__(self, *args: Any, suggested: Mapping[str, Any] = {}, **named: Any) -> None:
        super().__init__(*args, **named)
        if self.destination.pk is None:
            self.initial |= suggested
        sources = Source.objects.filter(owner=self.destination.owner, kind=Source.Kind.IMAP)
        if first := sources.first():
            choice: Any = self.fields["source"]
            choice.queryset = sources
            choice.initial = None if suggested else first
            self.fields["host"].required = False
            self.fields["security"].required = not self.data.get("source")
        else:
            del self.fields["source"]
        self.set_help(has_secret=bool(self.destination.secret))

    def stored(self) -> dict[str, Any]:
        kept = {name: self.destination.settings.get(name) for name in self.SETTINGS}
        return super().stored() | kept | {"source": self.destination.source_id}

    def clean_host(self) -> str:
        return "" if self.cleaned_data.get("source") else super().clean_host()

    def clean_parent(self) -> str:
        parent: str = self.cleaned_data["parent"].strip("/")
        if not parent.isprintable() or not parent:
            raise ValidationError("Give the folder a name: Tapestry.")
        try:
            MailboxSettings(parent)
        except TapestryError as error:
            raise ValidationError(error.sentences) from error
        return parent

    def clean(self) -> dict[str, Any]:
        if source := self.cleaned_data.get("source"):
            kept = {name: getattr(source, name) for name in self.SETTINGS[:-1]}
            self.cleaned_data |= kept | {"secret": ""}
        given = super().clean()
        kept = self.destination.settings
        if source or given.get("secret") or not given.get("user"):
            return given
        if not self.destination.secret:
            self.add_error("secret", "Give the password.")
        elif any(given.get(name) != kept.get(name) for name in self.SETTINGS[:-1]):
            self.add_error("secret", "Give the password again: it is to be sent elsewhere.")
        return given

    def try_connection(self) -> None:
        """Log in to the mailbox; raise TapestryError if that fails."""
        given = self.cleaned_data
        if source := given.get("source"):
            try_out(credentials.account_of(source))
            return
        secret = given["secret"] or decrypt(self.destination.secret, services.data())
        place = (given["host"], given["port"], given["security"])
        allowed = tuple(settings.PRIVATE_HOSTS)
        try_out(Account(self.protocol, *place, given["user"], secret, allowed=allowed))

    def describe(self, destination: Destination) -> None:
        given = self.cleaned_data
        destination.settings = destination.settings | {name: given[name] for name in self.SETTINGS}
        destination.source = given.get("source")
        if destination.source:
            destination.secret = ""
        elif given["secret"]:
            destination.secret = encrypt(given["secret"], services.data())

    def default_name(self, destination: Destination) -> str:
        return f"Mailbox of {destination.settings['user']}"

    @classmethod
    def where(cls, destination: Destination) -> str:
        host, user = destination.mailbox
        return f"{destination.settings.get('parent', '')} of {user} at {host}"
