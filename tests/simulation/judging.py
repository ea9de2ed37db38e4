"""Judge a world while it is played: by the auditor, and by what must never be."""

from __future__ import annotations

import re
import time
from collections import Counter
from typing import Any

from tests.simulation.auditor import Auditor
from tests.simulation.history import History


class Judge:
    """Called at each settled point; raises Found as soon as anything is wrong."""

    class Found(Exception):  # noqa: N818
        """Something is wrong: nothing after it means anything."""

    def __init__(self, history: History) -> None:
        self.history, self.auditor = history, Auditor()
        self.findings: list[str] = []
        self.seconds = 0.0
        self._read = 0

    def __call__(self) -> None:
        """Judge all that has happened so far."""
        started = time.perf_counter()
        self.look_for_errors()
        self.findings += map(str, self.auditor.judge(self.history.entries))
        self.seconds += time.perf_counter() - started
        if self.findings:
            raise self.Found

    def look_for_errors(self) -> None:
        """Find what the site has said was wrong since the last look."""
        entries = self.history.entries
        for entry in entries[self._read :]:
            sentence = wrong(entry)
            if sentence and (said := f"step {entry['step']}: {sentence}") not in self.findings:
                self.findings.append(said)
        self._read = len(entries)

    def counts(self, history: History) -> dict[str, int]:
        """Return how much there was of some things."""
        counts = Counter(entry["what"] for entry in history.entries)
        matches = [e for e in history.entries if e["what"] == "seen" and e["kind"] == "matches"]
        wanted = ("submitted", "filter", "act", "received", "refused", "fault")
        faults = [entry["kind"] for entry in history.entries if entry["what"] == "fault"]
        return {
            **{name: counts[name] for name in wanted},
            "killed": faults.count("crashed"),
            "matches": len(matches[-1]["rows"]) if matches else 0,
        }


def wrong(entry: dict[str, Any]) -> str:
    """Return what must never be, if an entry says so; nothing if it is all right."""
    match entry["what"]:
        case "error" if not entry.get("planned"):
            return f"{entry['during']} ended with an error: {shortened(entry['text'])}"
        case "settled" if entry.get("unsettled"):
            return "it does not come to rest"
        case "log" if entry["level"] in ("ERROR", "CRITICAL") and not entry.get("planned"):
            if entry["name"] == "celery.app.trace":  # the error itself is told
                return ""
            return f"logged as an error by {entry['name']}: {shortened(entry['text'])}"
        case "seen" if entry["kind"] == "page" and entry["status"] != 200:
            return f"the page {entry['page']} {entry['name']} answered {entry['status']}"
        case "seen" if entry["kind"] == "waits" and entry["now"]:
            return f"at rest, `wait` still waits: {' '.join(entry['now'])}"
        case "seen" if entry["kind"] == "check" and entry["problems"]:
            return f"check-data finds {'; '.join(entry['problems'])}"
    return ""


def shortened(text: str) -> str:
    """Return the error of a traceback, and where in the product it was raised."""
    lines = [line.strip() for line in text.strip().splitlines()]
    places = [line for line in lines if line.startswith("File ") and _OURS.search(line)]
    where = f" ({_OURS.search(places[-1])[0]})" if places else ""
    return f"{lines[-1] if lines else ''}{where}"[:400]


_OURS = re.compile(r'(tapestry|filters)/[^"]*", line \d+')
