"""What an operator does, and what the clock does every hour: merging, forgetting, backups."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from tests.simulation.generator import pieces
from tests.simulation.generator.cast import Cast
from tests.simulation.settling import run_task
from tests.simulation.tasks import Task
from tests.simulation.world import DAY, NO_FAULT, CrashedError, OrderFailedError

EARLY = 100
"""Steps in which nothing is forgotten: much cannot be judged any more after that.

In a short world these are three quarters of its steps.
"""


def tend(
    cast: Cast, names: Sequence[str] = ("compact", "compact", "tend_accounts", "read_bounces")
) -> None:
    """Have the hourly upkeep run, or another task of the clock."""
    name = cast.lots.choice(names)
    run_task(cast.world, Task(f"filters.{name}"))
    cast.history.add("upkeep", kind=name)


def forget(cast: Cast) -> None:
    """Have mail be forgotten: by its operator, all or what is old, or by the setting."""
    lots, world = cast.lots, cast.world
    if cast.history.step < cast.early:
        return
    audience = lots.choice(sorted({*cast.audiences} - {"public"}))
    before = None
    if lots.random() < 0.4:
        audience = lots.choice((audience, "public"))
        before = world.now - lots.choice((3, 10, 30)) * DAY
    if before is None:
        pieces.say_to(cast, audience)
    cast.note_outbox("page")  # what waits there is forgotten too
    cast.order("forget", audience=audience, before=before)
    cast.history.add("upkeep", kind="forget", audience=audience, before=before)


def retain(cast: Cast) -> None:
    """Have an hour's upkeep forget what is older than mail of an audience is kept."""
    audience, days = cast.lots.choice(sorted({*cast.audiences})), cast.lots.choice((5, 20))
    cast.note_outbox("page")
    before = cast.world.now - days * DAY
    trace = cast.order("retain", audience=audience, days=days)
    if trace:
        cast.tell_error("retain", OrderFailedError(trace))
    cast.history.add("upkeep", kind="forget", audience=audience, before=before)


def take_in(cast: Cast) -> None:
    """Have the mail of an archive be taken in, all for one audience."""
    world, audience = cast.world, cast.lots.choice(cast.audiences)
    known = {row["msgid"] for row in cast.mail.rows}
    cast.mail.batch(world.now, [audience])
    rows = [row for row in cast.mail.rows if row["msgid"] not in known]
    for row in rows:
        row["archived"] = True
    if not rows:
        return
    cast.made += 1
    path = Path(f"{world.data}-archives") / f"archive-{cast.made}.mbox"  # its name is told
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"".join(b"%b%b\r\n" % (_BEGIN, row["raw"]) for row in rows))
    cast.order("take_in", path=str(path), audience=audience)
    path.unlink()
    told = [{name: row[name] for name in ("msgid", *_READ)} for row in rows]
    cast.history.add("submitted", table="messages", rows=told, origin="archive", name=path.name)


_BEGIN = b"From joe@x.org Sun Mar  1 00:00:00 2026\r\n"
_READ = (
    "audience",
    "sender",
    "to",
    "to_names",
    "cc",
    "cc_names",
    "inreplyto",
    "diff_paths",
    "patch",
)
"""What of a message is read from its bytes as a source would have brought it."""


def back_up(cast: Cast) -> None:
    """Have a backup be made; where the site ends meanwhile, the older one is still there."""
    target = _backup(cast, cast.backups + 1)
    cast.note_outbox("page")  # what filters have tagged: after a restore it is not asked for
    shutil.rmtree(target, ignore_errors=True)
    try:
        cast.world.order("back_up", target=str(target))
    except CrashedError:
        cast.history.add("fault", kind="crashed", during="back_up")
        return
    except OrderFailedError as error:
        cast.tell_error("back_up", error)
        return
    if cast.backups:
        shutil.rmtree(_backup(cast, cast.backups))
    cast.backups += 1
    cast.history.add("upkeep", kind="backup")


def restore(cast: Cast) -> None:
    """Have the last backup take the place of all that is stored; the queue is lost with it."""
    world = cast.world
    if not cast.backups:
        back_up(cast)
    if not cast.backups:
        return
    world.stop()
    world.fault = NO_FAULT
    world.queue.lose()
    for path in world.data.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    cast.order("restore", source=str(_backup(cast, cast.backups)))
    world.stop()
    cast.history.add("upkeep", kind="restore")
    cast.come_back()


def _backup(cast: Cast, number: int) -> Path:
    return Path(f"{cast.world.data}-backup-{number}")
