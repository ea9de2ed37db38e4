"""`manage.py invite EMAIL`: a link with which somebody makes an account."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from filters.site.management.base import TapestryCommand
from filters.site.settings.sign_up import OFF, sign_up_mode
from tapestry.core.errors import TapestryError
from tapestry.deliver.mail.recipient_address import recipient_address


class Command(TapestryCommand):
    """Invite somebody: print the link, and send it where the site sends mail."""

    help = "Print a link with which somebody makes an account; it works once, for 14 days."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("email", help="the address of the new account")

    def handle(self, *args: Any, **options: Any) -> None:
        """Invite, unless sign-up is off."""
        from filters.people.membership.invitations import invite

        if sign_up_mode() == OFF:
            raise TapestryError(
                "Sign-up is off, so the link would not work.",
                hint="Set TAPESTRY_SIGN_UP=invitation, for the site and for this command.",
            )
        recipient_address(options["email"])
        url, was_sent = invite(options["email"])
        self.stdout.write(url)
        self.stdout.write(f"It was sent to {options['email']}." if was_sent else "It was not sent.")
