"""What a reader may know of where mail came from.

The name of a source is for its owner and for staff; others learn the kind of source alone.
"""

from __future__ import annotations

from urllib.parse import unquote

from filters.people.models import User
from filters.sources.models import Source
from tapestry.ingest.session import kind_of


def source_words(user: User, name: str) -> tuple[str, str]:
    """Return a source in words, and the address of its page if it is the reader's."""
    if source := _own(user, name):
        return str(source), source.get_absolute_url()
    if user.is_staff or not name:
        return name, ""
    kind = _kind(name)
    return (str(Source.Kind(kind).label) if kind else "an archive or directory"), ""


def import_words(user: User, name: str) -> str:
    """Say what was imported: the folder of an account, or the name of an archive."""
    account, is_folder, folder = name.partition("://")[2].partition("/")
    kind = _kind(name)
    if not is_folder or not folder or kind is None:
        return f"the import “{name}”"
    if not user.is_staff and _own(user, name) is None:
        return f"an import from {Source.Kind(kind).label}"
    login, _, server = account.rpartition("@")
    host = server.rpartition(":")[0] or server
    return f"the import “{folder} of {unquote(login) or host}”"


def _own(user: User, name: str) -> Source | None:
    """Return the reader's own source of this name."""
    sources = Source.objects.filter(owner=user)
    return next((source for source in sources if name.startswith(f"{source.address}/")), None)


def _kind(name: str) -> str | None:
    scheme, separator, _ = name.partition("://")
    return kind_of(scheme) if separator else None
