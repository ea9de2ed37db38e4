"""Names that an account cannot have: they would be something else in an address or a command."""

from __future__ import annotations

import re

from django.core.exceptions import ValidationError

_USABLE = re.compile(r"[^\W_]")


def check_name(name: str) -> None:
    """Raise ValidationError for a name such as ``.``, ``..`` or ``-v``.

    Django's rule lets it consist of dots, which are directories in an address, and begin with
    what commands take for an option, or mail programs for an address.
    """
    if not _USABLE.match(name):
        raise ValidationError("A name begins with a letter or a digit.", code="name")
