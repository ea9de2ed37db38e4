"""One row before decides what all rows before do, for whoever sees a row that asks."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import combinations

import pyarrow.compute as pc
import pytest

from tapestry.core.message import PUBLIC, Message
from tapestry.tables.delta.log import Tables, snapshot
from tapestry.tables.keys.hash_runs import extend_index
from tapestry.tables.read.find import by_time
from tapestry.tables.read.one_before import one_before
from tapestry.tables.write.append import append_messages
from tests.support.clocks import MemoryClock

AUDIENCES = (PUBLIC, "user:ann", "group:staff")
NAMES = ("msgid", "sender", "audience", "ts", "received")
READERS = [(PUBLIC, *more) for size in (0, 1, 2) for more in combinations(AUDIENCES[1:], size)]
SEEN_WITH = {name: {*AUDIENCES} for name in AUDIENCES[1:]}


def mail(root, audiences, indexed):
    """Return a snapshot of 400 messages of 12 senders, of which the first are indexed."""
    tables, clock, chance = Tables(root), MemoryClock(), random.Random(7)
    for n in range(0, 400, 8):
        some = [
            Message(
                f"m{m}",
                sender=f"s{chance.randrange(12)}" if chance.random() < 0.95 else None,
                audience=chance.choice(audiences),
                received=chance.randrange(n + 1),
            )
            for m in range(n, n + 8)
        ]
        append_messages(tables, clock, some, now=lambda n=n: n + 8)
        if n == indexed:
            extend_index(tables, "messages")
    return snapshot(tables)


def rows_of(made, slices):
    return by_time(made.data_files("messages"), "messages", slices, NAMES)


def found(made, asking, before, seen_with=SEEN_WITH):
    files = made.data_files("messages")
    asked = asking.select(["sender", "audience", *before])
    return one_before(files, made.root, "messages", "sender", asked, NAMES, seen_with)


def is_any_before(row, rows, before, readers):
    return any(
        other["sender"] == row["sender"]
        and other["audience"] in readers
        and all(other[name] < row[name] for name in before)
        for other in rows
    )


@pytest.fixture(scope="module", params=[8, 200, 392])
def of_many(request, tmp_path_factory):
    return mail(tmp_path_factory.mktemp("mail"), AUDIENCES, request.param)


@pytest.mark.parametrize("before", [("ts",), ("received",), ("received", "ts")])
@pytest.mark.parametrize("seen_with", [SEEN_WITH, {}], ids=["seen with", "not known"])
def test_one_row_before_decides_what_all_do(of_many, before, seen_with):
    made = of_many
    everything = rows_of(made, [(-1, 10**9)]).to_pylist()
    truths = set()
    for low, high in [(392, 500), (192, 216), (40, 400), (0, 16)]:
        asking = rows_of(made, [(low, high)])
        few = found(made, asking, before, seen_with).to_pylist()
        for row in asking.to_pylist():
            for readers in READERS:
                if row["audience"] in readers and row["sender"] is not None:
                    truth = is_any_before(row, everything, before, readers)
                    assert is_any_before(row, few, before, readers) == truth
                    truths.add(truth)
    assert truths == {True, False}


@pytest.mark.parametrize("audiences", [(PUBLIC,), ("user:ann",)])
def test_of_a_sender_of_whom_much_came_little_is_read(tmp_path, audiences):
    made = mail(tmp_path, audiences, indexed=392)
    asking = rows_of(made, [(392, 500)])
    senders = set(asking["sender"].to_pylist()) - {None}
    everything = rows_of(made, [(-1, 10**9)])
    theirs = sum(sender in senders for sender in everything["sender"].to_pylist())
    assert len(senders) <= found(made, asking, ("ts",)).num_rows < theirs / 4


def test_of_a_sender_who_is_new_to_whom_a_row_is_for_nothing_of_others_is_read(tmp_path):
    tables, clock = Tables(tmp_path), MemoryClock()
    news = [Message(f"n{n}", sender="news", audience="user:bob") for n in range(50)]
    append_messages(tables, clock, news, now=lambda: 5)
    append_messages(
        tables, clock, [replace(news[0], msgid="a", audience="user:ann")], now=lambda: 9
    )
    extend_index(tables, "messages")
    made = snapshot(tables)
    rows = found(made, rows_of(made, [(8, 20)]), ("ts",), {"user:ann": {PUBLIC, "user:ann"}})
    assert rows["msgid"].to_pylist() == ["a"]


def test_who_asks_for_no_key_finds_nothing(of_many):
    asking = rows_of(of_many, [(40, 400)])
    nameless = asking.filter(pc.is_null(asking["sender"]))
    assert nameless.num_rows > 0
    assert found(of_many, nameless.slice(0, 0), ("ts",)).num_rows == 0
    assert found(of_many, nameless, ("ts",)).num_rows == 0
