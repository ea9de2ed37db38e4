"""The answers of the benchmark of standing queries, against brute force at every instant."""

import json

import pytest

from tapestry.plan.compile import compile_filter
from tapestry.query.context import Context
from tests.bench import standing as bench
from tests.bench.support.standing import queries as standing
from tests.bench.support.standing.kinds import KINDS
from tests.bench.support.standing.stream import make_stream
from tests.support.oracle.queries import ever
from tests.support.servers.site import manage


def rows_of(stream):
    return {
        "messages": [
            {
                "msgid": row.msgid,
                "ts": row.ts,
                "sender": row.sender,
                "list": row.topic,
                "inreplyto": row.parent,
            }
            for row in stream.messages
        ],
        "annotations": [
            {
                "annid": row.annid,
                "ts": row.ts,
                "msgid": row.msgid,
                "owner": row.owner,
                "kind": "vote",
                "number": 1.0,
            }
            for row in stream.votes
        ],
    }


@pytest.mark.parametrize("kind", KINDS)
def test_answers_are_those_of_brute_force(kind):
    stream = make_stream(4, 60, 2)
    queries = [one for one in standing.make_queries(4, 36, 2) if one.kind == kind]
    rows = rows_of(stream)
    expected = {
        (query.number, msgid, at)
        for query in queries
        for msgid, at in ever(
            compile_filter(query.sql, Context()).checked, rows, ("public",), stream.end
        ).items()
    }
    answers = list(standing.answers(stream, queries))
    assert len(answers) == len(set(answers)) > 0
    assert set(answers) == expected


def test_a_seed_makes_the_same_files(tmp_path):
    options = {"seed": 7, "queries": 90, "messages": 60, "different": None}
    for name in ("first", "second"):
        bench.measure(options | {"out": tmp_path / name})
    files = sorted(path.name for path in (tmp_path / "first").iterdir())
    assert files == ["annotations.jsonl", "answers.jsonl", "messages.jsonl", "queries.jsonl"]
    for file in files:
        assert (tmp_path / "first" / file).read_text() == (tmp_path / "second" / file).read_text()
    (first, *_) = (tmp_path / "first" / "queries.jsonl").read_text().splitlines()
    assert json.loads(first)["text"].startswith("SELECT m.msgid FROM messages m")


@pytest.mark.long
@pytest.mark.spark
def test_standing_queries_find_the_answers(data_dir):
    sizes = ("--queries", "180", "--messages", "200", "--windows", "3", "--alone", "2")
    figures = json.loads(manage(data_dir, "bench", "standing", *sizes, "--json"))
    assert figures["pairs"] > 100
    assert figures["windows"] == 3
