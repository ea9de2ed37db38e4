"""Compile the filters that a change concerns before it is stored, while nobody waits.

    the change ─ compile, as if it were stored ─> outcomes ─ lock, ask again ─> stored
                         ^────────── what else has changed meanwhile ──┘

What a filter means depends on its text and on the answers that the compiler was given about
people and other filters.  So under the lock only these answers are asked for again: where all are
as they were, the outcome holds; where one is not, the filter is compiled again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from django.db import transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Lower

from filters.authoring.compilation.understanding import FilterName, track_references, understand
from filters.authoring.models import Filter, Reference
from filters.people import people
from filters.people.models import User
from filters.runs.models import SharedWindow
from filters.site.work.db.batching import batched, in_batches
from tapestry.core.errors import TapestryError
from tapestry.core.surroundings import is_of_surroundings
from tapestry.query.context import Context

FEW = 5
"""Filters that are compiled under the lock rather than before: that takes seconds at most."""

ROUNDS = 10
"""How often what changes meanwhile is compiled before the lock; after that it is under it."""

NOBODY = Q(pk__in=[])

Definition = tuple[str, str, str]
"""What those that refer to a filter take from it: its name, text and visibility."""


@dataclass(frozen=True, slots=True)
class Change:
    """What is about to be stored, and which filters are compiled again for it.

    ``filters``: by owner and name, the text and the visibility of a filter; None if it will not
    be there.  ``user`` is as it will be.
    """

    which: Q = NOBODY
    filters: Mapping[tuple[int, str], tuple[str, str] | None] = field(default_factory=dict)
    user: User | None = None

    @classmethod
    def of_filter(cls, owner: User, before: Definition | None, after: Definition | None) -> Change:
        """Return the change of a filter's definition; None is a filter that is not there."""
        if before == after:
            return cls()
        filters: dict[tuple[int, str], tuple[str, str] | None] = {}
        if before is not None:
            filters[owner.pk, before[0]] = None
        if after is not None:
            filters[owner.pk, after[0]] = after[1:]
        username = owner.get_username().lower()
        return cls(referring_to((username, name) for _, name in filters), filters)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a filter's text: what it means, or an error in words, or one that nobody
    foresaw; and the filters that it names, and those which these name.
    """

    tql: str = ""
    phrase: str | None = None
    display_tql: str | None = None
    error: str = ""
    unforeseen: Exception | None = None
    references: frozenset[FilterName] = frozenset()

    def differs(self, tql: str) -> bool:
        """Tell whether a filter that means this has another meaning now, or none."""
        return self.tql != tql or bool(self.error) or self.unforeseen is not None


T = TypeVar("T")

Question = tuple[str, tuple[Any, ...]]
"""A function of the context, and what it was given."""


@dataclass(frozen=True, slots=True)
class _Compiled:
    """An outcome, and all that it came from."""

    basis: tuple[Any, ...]
    answers: Mapping[Question, object]
    outcome: Outcome


class _Snapshot(people.Directory):
    """The directory as it is once something is changed, each thing looked up once."""

    def __init__(self, change: Change) -> None:
        self._change = change
        self._named: dict[str, list[User]] = {}
        self._texts: dict[tuple[int, str], list[tuple[str, str]]] = {}

    def current(self, user: User) -> User:
        changed = self._change.user
        return changed if changed is not None and changed == user else user

    def named(self, name: str) -> Sequence[User]:
        if name not in self._named:
            changed = self._change.user
            users = [user for user in super().named(name) if user != changed]
            if changed is not None and changed.get_username().lower() == name.lower():
                users.append(changed)
            self._named[name] = users
        return self._named[name]

    def texts(self, owner: User, name: str) -> Sequence[tuple[str, str]]:
        key = (owner.pk, name.lower())
        if key in self._change.filters:
            changed = self._change.filters[key]
            return [] if changed is None else [changed]
        if key not in self._texts:
            self._texts[key] = list(super().texts(owner, name))
        return self._texts[key]

    def load(self, wanted: Collection[tuple[int, str]]) -> None:
        """Look many texts up at once, by their owners and names; what is not found stays unknown.

        Theirs that ask are named most: each asks for others.
        """
        owners = {owner for owner, _ in wanted}
        texts: dict[tuple[int, str], list[tuple[str, str]]] = defaultdict(list)
        for names in batched(sorted({name for _, name in wanted})):
            filters = Filter.objects.annotate(small=Lower("name")).filter(small__in=names)
            for users in in_batches(User.objects.order_by(), owners):
                rows = filters.filter(owner__in=users.values("pk")).order_by("name")
                for owner, name, *said in rows.values_list("owner", "small", "text", "visibility"):
                    if (owner, name) in wanted:
                        texts[owner, name].append((said[0], said[1]))
        self._texts = {**texts, **self._texts}

    def stored(self) -> _Snapshot:
        """Return this, now that the change is stored: what it concerns is looked up again."""
        after, change = _Snapshot(Change()), self._change
        after._texts = {key: said for key, said in self._texts.items() if key not in change.filters}
        if change.user is None:
            after._named = self._named
        return after


class Ahead:
    """Filters that were compiled before what they are compiled for is stored."""

    def __init__(self) -> None:
        self._compiled: dict[int, _Compiled] = {}
        self._known: dict[Any, Any] = {}
        self._checked = _Snapshot(Change())
        """What was seen under the lock: of it nothing changes but by who holds that."""

    @contextmanager
    def locked(self, change: Callable[[], Change], instant: Callable[[], T]) -> Iterator[T]:
        """Hold the lock of the shared window, in a transaction, with all compiled but a few.

        Yield the instant, which is asked for before the lock.
        """
        for left in reversed(range(ROUNDS)):
            known = change()
            for filter_ in self._stale(known):
                self._keep(filter_, _Snapshot(known))
            at = instant()
            with transaction.atomic():
                SharedWindow.lock_all()
                if len(self._stale(change())) <= FEW or not left:
                    yield at
                    return

    def outcomes(self, which: Q) -> dict[int, Outcome]:
        """Return what these filters mean now, by primary key, under the lock."""
        found, snapshot = {}, self._checked.stored()
        for filter_ in _rows(which):
            if not self._holds(filter_, snapshot):
                self._keep(filter_, snapshot)
            found[filter_.pk] = self._compiled[filter_.pk].outcome
        return found

    def _keep(self, filter_: Filter, snapshot: _Snapshot) -> None:
        """Compile a filter; what many are answered, or mean, is kept once."""
        compiled = _compile(filter_, snapshot)
        same = self._known.setdefault
        answers = {question: same(answer, answer) for question, answer in compiled.answers.items()}
        outcome = same(compiled.outcome, compiled.outcome)
        self._compiled[filter_.pk] = replace(compiled, answers=answers, outcome=outcome)

    def _stale(self, change: Change) -> list[Filter]:
        rows, self._checked = list(_rows(change.which)), _Snapshot(change)
        self._checked.load({key for row in rows for key in self._own_names(row)})
        return [row for row in rows if not self._holds(row, self._checked)]

    def _own_names(self, filter_: Filter) -> Iterator[tuple[int, str]]:
        """Yield the filters of the same owner that one was compiled from."""
        compiled = self._compiled.get(filter_.pk)
        for function, given in compiled.answers if compiled else ():
            if function == "resolve" and given[0] is None:
                yield filter_.owner_id, given[1].lower()

    def _holds(self, filter_: Filter, snapshot: _Snapshot) -> bool:
        compiled = self._compiled.get(filter_.pk)
        if compiled is None:
            return False
        context = _context(filter_, snapshot)
        return compiled.basis == _basis(filter_, context) and all(
            _answer(context, question) == answer for question, answer in compiled.answers.items()
        )


def referring_to(names: Iterable[FilterName]) -> Q:
    """Return which filters refer to any of these names, whether or not a filter has it."""
    return Q(pk__in=references_to(names).values("filter"))


def references_to(names: Iterable[FilterName]) -> QuerySet[Reference]:
    wanted = NOBODY
    for owner, name in names:
        wanted |= Q(owner=owner.lower(), name=name.lower())
    return Reference.objects.filter(wanted)


def compiled_now(filter_: Filter) -> Outcome:
    """Compile a filter with what is stored now."""
    return _compile(filter_, _Snapshot(Change())).outcome


def _rows(which: Q) -> Iterable[Filter]:
    rows = Filter.objects.filter(which).select_related("owner").order_by("pk")
    return rows.defer("tql", "phrase", "display_tql", "error")


def _context(filter_: Filter, snapshot: _Snapshot) -> Context:
    return people.context(snapshot.current(filter_.owner), filter_.name, snapshot)


def _basis(filter_: Filter, context: Context) -> tuple[Any, ...]:
    """Return what an outcome comes from besides the answers; a stored text names no day by now."""
    known = (context.owner, context.addresses, context.left_out, context.zone)
    return filter_.text, context.name, *known


def _answer(context: Context, question: Question) -> object:
    """Return what the compiler is answered; a refusal is an answer too."""
    function, given = question
    try:
        return getattr(context, function)(*given)
    except TapestryError as refusal:
        return refusal.message, refusal.hint


def _compile(filter_: Filter, snapshot: _Snapshot) -> _Compiled:
    """Compile a filter; raises faults of the surroundings."""
    context = _context(filter_, snapshot)
    asked: dict[Question, object] = {}

    def noting(function: str) -> Callable[..., Any]:
        def ask(*given: Any) -> Any:
            asked[function, given] = _answer(context, (function, given))
            return getattr(context, function)(*given)

        return ask

    noted = replace(
        context,
        resolve=noting("resolve"),
        addresses_of=noting("addresses_of"),
        zone_of=noting("zone_of"),
    )
    noted, references = track_references(noted)
    try:
        understood = understand(filter_.text, noted)
        outcome = Outcome(understood.tql, understood.phrase or "", understood.display_tql)
    except TapestryError as failure:
        outcome = Outcome(error=failure.message)
    except Exception as failure:
        if is_of_surroundings(failure):
            raise
        outcome = Outcome(unforeseen=failure)
    outcome = replace(outcome, references=frozenset(references))
    return _Compiled(_basis(filter_, context), asked, outcome)
