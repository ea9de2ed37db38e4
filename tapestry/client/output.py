"""Rows as a person reads them on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

Row = dict[str, Any]


def readable(verb: str, row: Row) -> str:
    """Return a row of a verb as lines for a terminal; nothing in it moves the cursor."""
    lines = WORDS.get(verb, _fields)(row)
    return "\n".join("".join(c if c.isprintable() else " " for c in line) for line in lines)


def _message_line(row: Row) -> Iterator[str]:
    sender = row["sender_name"] or row["sender"] or "(nobody)"
    sign = {"insert": "+ ", "delete": "- "}.get(row.get("op", ""), "")
    subject = row["subject"] or "(no subject)"
    yield f"{sign}{_at(row['received'])}  {sender[:24]:24}  {subject[:60]:60}  {row['id']}"


def _filter_line(row: Row) -> Iterator[str]:
    state = row["error"] or ("" if row["active"] else "paused")
    yield f"{row['name']:24}  {row['phrase'] or row['tql']}{f'  ({state})' if state else ''}"


def _message(row: Row) -> Iterator[str]:
    yield f"From: {row['sender_name'] or ''} <{row['sender']}>"
    yield f"To: {', '.join(row['to'])}"
    yield f"Date: {_at(row['date'] or row['received'])}"
    yield f"Subject: {row['subject']}"
    if row["voted_for"] or row["voted_against"]:
        yield f"Votes: {len(row['voted_for'])} for, {len(row['voted_against'])} against"
    if row["tags"]:
        yield f"Tags: {', '.join(row['tags'])}"
    for name in row["attachments"]:
        yield f"Attached: {name}"
    yield ""
    yield from row["text"].splitlines()


def _part(row: Row, depth: int = 0) -> Iterator[str]:
    since = f", since {_at(row['since'])}" if row["since"] else ""
    until = f", until {_at(row['then'])}" if row["then"] else ""
    yield f"{'yes' if row['holds'] else 'no':5}{'  ' * depth}{row['words']}{since}{until}"
    for part in row["parts"]:
        yield from _part(part, depth + 1)


def _understood(row: Row) -> Iterator[str]:
    if "received" in row:
        yield from _message_line(row)
        return
    if "count" not in row:
        yield from _filter_line(row)
        return
    yield f"{row['phrase'] or row['tql']}: {row['count']} messages"


def _fields(row: Row) -> Iterator[str]:
    yield ", ".join(f"{name}: {value}" for name, value in row.items())


def _at(moment: str | None) -> str:
    return "" if not moment else f"{datetime.fromisoformat(moment).astimezone():%Y-%m-%d %H:%M}"


WORDS: dict[str, Callable[[Row], Iterator[str]]] = {
    "ask": _message_line,
    "matches": _message_line,
    "filters": _filter_line,
    "pause": _filter_line,
    "resume": _filter_line,
    "add": _understood,
    "watch": _understood,
    "delete": _filter_line,
    "message": _message,
    "why": _part,
}
"""How the rows of a verb are written; those of another, field by field."""
