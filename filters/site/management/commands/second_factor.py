"""`manage.py second-factor NAME --off`: for somebody who has lost their phone and their codes."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from filters.people.factors import factors_of, turn_off
from filters.people.membership.notices import tell
from filters.people.models import User
from filters.site.management.base import TapestryCommand
from tapestry.core.errors import TapestryError


class Command(TapestryCommand):
    """Show which second factors a person has, or turn them off."""

    help = "Show the second factors of a person; --off removes them, for one who has lost them."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="of the account")
        parser.add_argument("--off", action="store_true", help="remove all of them")

    def handle(self, *args: Any, **options: Any) -> None:
        """Make sure by other means than mail that it is they who ask."""
        user = User.objects.filter(username=options["name"]).first()
        if user is None:
            raise TapestryError(f"There is no account {options['name']}.")
        if options["off"] and turn_off(user):
            tell(user, "An administrator turned off your second step.")
        factors = factors_of(user)
        name = user.get_username()
        if not factors:
            self.stdout.write(f"{name} signs in with their password alone.")
            return
        app = "an app" if factors.app else "no app"
        self.stdout.write(
            f"{name} has {app}, {factors.passkeys} passkeys and {factors.codes} recovery codes."
        )
