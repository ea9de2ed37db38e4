"""The port of an ingestion that forbids nothing, and what takes mail in with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tapestry.core.message import PUBLIC
from tapestry.ingest import command
from tapestry.ingest.ingest_batch import IngestTarget


def nothing(raw: bytes) -> bool:
    return False


@dataclass
class FreeIntake:
    """Takes in all mail at once; what ``is_ours`` is passed over."""

    is_ours: Callable[[bytes], bool] = nothing

    def is_forbidden(self) -> bool:
        return False

    def is_over(self) -> bool:
        return False

    def announce_import(self, name, ts):
        pass

    def note_append(self, ts):
        pass


class OverAfter(FreeIntake):
    """Takes in so many batches, and leaves the rest."""

    def __init__(self, batches):
        super().__init__()
        self.left = batches

    def is_over(self) -> bool:
        self.left -= 1
        return not self.left


def ingest(what, tables, clock, audience=PUBLIC, is_ours=nothing, **options):
    return command.ingest(what, tables, clock, audience, FreeIntake(is_ours), **options)


def ingest_target(tables, clock, audience=PUBLIC, is_ours=nothing, **options):
    return IngestTarget(tables, clock, audience, FreeIntake(is_ours), **options)
