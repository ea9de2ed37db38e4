"""Fan out the answers of evaluation groups to the filters that belong to them.

    answers of groups ─ members ─> candidates of filters ─ decide ─> matches        [Chen00 §3.3]

The predicate index may lag behind the database, so the application is asked for each member: a
filter that is not what the index says is stale, and is given a window of its own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tapestry.core.errors import TapestryError
from tapestry.core.ports import DueFilter, FilterStore, Match
from tapestry.plan.engine import Engine, Row, TooManyError
from tapestry.predicate_index.groups import EvaluationGroup, Member, visible_audiences
from tapestry.predicate_index.lookup import InMemoryLookup
from tapestry.run.execute import Pair, decide_matches, keep_first
from tapestry.run.own_windows import subscribe


@dataclass(slots=True)
class SharedWindowResult:
    """What the shared window gave: matches, the filters that have matches, those that failed.

    ``stale`` filters are to be detached: the index has another revision of them, or they find
    too much at once.
    """

    matches: list[Match] = field(default_factory=list)
    filters: list[DueFilter] = field(default_factory=list)
    stale: set[int] = field(default_factory=set)
    failed: list[tuple[DueFilter, TapestryError]] = field(default_factory=list)


def fan_out(
    engine: Engine,
    lookup: InMemoryLookup,
    store: FilterStore,
    present: Collection[str],
    groups: Mapping[int, EvaluationGroup],
    answers: Sequence[Row],
    errors: Mapping[int, TapestryError],
) -> SharedWindowResult:
    """Return what the answers of groups are for the filters that belong to them.

    Rows of ``answers`` and ``errors`` name a group by its number in ``groups``; a group with
    neither could not be evaluated, and its members are stale.
    """
    result = SharedWindowResult()
    members = set(lookup.members(list(groups.values()), present))
    enrolled = store.enrolled({member.filter_id for member in members})
    due = {due_filter.filter_id: due_filter for due_filter in enrolled}
    evaluated = {groups[number] for number in {row[0] for row in answers} | set(errors)}
    shown = frozenset(present)
    members_of: dict[EvaluationGroup, list[Member]] = defaultdict(list)
    for member in members:
        due_filter = due.get(member.filter_id)
        if due_filter is None or due_filter.revision != member.revision:
            continue
        visible = visible_audiences(due_filter.audiences, shown)
        if member.group in evaluated and visible == member.group.audiences:
            members_of[member.group].append(member)
        else:
            result.stale.add(member.filter_id)
    failed: dict[int, TapestryError] = {}
    for number, error in errors.items():
        filter_ids = {member.filter_id for member in members_of[groups[number]]}
        if isinstance(error, TooManyError):
            result.stale |= filter_ids
        else:
            failed |= dict.fromkeys(filter_ids, error)
    result.failed = [
        (due[filter_id], error)
        for filter_id, error in sorted(failed.items())
        if filter_id not in result.stale
    ]

    def rows_of_filters() -> Iterator[Row]:
        for number, msgid, audience, ts, c, _, evidence in answers:
            for member in members_of[groups[number]]:
                if member.filter_id not in failed and member.filter_id not in result.stale:
                    yield member.filter_id, msgid, audience, ts, c, member.disjunct, evidence

    first: dict[Pair, Row] = {}
    keep_first(first, rows_of_filters())
    starts = {filter_id: due[filter_id].start for filter_id, _ in first}
    result.matches = decide_matches(
        engine, first.values(), starts, lambda filter_id: subscribe(due[filter_id]), store.known
    )
    matching = {match.filter_id for match in result.matches}
    result.filters = [due[filter_id] for filter_id in sorted(matching)]
    return result
