"""What came of a password in a request, for the form that asked and for the answer."""

from __future__ import annotations

import math
from dataclasses import dataclass

from django.http import HttpRequest

KEY = "tapestry.sign_in"
"""Where it stands in the environment of a request (PEP 3333: names of our own)."""


@dataclass(frozen=True, slots=True)
class Proven:
    """All that is asked for was right; ``account`` is the digest of the name."""

    account: str


@dataclass(frozen=True, slots=True)
class Refused:
    """It was not looked at: there was too much of ``what``.  ``seconds``: until the next try."""

    seconds: int
    what: str = "wrong passwords"

    @property
    def sentence(self) -> str:
        """Say so to a person.

        >>> Refused(42).sentence, Refused(61).sentence
        ('Too many wrong passwords: please try again in a minute.', \
'Too many wrong passwords: please try again in 2 minutes.')
        """
        minutes = math.ceil(self.seconds / 60)
        wait = "a minute" if minutes == 1 else f"{minutes} minutes"
        return f"Too many {self.what}: please try again in {wait}."


Outcome = Proven | Refused


def note(request: HttpRequest, outcome: Outcome) -> None:
    """Keep what came of a password with its request."""
    request.META[KEY] = outcome


def outcome_of(request: HttpRequest) -> Outcome | None:
    """Return what came of a password in a request; None if it was wrong, or none was asked."""
    outcome: Outcome | None = request.META.get(KEY)
    return outcome
