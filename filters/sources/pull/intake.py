"""The port of an ingestion to this site (tapestry.core.ports.Intake)."""

from __future__ import annotations

from filters.runs.store import imports
from filters.runs.store.backpressure import Backpressure
from filters.site.work.crypto.delivery_signer import delivery_signer


class SiteIntake:
    """Mail for this site: appends wait for the shared window, and imports have their names.

    Nothing is forbidden, and nothing ends before its time: whoever knows better has a class of its
    own.
    """

    def __init__(self) -> None:
        self._signer, self._backpressure = delivery_signer(), Backpressure()

    def is_ours(self, raw: bytes) -> bool:
        return self._signer.has_signed(raw)

    def is_forbidden(self) -> bool:
        return False

    def is_over(self) -> bool:
        return False

    def announce_import(self, name: str, ts: int) -> None:
        imports.record(name, ts)

    def note_append(self, ts: int) -> None:
        self._backpressure(ts)
