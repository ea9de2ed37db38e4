"""At a settled point nothing waits, nothing has failed, and the data are whole."""

from __future__ import annotations

from collections.abc import Iterator

from tests.simulation.auditor.findings import Finding
from tests.simulation.auditor.story import Point

LAW = "settled"


def judge_ending(point: Point) -> Iterator[Finding]:
    """Judge what the site says of itself."""
    waiting = point.one("waiting")
    for name, count in sorted((waiting or {}).items()):
        if name not in ("kind", "step", "now", "what") and count:
            yield Finding(LAW, f"{count} of {name} still wait", point.step)
    check = point.one("check")
    for problem in (check or {}).get("problems", []):
        yield Finding(LAW, f"check-data says: {problem}", point.step)
    health = point.one("health")
    if health is not None and health["status"] != 200:
        said = f"/healthz answers {health['status']}: {health.get('text', '')}"
        yield Finding(LAW, said, point.step)
