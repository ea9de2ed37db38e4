"""An archive of any size for measurements: made in columns, as compaction leaves it.

Messages come one a minute, sixty percent of them replies, most to one of the last few
hundred, some to any older one, all to a message that was visible before; newsgroups follow
Zipf's law.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tapestry.core.clock import MINUTE
from tapestry.core.message import PUBLIC
from tapestry.core.schema import MESSAGES, THREADS
from tapestry.tables.delta.commit import commit
from tapestry.tables.delta.log import Tables
from tapestry.tables.delta.log_check import make_checkpoint
from tapestry.tables.rows import arrow_schema, ordered
from tapestry.tables.write.compact import compact
from tapestry.tables.write.threads import COMPLETE

BEGIN = 1_400_000_000_000_000
REPLIES = 0.6
NEAR = 300
"""Distance of a reply from its parent, in messages, on average."""
FAR = 0.02
"""Share of the replies that go to any earlier message."""

FILE = 400_000
_GROUPS = [
    "comp.databases", "comp.sys.mac", "comp.sys.ibm.pc", "rec.sport.baseball",
    *(f"alt.group{n}" for n in range(196)),
]  # fmt: skip
_WORDS = ["the", "index", "table", "plan", "join", "lock", "page", "log", "key", "row", "sort"]


def fill(tables: Tables, count: int, newest: int) -> None:
    """Write ``count`` messages, the ``newest`` of them in a file of their own, and index them."""
    chance = np.random.default_rng(7)
    cuts = [*range(0, count - newest, FILE), count - newest, count]
    roots: list[int] = []
    for low, high in pairwise(cuts):
        if high > low:
            messages = rows(chance, low, high)
            write(tables, messages)
            _write_facts(tables, messages, roots)
    compact(tables, keep_hours=0)
    # Where there was nothing to merge, too.
    make_checkpoint(tables.root / MESSAGES)


def arrival(number: int) -> int:
    """Return the ``ts`` of a message; twenty share one."""
    return BEGIN + number // 20 * 20 * MINUTE


def msgid(number: int) -> str:
    """Return the Message-ID of a message."""
    return _msgids(np.array([number]))[0].as_py()


def parents(low: int, high: int, count: int) -> list[str]:
    """Return ``count`` random Message-IDs between two messages."""
    chosen = np.random.default_rng(11).integers(low, high, count)
    return _msgids(chosen).to_pylist()


def _msgids(numbers: np.ndarray[Any, Any]) -> Any:
    marks = pa.array(numbers * 2654435761 % 2**32).cast(pa.string())
    named = pa.array(numbers).cast(pa.string())
    return pc.binary_join_element_wise(marks, named, pa.scalar("@mail.bench.example"), ".")


def rows(chance: np.random.Generator, low: int, high: int) -> Any:
    """Return messages by their numbers as an Arrow table, public and in the order of arrival."""
    numbers = np.arange(low, high)
    size = len(numbers)
    back = chance.geometric(1 / NEAR, size)
    far = chance.random(size) < FAR
    parent = np.where(far, (chance.random(size) * numbers).astype(np.int64), numbers - back)
    is_reply = (chance.random(size) < REPLIES) & (parent >= 0) & (parent < numbers // 20 * 20)
    above = _msgids(np.maximum(parent, 0)).to_numpy(zero_copy_only=False)
    inreplyto = pa.array(above, mask=~is_reply, type=pa.string())
    groups = np.minimum(chance.zipf(1.3, size) - 1, len(_GROUPS) - 1)
    people = chance.integers(0, 20_000, size).astype("U6")
    ts = BEGIN + numbers // 20 * 20 * MINUTE
    offsets = pa.array(np.arange(size + 1, dtype=np.int32))
    empty = pa.ListArray.from_arrays(pa.array(np.zeros(size + 1, dtype=np.int32)), _text([]))
    words = chance.integers(0, len(_WORDS), (size, 4))
    subject = _text([" ".join(_WORDS[n] for n in row) for row in words])
    columns = {
        "msgid": _msgids(numbers),
        "ts": pa.array(ts),
        "received": pa.array(ts - MINUTE // 2),
        "date": pa.array(ts - MINUTE),
        "sender": _text([f"p{n}@example.org" for n in people]),
        "sender_name": _text([f"Person {n}" for n in people]),
        "to": empty,
        "to_names": empty,
        "cc": empty,
        "cc_names": empty,
        "subject": subject,
        "newsgroups": pa.ListArray.from_arrays(offsets, _text([_GROUPS[n] for n in groups])),
        "list": pa.nulls(size, pa.string()),
        "inreplyto": inreplyto,
        "references": empty,
        "body": subject,
        "size": pa.array(chance.integers(500, 9000, size)),
        "attachments": pa.array(np.zeros(size, dtype=np.int64)),
        "filenames": empty,
        "media_types": empty,
        "diff_paths": empty,
        "patch": pa.nulls(size, pa.int64()),
        "questions": pa.nulls(size, pa.int64()),
        "automatic": pa.nulls(size, pa.string()),
        "event": pa.nulls(size, pa.string()),
        "method": pa.nulls(size, pa.string()),
        "source": _text(["bench"] * size),
        "audience": _text([PUBLIC] * size),
    }
    return pa.table(columns, schema=arrow_schema(MESSAGES))


def _text(values: list[str]) -> Any:
    return pa.array(values, type=pa.string())


def write(tables: Tables, rows: Any) -> None:
    """Write messages as one file of the table, without an index."""
    commit(tables, MESSAGES, rows, {}, {})


def _write_facts(tables: Tables, messages: Any, roots: list[int]) -> None:
    """Write the facts about threads that follow; ``roots``, by number, are those before and after.

    A reply without References to what was visible before belongs to its parent's thread alone.
    """
    low = len(roots)
    above = pc.extract_regex(messages["inreplyto"], r"\.(?P<number>\d+)\.@")
    for parent in pc.struct_field(above, "number").cast(pa.int64()).to_pylist():
        roots.append(len(roots) if parent is None else roots[parent])
    columns = {
        "msgid": messages["msgid"],
        "ts": messages["ts"],
        "root": _msgids(np.array(roots[low:])),
        "audience": messages["audience"],
    }
    facts = ordered(THREADS, pa.table(columns, schema=arrow_schema(THREADS)))
    commit(tables, THREADS, facts, {COMPLETE: messages["ts"][-1].as_py()}, {})
