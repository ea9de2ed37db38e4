"""Predicate keys: the new rows that concern a filter, under which the predicate index has it.

Of a million filters a window concerns few.  Every delta query of a disjunct is driven by rows of
one table.  Where a condition ties these rows, or the rows they lead to, to a constant (equal to it,
having its words, beginning or ending with its text), it is the delta query's *access predicate*: no
row that fails it can give a candidate.  The most selective is taken [Chen00 §3.4].  A key is an
extractor (``key_extractor.py``), which takes tokens from new rows, and the token that triggers the
filter.

Law: if a delta query has a candidate in a window, one of its keys is among the tokens of the rows
that arrived in that window, or came of age in it: whose ``ts`` or ``received``, ``offset``
microseconds later, is in it, or which were of that age on arrival.  The converse need not hold: a
filter that is triggered is run exactly.  So time triggers filters as rows do [Chen00 §3.6].
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import NamedTuple

from tapestry.core.schema import INDEXED, MESSAGES, RETRACTED, Type
from tapestry.plan.key_extractor import KeyExtractor
from tapestry.plan.signature import Value, constant_value, integer_value
from tapestry.plan.text_predicates import has_token, like_token, text_test
from tapestry.query.tree import nodes as n
from tapestry.query.tree.walk import equalities
from tapestry.rewrite.monotone.bound_in_time import arrival
from tapestry.rewrite.pipeline import while_valid
from tapestry.rewrite.stages import DeltaQuery, EventPoint, IncrementalDisjunct

COMMON = {
    **{"kind": 9, "audience": 9, "source": 8, "media_types": 7, "body": 5, "filenames": 5},
    **{"diff_paths": 4, "subject": 4, "sender_name": 3, "to_names": 3, "cc_names": 3},
}
"""Columns whose tokens many rows share, and how much so; of the others a token has few rows."""


class PredicateKey(NamedTuple):
    """A token that triggers a filter, if a row with it comes to be ``offset`` microseconds old."""

    extractor: str
    offset: int
    token: str


@dataclass(frozen=True, slots=True)
class _AccessPredicate:
    """Conditions of which every candidate's rows meet one; the lowest ``rank`` is best."""

    extractors: tuple[tuple[KeyExtractor, n.Literal | n.Values | None], ...]
    rank: int


_rank = attrgetter("rank")


def predicate_keys(
    disjunct: IncrementalDisjunct, constants: Mapping[int, Value]
) -> frozenset[PredicateKey]:
    """Return the keys of a disjunct's delta queries, its constants given by their slots.

    >>> from tapestry.plan.compile import compile_filter
    >>> from tapestry.plan.signature import values_by_slot
    >>> from tapestry.query.context import Context
    >>> (plan,) = compile_filter("m.sender = 'joe@x.org' AND m.size > 9", Context()).plans
    >>> predicate_keys(plan.disjunct, values_by_slot(plan.signature.constants))
    frozenset({PredicateKey(extractor='messages is sender', offset=0, token='joe@x.org')})
    """
    keys = _keys(disjunct.delta_queries, constants)
    if (valid := while_valid(disjunct)) is disjunct:
        return frozenset(keys)
    keys |= _keys(valid.delta_queries, constants)
    return frozenset(key for key in keys if _of_arrival(key) not in keys - {key})


def _of_arrival(key: PredicateKey) -> PredicateKey:
    """Return the key that an annotation has as it arrives, if this is one of its retraction.

    A retracted row has both.
    """
    extractor = KeyExtractor.parse(key.extractor)
    if extractor.by != RETRACTED:
        return key
    return key._replace(extractor=replace(extractor, by="ts").name)


def _keys(delta_queries: Iterable[DeltaQuery], constants: Mapping[int, Value]) -> set[PredicateKey]:
    keys: set[PredicateKey] = set()
    for delta in delta_queries:
        row, point, by = _trigger(delta)
        offset = _offset(point, constants)
        for access in _access_predicates(delta, row, by):
            tokens = [_tokens(*extractor, constants) for extractor in access.extractors]
            if all(tokens):
                keys |= {
                    PredicateKey(extractor.name, offset, token)
                    for pairs in tokens
                    for extractor, token in pairs
                }
                break
    return keys


def _trigger(delta: DeltaQuery) -> tuple[n.Binding | None, EventPoint, str]:
    """Return whose rows trigger a delta query, at which point, and the column that it is from.

    A row that must be of an age as it arrives triggers it only if it is: most mail is young.

    >>> from tapestry.rewrite.examples import DELIVERED, disjunct, point
    >>> from tapestry.rewrite.incremental.age import age
    >>> for delta in age(DELIVERED, disjunct("m.received < now() - 1 day")):
    ...     _, trigger, by = _trigger(delta)
    ...     print(point(delta.event), "|", point(trigger), by)
    just after m.received + 1 day | just after m.received + 1 day received
    m.ts | just after m.received + 1 day received
    """
    if delta.driver is None:
        return None, delta.event, ""
    row, by = delta.driver
    for point in delta.before if delta.event == arrival(row) else ():
        anchor = point.anchor
        if anchor is not None and (anchor[0].var, anchor[0].name) == (row.var, "received"):
            return row, point, "received"
    return row, delta.event, by


def _offset(point: EventPoint, constants: Mapping[int, Value]) -> int:
    """Return how long after its row came an event point is, in microseconds."""
    anchor = point.anchor
    if anchor is None:
        return 0
    _, offset, slotted = anchor
    return offset + sum(sign * integer_value(length, constants) for sign, length in slotted)


def _access_predicates(delta: DeltaQuery, row: n.Binding | None, by: str) -> list[_AccessPredicate]:
    """Return the access predicates of a delta query, the best first; the last has a token."""
    if row is None:
        return [_AccessPredicate(((KeyExtractor(MESSAGES, "always"), None),), 99)]
    extractors = {row.var: KeyExtractor(row.table, "any", by=by)}
    access = [_AccessPredicate(((extractors[row.var], None),), 40)]
    for binding, hop in _hops(row, delta.bindings, delta.plain):
        extractors[binding.var] = KeyExtractor(row.table, "any", hop=hop, by=by)
        access.append(_AccessPredicate(((extractors[binding.var], None),), 30))
    for condition in delta.plain:
        access += _accesses(condition, extractors)
    return sorted(access, key=_rank)


def _hops(
    driver: n.Binding, bindings: Sequence[n.Binding], plain: Sequence[n.Condition]
) -> Iterator[tuple[n.Binding, tuple[str, str, str]]]:
    """Yield the variables that the driver's rows lead to by an equality of indexed columns."""
    for binding in bindings:
        for column, other in equalities(plain):
            tied = (column.var, other.var) == (binding.var, driver.var)
            scalar = column.var != other.var and other.type is not Type.SET
            if tied and scalar and column.name in INDEXED[binding.table]:
                yield binding, (other.name, binding.table, column.name)
                break


def _accesses(
    condition: n.Condition, extractors: Mapping[str, KeyExtractor]
) -> list[_AccessPredicate]:
    """Return the access predicates that a condition gives; ``extractors`` are by variable."""
    match condition:
        case n.And(args=args):
            return [access for arg in args for access in _accesses(arg, extractors)]
        case n.Or(args=args):
            best = [min(_accesses(arg, extractors), key=_rank, default=None) for arg in args]
            usable = [access for access in best if access is not None]
            if len(usable) < len(args):
                return []
            every = tuple(extractor for access in usable for extractor in access.extractors)
            return [_AccessPredicate(every, max(map(_rank, usable)))]
    test = text_test(condition)
    any_row = extractors.get(test[1].var) if test else None
    if test is None or any_row is None:
        return []
    kind, column, value = test
    rank = COMMON.get(column.name, 0) + (0 if kind == "is" else 1)
    extractor = replace(any_row, kind="starts" if kind == "like" else kind, column=column.name)
    return [_AccessPredicate(((extractor, value),), 2 * rank + (any_row.hop is not None))]


def _tokens(
    extractor: KeyExtractor,
    literal: n.Literal | n.Values | None,
    constants: Mapping[int, Value],
) -> list[tuple[KeyExtractor, str]]:
    """Return the tokens by which a value is found; none where the value gives none."""
    if literal is None:
        return [(extractor, "")]
    value = constant_value(literal, constants)
    if isinstance(value, tuple):
        return [(extractor, text) for text in value if isinstance(text, str)]
    if not isinstance(value, str):
        return []
    match extractor.kind:
        case "has":
            word = has_token(value)
            return [(extractor, word)] if word else []
        case "starts":
            required = like_token(value)
            return [(replace(extractor, kind=required[0]), required[1])] if required else []
    return [(extractor, value)]
