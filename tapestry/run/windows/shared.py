"""Run all enrolled filters over one shared window, by the predicate index.

    new rows ─ probe ─> keys ─ lookup ─> candidate groups ─┬─ decide by postings ─┬─> answers
                                                           └─ evaluate ───────────┘
    answers ─ fan out ─> matches

An evaluation group is what many filters have in common: a signature, constants and audiences.  It
is evaluated once, by the plans that a filter with a window of its own is run with
(``run/execute.py``), and only if one of its predicate keys is among the tokens of the window (the
law of ``plan/predicate_keys.py``).  This is a query split: what filters share is run once, and the
fan-out hands its answers to each.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import groupby
from operator import attrgetter, itemgetter

from tapestry.core.clock import BEGINNING
from tapestry.core.errors import TapestryError
from tapestry.core.ports import DueFilter, FilterStore, Match
from tapestry.core.schema import MESSAGES
from tapestry.core.surroundings import is_unforeseen
from tapestry.plan.compile import Plan
from tapestry.plan.engine import Engine, Row, TooManyError, TooSlowError
from tapestry.plan.explanation import explanation
from tapestry.plan.group import ConstantRow, SignatureGroup
from tapestry.plan.predicate_keys import PredicateKey
from tapestry.predicate_index.covering import Decision, decide
from tapestry.predicate_index.groups import EvaluationGroup, Member, visible_audiences
from tapestry.predicate_index.lookup import InMemoryLookup
from tapestry.predicate_index.probe import SnapshotRows, candidate_keys
from tapestry.run.execute import (
    Pair,
    decide_matches,
    first_candidates,
    keep_first,
    matched_at_start,
    matching_at,
)
from tapestry.run.limits.isolation import isolate, run_isolated
from tapestry.run.limits.suspects import require_blame
from tapestry.run.windows.group_plans import group_constants, signature_plans
from tapestry.run.windows.own import subscribe

MOST_ASKED = 100
"""Filters and messages that are asked about T0 at once, before their groups are asked."""


Numbered = tuple[Plan, ConstantRow]
"""A group by its plan, and a row of the constant table, whose ``filter_id`` is the group's number.
"""


class SharedWindow:
    """The shared window from ``since`` to ``until``: how it is run, and its outcome.

    ``matches`` are of ``filters``; ``failed`` ones cannot be run.  ``stale`` filters are to be
    detached: the index has another revision of them, or they find too much at once, or are among
    those that took too long (``slow``).  So are ``expelled`` ones, with which the shared window
    failed: their own windows tell whether they can be run.  ``worked_around`` are the parts of the
    index that failed, by name.

    Each question to the engine may take ``seconds``.  ``history_complete``: no row on which filters
    may count was ever removed, so what matched at ``since`` was delivered.
    """

    def __init__(
        self,
        engine: Engine,
        rows: SnapshotRows,
        lookup: InMemoryLookup,
        store: FilterStore,
        since: int,
        until: int,
        *,
        history_complete: bool,
        seconds: float = math.inf,
    ) -> None:
        self.matches: list[Match] = []
        self.filters: list[DueFilter] = []
        self.stale: set[int] = set()
        self.slow: set[int] = set()
        self.failed: list[tuple[DueFilter, TapestryError]] = []
        self.expelled: dict[int, Exception] = {}
        self.worked_around: dict[str, Exception] = {}
        self._engine, self._rows, self._lookup, self._store = engine, rows, lookup, store
        self._since, self._until = since, until
        self._history_complete, self._seconds = history_complete, seconds

    def run(self) -> None:
        """Find the matches of all enrolled filters with since < matched_at <= until."""
        groups = self._candidates()
        if not groups:
            return
        plans, faults = signature_plans(groups, self._lookup, self._store)
        self.worked_around |= {f"signature {name}": error for name, error in faults.items()}
        # Of the others no filter has the signature now: another version entered them.
        errors: dict[int, Exception | None] = {
            number: faults.get(group.signature)
            for number, group in enumerate(groups)
            if plans.get(group.signature) is None
        }

        def constant_rows(numbers: Sequence[int]) -> list[Numbered]:
            asked = [(n, plans[groups[n].signature], groups[n]) for n in numbers]
            return [(plan, self._row(n, plan, group)) for n, plan, group in asked if plan]

        planned, unread = isolate(constant_rows, [n for n in range(len(groups)) if n not in errors])
        errors |= dict(unread)

        def decide_some(items: Sequence[Numbered]) -> list[Decision]:
            asked = [(row.filter_id, plan, groups[row.filter_id]) for plan, row in items]
            return [decide(self._rows, asked, self._since, self._until)]

        decided, undecided = isolate(decide_some, planned)
        self.worked_around |= {f"postings {p.signature.name}": error for (p, _), error in undecided}
        answered = {number for part in decided for number in part.groups}
        evaluated = [item for item in planned if item[1].filter_id not in answered]
        answers, failures = run_isolated(
            self._evaluate, evaluated, lambda item: item[0].signature.key
        )
        if failures:
            require_blame(self._engine, {plan.signature.key for (plan, _), _ in failures})
        errors |= {row.filter_id: error for (_, row), error in failures}
        answers = [*(answer for part in decided for answer in part.answers), *answers]
        self._fan_out(groups, answers, errors, evaluated)

    def _candidates(self) -> list[EvaluationGroup]:
        """Return the groups that new rows concern.

        Where the keys of an extractor cannot be had, all groups that have one are: slower, and
        right.
        """
        extractors = self._lookup.extractors()

        def keys_of(names: Sequence[str]) -> list[PredicateKey]:
            chosen = {name: extractors[name] for name in names}
            return list(candidate_keys(self._rows, chosen, self._since, self._until))

        keys, unread = isolate(keys_of, sorted(extractors))
        groups, unfound = isolate(self._lookup.candidate_groups, sorted(keys))
        self.worked_around |= dict(unread) | {key.extractor: error for key, error in unfound}
        if not self.worked_around:
            return groups
        return sorted({*groups, *self._lookup.groups_with(set(self.worked_around))})

    def _row(self, number: int, plan: Plan, group: EvaluationGroup) -> ConstantRow:
        constants, since, until = group_constants(plan, group), self._since, self._until
        return ConstantRow(number, 0, constants, group.audiences, since, until)

    def _evaluate(self, items: Sequence[Numbered]) -> list[Row]:
        with self._engine.limit(self._seconds):
            return first_candidates(self._engine, _signature_groups(items), self._until)

    def _matched_at_since(
        self, evaluated: Sequence[Numbered], answers: Collection[Pair]
    ) -> set[Pair]:
        """Return those of some groups and messages that matched where the window begins.

        It only saves work: each filter is asked about its T0.
        """
        numbers = {number for number, _ in answers}
        groups = _signature_groups(item for item in evaluated if item[1].filter_id in numbers)
        with suppress(TapestryError), self._engine.limit(self._seconds):
            return matching_at(self._engine, groups, ((*pair, self._since) for pair in answers))
        return set()

    def _fan_out(
        self,
        groups: Sequence[EvaluationGroup],
        answers: Sequence[Row],
        errors: Mapping[int, Exception | None],
        evaluated: Sequence[Numbered],
    ) -> None:
        """Add what the answers of groups are for the filters that belong to them [Chen00 §3.3].

        The predicate index may lag behind the database, so the application is asked for each
        member: a filter that is not what the index says is stale, and is given a window of its own.

        Rows of ``answers`` and ``errors`` name a group by its number in ``groups``.  The error of a
        group without a plan is None: its members are stale.  Of ``evaluated`` groups and messages
        it is asked at once which matched at ``since``, before many filters are asked one by one
        about their T0.
        """
        numbers = {row[0] for row in answers} | set(errors)
        if not numbers:
            return
        due, members_of = self._members([groups[number] for number in numbers])
        failed: dict[int, TapestryError] = {}
        for number, error in errors.items():
            filter_ids = {member.filter_id for member in members_of[groups[number]]}
            if error is None or isinstance(error, TooManyError | TooSlowError):
                self.stale |= filter_ids
                self.slow |= filter_ids if isinstance(error, TooSlowError) else set()
            elif isinstance(error, TapestryError) and not is_unforeseen(error):
                failed |= dict.fromkeys(filter_ids, error)
            else:
                self._expel([(filter_ids, error)])
        self.failed = [
            (due[filter_id], error)
            for filter_id, error in sorted(failed.items())
            if filter_id not in self.stale and filter_id not in self.expelled
        ]
        rows_of: dict[int, list[Row]] = defaultdict(list)
        signatures_of: dict[int, set[str]] = defaultdict(set)
        for number, msgid, audience, ts, c, _, evidence in answers:
            for member in members_of[groups[number]]:
                row = (member.filter_id, msgid, audience, ts, c, member.disjunct, evidence)
                rows_of[member.filter_id].append(row)
                signatures_of[member.filter_id].add(member.group.signature)

        def matches_of(filter_ids: Sequence[int]) -> list[Match]:
            first: dict[Pair, Row] = {}
            keep_first(first, (row for filter_id in filter_ids for row in rows_of[filter_id]))
            starts = {filter_id: due[filter_id].start for filter_id in filter_ids}

            def matched_before(pairs: Collection[Pair]) -> set[Pair]:
                arrived = _first_arrivals(self._rows, {msgid for _, msgid in pairs})
                begun = {i: BEGINNING if t0 is None else t0 for i, t0 in starts.items()}
                asked = {(i, msgid) for i, msgid in pairs if arrived[msgid] <= begun[i]}
                msgids = {msgid for _, msgid in asked}
                old: set[Pair] = set()
                if self._history_complete and len(asked) > MOST_ASKED:
                    among = {(row[0], row[1]) for row in answers if row[1] in msgids}
                    for number, msgid in self._matched_at_since(evaluated, among):
                        old |= {(member.filter_id, msgid) for member in members_of[groups[number]]}
                if asked <= old:
                    return old
                with self._engine.limit(self._seconds):
                    unknown = asked - old
                    return old | matched_at_start(
                        self._engine, lambda i: subscribe(due[i]), unknown
                    )

            def explain(filter_id: int, disjunct: int) -> str:
                return explanation(due[filter_id], disjunct)

            known = self._store.known
            return decide_matches(first.values(), starts, known, matched_before, explain)

        def plan(filter_id: int) -> frozenset[str]:
            """Return the signatures that a filter's matches are of."""
            return frozenset(signatures_of[filter_id])

        gone = {*failed, *self.stale, *self.expelled}
        matches, failures = isolate(matches_of, sorted(set(rows_of) - gone), plan)
        if failures:
            require_blame(self._engine, {filter_id for filter_id, _ in failures})
        self._expel(([filter_id], error) for filter_id, error in failures)
        self.matches = sorted(matches, key=attrgetter("filter_id", "matched_at", "msgid"))
        self.filters = [due[i] for i in sorted({match.filter_id for match in matches})]

    def _members(
        self, groups: Sequence[EvaluationGroup]
    ) -> tuple[dict[int, DueFilter], dict[EvaluationGroup, list[Member]]]:
        """Return the filters that belong to groups, and the members of each group among them."""
        found, unread = isolate(self._lookup.members, groups)
        self._expel((self._lookup.filters_of([group]), error) for group, error in unread)
        members = sorted(set(found), key=attrgetter("filter_id"))
        filter_ids = sorted({member.filter_id for member in members})
        enrolled, unknown = isolate(lambda some: list(self._store.enrolled(some)), filter_ids)
        self._expel(([filter_id], error) for filter_id, error in unknown)
        due = {due_filter.filter_id: due_filter for due_filter in enrolled}
        visible: dict[tuple[str, ...], tuple[str, ...]] = {}

        def belonging(some: Sequence[Member]) -> list[tuple[Member, bool]]:
            present = []
            for member in some:
                due_filter = due.get(member.filter_id)
                if due_filter is None or due_filter.revision != member.revision:
                    continue
                audiences = due_filter.audiences
                if audiences not in visible:
                    visible[audiences] = visible_audiences(audiences, self._lookup.present)
                present.append((member, visible[audiences] == member.group.audiences))
            return present

        present, unseen = isolate(belonging, members)
        self._expel(([member.filter_id], error) for member, error in unseen)
        members_of: dict[EvaluationGroup, list[Member]] = defaultdict(list)
        for member, is_current in present:
            if is_current:
                members_of[member.group].append(member)
            else:
                self.stale.add(member.filter_id)
        return due, members_of

    def _expel(self, failures: Iterable[tuple[Iterable[int], Exception]]) -> None:
        """Have filters detached because of an error."""
        for filter_ids, error in failures:
            self.expelled |= dict.fromkeys(filter_ids, error)


def _signature_groups(items: Iterable[Numbered]) -> list[SignatureGroup]:
    return [
        SignatureGroup(plan.disjunct, tuple(row for _, row in same_plan))
        for plan, same_plan in groupby(items, itemgetter(0))
    ]


def _first_arrivals(rows: SnapshotRows, msgids: Collection[str]) -> dict[str, int]:
    """Return when each message first was there: before, no filter matched it."""
    found = rows.having(MESSAGES, "msgid", msgids, ["msgid", "ts"])
    arrived: dict[str, int] = {}
    for msgid, ts in zip(found["msgid"].to_pylist(), found["ts"].to_pylist(), strict=True):
        arrived[msgid] = min(ts, arrived.get(msgid, ts))
    return arrived
