"""Who may make an account: nobody, those who are invited, or everybody (TAPESTRY_SIGN_UP)."""

from __future__ import annotations

from django.conf import settings

from tapestry.core.errors import TapestryError

OFF, INVITATION, ON = "off", "invitation", "on"
MODES = (OFF, INVITATION, ON)


def sign_up_mode() -> str:
    """Return who may make an account, as the operator has set it."""
    mode: str = settings.SIGN_UP
    return mode


def read_mode(text: str) -> str:
    """Return a mode as it is written in the environment; raise TapestryError if it is none.

    >>> read_mode(""), read_mode(" On ")
    ('off', 'on')
    """
    mode = text.strip().lower() or OFF
    if mode not in MODES:
        raise TapestryError(
            f"TAPESTRY_SIGN_UP is “{text}”, which is none of {', '.join(MODES)}.",
            hint="Write off, invitation or on; without it sign-up is off.",
        )
    return mode
