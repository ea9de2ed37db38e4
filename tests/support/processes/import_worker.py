"""A worker that reads files of filters and creates them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass
class Worker:
    """A queue of tasks: they run where they are asked for, or when the test says so."""

    is_busy: bool = False
    queue: list[tuple[Any, Any, str]] = field(default_factory=list)

    def take(self, task: Any, arguments: Any, task_id: str) -> None:
        self.queue.append((task, arguments, task_id))
        if not self.is_busy:
            self.work()

    def work(self) -> None:
        while self.queue:
            task, arguments, task_id = self.queue.pop(0)
            task.apply(arguments, task_id=task_id)
