"""The form of a vote or a tag."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError


class AnnotationForm(forms.Form):
    id = forms.CharField(strip=False)
    audience = forms.CharField(strip=False, required=False)
    kind = forms.ChoiceField(choices=[("vote", "vote"), ("tag", "tag")])
    number = forms.TypedChoiceField(
        choices=[("1", "for"), ("-1", "against")], coerce=float, required=False, empty_value=None
    )
    value = forms.CharField(
        max_length=100,
        required=False,
        error_messages={"max_length": "A tag has at most 100 characters: write a shorter one."},
    )
    private = forms.BooleanField(required=False)

    def clean(self) -> dict[str, Any]:
        given = super().clean() or {}
        if given.get("kind") == "vote" and given.get("number") is None:
            raise ValidationError("Vote for the message, or against it.")
        if given.get("kind") == "tag" and not given.get("value") and "value" not in self.errors:
            self.add_error("value", "Write the tag first: urgent, for example.")
        return given

    def refusal(self) -> str:
        """Return what is wrong, in sentences."""
        return " ".join(str(text) for errors in self.errors.values() for text in errors)
