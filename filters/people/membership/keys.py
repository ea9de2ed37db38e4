"""Keys in addresses: they tell nobody how many rows of others there are."""

from __future__ import annotations

from django.http import Http404

from filters.site.work.crypto import opaque_keys


def key_of(text: str) -> int:
    """Return the primary key behind a part of an address; raise Http404 if it is none."""
    try:
        return opaque_keys.decrypt(text)
    except ValueError:
        raise Http404("There is no such page.") from None
