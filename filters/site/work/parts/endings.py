"""Which parts of a running `up` have ended, as it tells the health page in ``DATA/run``."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Self

from filters.site.work.parts import addresses
from tapestry.core.files.file_lock import is_held

NAME = "endings.json"


@dataclass(frozen=True)
class Ending:
    """A part that is down, or has ended several times in a row, the first time at ``since``."""

    name: str
    log: str
    times: int
    since: int
    is_down: bool

    @classmethod
    def of(cls, content: Mapping[str, Any]) -> Self:
        """Return what another process has written, perhaps one of a version that writes more."""
        return cls(**{field.name: content[field.name] for field in fields(cls)})


def dump(endings: Iterable[Ending]) -> str:
    """Return what `up` writes of them."""
    return json.dumps([asdict(ending) for ending in endings])


def read(run: Path) -> list[Ending]:
    """Return the parts that are not well; none where no `up` runs."""
    text = addresses.written(run, NAME) if is_held(run / addresses.LOCK) else None
    return list(map(Ending.of, json.loads(text or "[]")))
