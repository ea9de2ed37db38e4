"""The browser of a request, as what is stored about its person names it."""

from __future__ import annotations

from filters.people.requests import PersonRequest
from filters.people.signing_in.backend import name_digest
from filters.people.signing_in.known_browser import known_browser
from filters.site.work.crypto.opaque_keys import keyed_digest


def this_browser(request: PersonRequest) -> str:
    """Return the digest of the browser of a person's request; empty if it does not know them.

    It may be stored: whoever reads it cannot write the cookie.
    """
    browser = known_browser(request, name_digest(request.user.get_username()))
    return keyed_digest("browser", browser) if browser else ""
