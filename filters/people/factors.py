"""Which second factors a person has."""

from __future__ import annotations

from dataclasses import dataclass

from django.db import transaction
from django.db.models import Q

from filters.people.models import AuthenticatorApp, User


@dataclass(frozen=True, slots=True)
class Factors:
    """Whether somebody has an app, and how many passkeys and unused recovery codes."""

    app: bool
    passkeys: int
    codes: int

    def __bool__(self) -> bool:
        return self.app or bool(self.passkeys)


def has_second_factor(user: User) -> bool:
    """Tell whether a person needs a second factor to sign in, in one query."""
    with_factor = Q(authenticator_app__isnull=False) | Q(passkeys__isnull=False)
    return User.objects.filter(with_factor, pk=user.pk).exists()


def factors_of(user: User) -> Factors:
    return Factors(
        AuthenticatorApp.objects.filter(owner=user).exists(),
        user.passkeys.count(),
        user.recovery_codes.filter(used_at=None).count(),
    )


@transaction.atomic
def turn_off(user: User) -> bool:
    """Remove all second factors of a person; return whether there was any."""
    had = has_second_factor(user)
    AuthenticatorApp.objects.filter(owner=user).delete()
    user.passkeys.all().delete()
    user.recovery_codes.all().delete()
    return had


def drop_lone_codes(user: User) -> None:
    """Remove the recovery codes of a person whose last second factor is gone."""
    if not has_second_factor(user):
        user.recovery_codes.all().delete()
