"""One fault, one victim: what raises an error is set aside, and the others are served at once.

    items ─ those that wait are left out ─> work ─┬─ done ───────────────────> its row is deleted
                                                  └─ raises ─> stored, logged, tried again later

A loop that serves many asks once for what is set aside, and does the work for each in a guard:

    aside = set_aside.of(SetAside.Kind.SOURCE)
    for source in due:
        if not aside.waits(source.pk):
            with aside.guard(source.pk):
                pull(source)

What the surroundings do (``tapestry.core.surroundings``) goes through the guard, to the loop.
``each`` is such a loop; where many are worked on at once, the guilty one is found by
``tapestry.run.limits.isolation.isolate``.  What has a ``due_at`` is due when it is to be tried
again, and woken before its time by another version.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction
from django.db.models import F, Model, Q, QuerySet

from filters.authoring.models import Filter, PendingWindow
from filters.delivery.models import Destination
from filters.inbox.models import Appraisal, Match
from filters.people.models import User
from filters.runs.models import SetAside as Row
from filters.site.work.db.batching import by_key
from filters.sources.models import Source
from tapestry.core.backoff import LONGEST as LONGEST_PAUSE
from tapestry.core.backoff import pause_after
from tapestry.core.clock import DAY, SECOND, wall_clock
from tapestry.core.log import event
from tapestry.core.program_version import program_version
from tapestry.core.surroundings import is_of_surroundings, is_unforeseen
from tapestry.run.limits.isolation import Item, Result, isolate

LONGEST = 30_000
"""Characters of a traceback that are kept: its end."""

TRIED_AGAIN = (
    "An error of this site keeps this from being done (number {number}). "
    "Its operator sees why, and it is tried again by itself."
)
ASK_AGAIN = "An error of this site (number {number}): its operator sees why. Try again in a minute."
"""Of what is done because somebody waits for it, and by nobody else."""

FORGOTTEN = 7 * DAY
"""After so long without another error, what nobody tried again is forgotten."""

MODELS: dict[str, type[Model]] = {
    Row.Kind.FILTER: Filter,
    Row.Kind.ENROLLED: Filter,
    Row.Kind.MATCH: Match,
    Row.Kind.APPRAISAL: Appraisal,
    Row.Kind.SOURCE: Source,
    Row.Kind.DESTINATION: Destination,
    Row.Kind.PERSON: User,
}
"""Of which model a key is the primary key, by kind; a part of it may follow after a slash.

The others have keys that their rooms choose.
"""

NUMBERED = r"^[0-9]+/(annotation|reminder|outgoing|[0-9]+/bounce)$"
"""The keys of what is set aside of messages and has a number: others have a Message-ID."""

Key = int | str


@dataclass
class Aside:
    """What is set aside of one kind, as it was when this was made."""

    kind: str
    numbers: dict[str, int]
    waiting: frozenset[str]
    failed: dict[str, Exception] = field(default_factory=dict)
    """The errors of this object's guards, by key."""

    def waits(self, key: Key) -> bool:
        """Tell whether something is set aside, and its time to be tried again has not come."""
        return str(key) in self.waiting

    def numbers_of(self, part: str = "") -> set[int]:
        """Return the numbers of what is set aside with a part, as in ``7/release``."""
        return _numbers(self.numbers, part)

    def waiting_for(self, part: str = "") -> set[int]:
        """Return the numbers of what waits with a part."""
        return _numbers(self.waiting, part)

    @contextmanager
    def guard(self, key: Key, reason: str = "") -> Iterator[None]:
        """Do the work of one item in the block: if it raises an error, set the item aside.

        Not within a transaction: one that fails is rolled back first.
        """
        try:
            yield
        except Exception as error:
            if is_of_surroundings(error):
                raise
            self.failed[str(key)] = error
            add(self.kind, key, error, reason)
        else:
            self.done([key])

    def apart(
        self,
        work: Callable[[Sequence[Item]], list[Result]],
        items: Sequence[Item],
        number_of: Callable[[Item], int],
        part: str = "",
    ) -> tuple[list[Result], list[Item]]:
        """Do the work of many items at once, and set those aside that raise an error.

        Which these are is found by halves.  Return the results, and these items.  Keys are the
        numbers of the items, with the part.
        """
        end = f"/{part}" if part else ""
        results, failures = isolate(work, items)
        errors = {number_of(item): error for item, error in failures}
        for number, error in errors.items():
            add(self.kind, f"{number}{end}", error)
        self.done(f"{number}{end}" for number in map(number_of, items) if number not in errors)
        return results, [item for item, _ in failures]

    def done(self, keys: Iterable[Key]) -> None:
        """Let those of things that were done not be set aside any more."""
        clear(self.kind, self.numbers.keys() & {str(key) for key in keys})


def _numbers(keys: Iterable[str], part: str) -> set[int]:
    split = (key.partition("/") for key in keys)
    return {int(number) for number, _, which in split if which == part}


def message_key(msgid: str, part: str) -> str:
    """Return the key of a message, for a part of what is done with it.

    >>> message_key("7@example.org", "excerpt")
    '7@example.org/excerpt'
    """
    return f"{msgid[:150]}/{part}"


def of(kind: str) -> Aside:
    """Return what is set aside of a kind: one query.

    What waits for longer than anything does is due: the clock was set back since.
    """
    rows = Row.objects.filter(kind=kind).values_list("key", "pk", "try_again_at", "version")
    now, version = wall_clock(), program_version()
    furthest = now + 2 * int(LONGEST_PAUSE * SECOND)
    numbers: dict[str, int] = {}
    waiting = set()
    for key, number, again, by_version in rows:
        numbers[key] = number
        if now < again <= furthest and by_version == version:
            waiting.add(key)
    return Aside(kind, numbers, frozenset(waiting))


def forget_messages() -> None:
    """Forget which messages something is set aside of: these may be forgotten, others are tried.

    What people say of messages, and what is sent, has numbers as keys.
    """
    named = Row.objects.filter(kind=Row.Kind.MESSAGE).exclude(key__regex=NUMBERED)
    named.delete()


def each(kind: str, works: Mapping[str, Callable[[], object]]) -> None:
    """Do the work of each item that does not wait; one that raises an error is set aside.

    Raise what the surroundings did together, once all have been tried.
    """
    aside, faults = of(kind), []
    for key, work in works.items():
        if aside.waits(key):
            continue
        try:
            with aside.guard(key):
                work()
        except Exception as fault:
            faults.append(fault)
    if faults:
        raise ExceptionGroup("Not done for want of the surroundings", faults) from faults[0]


def add(kind: str, key: Key, error: Exception, reason: str = "") -> Row:
    """Set something aside for an error; return how it stands.

    ``reason`` is a sentence for its owner, with its ``{number}``; by default it says that the site
    is at fault.
    """
    now = wall_clock()
    text = "".join(traceback.format_exception(error))[-LONGEST:].replace("\0", "")
    name = f"{type(error).__module__}.{type(error).__qualname__}"
    with transaction.atomic():
        row, _ = Row.objects.select_for_update().get_or_create(
            kind=kind,
            key=str(key),
            defaults={"first_at": now, "last_at": now, "try_again_at": now},
        )
        row.attempts += 1
        pause = int(pause_after(row.attempts) * SECOND)
        row.reason = (reason or _sentence(error)).replace("{number}", str(row.pk))
        row.error_class, row.traceback, row.version = name[-200:], text, program_version()
        row.last_at, row.try_again_at = now, now + pause
        row.save()
    event(
        "set_aside",
        number=row.pk,
        kind=str(kind),
        key=str(key),
        error=name,
        attempts=row.attempts,
        seconds=pause / SECOND,
    )
    return row


def record(kind: str, key: Key, error: Exception, reason: str = "") -> Row:
    """Set something aside, and return how it stands; raise a fault of the surroundings."""
    if is_of_surroundings(error):
        raise error
    return add(kind, key, error, reason)


def wake(kind: str, rows: QuerySet[Any], part: str = "") -> None:
    """Have rows be due that are set aside, and are to be tried again before their ``due_at``.

    That is what another version has set aside, or the operator has asked for; once.
    """
    early = ~Q(version=program_version()) | Q(try_again_at__lte=F("last_at"))
    woken = {
        number: int(key.partition("/")[0])
        for number, key in Row.objects.filter(early, kind=kind).values_list("pk", "key")
        if key.partition("/")[2] == part
    }
    if woken:
        now = wall_clock()
        rows.filter(pk__in=woken.values(), due_at__gt=now).update(due_at=now)
        again = Row.objects.filter(pk__in=woken)
        again.update(version=program_version(), try_again_at=now)


def _sentence(error: Exception) -> str:
    """Return what the owner of something reads: the error where it is written for people."""
    return TRIED_AGAIN if is_unforeseen(error) else str(getattr(error, "message", TRIED_AGAIN))


def reason_of(kind: str, key: Key) -> str:
    """Return why something is set aside, for its owner; "" if it is not."""
    found = Row.objects.filter(kind=kind, key=str(key)).values_list("reason", flat=True)
    return found.first() or ""


def clear(kind: str, keys: Collection[Key]) -> None:
    """Let things not be set aside any more: they were done, or are gone."""
    if not keys:
        return
    rows = Row.objects.filter(kind=kind, key__in=[str(key) for key in keys])
    gone = list(rows.values_list("pk", "key"))
    for number, key in gone:
        event("set_aside_over", number=number, kind=str(kind), key=key)
    if gone:
        Row.objects.filter(pk__in=[number for number, _ in gone]).delete()


def try_now(number: int | None = None) -> int:
    """Have what has this number, or all that is set aside, tried again at once; return how much."""
    rows = Row.objects.all() if number is None else Row.objects.filter(pk=number)
    return rows.update(try_again_at=F("first_at"))


def prune() -> int:
    """Forget what is gone, and what nobody has met again for long; return how much that is."""
    old = Row.objects.filter(last_at__lt=wall_clock() - FORGOTTEN)
    gone, _ = old.exclude(kind=Row.Kind.FILTER).delete()
    parts = [(kind, model, 0) for kind, model in MODELS.items()]
    parts.append((Row.Kind.FILTER, PendingWindow, 2))
    for kind, model, part in parts:
        keys = {
            key: int(number)
            for key in Row.objects.filter(kind=kind).values_list("key", flat=True)
            if (number := key.partition("/")[part]).isdecimal()
        }
        there = set(by_key(model._default_manager.all(), keys.values(), "pk"))
        missing = [key for key, number in keys.items() if number not in there]
        gone += Row.objects.filter(kind=kind, key__in=missing).delete()[0]
    return gone
