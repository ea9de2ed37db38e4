"""What each part of a large site is busy with, and at which rate of mail it has no more to give.

    costs (measured here) × site (its machines, mail, filters) ─> load of each part ─> limits

A load is a share: 1.0 is all that a part can do.  Windows come one a period, or as often as they
are full.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from tapestry.run.lane_limits import LaneLimits

MOST_ROWS = LaneLimits().most_rows
"""Messages of one window, at most."""

MOST_RATE, HALVINGS = 1e9, 60
"""Messages a second that no site takes; and how exactly a limit is looked for."""


@dataclass(frozen=True, slots=True)
class Costs:
    """Seconds that things take on one core; ``entry_bytes`` is memory of the predicate index.

    ``append``, ``watermark``: the clock is held for so long, by an append of no message and by a
    window; ``append_message`` for each message more.  ``window``, ``message``, ``match``: a window
    that finds nothing, a message in it, a match.  ``commit``, ``commit_match``: its transaction.
    ``release_match``: a match gets its position in the release sequence.
    """

    append: float
    append_message: float
    watermark: float
    window: float
    message: float
    match: float
    commit: float
    commit_match: float
    release_match: float
    entry_bytes: float


@dataclass(frozen=True, slots=True)
class Site:
    """Machines and what they have to do.

    ``parts`` of the shared window run at the same time, each a window every ``period`` seconds;
    ``together`` messages come in one append; a message has ``matches``.  ``memory`` is what a
    machine has for the predicate index, in bytes.
    """

    machines: int
    cores: int
    parts: int
    period: float
    rate: float
    together: float
    matches: float
    filters: int
    memory: float

    def with_rate(self, rate: float) -> Site:
        """Return the site with so many messages a second."""
        return replace(self, rate=rate)


def append_seconds(costs: Costs, messages: float) -> float:
    """Return for how long an append holds the clock."""
    return costs.append + messages * costs.append_message


def window_seconds(costs: Costs, site: Site, messages: float) -> float:
    """Return how long a part evaluates a window, without its transaction."""
    found = messages * site.matches / site.parts
    return costs.window + messages * costs.message + found * costs.match


def commit_seconds(costs: Costs, site: Site, messages: float) -> float:
    """Return how long the transaction of a part's window takes."""
    return costs.commit + messages * site.matches / site.parts * costs.commit_match


def loads(costs: Costs, site: Site) -> Mapping[str, float]:
    """Return the load of each part of a site."""
    windows = max(1 / site.period, site.rate / MOST_ROWS)
    messages = site.rate / windows
    evaluating = windows * window_seconds(costs, site, messages)
    committing = windows * commit_seconds(costs, site, messages)
    appending = site.rate / site.together * append_seconds(costs, site.together)
    return {
        "clock": appending + site.parts * windows * costs.watermark,
        "part of the window": evaluating + committing + windows * costs.watermark,
        "database": site.parts * committing / site.cores,
        "release": site.rate * site.matches * costs.release_match,
        "processors": site.parts * evaluating / (site.machines * site.cores),
    }


def limits(costs: Costs, site: Site) -> dict[str, float]:
    """Return the messages a second that each part can take, the scarcest first."""
    ends = {name: _limit(costs, site, name) for name in loads(costs, site)}
    return dict(sorted(ends.items(), key=lambda item: item[1]))


def _limit(costs: Costs, site: Site, name: str) -> float:
    """Return the rate at which the load of a part is 1.0: loads only grow."""
    low, high = 0.0, MOST_RATE
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        is_full = loads(costs, site.with_rate(middle))[name] > 1.0
        low, high = (low, middle) if is_full else (middle, high)
    return low


def index_share(costs: Costs, site: Site) -> float:
    """Return the share of a machine's memory that the index of its parts takes."""
    divided_by = min(site.parts, site.machines)
    return site.filters * costs.entry_bytes / divided_by / site.memory
