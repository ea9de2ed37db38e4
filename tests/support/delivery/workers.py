"""Workers that release and deliver, as real processes, to be killed by a test.

    test ── a line of JSON ──> this program ── fork ──> a worker; its number comes back

The program imports the application once, so that a worker that was killed is there again at once.
A worker may end itself with SIGKILL at a step, and may have a planted fault.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

PAUSE = 0.02
"""Seconds before a delivery that failed is tried again, and between two looks for work."""


MAIL_SECONDS = 2.0
"""Seconds that the SMTP server has to answer."""


def main(database: str) -> None:
    """Start a worker for each line of the standard input, until it ends."""
    import django
    from django.conf import settings

    settings.DATABASES["default"]["NAME"] = database
    settings.EMAIL_TIMEOUT = MAIL_SECONDS
    django.setup()
    from filters.delivery import sending
    from filters.delivery.ways import forward
    from filters.delivery.ways.table import WAYS

    # What a person gets in an hour comes here in a second: it is neither limited nor a flood.
    for kind, way in WAYS.items():
        WAYS[kind] = replace(way, most_an_hour=None)
    forward.flooding = lambda destination, counts, since=None: {}
    sending._seconds_until_next = lambda claim, outcome: PAUSE
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for line in sys.stdin:
        order = json.loads(line)
        number = os.fork()
        if number == 0:
            _work(**order)
        print(number, flush=True)


def _work(role: str, step: str, after: int, fault: str) -> None:
    """Work until this process is killed, or the program that started it has ended."""
    parent = os.getppid()
    if fault:
        FAULTS[fault]()
    if step:
        STEPS[step](_Death(after))
    turn = {"beat": _beat, "worker": _deliver}[role]
    try:
        while os.getppid() == parent:
            turn()
            time.sleep(PAUSE)
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        os._exit(1)


def _beat() -> None:
    """Release and free, as filters.delivery.tasks.deliver_due does."""
    from filters.delivery.dispatch import claims
    from filters.runs.store.release import release

    release()
    claims.free_abandoned()


def _deliver() -> None:
    from filters.delivery import sending
    from filters.delivery.mail import outgoing
    from filters.delivery.ways import table as ways

    with outgoing.kept_connection():
        sending.deliver(list(ways.WAYS), 3)


class _Death:
    """Ends this process, as ``kill -9`` does, the n-th time that it gets here."""

    def __init__(self, after: int) -> None:
        self.left = after

    def __call__(self) -> None:
        self.left -= 1
        if self.left <= 0:
            os.kill(os.getpid(), signal.SIGKILL)
            time.sleep(60)


def _before(module: str, name: str) -> Callable[[_Death], None]:
    return lambda death: _wrap(module, name, lambda call: (death(), call())[1])


def _after(module: str, name: str) -> Callable[[_Death], None]:
    """Return what kills after a function has returned something that is true."""

    def killed(call: Callable[[], Any], death: _Death) -> Any:
        result = call()
        if result:
            death()
        return result

    return lambda death: _wrap(module, name, lambda call: killed(call, death))


def _wrap(path: str, name: str, around: Callable[[Callable[[], Any]], Any]) -> None:
    """Have a function of a module be called by another one."""
    from importlib import import_module

    module = import_module(path)
    real = getattr(module, name)
    setattr(module, name, lambda *args, **options: around(lambda: real(*args, **options)))


_CLAIMS, _RELEASE, _SENDING = (
    "filters.delivery.dispatch.claims",
    "filters.runs.store.release",
    "filters.delivery.sending",
)

STEPS: dict[str, Callable[[_Death], None]] = {
    "positions given, not committed": _before(_RELEASE, "_make_due"),
    "released": _after(_RELEASE, "_release_some"),
    "claimed": _after(_CLAIMS, "claim"),
    "batch made": _after(_SENDING, "batches_of"),
    "sent": _before(_CLAIMS, "confirm"),
    "message sent": _before(_CLAIMS, "advance"),
    "message confirmed": _after(_CLAIMS, "advance"),
    "confirmed": _after(_CLAIMS, "confirm"),
    "failed": _before(_CLAIMS, "fail"),
}
"""Where a worker may end, by name."""

OF_BEAT = ("positions given, not committed", "released")
"""The steps of those that release; the others are of those that deliver."""


def _confirm_first() -> None:
    """Confirm a range before it is sent."""
    from filters.delivery import sending
    from filters.delivery.dispatch import claims
    from tapestry.deliver.batch import Outcome

    real = sending._deliver

    def deliver(claim: Any, *rest: Any) -> claims.Attempt | None:
        claims.confirm([claims.Attempt(claim, Outcome("delivered"))])
        return real(claim, *rest)

    sending._deliver = deliver


def _other_key() -> None:
    """Give each attempt a key of its own."""
    from filters.delivery.dispatch import claims

    key = claims.Claim.key.fget
    claims.Claim.key = property(lambda claim: f"{key(claim)}-{claim.name[-6:].replace(':', '')}")


def _open_range() -> None:
    """Take whatever has come meanwhile into a range that is tried again."""
    from filters.delivery.dispatch import claims

    real = claims.claim

    def claim(name: Any, keys: Any) -> Any:
        from filters.delivery.models import Destination

        Destination.objects.filter(pk__in=keys, holder="").update(claimed_until=None)
        return real(name, keys)

    claims.claim = claim


def _muted_too() -> None:
    """Send what is in muted threads."""
    from filters.delivery import batches

    real = batches._batch

    def batch(claim: Any, rows: Any) -> Any:
        return real(claim, {pk: row._replace(root="unheard") for pk, row in rows.items()})

    batches._batch = batch


def _everybodys() -> None:
    """Send what a person may not see."""
    from filters.people import people

    people.audiences = lambda owner: ["public", "user:stranger", f"user:{owner.username}"]


def _too_early() -> None:
    """Release what is to be shown later."""
    from django.db.models import Q

    from filters.runs.store import release

    release.is_due = lambda path="": Q()


def _not_looked_for() -> None:
    """Put messages into a mailbox without a look at what is there."""
    from tapestry.deliver.imap.folders import MailFolders

    MailFolders.find = lambda self, folder, identity: {}


FAULTS: dict[str, Callable[[], None]] = {
    fault.__name__[1:]: fault
    for fault in (
        _confirm_first,
        _other_key,
        _open_range,
        _muted_too,
        _everybodys,
        _too_early,
        _not_looked_for,
    )
}
"""What is planted, by name."""


if __name__ == "__main__":
    main(sys.argv[1])
