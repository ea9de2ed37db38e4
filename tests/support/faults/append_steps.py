"""Do something as soon as an append has done one of its steps: die there, for instance.

The steps are those at which a crash leaves a different state: the clock is locked, the new rows
are known (read), the originals are committed (kept), the rows are committed, the clock is
advanced.  The first and the last are steps of the clock, the others functions of the module.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from unittest.mock import patch

from tapestry.tables.write import append

STEPS = ("locked", "read", "kept", "committed", "advanced")

_FUNCTIONS = {"read": "new_keys", "kept": "_commit_originals", "committed": "_commit_rows"}


@contextmanager
def acting_after(step: str | None, act: Callable[[], None], clock) -> Iterator[object]:
    """Yield the clock to append with: in this context ``act`` is called after ``step``."""
    assert step is None or step in STEPS
    name = _FUNCTIONS.get(step)
    with patch.object(append, name, _then(getattr(append, name), act)) if name else nullcontext():
        yield _Clock(clock, step, act) if step in ("locked", "advanced") else clock


def _then(function, act):
    def wrapped(*args):
        result = function(*args)
        act()
        return result

    return wrapped


class _Clock:
    def __init__(self, clock, step, act):
        self.clock, self.step, self.act = clock, step, act

    @contextmanager
    def lock(self):
        with self.clock.lock() as locked:
            if self.step == "locked":
                self.act()
            yield _Locked(locked, self.act if self.step == "advanced" else lambda: None)


class _Locked:
    def __init__(self, locked, act):
        self.locked, self.act = locked, act

    @property
    def last(self):
        return self.locked.last

    def confirm(self):
        self.locked.confirm()

    def advance(self, to):
        self.locked.advance(to)
        self.act()
