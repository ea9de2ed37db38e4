"""The files of a replay: what is wrong in a line is said with its number, never by a traceback."""

import json

import pytest

from tapestry.core.clock import parse_instant
from tapestry.core.errors import TapestryError
from tapestry.run.replay import replay
from tapestry.run.replay_files import read_snapshot
from tests.support.engines.sqlite_engine import engine_of

FILTER = '{"id": 1, "text": "replies"}'
MESSAGE = {"msgid": "m1", "ts": "2026-01-31T12:00:00Z"}


class ReadError(Exception):
    """All files were read: the engine would run now."""


def engine_on(snapshot):
    raise ReadError


def replay_lines(tmp_path, messages=(), filters=(FILTER,)):
    (tmp_path / "filters.jsonl").write_text("\n".join(filters))
    (tmp_path / "messages.jsonl").write_text("\n".join(messages))
    return list(replay(engine_on, tmp_path, tmp_path / "filters.jsonl", [0]))


def with_value(column, value):
    return json.dumps(MESSAGE | {column: value})


def test_files_without_fault_are_read(tmp_path):
    with pytest.raises(ReadError):
        replay_lines(tmp_path, [json.dumps(MESSAGE), "", with_value("size", 5.0)])


@pytest.mark.parametrize(
    ("columns", "received"),
    [
        ({}, "2026-01-31T12:00:00Z"),
        ({"date": "2026-01-01T00:00:00Z"}, "2026-01-01T00:00:00Z"),
        ({"date": "2026-02-01T00:00:00Z"}, "2026-01-31T12:00:00Z"),
        (
            {"received": "2026-01-02T00:00:00Z", "date": "2026-01-01T00:00:00Z"},
            "2026-01-02T00:00:00Z",
        ),
        ({"received": "2026-02-02T00:00:00Z"}, "2026-01-31T12:00:00Z"),
    ],
)
def test_a_message_was_received_at_its_date_if_nothing_else_is_said(tmp_path, columns, received):
    (tmp_path / "messages.jsonl").write_text(json.dumps(MESSAGE | columns))
    [data_file] = read_snapshot(tmp_path, tmp_path).messages
    assert data_file.bounds("received") == (parse_instant(received),) * 2


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "not JSON ("),
        ("[" * 100_000, "JSON that is nested too deeply"),
        ('{"body": ' * 100_000, "JSON that is nested too deeply"),
        ("[]", "not a JSON object"),
        ("{}", "a row needs msgid and ts"),
        (with_value("ts", "yesterday"), "column ts: 'yesterday' is not an instant such as 2026-"),
        (with_value("ts", 5), "column ts: expected a text, found 5"),
        (with_value("size", "5"), 'column size: expected a number, found "5"'),
        (with_value("size", 2**63), "column size: expected a whole number of 64 bits, found 9223"),
        (with_value("size", 1.5), "column size: expected a whole number of 64 bits, found 1.5"),
        (with_value("size", float("inf")), "column size: "),
        (with_value("to", "joe@x.org"), "column to: expected a list of texts"),
        (with_value("subject", ["x"]), "column subject: expected a text, found a list"),
        (with_value("ts", MESSAGE), "column ts: expected a text, found an object"),
        (with_value("size", "x" * 99), 'column size: expected a number, found "xxx'),
        (with_value("subject", "\ud800"), 'column subject: expected a text, found "\\ud800"'),
    ],
    ids=lambda value: str(value)[:30],
)
def test_a_line_that_is_no_message_is_named(tmp_path, line, message):
    with pytest.raises(TapestryError) as caught:
        replay_lines(tmp_path, [json.dumps(MESSAGE), line])
    assert caught.value.message.startswith(f"{tmp_path / 'messages.jsonl'}, line 2: {message}")
    assert len(caught.value.message) < len(str(tmp_path)) + 200
    assert caught.value.hint == "Mend the line and try again."


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("[" * 100_000, "JSON that is nested too deeply"),
        ('{"id": 1}', "a filter needs an id and a text"),
        ('{"id": "\\ud800", "text": "replies"}', "a filter needs an id and a text"),
        (
            '{"id": 1, "text": "replies", "audiences": "public"}',
            "audiences must be a list of texts",
        ),
    ],
    ids=lambda value: str(value)[:30],
)
def test_a_line_that_is_no_filter_is_named(tmp_path, line, message):
    with pytest.raises(TapestryError) as caught:
        replay_lines(tmp_path, filters=[line])
    assert f"filters.jsonl, line 1: {message}." in caught.value.message


def test_a_filter_that_does_not_compile_is_told_with_its_offset(tmp_path):
    (tmp_path / "filters.jsonl").write_text(json.dumps({"id": "x", "text": "m.size > 'a'"}))
    first = next(replay(engine_on, tmp_path, tmp_path / "filters.jsonl", [0]))
    assert first["filter"] == "x"
    assert first["at"] == 0
    assert "cannot be compared" in str(first["error"])


def test_a_replay_honours_annotations_that_are_taken_back(tmp_path):
    times = {at: f"2026-01-0{at}T12:00:00Z" for at in range(1, 7)}
    tag = {"annid": "t", "msgid": "m", "owner": "joe", "kind": "tag", "value": "later"}
    back = {"annid": "r", "msgid": "m", "owner": "joe", "kind": "retraction", "value": "t"}
    rows = [tag | {"ts": times[2]}, back | {"ts": times[4]}]
    (tmp_path / "messages.jsonl").write_text(json.dumps({"msgid": "m", "ts": times[2]}))
    (tmp_path / "annotations.jsonl").write_text("\n".join(map(json.dumps, rows)))
    texts = {"tagged": "tagged later", "untagged": "not tagged later"}
    lines = [json.dumps({"id": name, "text": text}) for name, text in texts.items()]
    (tmp_path / "filters.jsonl").write_text("\n".join(lines))
    instants = [parse_instant(times[at]) for at in (1, 3, 5)]

    def told(**options):
        found = replay(engine_of(), tmp_path, tmp_path / "filters.jsonl", instants, **options)
        return [(row["filter"], row.get("op", ""), row["run"]) for row in found]

    assert told() == [("tagged", "", 1), ("untagged", "", 2)]
    assert told(deltas="transactional") == [
        ("tagged", "insert", 1),
        ("tagged", "delete", 2),
        ("untagged", "insert", 2),
    ]
