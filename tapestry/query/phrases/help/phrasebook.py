"""Every kind of phrase by an example and what it finds: for the help page and LANGUAGE.md."""

from __future__ import annotations

from tapestry.query.phrases.catalogue import KINDS


def phrasebook() -> tuple[tuple[str, str], ...]:
    """Return an example of each kind of phrase and its description, what is akin together.

    >>> phrasebook()[0]
    ('from Jones', 'sent by somebody: a name, an address, a domain, me')
    """
    return tuple((kind.example, kind.description) for kind in KINDS.values())
