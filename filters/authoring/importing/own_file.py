"""All filters of a person as one text file, in TOML, and back: the round trip is exact."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Iterator
from zoneinfo import ZoneInfo

from filters.authoring.importing.entries import Entry, UnreadableFileError
from filters.models import Filter
from tapestry.core.clock import to_datetime

HEADING = (
    "# Filters of Tapestry. Filters > Import and export reads this file again.\n"
    "# What filters have found, and where it is sent, is not in it.\n"
)

TEXTS = (
    *("title", "name", "text", "mode", "visibility", "timeliness", "while_unread"),
    *("mail", "until", "paused"),
)
"""The keys of a filter in the file."""


def write_filters(filters: Iterable[Filter], zone: ZoneInfo) -> str:
    """Return the text of a file; ``zone`` is that of the owner, in which last days end."""
    return HEADING + "".join(f"\n[[filter]]\n{_lines(filter_, zone)}" for filter_ in filters)


def _lines(filter_: Filter, zone: ZoneInfo) -> str:
    options = {
        "title": filter_.display_name,
        "name": filter_.name,
        "text": filter_.text,
        "mode": filter_.mode,
        "visibility": filter_.visibility,
        "timeliness": filter_.timeliness,
        "while_unread": "yes" if filter_.while_unread else "",
        "mail": "existing" if filter_.start is None else "new",
        "until": "" if filter_.end is None else f"{to_datetime(filter_.end).astimezone(zone):%F}",
        "paused": "" if filter_.active or filter_.has_ended else "yes",
    }
    return "".join(f"{key} = {_string(value)}\n" for key, value in options.items() if value)


def _string(value: str) -> str:
    r"""Return a basic string of TOML.

    >>> _string('a "b"\n')
    '"a \\"b\\"\\n"'
    """
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def read_filters(text: str) -> list[Entry] | None:
    """Return the filters of a file, None if it is not one of Tapestry.

    Raises UnreadableFileError if one of them lacks its text, or has something that is no text.
    """
    try:
        tables = tomllib.loads(text).get("filter")
    except (tomllib.TOMLDecodeError, RecursionError, ValueError):
        return None
    if not isinstance(tables, list):
        return None
    return list(_entries(tables))


def _entries(tables: list[object]) -> Iterator[Entry]:
    for number, table in enumerate(tables, 1):
        given = table if isinstance(table, dict) else {}
        options = {key: given[key] for key in TEXTS if isinstance(given.get(key), str)}
        if not options.get("text") or len(options) != len(given):
            raise UnreadableFileError(
                f"The filter number {number} of the file lacks its text, or has a line that "
                f"no filter has. It may have: {', '.join(TEXTS)}."
            )
        yield Entry(options.get("title", ""), options["text"], options=options)
