"""Two data directories for a reader: one has many rows of others too, which the reader cannot see.

Hidden rows lie among the visible ones in time and in the files.  Some are private replies to what
is visible, some private copies of it under the same Message-ID.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.auth.models import Group
from django.contrib.sessions.backends.db import SessionStore
from django.db import connection

from filters.authoring.models import Filter
from filters.delivery.models import Destination, Feed
from filters.inbox.models import Card, Match
from filters.people.models import User
from filters.sources.models import Source
from tapestry.core.message import Annotation
from tapestry.core.schema import ANNOTATIONS, MESSAGES
from tapestry.tables.delta.log import Tables
from tapestry.tables.keys.hash_runs import extend_index
from tapestry.tables.write.compact import compact
from tests.bench.support import mail
from tests.bench.support.votes import append_dated

OTHERS = 500
"""People whose mail is hidden; all share a group."""

LISTED = 500
"""Matches of the reader, at most; of the others together there are one to ten hidden rows."""

FEED = "of-the-reader"


def make(base: Path, visible: int, hidden: int) -> dict[str, Path]:
    """Make both data directories below ``base``, which has an empty database of SQLite.

    Return them by name: ``without`` and ``with``.
    """
    worlds = {}
    database = base / "db.sqlite3"
    connection.close()
    shutil.copy(database, base / "empty.sqlite3")
    for name, rows in (("without", 0), ("with", hidden)):
        data = worlds[name] = base / name
        data.mkdir(mode=0o700)
        connection.close()
        shutil.copy(base / "empty.sqlite3", database)
        _fill_tables(Tables(data / "tables"), visible, rows)
        _fill_database(visible, rows)
        connection.close()
        shutil.copy(database, data / "db.sqlite3")
    return worlds


def _fill_tables(tables: Tables, visible: int, hidden: int) -> None:
    rows = mail.rows(np.random.default_rng(7), 0, visible)
    if hidden:
        rows = pa.concat_tables([rows, _hidden(rows, hidden)]).sort_by("ts")
    for low in range(0, rows.num_rows, mail.FILE):
        mail.write(tables, rows.slice(low, mail.FILE))
    said = [_annotation(n, visible, "public") for n in range(visible // 10)]
    said += [_annotation(n, visible, f"user:p{n % OTHERS}") for n in range(hidden // 10)]
    first = mail.arrival(visible)
    append_dated(tables, ANNOTATIONS, said, [first + n for n in range(len(said))])
    compact(tables, keep_hours=0)
    for table in (MESSAGES, ANNOTATIONS):
        extend_index(tables, table)


def _hidden(shown: Any, count: int) -> Any:
    """Return rows of others: replies to shown rows, copies of them, and mail of their own."""
    chance = np.random.default_rng(11)
    rows = mail.rows(chance, 0, count)
    numbers = np.arange(count)
    beside = chance.integers(0, shown.num_rows, count)
    beside = np.sort(beside)  # as old as what they are beside
    msgids = shown["msgid"].combine_chunks().take(pa.array(beside))
    own = pa.array(np.char.add(np.char.add("h", numbers.astype("U9")), "@hidden.example"))
    is_copy, is_reply = numbers % 20 == 0, numbers % 5 == 1
    people = np.char.add("user:p", (numbers % OTHERS).astype("U4"))
    audience = np.where(numbers % 3 == 0, "group:hidden", people)
    changed = {
        "msgid": pc.if_else(pa.array(is_copy), msgids, own),
        "inreplyto": pc.if_else(pa.array(is_reply), msgids, rows["inreplyto"]),
        "audience": pa.array(audience.tolist(), type=pa.string()),
        **{name: shown[name].take(pa.array(beside)) for name in ("ts", "received", "date")},
    }
    for name, column in changed.items():
        rows = rows.set_column(rows.schema.get_field_index(name), rows.schema.field(name), column)
    return rows


def _annotation(number: int, visible: int, audience: str) -> Annotation:
    owner = audience.removeprefix("user:") if audience != "public" else f"v{number % 50}"
    kind, value = [("vote", None), ("tag", f"hot{number % 100}")][number % 2]
    on = mail.msgid(number * 7919 % visible)
    return Annotation(f"{audience}-{number}", on, owner, kind, value, 1.0, audience)


def _fill_database(visible: int, hidden: int) -> None:
    """Store the reader and, in between, people whose filters, matches and sources are hidden."""
    half = OTHERS // 2 if hidden else 0
    others = [User(username=f"p{n}", email=f"p{n}@x.example") for n in range(2 * half)]
    User.objects.bulk_create(others[:half])
    reader = User.objects.create_user("reader", "reader@x.example")
    User.objects.bulk_create(others[half:])
    group = Group.objects.create(name="hidden")
    people = list(User.objects.exclude(pk=reader.pk))
    group.user_set.add(*people)
    filters = Filter.objects.bulk_create(
        Filter(owner=user, name="plans", text="about plan", phrase="about plan", enrolled=True)
        for user in [*people[:half], reader, *people[half:]]
    )
    mine = next(filter_ for filter_ in filters if filter_.owner_id == reader.pk)
    Feed.objects.create(owner=reader, token=FEED)
    theirs = [filter_ for filter_ in filters if filter_ is not mine]
    each = hidden // 10 // max(len(theirs), 1)
    step = max(visible // LISTED, 1)
    shown = _cards([mail.msgid(n) for n in range(0, visible, step)], "public")
    _match([mine], shown)
    if theirs:
        _match(theirs, _cards([f"h{n}@hidden.example" for n in range(each)], "group:hidden"))
        Source.objects.bulk_create(
            Source(owner=user, kind="imap", host="x", port=993, audience=f"user:{user}")
            for user in people
        )
        Destination.objects.bulk_create(
            Destination(owner=user, kind="webhook", name="hook") for user in people
        )


def _cards(msgids: list[str], audience: str) -> list[Card]:
    made = (
        Card(msgid=msgid, audience=audience, ts=place, received=place, subject="plan", root=msgid)
        for place, msgid in enumerate(msgids, mail.BEGIN)
    )
    return Card.objects.bulk_create(made, batch_size=500)


def _match(filters: list[Filter], cards: list[Card]) -> None:
    rows = (
        Match(
            filter=filter_, card=card, msgid=card.msgid, audience=card.audience, shown_at=1,
            sequence=position, matched_at=card.ts, stored_at=card.ts, refreshed_at=card.ts,
        )
        for filter_ in filters
        for position, card in enumerate(cards, 1)
    )  # fmt: skip
    Match.objects.bulk_create(rows, batch_size=500)


def sign_in(base: Path, worlds: dict[str, Path]) -> dict[str, str]:
    """Store a session of the reader in each world; return their keys."""
    keys = {}
    for name, data in worlds.items():
        connection.close()
        shutil.copy(data / "db.sqlite3", base / "db.sqlite3")
        reader = User.objects.get(username="reader")
        session = SessionStore()
        session[SESSION_KEY] = str(reader.pk)
        session[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
        session[HASH_SESSION_KEY] = reader.get_session_auth_hash()
        session.create()
        keys[name] = session.session_key or ""
        connection.close()
        shutil.copy(base / "db.sqlite3", data / "db.sqlite3")
        shutil.copy(base / "secret.key", data)
    return keys
