"""What everything that runs takes: the processes, and their memory."""

from __future__ import annotations

from contextlib import suppress

import psutil


def footprint() -> str:
    """Return how many processes this one and its descendants are, and their memory, in words.

    What several share counts once (Linux: the proportional set size); elsewhere not at all.
    """
    sizes = []
    this = psutil.Process()
    for process in (this, *this.children(recursive=True)):
        with suppress(psutil.NoSuchProcess):
            memory = process.memory_full_info()
            sizes.append(getattr(memory, "pss", memory.uss))
    return f"{len(sizes)} processes, {sum(sizes) / 1e9:.1f} GB of memory"
