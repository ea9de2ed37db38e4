"""Excerpts of the messages that a digest or a feed shows, each of the copy that its owner sees."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from filters.reading.rendering.excerpt import excerpt
from filters.runs.models import SetAside
from filters.site.work import set_aside
from filters.site.work.parts import services
from tapestry.core.files.damage import DamagedFileError
from tapestry.core.log import event
from tapestry.core.schema import MESSAGES
from tapestry.deliver.batch import DeliveredMatch, Excerpts
from tapestry.tables.read.messages import lookup


def excerpts_of(matches: Iterable[DeliveredMatch]) -> Excerpts:
    """Return the excerpts of matched messages; none where a file of the tables is damaged.

    Nobody waits for a digest until that is mended, for it says what matters without them.  A
    message of which none can be made is set aside, and has none.
    """
    excerpts: dict[tuple[str, str], str] = {}
    wanted: dict[str, set[str]] = defaultdict(set)
    for match in matches:
        wanted[match.audience].add(match.msgid)
    try:
        tables, aside = services.tables(), set_aside.of(SetAside.Kind.MESSAGE)
        for audience, msgids in wanted.items():
            for row in lookup(tables, MESSAGES, "msgid", msgids, [audience], ("msgid", "body")):
                with aside.guard(set_aside.message_key(row["msgid"], "excerpt")):
                    excerpts[row["msgid"], audience] = excerpt(row["body"])
    except DamagedFileError as error:
        event("no_excerpts", file=error.path)
    return excerpts
