"""Deduplication: which rows are new to the tables, and the keys under which they are stored.

    Message-ID and audience unknown           ─> new, its key is its Message-ID
    known, with the same content              ─> a duplicate: left out
    known, with other content                 ─> new, its key has the content's hash (identity)
    removed for its age (a tombstone)         ─> left out

So a forged message takes the place of no other: both are there.  Contents are compared only where
a Message-ID repeats: the cost follows these.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from tapestry.core.schema import ANNOTATIONS, MESSAGES
from tapestry.identity.content import content_hash, copy_key, is_copy, message_id_of
from tapestry.identity.other_parts import other_parts
from tapestry.tables.delta.data_files import DataFile, DataFiles
from tapestry.tables.keys.tombstones import find_tombstones
from tapestry.tables.read.find import by_key
from tapestry.tables.read.originals import raws_of

Key = tuple[str, str]
"""A Message-ID, or the key of a message whose Message-ID another has, and an audience."""

Keys = Sequence[str | None]
"""The key under which each row is to be stored; None if it is known."""

_Content = tuple[str | None, str | None, str | None, str]
"""Sender, subject and body, and the hash of the other parts."""

_COMPARED = ("sender", "subject", "body")
_AT_ONCE = 500
"""Stored messages that are read at once to compare them: their bodies are in memory."""


def new_keys(
    data_files: DataFiles,
    table: str,
    rows: pa.Table,
    root: Path,
    originals: pa.Table | None = None,
    stored_originals: Iterable[DataFile] = (),
) -> Keys:
    """Return the keys of the rows that are neither in the files nor earlier in ``rows``.

    Keys are looked up in the index at ``root``; only rows newer than the index are scanned.
    ``originals`` are those of the rows, ``stored_originals`` the files of those of the tables.
    """
    if table == MESSAGES:
        return Deduplicator(data_files, root, stored_originals).new_keys(rows, originals)
    annids = rows["annid"].to_pylist()
    seen = set(
        by_key(data_files, root, ANNOTATIONS, "annid", set(annids), ["annid"])["annid"].to_pylist()
    )
    keys = []
    for annid in annids:
        keys.append(None if annid in seen else annid)
        seen.add(annid)
    return keys


def with_keys(rows: pa.Table, keys: Keys) -> pa.Table:
    """Return the new ones of the rows of a table, each under its key: its first column.

    >>> with_keys(pa.table({"msgid": ["a", "b"]}), [None, "b copy:…"])["msgid"].to_pylist()
    ['b copy:…']
    """
    new = rows.filter(pa.array([key is not None for key in keys], pa.bool_()))
    named = pa.array([key for key in keys if key is not None], pa.string())
    return new.set_column(0, rows.schema.field(0), named)


class Deduplicator:
    """Deduplicates the batches of an append or an import against the tables and each other.

    ``originals`` are the files of the originals of the tables: other parts are read from them.
    ``repeated`` are the Message-IDs that come in more than one batch, each with its audience: the
    contents of other messages are not kept from one batch to the next.
    """

    def __init__(
        self,
        data_files: DataFiles,
        root: Path,
        originals: Iterable[DataFile] = (),
        repeated: Collection[Key] = frozenset(),
    ) -> None:
        self._data_files = data_files
        self._originals = originals
        self._root = root
        self._repeated = repeated
        self._first: dict[Key, _Content] = {}
        self._copies: set[Key] = set()

    def new_keys(self, rows: pa.Table, originals: pa.Table | None = None) -> Keys:
        """Return the keys of the rows that are new to the tables and to earlier batches."""
        messages = _pairs(rows)
        stored = set(_pairs(self._find({msgid for msgid, _ in messages}, (), copies=True)))
        removed = self._removed(messages)
        known = {(message_id_of(msgid), audience) for msgid, audience in stored}
        counts = Counter(messages)
        repeated = {
            message
            for message, count in counts.items()
            if count > 1 or message in known or message in self._repeated
        } - removed
        numbers = [n for n, message in enumerate(messages) if message in repeated]
        raws = {} if originals is None else {n: originals["raw"][n].as_py() for n in numbers}
        contents = _contents(rows, numbers, raws)
        self._read_first(repeated & stored)
        self._copies.update(message for message in stored if is_copy(message[0]))
        keys: list[str | None] = []
        for number, message in enumerate(messages):
            if message in removed:
                keys.append(None)
            elif message in repeated:
                keys.append(self._key(message, contents[number]))
            else:
                keys.append(message[0])
        return keys

    def _key(self, message: Key, content: _Content) -> str | None:
        """Return the key of a message whose Message-ID is repeated, None if it is known."""
        first = self._first.get(message)
        if first == content:
            return None
        msgid, audience = message
        hash_of_content = content_hash(*content)
        copy = copy_key(msgid, hash_of_content), audience
        if copy in self._copies:
            return None
        if first is None:
            self._first[message] = content
            return msgid
        if content_hash(*first) == hash_of_content or self._removed([copy]):
            return None
        self._copies.add(copy)
        return copy[0]

    def _removed(self, messages: Iterable[Key]) -> set[Key]:
        """Return those of the messages that were removed for their age."""
        by_audience = groupby(sorted(messages, key=itemgetter(1)), key=itemgetter(1))
        return {
            (msgid, audience)
            for audience, group in by_audience
            for msgid in find_tombstones(self._root, audience, {msgid for msgid, _ in group})
        }

    def _read_first(self, messages: Collection[Key]) -> None:
        """Read the contents of stored messages whose Message-IDs have come again."""
        msgids = sorted({msgid for msgid, _ in messages})
        for begin in range(0, len(msgids), _AT_ONCE):
            rows = self._find(set(msgids[begin : begin + _AT_ONCE]), ("ts", *_COMPARED))
            pairs = _pairs(rows)
            numbers = {
                (*message, ts): number
                for number, (message, ts) in enumerate(
                    zip(pairs, rows["ts"].to_pylist(), strict=True)
                )
                if message in messages
            }
            contents = _contents(rows, list(numbers.values()), {})
            for place, raw in raws_of(self._originals, numbers):
                sender, subject, body, _ = contents[numbers[place]]
                contents[numbers[place]] = sender, subject, body, other_parts(raw, body)
            self._first |= {pairs[number]: content for number, content in contents.items()}

    def _find(self, msgids: set[str], columns: Sequence[str], *, copies: bool = False) -> pa.Table:
        names = ("msgid", "audience", *columns)
        return by_key(
            self._data_files, self._root, MESSAGES, "msgid", msgids, names, with_copies=copies
        )


def repeated_among(batches: Iterable[pa.Table]) -> frozenset[Key]:
    """Return what comes more than once in batches with columns ``msgid`` and ``audience``."""
    counts = Counter(message for batch in batches for message in _pairs(batch))
    return frozenset(message for message, count in counts.items() if count > 1)


def _pairs(rows: pa.Table) -> list[Key]:
    columns = (rows[name].to_pylist() for name in ("msgid", "audience"))
    return list(zip(*columns, strict=True))


def _contents(
    rows: pa.Table, numbers: Sequence[int], raws: Mapping[int, bytes]
) -> dict[int, _Content]:
    """Return what is compared of the rows with these numbers, and of their originals."""
    if not numbers:
        return {}
    chosen = rows.select(_COMPARED).take(pa.array(numbers, pa.int64()))
    columns = (pc.cast(chosen[name], pa.string()).to_pylist() for name in _COMPARED)
    return {
        number: (sender, subject, body, other_parts(raws.get(number) or b"", body))
        for number, sender, subject, body in zip(numbers, *columns, strict=True)
    }
