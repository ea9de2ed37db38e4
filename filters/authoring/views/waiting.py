"""A page that waits for the worker: it polls for one task's answer until that is there.

    first visit ─> of_question, else start ─> "Looking…" ─ poll ?task=…&turn=… ─> of_task

One task of a person runs at a time.  A page whose task was displaced by that of another tab waits
until that one has ended, and then begins again: two tabs do not displace each other's tasks.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

from filters.authoring.results import previews
from filters.people.requests import PersonRequest
from filters.site.work.queues.answers import Answer, Answers

PATIENCE = 60
"""Times that a page asks for an answer, a second apart, before it gives up."""

TOO_LONG = "This is taking too long. Try again in a minute."


@dataclass(frozen=True, slots=True)
class Wait:
    """What a page shows: the answer, why there is none, or that it asks ``task`` again."""

    answer: Answer | None = None
    error: str = ""
    task: str = ""
    turn: int = 1

    @property
    def is_waiting(self) -> bool:
        return self.answer is None and not self.error


def turn_of(request: PersonRequest) -> int:
    """Return how often a page has asked, 1 if it does not say so in figures."""
    given = request.GET.get("turn", "")
    return int(given) if re.fullmatch("[0-9]{1,6}", given) else 1


def wait_for(
    request: PersonRequest, answers: Answers, question: str, start: Callable[[], str]
) -> Wait:
    """Return the answer to a question, kept of late or by the task that the page polls.

    ``start`` sends the task of the question, and returns its id.
    """
    user, task = request.user, _task_of(request)
    if task is None:
        kept = answers.of_question(question, user.pk)
        if kept is not None and not previews.refusal(kept, user):
            return Wait(kept)
        return _shown(request, answers, start())
    is_under_way = answers.is_under_way(user.pk)  # asked first: the task may end meanwhile
    wait = _shown(request, answers, task)
    if wait.is_waiting and not is_under_way:
        return Wait(task=start(), turn=wait.turn)
    return wait


def _shown(request: PersonRequest, answers: Answers, task: str) -> Wait:
    turn = turn_of(request)
    answer = answers.of_task(task, request.user.pk)
    if answer is None:
        return Wait(task=task, turn=turn + 1, error=TOO_LONG if turn >= PATIENCE else "")
    error = previews.refusal(answer, request.user)
    return Wait(error=error) if error else Wait(answer)


def _task_of(request: PersonRequest) -> str | None:
    try:
        return str(UUID(request.GET.get("task", "")))
    except ValueError:
        return None
