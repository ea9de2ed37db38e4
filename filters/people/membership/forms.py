"""The forms of coming and going."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib.auth.forms import SetPasswordMixin
from django.core.exceptions import ValidationError

from filters.people.membership.passwords import RULES, PasswordForm
from filters.people.models import User
from filters.people.names.account_names import check_name
from filters.people.names.retired_names import check_available
from filters.people.recipient_field import RecipientField
from filters.people.second_factor import totp
from filters.people.second_factor.forms import WRONG_CODE, ConfirmForm

if TYPE_CHECKING:
    # The stubs know whose password a form sets; Django itself takes no parameter.
    Passwords = SetPasswordMixin[User]
else:
    Passwords = SetPasswordMixin


class AppForm(forms.Form):
    """The code that a new app shows: it has the secret, and the right time."""

    code = forms.CharField(
        label="The code that it shows",
        max_length=20,
        widget=forms.TextInput({"autocomplete": "one-time-code", "inputmode": "numeric"}),
    )
    step = 0

    def __init__(self, secret: str, data: Any = None) -> None:
        super().__init__(data)
        self.secret = secret

    def clean_code(self) -> str:
        code = "".join(self.cleaned_data["code"].split())
        step = totp.matching_step(self.secret, code)
        if step is None:
            raise ValidationError(f"{WRONG_CODE} Is the clock of your phone right?")
        self.step = step
        return code


class PasskeyForm(forms.Form):
    """The name of a new passkey, and what the browser made."""

    name = forms.CharField(
        label="What will you call it?",
        max_length=60,
        initial="My passkey",
        help_text="Such as the device that it is on.",
    )
    passkey = forms.CharField(max_length=20_000, widget=forms.HiddenInput)


class EmailForm(forms.Form):
    """An address to which mail is sent."""

    email = RecipientField(
        label="E-mail",
        max_length=254,
        widget=forms.EmailInput({"autocomplete": "email", "autocapitalize": "none"}),
    )


class NewPasswordForm(Passwords, forms.Form):
    """A new password, twice; ``user`` is whose it will be."""

    error_messages = PasswordForm.error_messages
    password, again = Passwords.create_password_fields("New password", "New password again")
    password.help_text, again.help_text = RULES, ""

    def __init__(self, user: User, data: Any = None) -> None:
        super().__init__(data)
        self.user = user

    def clean(self) -> None:
        """Check the password; what is wrong with it is said where it was typed first."""
        self.validate_passwords("password", "again")
        self.validate_password_for_user(self.user, "password")


class SignUpForm(NewPasswordForm):
    """The name of a new account, and its password."""

    name = forms.CharField(
        label="Name",
        max_length=150,
        help_text="Letters, digits and @ . + - _ only. Others see it, and it cannot be changed.",
        widget=forms.TextInput({"autocomplete": "username", "autocapitalize": "none"}),
    )
    field_order = ["name", "password", "again"]

    def clean_name(self) -> str:
        """Check that a name is free; no more is told of it."""
        name: str = User.normalize_username(self.cleaned_data["name"])
        User._meta.get_field("username").run_validators(name)
        check_name(name)
        try:
            check_available(User, name)
        except ValidationError as error:
            raise ValidationError("This name is taken. Please choose another.") from error
        self.user.username = name
        return name


class RemovalForm(ConfirmForm):
    """The password, the second factor, and a tick, before an account is deleted."""

    sure = forms.BooleanField(
        label="Delete my account and my mail for good",
        error_messages={"required": "Tick the box to confirm."},
    )
