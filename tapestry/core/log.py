"""Structured logs: one event a line, as ``key=value`` pairs (the logfmt convention).

Fields are counts, durations, instants, keys and the messages of errors; never the content of
mail, and never the text of a filter.
"""

from __future__ import annotations

import json
import logging
import sys

Value = str | int | float | bool | None


def event(name: str, /, **fields: Value) -> None:
    """Log one event of the module that calls, at level INFO: its name, then its fields in order.

    Durations are seconds, instants microseconds since 1970 UTC.
    """
    log = logging.getLogger(sys._getframe(1).f_globals["__name__"])
    if log.isEnabledFor(logging.INFO):
        log.info("%s", line(name, **fields), stacklevel=2)


def line(name: str, **fields: Value) -> str:
    r"""Return an event as one line of text.

    >>> line("tick", until=5, matches=0, committed=True, seconds=0.12345)
    'tick until=5 matches=0 committed=true seconds=0.123'
    >>> line("refused", filter_id=7, error="It finds\ntoo much.", hint=None, host="parc.com")
    'refused filter_id=7 error="It finds\\ntoo much." hint=null host=parc.com'
    >>> line("refused", account="Jörg\u2028tick until=5", words="zu spät")
    'refused account="J\\u00f6rg\\u2028tick until=5" words="zu spät"'
    """
    return " ".join([name, *(f"{key}={_shown(value)}" for key, value in fields.items())])


def _shown(value: Value) -> str:
    if isinstance(value, float):
        return f"{value:.3f}"
    if isinstance(value, str) and value and value.isprintable() and not set(value) & set(' "='):
        return value
    return json.dumps(value, ensure_ascii=isinstance(value, str) and not value.isprintable())
