"""Endings of what a password opened: sessions, notifications of browsers, tokens of programs."""

from __future__ import annotations

from filters.delivery.ways import push
from filters.people.models import User
from filters.people.sessions.record import sign_out


def end_access(user: User, *, but: str | None = None, browser: str = "") -> None:
    """Sign a person out, all but one session; notify no other browser; end all access tokens."""
    sign_out(user, but=but)
    push.forget_others(user, browser)
    user.access_tokens.all().delete()
