"""The form of a vote, a tag, a note or a priority."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict

from filters.authoring.models import LONGEST_TAG

LONGEST = {"tag": LONGEST_TAG, "note": 2000}
"""Characters of a tag and of a note."""

KINDS = ("vote", "tag", "note", "priority")

_FIRST = {
    "tag": "Write the tag first: urgent, for example.",
    "note": "Write the note first.",
}


def ticked(given: QueryDict) -> frozenset[str]:
    """Return the kinds of the forms in which “only for me” is ticked."""
    return frozenset(KINDS).intersection(given.getlist("private"))


class AnnotationForm(forms.Form):
    """What a person says of a message, or takes back.

    ``number`` is 1, -1 or 0 of a vote, 1 to 10 or 0 of a priority; 0 takes it back.
    ``take_back`` names a tag by its word, a note by its annid.  ``private`` is the kind for which
    “only for me” is ticked; the page sends those of its other forms too, to have them stay so.
    """

    id = forms.CharField(strip=False)
    audience = forms.CharField(strip=False, required=False)
    kind = forms.ChoiceField(choices=[(kind, kind) for kind in KINDS])
    number = forms.IntegerField(required=False)
    value = forms.CharField(required=False)
    take_back = forms.CharField(strip=False, required=False)
    private = forms.BooleanField(required=False)

    def clean_private(self) -> bool:
        """Return whether it is for the person alone: the tick of another form does not count."""
        kind = self.data.get("kind", "")
        data: Any = self.data  # a QueryDict: forms of their own kind are of several values
        given = filter(None, data.getlist("private"))
        # Of what is not understood the narrower meaning is the safe one.
        return any(value == kind or value not in KINDS for value in given)

    def clean_value(self) -> str:
        """Return the text of a tag or a note, its lines ended as everywhere here."""
        value = "\n".join(self.cleaned_data["value"].splitlines())
        kind = self.data.get("kind", "")
        most = LONGEST.get(kind)
        if most is not None and len(value) > most:
            raise ValidationError(f"A {kind} has at most {most} characters: write a shorter one.")
        return value

    def clean(self) -> dict[str, Any]:
        given = super().clean() or {}
        kind, number = given.get("kind"), given.get("number")
        if kind == "vote" and number not in (1, -1, 0):
            raise ValidationError("Vote for the message, or against it.")
        if kind == "priority" and number not in range(11):
            raise ValidationError("A priority is a number from 1 to 10.")
        says = given.get("value") or given.get("take_back") or "value" in self.errors
        if kind in _FIRST and not says:
            self.add_error("value", _FIRST[kind])
        return given

    def refusal(self) -> str:
        """Return what is wrong, in sentences."""
        return " ".join(str(text) for errors in self.errors.values() for text in errors)
