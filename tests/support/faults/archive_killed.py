"""A process that takes in an archive with workers that parse, to be killed by a test."""

from __future__ import annotations

import multiprocessing
import signal
import sys
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path

from tapestry.ingest import ingest_batch
from tapestry.ingest.archive.files import open_archive_source
from tapestry.ingest.ingest_batch import Tally, ingest_batches
from tapestry.tables.delta.log import Tables
from tapestry.tables.write.append import cursor_of
from tests.support.clocks import FileClock
from tests.support.intake import ingest_target


def main(root: Path, mbox: str, batch: int, most: int) -> None:
    """Take it in; after ``most`` batches, if not 0, go no further and wait for the end."""
    ingest_batch.BATCH = batch
    batches = count(1)

    def tell(read: int, total: int | None) -> None:
        print(read, flush=True)
        if next(batches) == most:
            signal.pause()

    target = ingest_target(Tables(root), FileClock(root / "clock"), "public")
    target = replace(target, workers=2, progress=tell)
    stream = open_archive_source(mbox, "public", partial(cursor_of, target.tables))
    ingest_batches(stream, target, Tally())
    assert not multiprocessing.active_children()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
