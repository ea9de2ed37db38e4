"""Locks of sources: one process at a time does a thing with a source, on one machine."""

from __future__ import annotations

from contextlib import AbstractContextManager

from filters.models.source import Source
from filters.runtime import services
from tapestry.core.file_lock import file_lock


def source_lock(source: Source, action: str, wait: float = 0.0) -> AbstractContextManager[bool]:
    """Hold a source's lock for an action; yield whether it was acquired within ``wait`` seconds."""
    return file_lock(services.data() / "run" / f"{action}-{source.pk}.lock", wait=wait)
