"""`manage.py changepassword NAME`: a new password of an account; its person is told by mail.

They are signed out in all browsers, none notifies them, and their access tokens end.
"""

from __future__ import annotations

import getpass
import warnings
from typing import Any

from django.contrib.auth.management.commands import changepassword

from filters.people.membership.ending import end_access
from filters.people.membership.notices import tell
from filters.people.models import User
from filters.site.management.base import TapestryCommand
from tapestry.core.errors import TapestryError


class Command(TapestryCommand, changepassword.Command):
    """Ask for a new password of an account, and have a mail tell its person."""

    def handle(self, *args: Any, **options: Any) -> str | None:
        """Change the password; nothing else is done where that fails."""
        with warnings.catch_warnings():
            warnings.simplefilter("error", getpass.GetPassWarning)
            try:
                result = super().handle(*args, **options)
            except getpass.GetPassWarning as error:
                raise TapestryError(
                    "There is no terminal at which a password could be asked for.",
                    hint="Run this at one, as by `ssh -t` or `docker compose exec`.",
                ) from error
        name = options["username"] or getpass.getuser()
        for user in User.objects.using(options["database"]).filter(username=name):
            end_access(user)
            tell(user, "An administrator changed your password.")
        return result
