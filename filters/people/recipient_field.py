"""The field of a form for an address that this site sends to."""

from __future__ import annotations

from django import forms
from django.core.exceptions import ValidationError
from django.core.validators import validate_email

from tapestry.core.errors import TapestryError
from tapestry.deliver.mail.recipient_address import recipient_address


def validate_recipient(email: str) -> None:
    """Raise ValidationError, one sentence, if mail is not to be sent to an address."""
    try:
        recipient_address(email)
    except TapestryError as error:
        raise ValidationError(f"{error.message} {error.hint}") from error
    validate_email(email)


class RecipientField(forms.EmailField):
    """An address that mail can be sent to."""

    default_validators = [validate_recipient]
