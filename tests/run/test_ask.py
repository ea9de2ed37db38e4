"""What is asked once: newest first, by when it came here or by when it was received."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tapestry.core.message import Message
from tapestry.query.context import Context
from tapestry.run.ask import Instants, Question, ask, find_instants
from tapestry.tables.delta.log import Tables
from tapestry.tables.write.append import append_messages
from tests.support.clocks import MemoryClock
from tests.support.engines.sqlite_engine import engine_of

QUESTION = Question("m.size IS NULL", Context(), ("public",), 300)


@pytest.fixture
def tables(tmp_path: Path) -> Tables:
    tables, clock = Tables(tmp_path), MemoryClock()
    for at, received in ((100, {"a": 7, "b": 9, "c": 3}), (200, {"d": 1, "e": 2})):
        mail = [Message(name, received=instant) for name, instant in received.items()]
        append_messages(tables, clock, mail, now=lambda at=at: at)
    return tables


@pytest.mark.parametrize("so_far", [False, True])
@pytest.mark.parametrize(
    ("limit", "listed"), [(None, "edbac"), (4, "edba"), (3, "edb"), (2, "ed"), (1, "e"), (0, "")]
)
def test_the_newest_are_first(tables: Tables, limit: int | None, listed: str, so_far: bool) -> None:
    answer = ask(engine_of(), tables, replace(QUESTION, so_far=so_far), limit)
    assert ("".join(card.msgid for card in answer.cards), answer.count) == (listed, 5)


@pytest.mark.parametrize(("limit", "listed"), [(None, "baced"), (2, "ba")])
def test_all_can_be_in_the_order_received(tables: Tables, limit: int | None, listed: str) -> None:
    answer = ask(engine_of(), tables, QUESTION, limit, by_received=True)
    assert ("".join(card.msgid for card in answer.cards), answer.count) == (listed, 5)


@pytest.mark.parametrize("so_far", [False, True])
def test_all_have_the_instants_by_which_they_are_ordered(tables: Tables, so_far: bool) -> None:
    found = find_instants(engine_of(), tables, replace(QUESTION, so_far=so_far))
    (first, *_), (*_, last) = found, found
    assert "".join(found) == "edbac" and found[first].received == 2
    assert found[first].at > found[last].at and found[last] == Instants(found["b"].at, 3)
