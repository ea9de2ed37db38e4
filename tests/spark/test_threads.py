"""The thread page and ``starting a thread`` agree, whatever mail claims to answer."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from support.clocks import MemoryClock
from support.sqlite_engine import SqliteEngine

from tapestry.core.message import Message
from tapestry.ingest.mime.parse import parse
from tapestry.query.context import Context
from tapestry.run.ask import ask
from tapestry.tables.append import append_messages
from tapestry.tables.log import Tables
from tapestry.tables.thread import thread

SEEN = ("public",)
NAMES = [f"m{n}" for n in range(6)]


def starting(tables):
    rows = tables.open("messages").to_pyarrow_table().to_pylist()
    answer = ask(
        lambda _snapshot: SqliteEngine({"messages": rows}),
        tables, "starting a thread", Context(), SEEN, 2**60,
    )  # fmt: skip
    return {card.msgid for card in answer.cards}


@settings(max_examples=25, deadline=None)
@given(
    parents=st.lists(st.sampled_from([*NAMES, "missing", None]), min_size=6, max_size=6),
    order=st.permutations(range(6)),
    private=st.sets(st.integers(0, 5), max_size=2),
)
def test_each_message_stands_in_one_thread_and_starts_it_if_it_answers_nothing(
    tmp_path_factory, parents, order, private
):
    """Replies before their parents, missing and private parents, and loops among them."""
    tables, clock = Tables(tmp_path_factory.mktemp("threads")), MemoryClock()
    for n in order:
        audience = "user:joe" if n in private else "public"
        append_messages(tables, clock, [Message(NAMES[n], inreplyto=parents[n], audience=audience)])
    started = starting(tables)
    for n in set(range(6)) - private:
        entries = thread(tables, NAMES[n], SEEN)
        shown = [entry.card.msgid for entry in entries]
        assert shown.count(NAMES[n]) == 1
        assert len(set(shown)) == len(shown)
        assert not {NAMES[hidden] for hidden in private} & set(shown)
        assert (entries[0].parent is None) == (shown[0] in started)
        assert all(entry.parent is not None for entry in entries[1:])
        assert (NAMES[n] in started) == (shown[0] == NAMES[n] and parents[n] is None)


def test_what_answers_itself_starts_a_thread():
    raw = b"Message-ID: <a@x>\nIn-Reply-To: <a@x>\nReferences: <b@x> <a@x>\n\nhi"
    assert parse(raw).message.inreplyto == "b@x"
    assert parse(raw.replace(b"<b@x> ", b"")).message.inreplyto is None
