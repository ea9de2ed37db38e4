"""Evaluation groups: filters that differ only in constants, how many they are, what they cost.

What is shown is of their signatures and key extractors alone: never of a filter's text.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from pathlib import Path

from filters.runs.operator.lanes import SHOWN
from filters.site.work.parts import services
from tapestry.plan.cost import COSTS, cost_of_extractors
from tapestry.plan.key_extractor import KeyExtractor
from tapestry.predicate_index.store import PredicateIndex

_TOKENS = {"is": "", "has": "words of ", "starts": "the beginning of ", "ends": "the end of "}


@dataclass(frozen=True, slots=True)
class Group:
    """Filters that have a disjunct of one signature: how many, their cost, what triggers them."""

    signature: str
    filters: int
    cost: str
    triggers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Groups:
    """The groups of the predicate index: how many there are, by cost too, and some of them."""

    total: int
    by_cost: dict[str, int]
    shown: Sequence[Group]


def groups() -> Groups:
    """Return the groups, those of the highest cost first, then the largest."""
    root = services.tables().root
    files = chain.from_iterable(index.files() for index in PredicateIndex.all_parts(root))
    return _groups(tuple(files), root)


@lru_cache(maxsize=1)
def _groups(_files: tuple[str, ...], root: Path) -> Groups:
    """Return the groups of indexes of these files, which never change: they are read once."""
    sizes: Counter[str] = Counter()
    extractors: dict[str, set[str]] = defaultdict(set)
    for index in PredicateIndex.all_parts(root):
        sizes += index.filter_counts()
        for signature, names in index.extractors_by_signature().items():
            extractors[signature] |= names
    costs = {name: cost_of_extractors(extractors.get(name, ())) for name in sizes}
    by_cost = {cost: list(costs.values()).count(cost) for cost in COSTS}
    first = sorted(sizes, key=lambda name: (-COSTS.index(costs[name]), -sizes[name], name))
    shown = [
        Group(name, sizes[name], costs[name], _triggers(extractors.get(name, ())))
        for name in first[:SHOWN]
    ]
    return Groups(len(sizes), by_cost, shown)


def _triggers(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted({trigger_words(name) for name in names}))


def trigger_words(name: str) -> str:
    """Say which new rows trigger the filters with keys of a key extractor.

    >>> trigger_words("messages is sender"), trigger_words("annotations any -")
    ('messages, by sender', 'all annotations')
    >>> trigger_words("messages has subject inreplyto messages msgid")
    'answers to messages, by words of subject'
    """
    extractor = KeyExtractor.parse(name)
    if extractor.kind == "always":
        return "every run"
    rows = extractor.table
    if extractor.hop is not None:
        column, table, _ = extractor.hop
        rows = f"answers to {table}" if column == "inreplyto" else f"{rows} that lead to {table}"
    if extractor.kind == "any":
        return f"all {rows}"
    return f"{rows}, by {_TOKENS[extractor.kind]}{extractor.column}"
