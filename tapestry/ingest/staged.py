"""Ingest an archive as a whole: its messages are staged as they are read, and published at once.

So an import invents no silence: no question is visible before an answer of the same archive.
"""

from __future__ import annotations

from functools import partial

from tapestry.core.errors import TapestryError
from tapestry.ingest.ingest_batch import IngestTarget, Tally, parsed_batches
from tapestry.ingest.stream import MessageStream
from tapestry.tables.write.publish import publish
from tapestry.tables.write.staging import Staging


def ingest_whole(
    stream: MessageStream, target: IngestTarget, staging: Staging, tally: Tally
) -> None:
    """Append all messages of a stream with one ``ts``, counting them in ``tally``.

    Those that an earlier process has staged are counted when all are published.  What is staged
    stays if the process ends; the stream was opened with ``staging.cursor_of``.  If the stream
    raises an error, what came before it becomes visible first.
    """
    total = stream.total() if target.progress else None
    failure: TapestryError | None = None
    try:
        for batch in parsed_batches(stream, target):
            staging.add(batch.messages, batch.originals, batch.cursor)
            tally.read += len(batch.messages)
            tally.broken += batch.broken
            tally.skipped += batch.skipped
            if target.progress and (batch.messages or batch.skipped):
                target.progress(stream.resumed.messages + tally.passed, total)
    except TapestryError as error:
        failure = error
    if staging.batches():
        tally.read += staging.messages
        tally.broken += staging.broken
        announce = partial(target.intake.announce_import, stream.name)
        receipt = publish(staging, target.clock, target.now, announce=announce)
        tally.added += receipt.added
        tally.duplicates += receipt.duplicates
        if receipt.ts is not None:
            target.intake.note_append(receipt.ts)
    if failure is not None:
        raise failure
