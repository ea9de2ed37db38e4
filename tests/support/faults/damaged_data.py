"""A small data directory with a file of every kind, and damage to one of them."""

from __future__ import annotations

import random
from pathlib import Path

from tapestry.core.message import Annotation, Message
from tapestry.plan.predicate_keys import PredicateKey
from tapestry.predicate_index import files as index_files
from tapestry.predicate_index import store as index_store
from tapestry.predicate_index.groups import EvaluationGroup, Member
from tapestry.predicate_index.store import PredicateIndex
from tapestry.tables.delta import log_check, log_state, parquet_file
from tapestry.tables.delta.log import Tables
from tapestry.tables.forget import forget as removal
from tapestry.tables.keys import hash_runs, runs
from tapestry.tables.keys.tombstones import add_tombstones
from tapestry.tables.read import file_facts, find
from tapestry.tables.read.originals import Original
from tapestry.tables.write.append import Cursor, append_annotations, append_messages
from tapestry.tables.write.compact import compact
from tapestry.tables.write.staging import Staging
from tests.support.clocks import MemoryClock

MESSAGES, BATCH = 24, 4
"""How many messages there are, and in each batch: the first half is merged into one file."""


def message(n: int) -> Message:
    parent = f"m{n // 2}" if n else None
    return Message(f"m{n}", inreplyto=parent, subject=f"about {n}", body=f"text {n} " * 9)


def append(tables: Tables, begin: int, end: int) -> int:
    """Append messages as their source would; return how many were new."""
    numbers = range(begin, end)
    return append_messages(
        tables,
        MemoryClock(),
        [message(n) for n in numbers],
        Cursor("box", end),
        originals=[Original(f"bytes of {n}".encode()) for n in numbers],
    ).added


def build(root: Path) -> Tables:
    """Make the tables, indexes, tombstones, half a removal, a staged import, a predicate index."""
    tables = Tables(root)
    for begin in range(0, MESSAGES, BATCH):
        append(tables, begin, begin + BATCH)
        votes = [Annotation(f"a{begin}", f"m{begin}", "joe", "vote", None, 1.0)]
        append_annotations(tables, MemoryClock(), votes)
        if begin == MESSAGES // 2:
            compact(tables)
    for table in ("messages", "annotations"):
        hash_runs.extend_index(tables, table)
    add_tombstones(root, "user:joe", ["gone1", "gone2"])
    removal._store_keys(removal._untold(root, "user:joe"), ["gone1"])
    with Staging.opened(tables, "archive", "public") as staging:
        staging.add([Message("staged")], [Original(b"staged")], Cursor("archive", 1))
    member = Member(1, 0, 0, EvaluationGroup("signature", "[]", ("public",)))
    entry = member, PredicateKey("messages is subject", 0, "lunch")
    index = PredicateIndex(root)
    index.add([entry], {"signature": "about lunch"})
    index.add([entry], {})
    forget_what_is_known()
    return tables


def files(root: Path) -> list[Path]:
    """Return all files that hold anything, in order."""
    paths = (path for path in root.rglob("*") if path.is_file() and path.suffix != ".lock")
    return sorted(path for path in paths if path.stat().st_size)


def strike(path: Path, chance: random.Random) -> str:
    """Damage a file in a way by chance; return which."""
    content = bytearray(path.read_bytes())
    way = chance.choice(("flipped", "flipped", "cut", "emptied"))
    place = chance.randrange(len(content))
    if way == "flipped":
        content[place] ^= 1 << chance.randrange(8)
    else:
        del content[0 if way == "emptied" else place :]
    path.write_bytes(content)
    return f"{way} at {place}"


def forget_what_is_known() -> None:
    """Let the next look at a file be that of a new process."""
    for cached in (
        log_state.log_state,
        log_check._check_entry,
        parquet_file.parquet_footer,
        file_facts.facts_of,
        find._kept,
        runs._opened,
        index_files._verify,
        index_store._texts,
        index_store._offsets,
    ):
        cached.cache_clear()
