"""Mail that tells a person what was changed in their account, in case it was not they."""

from __future__ import annotations

from filters.people import tasks
from filters.people.emails import is_unconfirmed
from filters.people.models import User
from filters.site.settings.email_url import is_kept_only
from filters.site.work.queues.queue import send


def known_address(user: User) -> str:
    """Return where a person can be told something: their address, if it is confirmed."""
    return "" if is_unconfirmed(user) else user.email


def tell(user: User, what: str, address: str | None = None) -> None:
    """Have a person told what was changed, in a sentence, after it was.

    The mail goes to ``address``, or to the confirmed one of the account.  Without one, or without
    a mail server, there is none.
    """
    to = known_address(user) if address is None else address
    if to and not is_kept_only():
        asked = (to, user.get_username(), what)
        send(tasks.send_notice, asked, otherwise="nobody is told that an account was changed")
