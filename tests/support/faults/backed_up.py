"""Back a site up again and again while it is at work, restore each backup, and let it go on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.support.faults.stored_world import BATCH, ended, expected, run, told

BACKUPS = 2
FOR_EVER = 10**9


def hold(directory: Path, database: Callable[[str], str]) -> None:
    """Check that each restored site has all it had, and then finds what all others find.

    ``database`` gives the DATABASE_URL of a new site, by its name.
    """
    site, backups = directory / "site", []
    worker = run(site, "go-on", FOR_EVER, database=database("site"))
    assert worker.stdout is not None
    begun: list[int] = []
    for number in range(BACKUPS):
        for _ in range(5):
            line = worker.stdout.readline()
        begun.append(int(line))
        backups.append(directory / f"backup{number}")
        ended(run(site, "backup", backups[-1], database=database("site")))
    worker.kill()
    worker.wait()
    reached = len(told(site, database("site"))["messages"])
    end = reached // BATCH * BATCH + 3 * BATCH
    numbers = sorted(f"m{n}@x" for n in range(end))
    for number, backup in enumerate(backups):
        copy, url = directory / f"copy{number}", database(f"copy{number}")
        printed = ended(run(copy, "restore", backup, database=url))
        assert "Restored into" in printed and "damaged" not in printed
        before = told(copy, url)
        assert begun[number] <= len(before["messages"]) <= reached
        ended(run(copy, "go-on", end, database=url))
        after = told(copy, url)
        assert after["messages"] == numbers
        assert sorted(after["matches"]) == expected(end)
        assert {*before["votes"]} <= {*after["votes"]}
        assert len({*after["votes"]}) == len(after["votes"])
