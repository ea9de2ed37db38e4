"""Install many filters at once: as rows, and in the predicate index, as if each had run once.

To compile a million texts would take a quarter of an hour.  So one text of each signature is
compiled as a template, and the constants of the others are put into it; some of them are
compiled too, to check that this gives the same entries.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from filters.authoring.models import Filter
from filters.people.models import User
from filters.runs.models import SharedWindow
from tapestry.core.errors import TapestryError
from tapestry.core.message import audiences_of
from tapestry.core.ports import DueFilter
from tapestry.plan.compile import Plan, compile_filter
from tapestry.plan.signature import Constant, Value
from tapestry.predicate_index.store import Entry, PredicateIndex, disjunct_entries, index_entries
from tapestry.query.context import Context
from tapestry.query.tree.printer import print_tql
from tapestry.run.windows.enrollment import part_of
from tests.bench.support.population import KINDS, FilterSpec, filter_specs

OWNERS = 1000
BATCH = 20_000
CHECKED = 20
"""Filters of each kind that are compiled, to compare."""

_TEXTS = ("xstandina", "xstandinb")
_NEWSGROUPS = ("alt.xstandina",)
_NUMBER = 777


@dataclass(frozen=True, slots=True)
class Template:
    """A signature: the TQL and the plan of a filter that has stand-ins for values."""

    stand_ins: tuple[str, ...]
    tql: str
    plan: Plan

    @classmethod
    def of(cls, kind: str) -> Template:
        """Return the template of a kind, by compiling one filter of it."""
        stand_ins: tuple[str, ...] = _TEXTS
        if kind in ("age", "votes"):
            stand_ins = (str(_NUMBER),)
        elif kind in ("group", "groups"):
            stand_ins = _NEWSGROUPS
        compiled = compile_filter(KINDS[kind][0].format(*stand_ins), Context())
        (plan,) = compiled.plans
        return cls(stand_ins, print_tql(compiled.checked), plan)

    def text(self, values: Sequence[str]) -> str:
        """Return the TQL of a filter with these values."""
        return str(self._value(self.tql, values))

    def constants(self, values: Sequence[str]) -> tuple[Constant, ...]:
        """Return the constants of a filter with these values."""
        return tuple(
            replace(constant, value=self._value(constant.value, values))
            for constant in self.plan.signature.constants
        )

    def _value(self, template: Value, values: Sequence[str]) -> Value:
        """Return a constant with the values instead of the stand-ins; durations are multiples."""
        if isinstance(template, str):
            for stand_in, value in zip(self.stand_ins, values, strict=False):
                template = template.replace(stand_in, value)
        elif isinstance(template, int) and template and template % _NUMBER == 0:
            return template // _NUMBER * int(values[0])
        return template


class Population:
    """Filters of all kinds, the first ``hot`` of them with hot values, of OWNERS people.

    The shared window begins where the filters' windows do; it is divided into ``parts``.
    """

    def __init__(self, root: Path, hot: int, weeks: int, since: int, parts: int = 1) -> None:
        self.indexes = [PredicateIndex(root, part) for part in range(parts)]
        self.hot = hot
        self.weeks = weeks
        self.since = since
        self.templates = {kind: Template.of(kind) for kind in KINDS}
        self.count = 0
        for kind in KINDS:
            self._check(kind)
        User.objects.bulk_create(User(pk=n + 1, username=f"u{n}") for n in range(OWNERS))
        SharedWindow.objects.bulk_create(SharedWindow(pk=n + 1, since=since) for n in range(parts))

    def grow(self, count: int) -> None:
        """Install more filters, until there are ``count``."""
        for low in range(self.count, count, BATCH):
            high = min(low + BATCH, count)
            self._install(list(filter_specs(low, high, self.hot, self.weeks)))
        self.count = max(count, self.count)

    def _install(self, specs: Sequence[FilterSpec]) -> None:
        representatives = {t.plan.signature.name: t.tql for t in self.templates.values()}
        divided: list[list[FilterSpec]] = [[] for _ in self.indexes]
        for spec in specs:
            divided[part_of(self.due(spec), len(self.indexes))].append(spec)
        for part, index in enumerate(self.indexes):
            Filter.objects.bulk_create(self._row(spec, part) for spec in divided[part])
            entries = [entry for spec in divided[part] for entry in self._entries(spec)]
            index.add(entries, representatives)

    def _row(self, spec: FilterSpec, part: int) -> Filter:
        return Filter(
            pk=spec.number + 1,
            owner_id=spec.number % OWNERS + 1,
            name=f"f{spec.number}",
            text=spec.phrase,
            phrase=spec.phrase,
            tql=self.templates[spec.kind].text(spec.values),
            since=self.since,
            enrolled=True,
            part=part,
        )

    def due(self, spec: FilterSpec) -> DueFilter:
        """Return a filter as a run is given it."""
        owner = f"u{spec.number % OWNERS}"
        return DueFilter(
            filter_id=spec.number + 1,
            text=self.templates[spec.kind].text(spec.values),
            owner=owner,
            addresses=(),
            audiences=audiences_of(owner),
            since=self.since,
            start=None,
        )

    def _entries(self, spec: FilterSpec) -> list[Entry]:
        template = self.templates[spec.kind]
        return disjunct_entries(self.due(spec), template.plan, template.constants(spec.values))

    def _check(self, kind: str) -> None:
        """Raise TapestryError unless phrase and TQL of some filters compile to their entries."""
        specs = filter_specs(0, 2000, self.hot, self.weeks)
        same_kind = [spec for spec in specs if spec.kind == kind]
        for spec in same_kind[:: max(len(same_kind) // CHECKED, 1)][:CHECKED]:
            entered, due = set(self._entries(spec)), self.due(spec)
            for text in (spec.phrase, due.text):
                compiled = compile_filter(text, Context(due.owner))
                if set(index_entries(due, compiled)[0]) != entered:
                    raise TapestryError(f"{text!r} has other entries than those installed.")
