"""The forms of destinations that mail is sent to: digests and forwarded messages."""

from __future__ import annotations

from typing import Any

from django import forms

from filters.delivery.forms.base import DestinationForm
from filters.delivery.mail import addresses
from filters.delivery.models import TIMED_AT, TIMELINESS, Destination
from filters.delivery.pace import MOST_AN_HOUR, mails_a_day
from filters.people.recipient_field import RecipientField
from filters.people.timeliness_field import AT_ONCE, TimelinessField
from tapestry.core.clock import wall_clock

USUAL = "daily at 08:00"
"""When a new digest comes, if its owner chooses nothing else."""


class MailForm(DestinationForm):
    """A destination that mail is sent to: an address, which its owner confirms."""

    field_order: tuple[str, ...] = ("address",)

    address = RecipientField(
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

    field_order = ("address", "timeliness")

    timeliness = TimelinessField(
        label="When",
        required=False,
        initial=USUAL,
        help_text=(
            f"At most {MOST_AN_HOUR} come in an hour. "
            "A filter that shows its matches later holds them."
        ),
    )

    def __init__(self, data: Any, *, destination: Destination) -> None:
        super().__init__(data, destination=destination)
        if number := mails_a_day(destination.owner):
            mails = "one mail" if number == 1 else f"{number} mails"
            at_once = f"At once would have been about {mails} a day over the last week."
            self.fields["timeliness"].help_text = f"{at_once} {self.fields['timeliness'].help_text}"

    def stored(self) -> dict[str, Any]:
        return super().stored() | {"timeliness": self.destination.settings.get(TIMELINESS, AT_ONCE)}

    def clean_timeliness(self) -> str:
        kept = self.destination.settings.get(TIMELINESS, AT_ONCE)
        given: str = self.cleaned_data["timeliness"]
        return given or (kept if self.destination.pk else USUAL)

    def describe(self, destination: Destination) -> None:
        super().describe(destination)
        given: dict[str, Any] = {TIMELINESS: self.cleaned_data["timeliness"]}
        if destination.pk and given[TIMELINESS] != self.stored()["timeliness"]:
            given[TIMED_AT] = wall_clock()
        destination.settings = destination.settings | given


class ForwardForm(MailForm):
    """Each message as it came."""

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
