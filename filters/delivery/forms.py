"""The forms of destinations, by kind: where matches go, and which filters' they are.

Another kind is a class here and a line of ``FORMS``.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any, ClassVar

from django import forms
from django.core.exceptions import ValidationError

from filters.delivery import addresses
from filters.models import Destination, Filter
from filters.runtime import services
from filters.runtime.encryption import decrypt, encrypt
from filters.sources.forms import ServerForm
from filters.store import subscriptions
from tapestry.ingest.session import open_session
from tapestry.servers.account import Account

if TYPE_CHECKING:
    _ModelChoices = forms.ModelMultipleChoiceField[Filter]
else:
    _ModelChoices = forms.ModelMultipleChoiceField

MOST_DESTINATIONS = 50
"""Destinations that a person may have."""

PATIENCE = 10.0
"""Seconds that a server has for each response while somebody waits for the page."""

ALL, CHOSEN = "all", "chosen"


class FiltersField(_ModelChoices):
    """Filters of one person, by their names."""

    def label_from_instance(self, obj: Filter) -> str:
        return obj.name


class DestinationForm(forms.Form):
    """What every destination has: a name, and filters.

    ``about`` says in a sentence what the kind does.  ``secrets`` are fields that logs leave out.
    """

    about: ClassVar[str] = ""

    name = forms.CharField(label="Name", max_length=100, required=False)
    which = forms.ChoiceField(
        label="Which matches",
        choices=[(ALL, "of all my filters, and of those to come"), (CHOSEN, "of these filters")],
        initial=ALL,
        widget=forms.RadioSelect,
    )
    filters = FiltersField(
        Filter.objects.none(), required=False, widget=forms.CheckboxSelectMultiple
    )

    def __init__(self, data: Any, *, destination: Destination) -> None:
        self.destination = destination
        super().__init__(data, initial=self.stored() if destination.pk else None)
        choice: Any = self.fields["filters"]
        choice.queryset = Filter.objects.filter(owner=destination.owner).order_by("name")

    def stored(self) -> dict[str, Any]:
        """Return the values that the fields of a stored destination have."""
        kept = self.destination
        chosen = kept.subscriptions.values_list("filter", flat=True)
        which = ALL if kept.all_filters else CHOSEN
        return {"name": kept.name, "which": which, "filters": list(chosen)}

    def clean(self) -> dict[str, Any]:
        given = super().clean() or self.cleaned_data
        if given.get("which") == CHOSEN and not given.get("filters"):
            self.add_error("filters", "Choose at least one filter, or all of them.")
        owner = self.destination.owner
        if not self.destination.pk and owner.destinations.count() >= MOST_DESTINATIONS:
            raise ValidationError(
                f"You have {MOST_DESTINATIONS} destinations, as many as a person may have."
            )
        return given

    def try_connection(self) -> None:
        """Try what was given before it is stored; raise TapestryError if it does not work."""

    def describe(self, destination: Destination) -> None:
        """Put what was given into the fields of the destination that only its kind has."""

    def store(self) -> Destination:
        """Store the destination, new or changed, with its filters."""
        given, destination = self.cleaned_data, self.destination
        self.describe(destination)
        destination.name = given["name"] or self.default_name(destination)[:100]
        filters: Collection[Filter] | None = given["filters"] if given["which"] == CHOSEN else None
        if destination.pk is None:
            subscriptions.add_destination(destination, filters)
        else:  # deliveries change its other fields meanwhile
            destination.save(update_fields=["name", "address", "settings", "secret"])
            subscriptions.choose_filters(destination, filters)
        return destination

    def default_name(self, destination: Destination) -> str:
        """Return the name of a destination that was given none."""
        return str(destination.get_kind_display()).capitalize()

    @classmethod
    def where(cls, destination: Destination) -> str:
        """Say shortly where a destination delivers to."""
        return str(destination.address or "")


class MailForm(DestinationForm):
    """A destination that mail is sent to: an address, which its owner confirms."""

    field_order: tuple[str, ...] = ("address",)

    address = forms.EmailField(
        label="Address",
        max_length=254,
        help_text="We send a link there first; nothing else until you have opened it.",
    )

    def __init__(self, data: Any, *, destination: Destination) -> None:
        super().__init__(data, destination=destination)
        self.fields["address"].initial = destination.owner.email

    def stored(self) -> dict[str, Any]:
        return super().stored() | {"address": str(self.destination.address or "")}

    def describe(self, destination: Destination) -> None:
        email = self.cleaned_data["address"]
        destination.address = addresses.address_of_person(destination.owner, email)

    def default_name(self, destination: Destination) -> str:
        return f"{super().default_name(destination)} to {destination.address}"


class DigestForm(MailForm):
    """Mail that lists what was found."""

    about = (
        "One mail with all that is new: grouped by filter, and why each message is there. "
        "It comes when its filters show new matches, and never empty."
    )


class ForwardForm(MailForm):
    """Each message as it came."""

    about = "Every message that a filter finds is sent on to you, as it came."

    field_order = ("address", "style")

    style = forms.ChoiceField(
        label="How",
        choices=[
            ("resent", "as it is: the sender and subject stay"),
            ("attached", "attached to a note that says which filter found it, and why"),
        ],
        initial="resent",
        widget=forms.RadioSelect,
    )

    def stored(self) -> dict[str, Any]:
        return super().stored() | {"style": self.destination.settings.get("style", "resent")}

    def describe(self, destination: Destination) -> None:
        super().describe(destination)
        destination.settings = destination.settings | {"style": self.cleaned_data["style"]}


class MailboxForm(ServerForm, DestinationForm):
    """Folders of a mailbox, by IMAP; settings: host, port, security, user and parent folder."""

    about = (
        "Every message that a filter finds is put into a folder of your own mailbox, "
        "one for each filter. Nothing there is deleted."
    )
    SETTINGS = ("host", "port", "security", "user", "parent")

    field_order = ("host", "security", "port", "user", "secret", "parent")

    parent = forms.CharField(
        label="Folder",
        max_length=100,
        initial="Tapestry",
        help_text="The folders of the filters are made below it.",
    )

    def stored(self) -> dict[str, Any]:
        kept = {name: self.destination.settings.get(name) for name in self.SETTINGS}
        return super().stored() | kept

    def clean_parent(self) -> str:
        parent: str = self.cleaned_data["parent"].strip("/")
        if not parent.isprintable() or not parent:
            raise ValidationError("Give the folder a name: Tapestry.")
        return parent

    def clean(self) -> dict[str, Any]:
        given = super().clean()
        kept = self.destination.settings
        if given.get("secret") or not given.get("user"):
            return given
        if not self.destination.pk:
            self.add_error("secret", "Give the password.")
        elif any(given.get(name) != kept.get(name) for name in self.SETTINGS[:-1]):
            self.add_error("secret", "Give the password again: it is to be sent elsewhere.")
        return given

    def try_connection(self) -> None:
        """Log in to the mailbox; raise TapestryError if that fails."""
        given = self.cleaned_data
        secret = given["secret"] or decrypt(self.destination.secret, services.data())
        place = (given["host"], given["port"], given["security"])
        with open_session(Account(self.protocol, *place, given["user"], secret), PATIENCE):
            pass

    def describe(self, destination: Destination) -> None:
        given = self.cleaned_data
        destination.settings = {name: given[name] for name in self.SETTINGS}
        if given["secret"]:
            destination.secret = encrypt(given["secret"], services.data())

    def default_name(self, destination: Destination) -> str:
        return f"Mailbox of {destination.settings['user']}"

    @classmethod
    def where(cls, destination: Destination) -> str:
        kept = destination.settings
        return f"{kept.get('parent', '')} of {kept.get('user', '')} at {kept.get('host', '')}"


FORMS: dict[str, type[DestinationForm]] = {
    Destination.Kind.DIGEST: DigestForm,
    Destination.Kind.FORWARD: ForwardForm,
    Destination.Kind.MAILBOX: MailboxForm,
}


def form_of(kind: str) -> type[DestinationForm]:
    """Return the form of a kind; without one of its own it has a name and filters."""
    return FORMS.get(kind, DestinationForm)


def where(destination: Destination) -> str:
    """Say shortly where a destination delivers to: an address, a mailbox, a host."""
    return form_of(destination.kind).where(destination)
