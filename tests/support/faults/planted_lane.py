"""Faults planted in each function that a lane of the site calls for one of those whom it serves.

What is served, and with what exactness, a ``PlantedLane`` says; the loop over the functions, and
what must hold at each, is the same for all lanes.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from django.db import transaction

from filters.site.work import set_aside
from tests.support.faults.planted_faults import Victim, calls_for, name_of, planted

MACHINERY = (
    "tapestry/run/limits/isolation.py",
    "filters/site/work/set_aside.py",
    "filters/runs/store/asides.py",
    "filters/site/work/db/batching.py",
    "filters/site/work/queues/disk_full_tasks.py",
    "tapestry/core/log.py",
    "tapestry/core/surroundings.py",
)
"""What finds the guilty one and sets it aside, and what that uses: a fault there is nobody's."""


@dataclass
class PlantedLane:
    """A lane with work for a victim and for others.

    ``wrong`` says what the others, or with True all, were not served exactly.  ``forget`` empties
    what recorded that.  ``files`` are put back for each fault, as the database is.  ``stages`` are
    the functions that find the guilty one themselves, each with the reason.
    """

    victim: Victim
    run: Callable[[], object]
    wrong: Callable[[bool], list[str]]
    forget: Callable[[], object]
    files: list[Path] = field(default_factory=list)
    stages: dict[str, str] = field(default_factory=dict)

    def faults(self, share: int, part: int) -> tuple[int, list[str]]:
        """Plant a fault in each so-manieth function; return how many, and what went wrong."""
        with self._rolled_back():
            functions = [
                code
                for code in calls_for(self.victim, self.run)
                if not name_of(code).startswith(MACHINERY) and name_of(code) not in self.stages
            ]
            assert not self.wrong(True), "it does not work without a fault either"
        bad = []
        for code in functions[part::share]:
            with self._rolled_back():
                name = name_of(code)
                with planted(self.victim, code) as fault:
                    try:
                        self.run()
                    except Exception as error:
                        bad.append(f"{name}: the lane ended: {error!r}")
                        continue
                    if not fault.raised:
                        continue
                    bad += [f"{name}: {wrong}" for wrong in self.wrong(False)]
                set_aside.try_now()
                self.run()
                bad += [f"{name}: after it: {wrong}" for wrong in self.wrong(True)]
        return len(functions[part::share]), bad

    @contextmanager
    def _rolled_back(self) -> Iterator[None]:
        copies = {root: root.with_name(f"{root.name} before") for root in self.files}
        for root, copy in copies.items():
            shutil.copytree(root, copy, dirs_exist_ok=True)
        point = transaction.savepoint()
        try:
            yield
        finally:
            transaction.savepoint_rollback(point)
            self.forget()
            for root, copy in copies.items():
                shutil.rmtree(root)
                copy.rename(root)
