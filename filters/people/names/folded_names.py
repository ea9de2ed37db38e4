"""Names of accounts without what people do not tell apart: capitals, and other forms of letters."""

from __future__ import annotations

import unicodedata


def folded(name: str) -> str:
    """Return a name as it is compared (Unicode, caseless matching).

    >>> folded(" Straße"), folded("STRASSE"), folded("ｔｅｒｒｙ")
    ('strasse', 'strasse', 'terry')
    """
    return unicodedata.normalize("NFKC", name.strip()).casefold()
