"""The law of phrases: a filter's text in words, and its TQL, say the same of signs and sides.

Only of some phrases, each by what has to stand in its TQL somewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tests.simulation.auditor.findings import Finding
from tests.simulation.auditor.story import Entry, Point

LAW = "phrases"

PARTS = (
    (r"voted for by", r"\ba\d*\.number > 0"),
    (r"voted against by", r"\ba\d*\.number < 0"),
    (r"voted for by more than (?:half|a third|\d+%) of", r"number > 0\) > [01]"),
    (r"by (?:at least|fewer than) (?:half|a third|\d+%) of", r"number > 0\) (?:>=|<) [01]"),
    (r"with more than (?:half|a third|\d+%) of", r"\) > [01]"),
    (r"with a score above", r"\) > "),
    (r"with a score below", r"\) < "),
    (r"replies numbered two", r"\) = 1\b"),
    (r"replies numbered (?:3|three)\b", r"\) = 2\b"),
    (r"newer than", r"m\.received > now\(\) - "),
    (r"(?<!and )(?:one day|two days|1 week) old", r"m\.received < now\(\) - "),
    (r"unanswered by (?:others|me personally)", r"\br\d*\.automatic IS NULL"),
    (r"from people I meet", r"\ba\d*\.starts > now\(\)"),
    (r"tagged later", r"\ba\d*\.value = 'later'"),
)


def judge_phrases(point: Point) -> Iterator[Finding]:
    """Judge each filter that was written or changed."""
    for entry in point.entries:
        if entry["what"] == "filter" or (entry["what"] == "filter_changed" and "tql" in entry):
            yield from _judge(point, entry)


def _judge(point: Point, entry: Entry) -> Iterator[Finding]:
    text, tql = entry.get("text") or "", entry["tql"]
    spoken = re.sub('"[^"]*"', "", text)
    for words, part in PARTS if tql and text != tql else ():
        if re.search(words, spoken) and not re.search(part, tql):
            said = f"“{text}” of {entry['owner']} says nothing of “{part}”: {tql}"
            yield Finding(LAW, said, point.step)
