"""From an account without anything to the first filter: what is done, and what comes next.

add a source ─> see mail come ─> write a filter
"""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Sum

from filters.people import people
from filters.people.models import User
from filters.site.work.parts import services
from filters.sources.models import Source
from tapestry.tables.delta.log import snapshot
from tapestry.tables.read.messages import has_messages_for


@dataclass(frozen=True, slots=True)
class FirstSteps:
    """How far a person without filters has come.

    ``source`` is the newest of their sources.  ``added`` messages have come from all of them, and
    ``reached`` of about ``total`` have been read where there are more.  ``has_mail``: there is
    mail that they may see, from wherever it came.
    """

    source: Source | None
    added: int
    reached: int
    total: int
    has_mail: bool

    @property
    def next(self) -> str:
        """Return which step comes next: ``source``, ``folders``, ``mail`` or ``filter``."""
        if self.has_mail:
            return "filter"
        if self.source is None:
            return "source"
        return "mail" if self.source.folder_patterns else "folders"


def first_steps(user: User) -> FirstSteps:
    brings_mail = Source.objects.filter(owner=user, kind__in=("imap", "nntp"))
    sources = brings_mail.annotate(
        added=Sum("folders__added"),
        reached=Sum("folders__reached"),
        total=Sum("folders__total"),
    )
    found = sorted(sources, key=lambda source: source.pk)
    added, reached, total = (
        sum(getattr(source, name) or 0 for source in found)
        for name in ("added", "reached", "total")
    )
    has_mail = bool(added) or has_messages_for(snapshot(services.tables()), people.audiences(user))
    return FirstSteps(found[-1] if found else None, added, reached, total, has_mail)
