"""Tokens of what was brought: by one, its bringer is told when it has reached every delivery.

A token is an instant, and the key of the row that knows the rest, encrypted: nothing is stored for
it, and it tells nothing to who reads it (filters.compose.arrival answers).

>>> read(of_mail(7)) == Token(MAIL, 7)
True
"""

from __future__ import annotations

from dataclasses import dataclass

from filters.site.work.crypto import opaque_keys
from tapestry.core.errors import TapestryError

MAIL, SAID, SENT, PULLED = range(4)
"""Rows up to an instant, an annotation of the outbox, a letter, a pull of a source."""

_PREFIX = "t"
_KIND_BITS, _INSTANT_BITS, _KEY_BITS = 2, 56, 40


@dataclass(frozen=True, slots=True)
class Token:
    """What a token is of; ``key`` is that of its row, 0 of mail."""

    kind: int
    instant: int
    key: int = 0


def of_mail(instant: int) -> str:
    """Return the token of all rows up to an instant."""
    return _text(Token(MAIL, instant))


def of_annotation(key: int) -> str:
    """Return the token of a vote, tag or note, or of its taking back, by its key in the outbox."""
    return _text(Token(SAID, 0, key))


def of_letter(key: int) -> str:
    """Return the token of a message that is being sent, by its key."""
    return _text(Token(SENT, 0, key))


def of_pull(key: int, instant: int) -> str:
    """Return the token of what a source has at an instant, by the key of the source."""
    return _text(Token(PULLED, instant, key))


def read(text: str) -> Token:
    """Return what a token is of; raise TapestryError if this site has not made it."""
    try:
        if not text.startswith(_PREFIX):
            raise ValueError(text)
        most = 1 << (_KIND_BITS + _INSTANT_BITS + _KEY_BITS)
        value = opaque_keys.decrypt(text.removeprefix(_PREFIX), most)
    except ValueError:
        raise TapestryError("This token is none of this site.", hint="Copy all of it.") from None
    value, kind = divmod(value, 1 << _KIND_BITS)
    key, instant = divmod(value, 1 << _INSTANT_BITS)
    return Token(kind, instant, key)


def _text(token: Token) -> str:
    instant = min(max(token.instant, 0), (1 << _INSTANT_BITS) - 1)
    value = (token.key << _INSTANT_BITS | instant) << _KIND_BITS | token.kind
    return f"{_PREFIX}{opaque_keys.encrypt(value)}"
