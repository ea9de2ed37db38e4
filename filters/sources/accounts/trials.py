"""Trials: a connection to a server that a person names is tried by the worker, not by a page.

    page ─ begin ─> Trial ─ task on the queue "outbound" ─ run ─> answer or error ─> page that polls

A person has one trial at a time, and few in a minute: a server that does not answer keeps a
thread of the worker, and a trial says something about a host.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils.module_loading import import_string

from filters.people.models import User
from filters.people.requests import key_of
from filters.runs.models import SetAside
from filters.site.work import set_aside
from filters.site.work.crypto.encryption import decrypt, encrypt
from filters.site.work.parts import services
from filters.site.work.queues.queue import send
from filters.sources.models import Trial
from tapestry.core.clock import HOUR, MINUTE, SECOND, wall_clock
from tapestry.core.errors import TapestryError
from tapestry.core.log import event
from tapestry.core.surroundings import is_unforeseen
from tapestry.servers.quoted_reply import storable

PERSON = SetAside.Kind.PERSON

MOST_A_MINUTE = 10

PATIENCE = 10.0
"""Seconds that a server has for each response while somebody waits."""

LIMIT = 20.0
"""Seconds of a connection in a trial, from the socket to its end."""

EXPIRES = 30
"""Seconds after which a worker no longer takes up a trial."""

LONGEST = 90
"""Seconds after which a trial that was taken up counts as lost: a token, a connection, reading."""

NO_WORKER = "The worker does not answer; it may be busy, or not running."

Answer = dict[str, Any]
"""``said``: a sentence; ``url``: the page to go on with; and what that page needs."""

Answerer = Callable[[User, dict[str, Any]], Answer]
"""What answers a question of its owner: the worker finds it by its name."""

Asked = tuple[str, Answerer, dict[str, Any]]
"""The subject of a trial, what answers, and the question."""


def begin(owner: User, subject: str, by: Answerer, question: Answer, **options: Any) -> Trial:
    """Have the worker answer a question, and return the trial; the same one if it is under way.

    ``options`` are those of the task, such as its ``queue``.
    Raise TapestryError if another is under way, there were many of late, or there is no queue.
    """
    from filters.sources.tasks import run_trial  # which imports this

    question = question | {"by": f"{by.__module__}.{by.__qualname__}"}
    now = wall_clock()
    trials = Trial.objects.filter(owner=owner)
    trials.filter(asked_at__lt=now - HOUR).delete()
    _end_lost(owner)
    running = trials.filter(ended_at=None).first()
    if running is not None and (running.subject, _question(running)) == (subject, question):
        return running
    if trials.filter(asked_at__gt=now - MINUTE, asked_at__lte=now).count() >= MOST_A_MINUTE:
        raise TapestryError(
            f"You tried {MOST_A_MINUTE} connections within a minute.", hint="Wait a little."
        )
    encrypted = encrypt(json.dumps(question), services.data())
    try:
        with transaction.atomic():
            trial = trials.create(owner=owner, subject=subject, question=encrypted, asked_at=now)
    except IntegrityError as error:
        raise TapestryError(
            "Another connection is being tried for you.",
            hint=f"Wait until that ends; it takes at most {LONGEST} seconds.",
        ) from error
    if not send(
        run_trial, (trial.pk,), otherwise="a connection is not tried", expires=EXPIRES, **options
    ):
        trial.delete()
        raise TapestryError("The queue (Redis) cannot be reached.", hint="Try again soon.")
    trial.refresh_from_db()
    return trial


def run(key: int) -> None:
    """Answer the question of a trial in the worker; do nothing if it was taken up before."""
    waiting = Trial.objects.filter(pk=key, begun_at=None, ended_at=None)
    if not waiting.update(begun_at=wall_clock()):
        return
    trial = Trial.objects.select_related("owner").get(pk=key)
    found: Answer = {}
    name = f"{trial.owner_id}/trial"
    failure: TapestryError | None = TapestryError("It failed; the worker's log says why.")
    try:
        question = _question(trial)
        found, failure = import_string(question["by"])(trial.owner, question), None
        set_aside.clear(PERSON, [name])
    except Exception as error:
        if isinstance(error, TapestryError) and not is_unforeseen(error):
            failure = error
        else:
            failure = TapestryError(
                set_aside.record(PERSON, name, error, set_aside.ASK_AGAIN).reason
            )
    finally:
        Trial.objects.filter(pk=key, ended_at=None).update(
            question="",
            ended_at=wall_clock(),
            answer=found,
            error=storable(failure.message) if failure else "",
            hint=storable(failure.hint or "") if failure else "",
        )
        event("trial", subject=trial.subject, failed=failure is not None)


def latest(owner: User, subject: str) -> Trial | None:
    """Return the last trial of a subject within ten minutes."""
    _end_lost(owner)
    recent = Trial.objects.filter(owner=owner, asked_at__gt=wall_clock() - 10 * MINUTE)
    return recent.filter(subject=subject).order_by("-pk").first()


def open_one(owner: User, subject: str) -> Trial | None:
    """Return the last trial of a subject within ten minutes, unless it has gone well."""
    trial = latest(owner, subject)
    return trial if trial is not None and (trial.ended_at is None or trial.error) else None


def followed(owner: User, key: int) -> Trial | None:
    """Return a trial of a person as it stands; one that no worker takes up ends here."""
    _end_lost(owner)
    return Trial.objects.filter(owner=owner, pk=key).first()


def named(owner: User, key: str, subject: str) -> Trial | None:
    """Return the trial that an address of a page names, None if it is not about the subject."""
    number = key_of(key)
    trial = None if number is None else followed(owner, number)
    return trial if trial is not None and trial.subject == subject else None


def _end_lost(owner: User) -> None:
    now = wall_clock()
    not_taken = Q(begun_at=None, asked_at__lt=now - EXPIRES * SECOND)
    not_ended = Q(begun_at__lt=now - LONGEST * SECOND)
    lost = Trial.objects.filter(not_taken | not_ended, owner=owner, ended_at=None)
    lost.update(ended_at=now, question="", error=NO_WORKER)


def _question(trial: Trial) -> dict[str, Any]:
    question: dict[str, Any] = json.loads(decrypt(trial.question, services.data()))
    return question
