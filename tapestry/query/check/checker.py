"""Parsed text to a checked tree: names resolved, types known, sugar gone.

Parsed ─ resolve, type, compute constants ─> CheckedQuery
   ^                                  │ m IN terry.baseball
   └────────── read its text ─────────┘
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC

from tapestry.core.errors import Span, TapestryError
from tapestry.core.schema import MESSAGES, Type
from tapestry.query.check.agreement import agreed, is_me
from tapestry.query.check.comparisons import compare, refuse_now, threshold
from tapestry.query.check.copies import Copier
from tapestry.query.check.definite import definite
from tapestry.query.check.folds import definition_of, folded
from tapestry.query.check.partitions import Partition
from tapestry.query.check.predicates import checked_test
from tapestry.query.check.scope import Scope, is_message
from tapestry.query.check.sequences import written_out
from tapestry.query.check.terms import aggregate_type, aggregated_term, scalar, typed
from tapestry.query.check.threads import place_in_thread
from tapestry.query.check.window_functions import functions_in, of_number, of_rows
from tapestry.query.check.windows import last_of_all, last_of_each
from tapestry.query.context import Context
from tapestry.query.limits import MAX_BYTES, MAX_NESTING, check_count, too_deep
from tapestry.query.tree import nodes as n
from tapestry.query.tree.identifiers import VALUES, FreshNames
from tapestry.query.tree.parsed import MESSAGE, Branch, Parsed
from tapestry.query.tree.walk import change_conditions, is_plain, type_of, walk

Reader = Callable[[str, Context, int], Parsed]
"""Text, who asks, nesting already -> what it says: how a filter's text is read."""


def check(parsed: Parsed, text: str, context: Context, reader: Reader) -> n.CheckedQuery:
    """Check a parsed filter; ``reader`` reads the filters it refers to.

    Raises TapestryError with the place of what is refused.
    """
    trail = ((context.owner, context.name),) if context.name else ()
    others: list[n.InFilter | n.Fold] = []
    checker = _Checker(
        context, reader, FreshNames({MESSAGE}), [0], [0], others, context.owner, trail
    )
    condition = checker.branches(parsed.branches, n.Binding(MESSAGE, MESSAGES))
    return n.CheckedQuery(
        MESSAGE, condition, text, parsed.phrase, parsed.notation, bool(others), parsed.restated
    )


class _ReferenceError(TapestryError):
    """An error that another filter has, told at the place where it is referred to."""


@dataclass(slots=True)
class _Checker:
    """The state of the check.

    ``names`` are those of the variables of the whole tree, ``read`` how much text was read
    for it, ``seen`` how many conditions (the rows of a group are written once for several),
    ``others`` which filters of other people than the asker it refers to, and which aggregates it
    names, ``trail`` the filters whose inside this is, ``context`` that of the innermost,
    ``negated`` whether a NOT stands around, so that what is unknown there must not be false.
    """

    context: Context
    reader: Reader
    names: FreshNames
    read: list[int]
    seen: list[int]
    others: list[n.InFilter | n.Fold]
    asker: str | None
    trail: tuple[tuple[str | None, str], ...] = ()
    depth: int = 0
    negated: bool = False

    def branches(self, branches: tuple[Branch, ...], message: n.Binding) -> n.Condition:
        """Check the SELECTs of a UNION, the selected variable of each being ``message``."""
        return n.Or.of([self._branch(branch, message) for branch in branches])

    def _branch(self, branch: Branch, message: n.Binding) -> n.Condition:
        others = tuple(binding for binding in branch.bindings if binding.var != branch.var)
        bound, scope = self._bind(others, None, {branch.var: message})
        negated, self.negated = self.negated, self.negated and not bound
        condition = self.condition(branch.condition, scope)
        self.negated = negated
        return n.Exists(bound, condition, span=condition.span) if bound else condition

    def _bind(
        self,
        bindings: tuple[n.Binding, ...],
        outer: Scope | None,
        known: dict[str, n.Binding] | None = None,
    ) -> tuple[tuple[n.Binding, ...], Scope]:
        """Give each variable a name of its own in the tree."""
        variables = dict(known or {})
        bound = []
        for binding in bindings:
            own = n.Binding(self.names.take(binding.var), binding.table, span=binding.span)
            variables[binding.var] = own
            bound.append(own)
        return tuple(bound), Scope(variables, outer)

    def condition(self, node: n.Condition, scope: Scope) -> n.Condition:
        """Check a condition whose variables ``scope`` knows."""
        self.seen[0] += 1
        check_count(self.seen[0], node.span)
        self.depth += 1
        negated = self.negated
        if isinstance(node, n.Not):
            self.negated = not negated
        elif not isinstance(node, n.And | n.Or | n.InFilter | n.Test | n.Window):
            self.negated = False
        checked = self._condition(node, scope)
        self.negated = negated
        self.depth -= 1
        return checked

    def _condition(self, node: n.Condition, scope: Scope) -> n.Condition:
        match node:
            case n.And():
                return n.And.of([self.condition(arg, scope) for arg in node.args], node.span)
            case n.Or():
                return n.Or.of([self.condition(arg, scope) for arg in node.args], node.span)
            case n.Not():
                arg = self.condition(node.arg, scope)
                if isinstance(arg, n.Truth):
                    return n.Truth(not arg.value)
                if isinstance(arg, n.Not) and isinstance(node.arg, n.Test):
                    return arg.arg
                return n.Not(arg, span=node.span)
            case n.NotTrue():
                arg = definite(self.condition(node.arg, scope), self.names)
                return n.Not(arg, span=node.span)
            case n.Exists():
                bindings, inner = self._bind(node.bindings, scope)
                return n.Exists(bindings, self.condition(node.condition, inner), span=node.span)
            case n.InQuery():
                return self._in_query(node, scope)
            case n.InFilter():
                return self._in_filter(node, scope)
            case n.Threshold():
                return threshold(
                    self._aggregate(node.aggregate, scope), node.op, node.constant, node.span
                )
            case n.Top():
                return self._top(node, scope)
            case n.Sequence():
                return self._sequence(node, scope)
            case n.Window():
                return self._window(node, scope)
            case n.Agreement():
                return self._agreement(node, scope)
            case n.Truth():
                return node
            case n.Compare() if placed := place_in_thread(node, scope, self.names):
                return placed
            case _ if functions := functions_in(node):
                return self._window_functions(node, functions, scope)
            case _:
                return checked_test(node, scope)

    def _window_functions(self, node: n.Test, functions: list[n.Over], scope: Scope) -> n.Condition:
        """Write out a test of window functions; behind a NOT, the NOT of its opposite.

        So it is neither true nor false where a function has no value.
        """
        negated, self.negated = self.negated, False
        partitions = [self._partition(function, scope) for function in functions]
        self.negated = negated
        if functions[0].name not in VALUES:
            return of_number(node, partitions, scope, negated=negated)
        return of_rows(node, partitions, scope, negated=negated)

    def _partition(self, node: n.Over, scope: Scope) -> Partition:
        """Check what a window function is of."""
        message = scope.owner(node.per[0])
        if not is_message(message):
            name = node.per[0].var or node.per[0].name
            raise TapestryError(
                f"“{name}” is not a message, and windows are of messages.",
                node.per[0].span,
                "Write LAG(m.sender) OVER (PARTITION BY m.inreplyto ORDER BY m.received).",
            )
        row = n.Binding(self.names.take(node.var), MESSAGES, span=node.span)
        inner = Scope({node.var: row}, hidden=scope)
        per = tuple([inner.column(column) for column in node.per])
        order = inner.column(node.order) if node.order else None
        term = None
        if node.term is not None and node.name in VALUES:
            term = scalar(node.term, inner)
        elif node.term is not None:
            aggregate = n.Aggregate(node.name, node.distinct, node.term, (), n.Truth(True))
            term = aggregated_term(aggregate, inner, {row.var})
        condition = self.condition(node.condition, inner)
        copier = Copier(self.names, self.seen)
        return Partition(node, message, row, per, order, term, condition, copier)

    def _in_query(self, node: n.InQuery, scope: Scope) -> n.Condition:
        bindings, inner = self._bind(node.bindings, scope)
        term, value = typed(node.term, scope), typed(node.value, inner)
        condition = self.condition(node.condition, inner)
        refuse_now(term, "before IN (SELECT …)")
        refuse_now(value, "after SELECT")
        if type_of(value) is Type.SET:
            raise TapestryError(
                "The SELECT after IN gives a set.",
                node.value.span,
                "Write EXISTS (r: r.references = m.msgid) instead.",
            )
        test = compare("=", term, value, node.span)
        if type_of(term) is Type.SET:
            parts = [test] if condition == n.Truth(True) else [condition, test]
            return n.Exists(bindings, n.And.of(parts), span=node.span)
        return n.InQuery(term, value, bindings, condition, span=node.span)

    def _aggregate(self, node: n.Aggregate, scope: Scope) -> n.Aggregate:
        if not node.bindings:
            raise TapestryError(
                f"It is not said of which rows this {node.function} is.",
                node.span,
                "Write COUNT(a IN annotations: a.msgid = m.msgid) > 5, or HAVING COUNT(*) > 5.",
            )
        bindings, inner = self._bind(node.bindings, scope)
        own = {binding.var for binding in bindings}
        term = node.term
        if isinstance(term, n.Fold):
            term = self._fold(term, inner, own)
        elif term:
            term = aggregated_term(node, inner, own)
        condition = self.condition(node.condition, inner)
        distinct = node.distinct and node.function not in ("MIN", "MAX")
        kind = aggregate_type(node.function, term)
        among = self._among(node.among, inner) if node.among else None
        return n.Aggregate(
            node.function, distinct, term, bindings, condition, kind, among, span=node.span
        )

    def _fold(self, node: n.Fold, scope: Scope, own: set[str]) -> n.Fold:
        """Check an aggregate that is defined in SQL; one that has a name may keep it."""
        definition = definition_of(node, self.context, self.asker)
        checked = folded(node, definition, scope, own)
        if definition == node.definition:
            return checked
        self.others.append(node)
        return replace(checked, definition=node.definition) if self.context.by_name else checked

    def _among(self, node: n.Among, scope: Scope) -> n.Among:
        test = self.condition(node.test, scope)
        if not is_plain(test):
            raise TapestryError(
                "What counts among rows can only be told by their columns.",
                node.test.span,
                "Put it before the colon, behind AMONG.",
            )
        return replace(node, test=test)

    def _top(self, node: n.Top, scope: Scope) -> n.Top:
        owner, message = scope.owner(node.message), scope.column(node.message)
        if not is_message(owner):
            raise TapestryError(
                f"“{node.message.var or node.message.name}” is not a message, so it has no rank.",
                node.message.span,
                "Only a message can be IN a TOP: m IN TOP 10 BY COUNT(r: r.inreplyto = m.msgid).",
            )
        own = n.Binding(self.names.take(node.binding.var), MESSAGES, span=node.binding.span)
        inner = Scope({node.binding.var: own}, hidden=scope)
        if isinstance(node.aggregate.term, n.Fold):
            raise TapestryError(
                "A top cannot be by an aggregate that is defined in SQL.",
                node.aggregate.span,
                "Compare it with a constant.",
            )
        aggregate = self._aggregate(node.aggregate, inner)
        if aggregate.among:
            hint = "Count those since some time."
            raise TapestryError("A top cannot be by LAST, SHARE or NTILE.", aggregate.span, hint)
        condition = self.condition(node.condition, inner)
        return n.Top(message, node.limit, own, aggregate, condition, span=node.span)

    def _sequence(self, node: n.Sequence, scope: Scope) -> n.Condition:
        """Check a sequence with one row for each of its variables, and write it out."""
        bound: list[n.Binding] = []
        variables: dict[str, n.Binding] = {}
        for binding in (binding for step in node.steps for binding in step.bindings):
            if not binding.table:
                own = scope.variable(binding.var, binding.span)
            else:
                (own,), _ = self._bind((binding,), None)
                variables[binding.var] = own
            bound.append(own)
        condition = self.condition(node.condition, Scope(variables, scope))
        return written_out(node, bound, condition, self.names, self.seen)

    def _window(self, node: n.Window, scope: Scope) -> n.Condition:
        """Check what a window is of, and write out that the message stands in it."""
        message, key = scope.owner(node.message), scope.column(node.message)
        if not is_message(message):
            raise TapestryError(
                f"“{node.message.var}” is not a message, so it has no place among them.",
                node.message.span,
                "Only a message can be IN LAST or IN FIRST: m IN LAST 50.",
            )
        own = n.Binding(self.names.take(node.binding.var), MESSAGES, span=node.binding.span)
        inner = Scope({node.binding.var: own}, hidden=scope)
        per = [inner.column(column) for column in node.per]
        negated, self.negated = self.negated, False
        condition = self.condition(node.condition, inner)
        self.negated = negated
        copier = Copier(self.names, self.seen)
        if not per:
            return last_of_all(node, key, own, condition, copier)
        here = copier.test(condition, {own.var: message.var})
        if negated:
            here = definite(here, self.names)
        return last_of_each(node, message, own, per, here, condition, copier)

    def _agreement(self, node: n.Agreement, scope: Scope) -> n.Condition:
        """Write out how often two people agree, ``me`` being the person who asks."""
        one, other = (
            self._me(term) if isinstance(term, n.Column) and is_me(term) else typed(term, scope)
            for term in (node.one, node.other)
        )
        written = agreed(node, one, other, self.names)
        self.seen[0] += sum(isinstance(part, n.Condition) for part in walk(written))
        check_count(self.seen[0], node.span)
        return written

    def _me(self, term: n.Column) -> n.Literal:
        if not self.context.owner:
            message = "Nobody is signed in, so “me” is nobody here."
            raise TapestryError(message, term.span, "Write a user name: 'mary'.")
        return n.Literal(self.context.owner, Type.TEXT, span=term.span)

    def _in_filter(self, node: n.InFilter, scope: Scope) -> n.Condition:
        """Read another filter, and say of ``node.var`` what it says of its message."""
        message = scope.variable(node.var, node.span)
        if not is_message(message):
            raise TapestryError(
                f"“{node.var}” is not a message, so it is in no filter.",
                node.span,
                "Only a message can be IN a filter: m IN baseball.",
            )
        owner = node.owner or self.context.owner
        if owner != self.asker:
            named = replace(node, var=message.var, owner=owner)
            self.others.append(named)
            if self.context.by_name:
                return named
        key = (owner, node.name)
        before = [_folded(*name) for name in self.trail]
        if _folded(*key) in before:
            names = [*self.trail[before.index(_folded(*key)) :], key]
            circle = " → ".join(self._shown(*name) for name in names)
            raise _ReferenceError(f"The filters refer to each other: {circle}.", node.span)
        try:
            condition = self._read(node, key, message)
            if node.unknown is None:
                return condition
            return definite(condition, self.names, unknown=node.unknown)
        except _ReferenceError as error:
            raise _ReferenceError(error.message, node.span, error.hint) from error

    def _read(
        self, node: n.InFilter, key: tuple[str | None, str], message: n.Binding
    ) -> n.Condition:
        if self.context.resolve is None:
            hint = "Write out what it says."
            raise _ReferenceError("There are no other filters here.", node.span, hint)
        shown = self._shown(*key)
        if self.depth >= MAX_NESTING:
            raise too_deep(node.span or Span(0, 0))
        try:
            owner = node.owner or (None if key[0] == self.asker else key[0])
            text = self.context.resolve(owner, node.name)
        except TapestryError as error:
            raise _ReferenceError(error.message, node.span, error.hint) from error
        self.read[0] += len(text)
        if self.read[0] > MAX_BYTES:
            message_ = "The filter is longer than 64 KiB with those it refers to."
            raise _ReferenceError(message_, node.span, "Refer to fewer filters.")
        context = self.context if key[0] == self.context.owner else self._as(key[0])
        inside = replace(self, context=context, trail=(*self.trail, key))
        try:
            parsed = self.reader(text, context, self.depth)
            condition = inside.branches(parsed.branches, message)
            return change_conditions(condition, lambda part: replace(part, span=node.span))
        except _ReferenceError:
            raise
        except TapestryError as error:
            problem = f"The filter “{shown}” cannot be used: {error.message}"
            raise _ReferenceError(problem, node.span, error.hint) from error

    def _as(self, owner: str | None) -> Context:
        """Return the context in which another person's filter is read."""
        known = self.context.addresses_of
        addresses = known(owner) if known and owner else ()
        zone_of = self.context.zone_of
        zone = zone_of(owner) if zone_of and owner else UTC
        return replace(self.context, owner=owner, addresses=addresses, left_out=(), zone=zone)

    def _shown(self, owner: str | None, name: str) -> str:
        return name if owner == self.asker else f"{owner}.{name}"


def _folded(owner: str | None, name: str) -> tuple[str, str]:
    """Return the name of a filter as it is compared: capitals do not matter."""
    return (owner or "").lower(), name.lower()
