"""The forms that ask for a second factor: as one signs in, and before what matters."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.views.decorators.debug import sensitive_variables

from filters.people.factors import factors_of
from filters.people.models import User
from filters.people.second_factor import passkeys
from filters.people.second_factor.verification import is_proven
from filters.people.signing_in.forms import check_own_password
from filters.people.signing_in.outcome import Refused, outcome_of

WRONG_CODE = "That code is not right. Codes of an app change every 30 seconds."
WRONG_PASSKEY = "That passkey did not work. Please try again."
NO_FACTOR = "Write a code, or use a passkey."


class FactorForm(forms.Form):
    """A code of an app or a recovery code, or what a passkey answered."""

    code = forms.CharField(
        label="Code",
        required=False,
        max_length=40,
        widget=forms.TextInput(
            {"autocomplete": "one-time-code", "autocapitalize": "none", "spellcheck": "false"}
        ),
    )
    passkey = forms.CharField(required=False, max_length=20_000, widget=forms.HiddenInput)

    def __init__(self, request: HttpRequest, user: User, data: Any = None) -> None:
        super().__init__(data)
        self.request, self.user = request, user
        self.factors = factors_of(user)

    def clean(self) -> None:
        """Check the second factor, if the person has one, and nothing else was wrong."""
        if not self.errors and self.factors:
            self._check_factor(self.cleaned_data["code"], self.cleaned_data["passkey"])

    @sensitive_variables("code", "answer")
    def _check_factor(self, code: str, answer: str) -> None:
        if not code.strip() and not answer:
            raise ValidationError(NO_FACTOR)
        if is_proven(self.request, self.user, code, answer):
            return
        outcome = outcome_of(self.request)
        if isinstance(outcome, Refused):
            raise ValidationError(outcome.sentence, code="too_many")
        raise ValidationError(WRONG_PASSKEY if answer else WRONG_CODE)

    def passkey_options(self) -> str:
        """Return what a browser needs to sign with a passkey; it is asked once for each page."""
        return passkeys.request_options(self.request, self.user)


class ConfirmForm(FactorForm):
    """The password, and the second factor of a person who has one."""

    password = forms.CharField(
        label="Your password",
        strip=False,
        widget=forms.PasswordInput({"autocomplete": "current-password"}),
    )
    field_order = ["password", "code", "passkey"]

    @sensitive_variables("password")
    def clean_password(self) -> str:
        """Check the password, within the limits of signing in."""
        password: str = self.cleaned_data["password"]
        check_own_password(self.request, self.user, password)
        return password
