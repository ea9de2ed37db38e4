"""Write a sequence out: joins by time, and NOT EXISTS over the intervals between its rows.

    SEQ(a THEN NOT x THEN r: C(a, r) AND D(x, a))
    EXISTS (a, r: C AND a.received < r.received
            AND NOT EXISTS (x: D AND a.received < x.received AND x.received < r.received))

This is what an event pattern (MATCH_RECOGNIZE) is elsewhere.  What is written out is all that the
rest of the compiler sees: there is no matcher.
"""

from __future__ import annotations

from collections.abc import Sequence as Several
from itertools import pairwise, product
from math import prod

from tapestry.core.errors import TapestryError
from tapestry.core.schema import MESSAGES, Type
from tapestry.query.check.copies import Copier, moment
from tapestry.query.limits import check_count
from tapestry.query.tree import nodes as n
from tapestry.query.tree.identifiers import FreshNames
from tapestry.query.tree.walk import conjuncts, walk

Rows = tuple[n.Binding, ...]


def written_out(
    node: n.Sequence,
    rows: Several[n.Binding],
    condition: n.Condition,
    names: FreshNames,
    seen: list[int],
) -> n.Condition:
    """Return what a sequence means, in EXISTS, NOT EXISTS and comparisons of instants.

    ``rows`` are the bindings of its variables as they are called in the checked ``condition``, one
    for each in the order of the steps; ``names`` supplies others, ``seen`` counts conditions.
    Raises TapestryError where the condition does not say what is missing, or is too long.

    Law: it holds for those rows for which the sequence, read literally, does.
    """
    own = iter(rows)
    steps = [(step, tuple([next(own) for _ in step.bindings])) for step in node.steps]
    tests = [] if condition == n.Truth(True) else list(conjuncts(condition))
    _check_tests(steps, tests)
    counts = [range(step.least, step.most + 1) for step in node.steps]
    check_count(seen[0] + prod(map(len, counts)), node.span)
    copier = Copier(names, seen)
    return n.Or.of([_way(steps, times, tests, copier) for times in product(*counts)], node.span)


def _check_tests(steps: Several[tuple[n.Step, Rows]], tests: Several[n.Condition]) -> None:
    """Refuse a test of two rows that must not come, and a variable that no test speaks of."""
    absent = {own[0].var for step, own in steps if step.negated}
    named = set().union(*map(_named, tests))
    for test in tests:
        if len(_named(test) & absent) > 1:
            message = "One condition speaks of two rows that must not come."
            raise TapestryError(message, test.span, "Join what is said of each by AND.")
    for step, own in steps:
        for written, binding in zip(step.bindings, own, strict=True):
            if written.table and binding.var not in named:
                column = "inreplyto" if written.table == MESSAGES else "msgid"
                hint = f"Tie it to another row, as {written.var}.{column} = m.msgid does."
                message = f"Nothing is said of “{written.var}”."
                raise TapestryError(message, written.span, hint)


def _named(test: n.Condition) -> set[str]:
    return {part.var for part in walk(test) if isinstance(part, n.Column | n.InFilter)}


def _way(
    steps: Several[tuple[n.Step, Rows]],
    times: Several[int],
    tests: Several[n.Condition],
    copier: Copier,
) -> n.Condition:
    """Return that a sequence comes in one way, each repeated step so many times."""
    rows_of: dict[str, Rows] = {}
    coming: list[tuple[n.Step, Rows]] = []
    absent: list[tuple[n.Step, n.Binding, int]] = []
    for (step, own), count in zip(steps, times, strict=True):
        for written, binding in zip(step.bindings, own, strict=True):
            copies = [copier.row(binding) if written.table else binding for _ in range(count)]
            rows_of[binding.var] = tuple(copies)
        if step.negated:
            absent.append((step, rows_of[own[0].var][0], len(coming)))
        elif count > 1:
            coming += [(step, (row,)) for row in rows_of[own[0].var]]
        else:
            coming.append((step, tuple([row for one in own for row in rows_of[one.var]])))
    inside: dict[str, list[n.Condition]] = {row.var: [] for _, row, _ in absent}
    parts: list[n.Condition] = []
    for test in tests:
        names = _named(test)
        named = [var for var in rows_of if var in names]
        for chosen in product(*[rows_of[var] for var in named]):
            renamed = {var: row.var for var, row in zip(named, chosen, strict=True)}
            where = next((inside[var] for var in renamed.values() if var in inside), parts)
            where.append(copier.test(test, renamed))
    for (_, before), (step, after) in pairwise(coming):
        parts += _follows(before, after, step)
    for step, row, place in absent:
        before = coming[place - 1][1] if place else ()
        after = coming[place][1] if place < len(coming) else ()
        between = [*_follows(before, (row,), step if before else None)]
        between += _follows((row,), after, None if before else step)
        if not after:
            parts += [_is_over(last, step) for last in before]
        tied = n.And.of([*inside[row.var], *between])
        parts.append(n.Not(n.Exists((row,), tied, span=step.span), span=step.span))
    bindings = tuple(
        row
        for (step, own) in steps
        if not step.negated
        for written, one in zip(step.bindings, own, strict=True)
        if written.table
        for row in rows_of[one.var]
    )
    found = n.And.of(parts)
    return n.Exists(bindings, found) if bindings else found


def _follows(before: Rows, after: Rows, step: n.Step | None) -> list[n.Condition]:
    """Return that rows come after others, and no later than a step allows."""
    tests: list[n.Condition] = []
    for first, second in product(before, after):
        tests.append(n.Compare("<", moment(first), moment(second)))
        if step and step.within:
            tests.append(n.Compare("<=", moment(second), _later(first, step.within)))
    return tests


def _is_over(last: n.Binding, step: n.Step) -> n.Condition:
    """Return that nothing more can come so soon after a row."""
    assert step.within is not None  # the parser refuses it without
    return n.Compare(">", n.Now(), _later(last, step.within), span=step.span)


def _later(row: n.Binding, length: n.Literal) -> n.Term:
    return n.Arith("+", moment(row), length, Type.INSTANT, span=length.span)
