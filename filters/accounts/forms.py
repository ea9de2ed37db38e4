"""The form of a person: addresses and time zone."""

from __future__ import annotations

import zoneinfo

from django import forms
from django.core.exceptions import ValidationError

from filters.models import Profile


def _zones() -> list[tuple[str, str]]:
    names = sorted(zoneinfo.available_timezones())
    return [(name, name.replace("_", " ")) for name in names if "/" in name or name == "UTC"]


class ProfileForm(forms.Form):
    """What a person says of themselves."""

    email = forms.EmailField(label="E-mail", required=False)
    aliases = forms.CharField(
        label="Your other addresses",
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="One on each line. Filters call all of these `me`.",
    )
    time_zone = forms.ChoiceField(label="Time zone", choices=_zones)

    def clean_aliases(self) -> list[str]:
        lines = [line.strip().lower() for line in self.cleaned_data["aliases"].splitlines()]
        for line in lines:
            if line and "@" not in line:
                raise ValidationError(f"{line} is not an address.")
        return [line for line in lines if line]

    def store(self, profile: Profile) -> None:
        profile.user.email = self.cleaned_data["email"]
        profile.user.save(update_fields=["email"])
        profile.time_zone = self.cleaned_data["time_zone"]
        profile.aliases = self.cleaned_data["aliases"]
        profile.save()
