"""Enter a crowd of filters: stored as rows, and in the register, as if each had been run once.

Compiling a million texts would take a quarter of an hour, so one text of each signature is
compiled, and the constants of the others are put in its place; some of them are compiled to
see that this comes to the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from filters.bench.crowd import KINDS, Wanted, wanted

if TYPE_CHECKING:
    from tapestry.core.ports import DueFilter
    from tapestry.plan.compile import Plan
    from tapestry.plan.signature import Constant, Value
    from tapestry.predicate_index.store import Entry, Register

OWNERS = 1000
BATCH = 20_000
CHECKED = 20
"""Filters of each kind that are compiled, to compare."""

_TEXTS = ("xstandina", "xstandinb")
_NUMBER = 777


@dataclass(frozen=True, slots=True)
class Mould:
    """A signature: the TQL and the plan of a filter that has stand-ins for values."""

    kind: int
    tql: str
    plan: Plan

    @classmethod
    def of(cls, kind: int) -> Mould:
        """Return the mould of a kind, by compiling one filter of it."""
        from tapestry.plan.compile import compile_filter
        from tapestry.query.context import Context
        from tapestry.query.tree.printer import print_tql

        phrase = KINDS[kind].phrase.format(*_stand_ins(kind))
        compiled = compile_filter(phrase, Context())
        (plan,) = compiled.plans
        return cls(kind, print_tql(compiled.checked), plan)

    def text(self, values: Sequence[str]) -> str:
        """Return the TQL of a filter with these values."""
        return _filled(self.tql, _stand_ins(self.kind), values)

    def constants(self, values: Sequence[str]) -> tuple[Constant, ...]:
        """Return the constants of a filter with these values."""
        return tuple(
            replace(constant, value=_value(constant.value, _stand_ins(self.kind), values))
            for constant in self.plan.signature.constants
        )


def _stand_ins(kind: int) -> tuple[str, ...]:
    return (str(_NUMBER),) if KINDS[kind].name in ("age", "votes") else _TEXTS


def _filled(text: str, stand_ins: Sequence[str], values: Sequence[str]) -> str:
    for stand_in, value in zip(stand_ins, values, strict=False):
        text = text.replace(stand_in, value)
    return text


def _value(value: Value, stand_ins: Sequence[str], values: Sequence[str]) -> Value:
    """Return a constant with the values in the place of the stand-ins; durations are so many."""
    if isinstance(value, str):
        return _filled(value, stand_ins, values)
    if isinstance(value, int) and value and value % _NUMBER == 0:
        return value // _NUMBER * int(values[0])
    return value


class Crowd:
    """Filters of all kinds, the first ``hot`` of them with hot values, of OWNERS people."""

    def __init__(self, register: Register, hot: int, weeks: int, since: int) -> None:
        self.register = register
        self.hot = hot
        self.weeks = weeks
        self.since = since
        self.moulds = [Mould.of(kind) for kind in range(len(KINDS))]
        self.count = 0
        for mould in self.moulds:
            self._check(mould)

    def grow(self, count: int) -> None:
        """Enter more filters, until there are so many."""
        for low in range(self.count, count, BATCH):
            high = min(low + BATCH, count)
            self._enter(list(wanted(low, high, self.hot, self.weeks)))
        self.count = max(count, self.count)

    def settle(self) -> None:
        """Make the owners, and let the joint run stand where the filters do."""
        from django.contrib.auth.models import User

        from filters.models import SharedWindow

        User.objects.bulk_create(User(pk=n + 1, username=f"u{n}") for n in range(OWNERS))
        SharedWindow.objects.create(pk=1, since=self.since)

    def _enter(self, some: Sequence[Wanted]) -> None:
        from filters.models import Filter

        Filter.objects.bulk_create(
            Filter(
                pk=one.number + 1,
                owner_id=one.number % OWNERS + 1,
                name=f"f{one.number}",
                text=one.phrase,
                phrase=one.phrase,
                tql=self.moulds[one.kind].text(one.values),
                since=self.since,
                enrolled=True,
            )
            for one in some
        )
        entries = [entry for one in some for entry in self._entries(one)]
        self.register.add(entries, self._examples())

    def _examples(self) -> dict[str, str]:
        return {mould.plan.signature.name: mould.tql for mould in self.moulds}

    def due(self, one: Wanted) -> DueFilter:
        """Return a filter as a run would be given it."""
        from tapestry.core.message import audiences_of
        from tapestry.core.ports import DueFilter

        owner = f"u{one.number % OWNERS}"
        return DueFilter(
            id=one.number + 1,
            text=self.moulds[one.kind].text(one.values),
            owner=owner,
            addresses=(),
            audiences=audiences_of(owner),
            since=self.since,
            start=None,
        )

    def _entries(self, one: Wanted) -> list[Entry]:
        from tapestry.run.shared_window import entries_for

        mould = self.moulds[one.kind]
        return entries_for(self.due(one), mould.plan, mould.constants(one.values))

    def _check(self, mould: Mould) -> None:
        """Raise TapestryError unless phrase and TQL of some filters compile to what is entered."""
        from tapestry.core.errors import TapestryError
        from tapestry.plan.compile import compile_filter
        from tapestry.query.context import Context
        from tapestry.run.shared_window import entries_of

        for one in _some(mould.kind, self.hot, self.weeks):
            entered, due = set(self._entries(one)), self.due(one)
            for text in (one.phrase, due.text):
                compiled = compile_filter(text, Context(due.owner))
                if set(entries_of(due, compiled)[0]) != entered:
                    raise TapestryError(f"{text!r} is not entered as what it is.")


def _some(kind: int, hot: int, weeks: int) -> Iterable[Wanted]:
    alike = [one for one in wanted(0, 2000, hot, weeks) if one.kind == kind]
    return alike[:: max(len(alike) // CHECKED, 1)][:CHECKED]
