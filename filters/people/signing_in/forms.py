"""The form that asks for a name and a password, and the check of one's own."""

from __future__ import annotations

from django.contrib.auth import authenticate
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.forms import AuthenticationForm
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.views.decorators.debug import sensitive_variables

from filters.people.signing_in.outcome import Refused, outcome_of

WRONG = "Wrong name or password."
WRONG_PASSWORD = "That is not your password."


@sensitive_variables("password")
def check_own_password(request: HttpRequest, user: AbstractBaseUser, password: str) -> None:
    """Check the password of who is signed in, within the limits of signing in.

    Raise ValidationError if it is wrong, or others were wrong too often before.
    """
    if authenticate(request, username=user.get_username(), password=password) is not None:
        return
    outcome = outcome_of(request)
    if isinstance(outcome, Refused):
        raise ValidationError(outcome.sentence, code="too_many")
    raise ValidationError(WRONG_PASSWORD, code="password_incorrect")


class SignInForm(AuthenticationForm):
    """A name and a password."""

    error_messages = {"invalid_login": WRONG, "inactive": WRONG}

    def get_invalid_login_error(self) -> ValidationError:
        """Return the sentence: it was wrong, or others were wrong too often before."""
        outcome = outcome_of(self.request) if self.request else None
        if isinstance(outcome, Refused):
            return ValidationError(outcome.sentence, code="too_many")
        return super().get_invalid_login_error()
