"""Rules about how many replies, votes and files there are."""

from __future__ import annotations

import re


def _between(found: re.Match[str]) -> str:
    """Return how many there are, from a least to a greatest number."""
    groups = found.groupdict()
    what, low = groups["what"] or groups["other"], groups["low"]
    return f"with at least {low} {what} and with at most {groups.get('high', low)} {what} "


def _or_more(found: re.Match[str]) -> str:
    compared = "least" if found["way"].lower() == "more" else "most"
    return f"with at {compared} {found['number']} {found['what']} "


RULES = (
    (
        "HAVE? at least {low:NUMBER} {what:COUNTED}? BUT? (at most | not "
        "more than | no more than) {high:NUMBER} {other:COUNTED}?",
        _between,
    ),
    ("HAVE? between {low:NUMBER} and {high:NUMBER} {what:COUNTED}", _between),
    ("HAVE? {low:NUMBER} (to | -) {high:NUMBER} {what:COUNTED}", _between),
    ("HAVE? (exactly | precisely | just | only) {low:NUMBER} {what:COUNTED}", _between),
    ("HAVE? (no | not) more than {number:NUMBER} {what:COUNTED}", "with at most {number} {what}"),
    ("WHICH? (got | GET) {how:MORE}", "with {how}"),
    ("HAVE? {number:NUMBER} or {way:WAY} {what:COUNTED}", _or_more),
    ("HAVE? more {what:COUNTED} than {number:NUMBER}", "with more than {number} {what}"),
)
