"""Two people whom a lane of the site serves: the victim of planted faults, and somebody else."""

from __future__ import annotations

from typing import Any

import pytest

from filters.people.models import User
from filters.site.work.parts import services
from tests.support.faults.planted_faults import PlantedError

WORD = "zyzzyva"
"""Stands in all that is the victim's, and in nothing else."""

KEYS = range(7_000_000, 7_001_000)
"""Keys of rows of the victim; those of others are far below, given by the tests too."""


def two_people() -> tuple[User, User]:
    """Return the victim, and somebody else."""
    made = []
    for name in (WORD, "bob"):
        user = User(username=name, email=f"{name}@example.org")
        user.pk = key_for(user, 0)
        User.objects.bulk_create([user])
        made.append(user)
    return made[0], made[1]


def key_for(owner: User, number: int) -> int:
    return number + (KEYS.start if owner.username == WORD else 1_000_000)


def at_once(task: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a task that is sent be run where it is sent."""
    monkeypatch.setattr(task, "apply_async", lambda args, **_: task(*args))


def msgids_of(owner: User) -> list[str]:
    rows = services.tables().open("messages").to_pyarrow_table().to_pylist()
    return sorted(row["msgid"] for row in rows if row["audience"] == f"user:{owner.username}")


def is_planted(error: Exception) -> bool:
    """Tell whether an error is the planted one, or what others make of it as they read mail."""
    is_ours = isinstance(error.__cause__ or error, PlantedError)
    return is_ours or "cannot read its own letter" in str(error)
