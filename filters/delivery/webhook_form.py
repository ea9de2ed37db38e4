"""The form of a webhook: its name and its address; its secret is made by this site."""

from __future__ import annotations

from django import forms
from django.core.exceptions import ValidationError

from tapestry.core.errors import TapestryError
from tapestry.deliver.private_hosts import LONGEST_URL, read_target
from tapestry.deliver.signature import make_secret


class WebhookForm(forms.Form):
    """What a webhook is called, and where it is.

    ``initial`` has the name and the settings of a webhook that is changed; a new one has none.
    """

    name = forms.CharField(label="Name", max_length=100)
    url = forms.CharField(
        label="Address",
        max_length=LONGEST_URL,
        widget=forms.URLInput(attrs={"placeholder": "https://example.org/hook"}),
        help_text="Each batch of matches is sent there as JSON, in a signed POST.",
    )

    def clean_url(self) -> str:
        """Read the address; whether its host may be reached is checked each time it is sent to."""
        url = str(self.cleaned_data["url"]).strip()
        try:
            read_target(url)
        except TapestryError as error:
            raise ValidationError(f"{error.message} {error.hint or ''}".strip()) from error
        return url

    def settings(self) -> dict[str, object]:
        """Return what is stored as the destination's settings."""
        return {"url": self.cleaned_data["url"]}

    def secret(self) -> str:
        """Return the secret of a new webhook, to be stored encrypted; "" leaves that of an old one.

        Its owner has one shown on the page ``webhook-secret``, which makes a new one.
        """
        return "" if self.initial.get("url") else make_secret()
