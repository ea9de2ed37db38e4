"""The votes on messages that are delivered: digests are ranked by them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping

from filters.site.work.parts import services
from tapestry.core.annotations import summarize
from tapestry.core.message import Annotation
from tapestry.core.schema import ANNOTATIONS, RETRACTION
from tapestry.tables.read.messages import lookup

_COLUMNS = ("annid", "msgid", "owner", "kind", "value", "number", "audience")


def votes_on(msgids: Collection[str], audiences: Collection[str]) -> Mapping[str, list[Annotation]]:
    """Return the votes on messages that anybody in these audiences sees, oldest first.

    And what takes them back.
    """
    votes: dict[str, list[Annotation]] = defaultdict(list)
    if msgids:
        rows = lookup(services.tables(), ANNOTATIONS, "msgid", msgids, audiences, _COLUMNS)
        for row in rows:
            if row["kind"] in ("vote", RETRACTION):
                votes[row["msgid"]].append(Annotation(**row))
    return votes


def balance(votes: Collection[Annotation], audiences: Collection[str]) -> int:
    """Return the votes for a message less those against it, as a reader in the audiences sees it.

    >>> balance([Annotation("a", "m", "terry", "vote", number=1.0)], ["public"])
    1
    """
    summary = summarize(vote for vote in votes if vote.audience in audiences)
    return len(summary.voted_for) - len(summary.voted_against)
