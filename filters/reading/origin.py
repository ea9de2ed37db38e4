"""Where a copy of a message came from, and what the server that received it found out about it."""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings

from filters.people.models import User
from filters.people.names.source_names import source_words
from filters.site.settings.authserv import server_of
from filters.site.work.parts import services
from tapestry.core.message import Message
from tapestry.mime.authentication import authentication_of
from tapestry.tables.read.messages import Copy
from tapestry.tables.read.originals import original


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a copy came from, in words, and the page of the source if it is the reader's.

    ``verdicts`` are those of the server ``authserv_id``, which the operator trusts.
    """

    words: str
    url: str = ""
    authserv_id: str = ""
    verdicts: tuple[str, ...] = ()


def origin_of(user: User, message: Message, copy: Copy) -> Origin:
    """Return where a copy of a message came from, as far as a reader may know."""
    name = message.source or ""
    words, url = source_words(user, name)
    authserv_id = _trusted(name)
    stored = original(services.tables(), message.msgid, copy) if authserv_id else None
    verdicts = authentication_of(stored.raw, authserv_id) if stored else ()
    return Origin(words, url, authserv_id, verdicts)


def _trusted(name: str) -> str:
    """Return the authserv-id that is trusted for what came from there; empty if there is none.

    Only servers of mailboxes whose operator adds the field, and removes those of others
    (RFC 8601, section 5), are trusted: elsewhere senders may have written it themselves.  A
    server is its host and port, over TLS: another port may be anybody's.
    """
    server = server_of(name)
    return str(settings.AUTHSERV.get(server, "")) if server else ""
