"""The form of a webhook: where it is; its secret is made by this site."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from filters.delivery.forms.base import DestinationForm
from filters.delivery.models import Destination
from filters.site.work.crypto.encryption import encrypt
from filters.site.work.parts import services
from tapestry.core.errors import TapestryError
from tapestry.deliver.http.signature import make_secret
from tapestry.servers.private_hosts import LONGEST_URL, read_target


class WebhookForm(DestinationForm):
    """A server of the owner's, which takes matches as JSON."""

    field_order = ("url", "beat")

    url = forms.CharField(
        label="Address",
        max_length=LONGEST_URL,
        widget=forms.URLInput(attrs={"placeholder": "https://example.org/hook"}),
        help_text="Create its secret on its page once you have added it.",
    )

    beat = forms.BooleanField(
        label="Send a beat every minute",
        required=False,
        help_text="A request without matches, which says up to when all has been sent.",
    )

    def stored(self) -> dict[str, Any]:
        kept = self.destination.settings
        return super().stored() | {"url": kept.get("url", ""), "beat": kept.get("beat", False)}

    def clean_url(self) -> str:
        """Read the address; whether its host may be reached is checked each time it is sent to."""
        url = str(self.cleaned_data["url"]).strip()
        try:
            read_target(url)
        except TapestryError as error:
            raise ValidationError(error.sentences) from error
        return url

    def describe(self, destination: Destination) -> None:
        given = {name: self.cleaned_data[name] for name in ("url", "beat")}
        destination.settings = destination.settings | given
        if not destination.secret:
            destination.secret = encrypt(make_secret(), services.data())

    def default_name(self, destination: Destination) -> str:
        return f"Webhook at {read_target(destination.settings['url']).host}"

    @classmethod
    def where(cls, destination: Destination) -> str:
        return str(destination.settings.get("url", ""))
