"""The queue of tasks: a list, from which the schedule draws; and what the clock asks for."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

SECOND = 1_000_000

BEATS = (
    *("filters.tick", "filters.own_windows", "filters.unproven_windows", "filters.deliver_due"),
    *("filters.appraise", "filters.send_outbox", "filters.pull_due", "filters.append_annotations"),
    *("filters.act_in_mailboxes", "filters.bring_back"),
)
"""What the clock asks for again and again; append_annotations is asked for by pages alone."""


@dataclass(frozen=True, slots=True)
class Task:
    """A task that was sent: it runs from ``due`` on, and not after ``expires``."""

    name: str
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(default_factory=dict)
    due: int = 0
    expires: int | None = None
    task_id: str | None = None


class Queue:
    """Tasks that wait, in the order in which they were sent."""

    def __init__(self) -> None:
        self.tasks: list[Task] = []

    def add(self, sent: dict[str, Any], now: int) -> None:
        """Take a task that the site has sent."""
        expires = sent.get("expires")
        self.tasks.append(
            Task(
                sent["name"],
                tuple(sent["args"]),
                sent["kwargs"],
                now + int(sent.get("countdown", 0) * SECOND),
                None if expires is None else now + int(float(expires) * SECOND),
                sent.get("task_id"),
            )
        )

    def take(self, now: int, lots: random.Random | None = None) -> Task | None:
        """Return a task that is due, and has not expired; the first one, or any by lot."""
        self.tasks = [task for task in self.tasks if task.expires is None or task.expires >= now]
        due = [task for task in self.tasks if task.due <= now]
        if not due:
            return None
        task = due[0] if lots is None else lots.choice(due)
        self.tasks.remove(task)
        return task

    def lose(self) -> int:
        """Lose all that waits, and return how much that was."""
        lost, self.tasks = len(self.tasks), []
        return lost
