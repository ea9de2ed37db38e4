"""A process that takes in an archive with workers that parse, to be killed by a test."""

from __future__ import annotations

import multiprocessing
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

from support.clocks import FileClock

from tapestry.ingest import ingest_batch
from tapestry.ingest.archive.files import open_archive_source
from tapestry.ingest.ingest_batch import IngestTarget, Tally, ingest_batches
from tapestry.tables.append import cursor_of
from tapestry.tables.delta.log import Tables


def main(root: Path, mbox: str, batch: int) -> None:
    ingest_batch.BATCH = batch
    target = IngestTarget(Tables(root), FileClock(root / "clock"), "public")
    target = replace(target, workers=2, progress=lambda read, total: print(read, flush=True))
    stream = open_archive_source(mbox, "public", partial(cursor_of, target.tables))
    ingest_batches(stream, target, Tally())
    assert not multiprocessing.active_children()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
