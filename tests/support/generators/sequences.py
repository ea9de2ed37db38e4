"""Random sequences: what comes, in which order, how soon, and what does not come between."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from tapestry.core.schema import ANNOTATIONS, MESSAGES, Type
from tapestry.query.tree import nodes as n
from tapestry.query.tree.printer import print_condition, print_term
from tapestry.query.tree.walk import transform
from tests.support.generators import window_functions
from tests.support.generators.terms import TRUE, column, conjoin, integer, text

SHAPES: tuple[str, ...] = (
    *("m r", "m -x", "m -x r", "m r r", "q m", "q -x m", "-x m", "q m -x", "m r -x", "m qr"),
    *("m r+", "r+ -x", "q -x r", "r -x -x", "m r+ -x", "-x r m", "mr q", "m -x -x", "r+ m"),
)
"""Steps: ``m`` is known around the sequence, ``-`` must not come, ``+`` is repeated."""


class Sequences:
    """What a writer of filters draws where rows come in an order."""

    made: int
    pick: Callable[..., Any]
    condition: Callable[..., Any]
    correlation: Callable[..., Any]
    plain: Callable[..., Any]
    duration: Callable[..., Any]

    def sequence(
        self, scope: tuple[n.Binding, ...], depth: int, shapes: tuple[str, ...] = SHAPES
    ) -> n.Sequence:
        """Draw a sequence; each new row is tied to another, some to more."""
        around = self.pick(*scope, scope[-1])
        coming: list[n.Binding] = list(scope)
        absent: list[n.Binding] = []
        steps: list[n.Step] = []
        tests: list[n.Condition] = []
        for word in self.pick(*shapes).split():
            negated, repeated = word.startswith("-"), word.endswith("+")
            bindings = []
            for letter in word.strip("-+"):
                if letter == "m":
                    bindings.append(n.Binding(around.var, ""))
                    continue
                new = self._row()
                bindings.append(new)
                if negated:
                    absent.append(new)
                    continue
                tests.append(self.correlation((new,), tuple(coming)))
                coming.append(new)
            steps.append(n.Step(tuple(bindings), negated=negated, most=2 if repeated else 1))
        for new in absent:
            tests.append(self.correlation((new,), tuple(coming)))
            if self.pick(True, False):
                tests.append(self.plain(new))
        if self.pick(True, False, False):
            tests.append(self.condition(tuple(coming), min(depth - 1, 1), 1))
        return n.Sequence(self._timed(steps), conjoin(tests[:: self.pick(1, -1)]))

    def place(self, scope: tuple[n.Binding, ...]) -> n.Window:
        """Draw a window of the first messages or the last, of all or for each value."""
        message = self.pick(*[binding for binding in scope if binding.table == MESSAGES])
        self.made += 1
        ranked = n.Binding(f"x{self.made}", MESSAGES)
        per: tuple[n.Column, ...] = ()
        if name := self.pick("", "", "sender", "inreplyto", "list"):
            per = (column(ranked, name),)
        among = self.pick("all", "plain", "condition", "condition")
        condition: n.Condition = TRUE
        if among != "all":
            condition = self.plain(ranked) if among == "plain" else self.condition((ranked,), 1, 1)
        key, limit = column(message, "msgid"), integer(self.pick(1, 1, 2, 3))
        return n.Window(key, not per or self.pick(True, False), limit, ranked, per, condition)

    def _row(self) -> n.Binding:
        self.made += 1
        table = self.pick(MESSAGES, MESSAGES, MESSAGES, ANNOTATIONS)
        return n.Binding(f"{table[0].replace('m', 'r')}{self.made}", table)

    def _timed(self, steps: list[n.Step]) -> tuple[n.Step, ...]:
        """Draw how soon rows come; it must be known of what comes last, and cannot of the first."""
        first = next(place for place, step in enumerate(steps) if not step.negated)
        timed = []
        for place, step in enumerate(steps):
            may = step.negated or step.most > 1 or place > first
            must = all(later.negated for later in steps[place:])
            within = self.duration() if must or (may and self.pick(True, False)) else None
            least = self.pick(1, 2) if step.most > 1 else 1
            timed.append(n.Step(step.bindings, within, step.negated, least, step.most))
        return tuple(timed)


def text_of(condition: n.Condition) -> str:
    """Return a condition as it is written, nothing of it written out."""
    written: list[str] = []

    def mark(node: n.Node) -> n.Node:
        if isinstance(node, n.Over):
            written.append(window_functions.written(node))
            return n.Column("mark", f"c{len(written) - 1}", node.type)
        if not isinstance(node, n.Sequence | n.Window | n.Agreement):
            return node
        written.append(_written(node))
        name = n.Column("mark", "msgid", Type.TEXT)
        return n.Compare("=", name, text(f"<{len(written) - 1}>"))

    printed = print_condition(transform(condition, mark))
    for place, part in reversed(list(enumerate(written))):
        printed = printed.replace(f"mark.msgid = '<{place}>'", part)
        printed = re.sub(rf"\bmark\.c{place}\b", lambda _, part=part: part, printed)
    return printed


def _written(node: n.Sequence | n.Window | n.Agreement) -> str:
    match node:
        case n.Sequence():
            return _sequence(node)
        case n.Window():
            return _window(node)
        case n.Agreement():
            people = f"{print_term(node.one)}, {print_term(node.other)}"
            return f"AGREES({people}) {node.op} {print_term(node.share)}"


def _sequence(node: n.Sequence) -> str:
    steps = " THEN ".join(map(_step, node.steps))
    return f"SEQ({steps}: {print_condition(node.condition)})"


def _step(step: n.Step) -> str:
    rows = ", ".join(
        b.var + (f" IN {b.table}" if b.table == ANNOTATIONS else "") for b in step.bindings
    )
    repeated = f"{{{step.least},{step.most}}}" if step.most > 1 else ""
    within = f" WITHIN {print_term(step.within)}" if step.within else ""
    return f"{'NOT ' * step.negated}{rows}{repeated}{within}"


def _window(node: n.Window) -> str:
    per = f" PER {', '.join(map(print_term, node.per))}" if node.per else ""
    what = f"{'LAST' if node.last else 'FIRST'} {node.limit.value} {node.binding.var}{per}"
    return f"{node.message.var} IN {what} AMONG ({print_condition(node.condition)})"
