"""Rank matches: the order in which they come, and which of many are shown."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tapestry.deliver.batch import DeliveredMatch


@dataclass(frozen=True, slots=True)
class FilterGroup:
    """The matches of one filter that are shown, best first, and how many ``more`` it has.

    ``filter_name`` is what its owner calls it.
    """

    filter_id: int
    filter_name: str
    filter_text: str
    matches: tuple[DeliveredMatch, ...]
    more: int = 0


def rank(matches: Iterable[DeliveredMatch]) -> tuple[DeliveredMatch, ...]:
    """Return matches with the best first: most votes, then newest received, then last matched."""
    return tuple(
        sorted(matches, key=lambda match: (-match.votes, -match.received, -match.sequence))
    )


def net_changes(matches: Iterable[DeliveredMatch]) -> tuple[DeliveredMatch, ...]:
    """Return the last match of each filter and message: whether it entered or left in the end."""
    last: dict[tuple[int, str, str], DeliveredMatch] = {}
    for match in matches:
        key = (match.filter_id, match.audience, match.msgid)
        last.pop(key, None)
        last[key] = match
    return tuple(last.values())


def grouped(matches: Iterable[DeliveredMatch], limit: int) -> tuple[FilterGroup, ...]:
    """Return at most ``limit`` matches by filter, in the order of the filters' names.

    Filters take turns, each with its best that is left, so that one with very many does not crowd
    out the others.  A filter that gets no turn has no group.
    """
    by_filter: dict[int, list[DeliveredMatch]] = {}
    for match in matches:
        by_filter.setdefault(match.filter_id, []).append(match)
    ranked = sorted(
        map(rank, by_filter.values()),
        key=lambda group: (group[0].filter_label.casefold(), group[0].filter_id),
    )
    shares = fair_shares([len(group) for group in ranked], limit)
    return tuple(
        FilterGroup(
            group[0].filter_id,
            group[0].filter_label,
            group[0].filter_text,
            group[:share],
            len(group) - share,
        )
        for group, share in zip(ranked, shares, strict=True)
        if share
    )


def fair_shares(sizes: list[int], limit: int) -> list[int]:
    """Return how many each gets of ``limit`` if they take turns (max-min fairness).

    >>> fair_shares([100, 2, 2], limit=10)
    [6, 2, 2]
    """
    shares = [0] * len(sizes)
    while limit > 0:
        wanting = [place for place, size in enumerate(sizes) if shares[place] < size]
        if not wanting:
            break
        for place in wanting[:limit]:
            shares[place] += 1
        limit -= len(wanting)
    return shares
