"""The form of a new token."""

from __future__ import annotations

from django import forms

from filters.api.models import SCOPES


class TokenForm(forms.Form):
    """A name, what the token may do, and for how many days."""

    name = forms.CharField(
        max_length=60, label="Name", help_text="What it is for: “backup script”, for example."
    )
    scopes = forms.MultipleChoiceField(
        label="It may",
        choices=list(SCOPES.items()),
        widget=forms.CheckboxSelectMultiple,
        initial=["read"],
        error_messages={"required": "Tick what it may do."},
    )
    days = forms.TypedChoiceField(
        label="It ends in",
        coerce=int,
        choices=[(7, "a week"), (30, "30 days"), (90, "90 days"), (366, "a year")],
        initial=90,
    )
