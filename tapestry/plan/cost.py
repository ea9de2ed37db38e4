"""The cost that a filter adds to a run: which new rows trigger it."""

from __future__ import annotations

from collections.abc import Iterable

from tapestry.core.schema import RETRACTED
from tapestry.plan.compile import Compiled
from tapestry.plan.key_extractor import KeyExtractor
from tapestry.plan.predicate_keys import PredicateKey, predicate_keys
from tapestry.plan.signature import values_by_slot
from tapestry.query.tree.printer import print_duration

COSTS = ("light", "shared", "heavy")
"""Light: evaluated only when a row has one of its keys.  Shared: triggered by every message, or
every vote, and evaluated once for all that ask the same.  Heavy: evaluated in every run."""

_SHOWN = {"is": "is", "has": "has the word", "starts": "begins with", "ends": "ends with"}


def disjunct_keys(compiled: Compiled) -> list[tuple[int, PredicateKey]]:
    """Return the keys that trigger each disjunct, by its number."""
    return [
        (plan.disjunct.monotone.index, key)
        for plan in compiled.plans
        for key in sorted(
            predicate_keys(plan.disjunct, values_by_slot(plan.signature.constants)), key=str
        )
    ]


def cost(compiled: Compiled) -> str:
    """Return the last of ``COSTS`` that holds for one of a filter's keys.

    >>> from tapestry.plan.compile import compile_filter
    >>> from tapestry.query.context import Context
    >>> [cost(compile_filter(text, Context())) for text in ("from joe", "m.size > 9")]
    ['light', 'shared']
    """
    return cost_of_extractors(key.extractor for _, key in disjunct_keys(compiled))


def cost_of_extractors(names: Iterable[str]) -> str:
    """Return the last of ``COSTS`` that holds for a key of one of these key extractors.

    >>> cost_of_extractors(["messages is sender", "messages any -"])
    'shared'
    """
    kinds = {KeyExtractor.parse(name).kind for name in names}
    if "always" in kinds:
        return "heavy"
    return "shared" if "any" in kinds else "light"


def triggers(compiled: Compiled) -> tuple[dict[str, object], ...]:
    """Return for each key which rows trigger the filter, and how long after they came."""
    return tuple(
        {"disjunct": index, "rows": _rows(key), "after": _after(key)}
        for index, key in disjunct_keys(compiled)
    )


def _rows(key: PredicateKey) -> str:
    extractor = KeyExtractor.parse(key.extractor)
    if extractor.kind == "always":
        return "none: it is evaluated in every run"
    retracted = "retracted " if extractor.by == RETRACTED else ""
    rows = f"any of {retracted}{extractor.table}"
    if extractor.hop is not None:
        column, table, other = extractor.hop
        rows = f"{extractor.table} whose {column} is the {other} of any of {table}"
    if extractor.kind == "any":
        return rows
    return f"{rows} whose {extractor.column} {_SHOWN[extractor.kind]} '{key.token}'"


def _after(key: PredicateKey) -> str:
    offset, by = key.offset, KeyExtractor.parse(key.extractor).by
    if offset == 0:
        return "as they start" if by == "starts" else "at once"
    # An end that is included is a microsecond earlier than what comes just after it.
    just = " and a microsecond" if offset != 1 and offset % 1000 == 1 else ""
    number, unit = print_duration(abs(offset - 1 if just else offset))
    start = " before they start" if offset < 0 else " after they start"
    since = {"received": " after they were received", "starts": start}.get(by, "")
    return f"{number} {unit}{just}{since}"
