"""All filters of a person as one text file, in TOML, and back: the round trip is exact."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from zoneinfo import ZoneInfo

from django.conf import settings

from filters.authoring.importing.entries import Entry, UnreadableFileError, check_count, shown
from filters.authoring.importing.options import until_text
from filters.authoring.models import ACTS_A_DAY, Filter
from tapestry.core.clock import format_instant
from tapestry.servers.quoted_reply import storable

HEADING = (
    "# Filters of Tapestry. Filters > Import and export reads this file again.\n"
    "# What filters have found, and where it is sent, is not in it.\n"
)

TEXTS = (
    *("title", "name", "text", "mode", "visibility", "timeliness", "while_unread"),
    *("acts", "acts_a_day", "acts_label", "acts_keyword", "acts_folder", "mail", "start", "until"),
    "paused",
)
"""The keys of a filter in the file."""

LONGEST = 500
"""Characters of what a filter has beside its text."""

_SPACE = r"[ \t]*+"
_TABLE = rf"\[\[{_SPACE}filter{_SPACE}\]\]"
_STRING = (
    r'"""(?:[^"\\]++|\\.|"(?!""))*+"{3,5}'
    r"|'''(?:[^']++|'(?!''))*+'{3,5}"
    r'|"(?:[^"\\\n]++|\\.)*+"'
    r"|'[^'\n]*+'"
)
"""A string of TOML, over several lines or on one."""

_LINE = re.compile(
    rf"{_SPACE}(?:{_TABLE}|(?P<key>[\w-]++){_SPACE}={_SPACE}(?:{_STRING}))?+"
    rf"{_SPACE}(?:#[^\n]*+)?+(?:\n|\Z)",
    re.DOTALL | re.ASCII,
)
_OWN = re.compile(rf"(?:{_SPACE}(?:#[^\n]*+)?+\n)*+{_SPACE}{_TABLE}")
_PLACE = re.compile(r"\(at line ([0-9]+)")


def write_filters(filters: Iterable[Filter], zone: ZoneInfo) -> str:
    """Return the text of a file; ``zone`` is that of the owner, in which last days end."""
    return HEADING + "".join(f"\n[[filter]]\n{_lines(filter_, zone)}" for filter_ in filters)


def read_options(document: str) -> dict[str, str] | None:
    """Return the options of a filter in a JSON document, without others; None if it is none."""
    try:
        sent = json.loads(document)
    except (ValueError, RecursionError):
        return None
    if not isinstance(sent, dict):
        return None
    return {key: storable(sent[key]) for key in TEXTS if isinstance(sent.get(key), str)}


def _lines(filter_: Filter, zone: ZoneInfo) -> str:
    options = {
        "title": filter_.display_name,
        "name": filter_.name,
        "text": filter_.text,
        "mode": filter_.mode,
        "visibility": filter_.visibility,
        "timeliness": filter_.timeliness,
        "while_unread": "yes" if filter_.while_unread else "",
        "acts": filter_.acts,
        "acts_label": filter_.acts_label,
        "acts_keyword": filter_.acts_keyword,
        "acts_folder": filter_.acts_folder,
        "acts_a_day": "" if filter_.acts_a_day == ACTS_A_DAY else str(filter_.acts_a_day),
        "mail": "existing" if filter_.start is None else "new",
        "start": "" if filter_.start is None else format_instant(filter_.start),
        "until": "" if filter_.end is None else until_text(filter_.end, zone),
        "paused": "" if filter_.active or filter_.has_ended else "yes",
    }
    return "".join(f"{key} = {_string(value)}\n" for key, value in options.items() if value)


def _string(value: str) -> str:
    r"""Return a basic string of TOML.

    >>> _string('a "b"\n')
    '"a \\"b\\"\\n"'
    """
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def is_own_file(text: str) -> bool:
    r"""Return whether the first line of a text that says anything is ``[[filter]]``.

    >>> is_own_file("# mine\n\n[[filter]]"), is_own_file("keep; # [[filter]]")
    (True, False)
    """
    return _OWN.match(text) is not None


def read_filters(text: str) -> list[Entry]:
    """Return the filters of a file; raises UnreadableFileError with the place of an error."""
    _check_lines(text)
    try:
        tables = tomllib.loads(text)["filter"]
    except tomllib.TOMLDecodeError as error:
        place = _PLACE.search(str(error))
        raise _misread(int(place[1]) if place else _line_of(text, len(text))) from None
    check_count(len(tables), max(kinds.get("filters", 0) for kinds in settings.BUDGETS.values()))
    return list(_entries(tables))


def _check_lines(text: str) -> None:
    """Refuse what no filter has, before TOML is read: its tables may nest without bound."""
    at = 0
    while at < len(text):
        line = _LINE.match(text, at)
        if line is None:
            raise _misread(_line_of(text, at))
        if line["key"] and line["key"] not in TEXTS:
            raise UnreadableFileError(
                f"Line {_line_of(text, at)}: a filter has no “{shown(line['key'])}”. "
                f"It may have: {', '.join(TEXTS)}."
            )
        at = line.end()


def _line_of(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def _misread(line: int) -> UnreadableFileError:
    return UnreadableFileError(
        f"We could not read line {line} of these Tapestry filters. "
        'Each line is [[filter]], or such as: text = "from mary".'
    )


def _entries(tables: Iterable[Mapping[str, str]]) -> Iterator[Entry]:
    for number, options in enumerate(tables, 1):
        if not options.get("text"):
            raise UnreadableFileError(
                f'Filter {number} of this file has no text: add a line such as text = "from mary".'
            )
        long = next((key for key in options if key != "text" and len(options[key]) > LONGEST), None)
        if long:
            raise UnreadableFileError(
                f"Filter {number} of this file: {long} has more than {LONGEST} characters."
            )
        yield Entry(options.get("title", ""), options["text"], options=options)
