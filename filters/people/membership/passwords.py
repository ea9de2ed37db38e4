"""The form in which a person changes their own password."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.forms import PasswordChangeForm
from django.http import QueryDict
from django.views.decorators.debug import sensitive_variables

from filters.people.requests import PersonRequest
from filters.people.signing_in.forms import check_own_password

RULES = (
    "At least 10 characters, 5 of them different, and not only digits. "
    "Not one that many people use, nor one like your name or your address."
)
"""What AUTH_PASSWORD_VALIDATORS ask for."""


class PasswordForm(PasswordChangeForm):
    """The password of now, and the new one twice."""

    error_messages = {
        "password_mismatch": "The two passwords are not the same.",
    }

    def __init__(self, request: PersonRequest, data: QueryDict | None = None) -> None:
        self.request = request
        super().__init__(request.user, data)
        labels = ("Your password now", "New password", "New password again")
        for field, label in zip(self.fields.values(), labels, strict=True):
            field.label, field.help_text = label, ""
        self.fields["new_password1"].help_text = RULES

    @sensitive_variables("old_password")
    def clean_old_password(self) -> str:
        """Check the password of now, within the limits of signing in."""
        old_password: str = self.cleaned_data["old_password"]
        check_own_password(self.request, self.user, old_password)
        return old_password

    def clean(self) -> dict[str, Any]:
        """Check the new password; what is wrong with it is said where it was typed first."""
        self.validate_passwords("new_password1", "new_password2")
        self.validate_password_for_user(self.user, "new_password1")
        return self.cleaned_data

    def save(self, commit: bool = True) -> Any:
        """Store the password alone: an administrator may change the account meanwhile."""
        user = super().save(commit=False)
        if commit:
            user.save(update_fields=["password"])
        return user
