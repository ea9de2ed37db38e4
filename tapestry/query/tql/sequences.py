"""Parse sequences: SEQ(a THEN NOT x THEN r{1,3} WITHIN 2 days: …)."""

from __future__ import annotations

from itertools import takewhile
from operator import attrgetter

from tapestry.core.errors import TapestryError
from tapestry.core.schema import MESSAGES, Type
from tapestry.query.check.scope import variable_named
from tapestry.query.limits import MAX_REPEATED, MAX_STEPPED
from tapestry.query.tql import exists
from tapestry.query.tql.expressions import Parser
from tapestry.query.tql.lexer import Token
from tapestry.query.tree import nodes as n
from tapestry.query.tree.identifiers import RESERVED

_EXAMPLE = "Write SEQ(m THEN r WITHIN 2 days: r.inreplyto = m.msgid)."
_WORDS = ("THEN", "WITHIN")


def sequence(parser: Parser, name: Token) -> n.Sequence:
    """Read the steps of a sequence, and the condition on their rows; SEQ is read."""
    parser.expect("(")
    parser.enter()
    steps = [_step(parser)]
    while parser.accept("THEN"):
        steps.append(_step(parser))
    if parser.token.word != ":":
        raise parser.unexpected("“THEN” and a step, or “:” and a condition", _EXAMPLE)
    parser.take()
    bindings = [binding for step in steps for binding in step.bindings]
    _check_names(bindings)
    parser.scopes.append({binding.var for binding in bindings if binding.table})
    condition = parser.condition()
    parser.scopes.pop()
    parser.expect(")")
    parser.depth -= 1
    found = n.Sequence(tuple(steps), condition, span=parser.since(name.start))
    _check_steps(found)
    return found


def _step(parser: Parser) -> n.Step:
    start = parser.token.start
    negated = parser.accept("NOT")
    bindings = tuple(parser.listed(lambda: _binding(parser)))
    least, most = _repetition(parser) if parser.token.word == "{" else (1, 1)
    within = _within(parser) if parser.accept("WITHIN") else None
    return n.Step(bindings, within, negated, least, most, span=parser.since(start))


def _binding(parser: Parser) -> n.Binding:
    """Read a variable: a row that is known here, or a new one of a table."""
    token = parser.token
    if not token.is_name or token.word in RESERVED or token.word in _WORDS:
        raise parser.unexpected("a variable", _EXAMPLE)
    name = variable_named(parser.take().value, token.span)
    known = parser.visible(name)
    if not parser.accept("IN"):
        return n.Binding(name, "" if known else MESSAGES, span=token.span)
    table = exists.table_of(parser)
    if known:
        message = f"“{name}” stands for another row already."
        raise TapestryError(message, token.span, "Give the new row another name.")
    return n.Binding(name, table, span=token.span)


def _repetition(parser: Parser) -> tuple[int, int]:
    start = parser.expect("{").start
    least = most = _number(parser)
    if parser.accept(","):
        most = _number(parser)
    parser.expect("}", "“,” or “}”")
    if not 1 <= least <= most <= MAX_REPEATED:
        message = f"A step is repeated from 1 to {MAX_REPEATED} times, the smaller number first."
        raise TapestryError(message, parser.since(start), "Write r{3}, or r{1,3}.")
    return least, most


def _number(parser: Parser) -> int:
    if parser.token.kind != "number" or not parser.token.value.isdigit():
        raise parser.unexpected("a whole number", "Write r{3}, or r{1,3}.")
    return int(parser.take().value[:3])


def _within(parser: Parser) -> n.Literal:
    term = parser.shallow(parser.term())
    if not isinstance(term, n.Literal) or term.type is not Type.DURATION or term.value is None:
        raise TapestryError("WITHIN takes a length of time.", term.span, "Write WITHIN 2 days.")
    if float(term.value) < 0:
        raise TapestryError("This is less than nothing.", term.span, "Write WITHIN 2 days.")
    return term


def _check_names(bindings: list[n.Binding]) -> None:
    if len(bindings) > MAX_STEPPED:
        message = f"A sequence has at most {MAX_STEPPED} variables."
        raise TapestryError(message, bindings[MAX_STEPPED].span, "Split it into several filters.")
    names: set[str] = set()
    for binding in bindings:
        if binding.var in names:
            message = f"The variable “{binding.var}” stands here twice."
            raise TapestryError(message, binding.span, "Give one another name.")
        names.add(binding.var)


def _check_steps(found: n.Sequence) -> None:
    """Refuse steps that say nothing, or nothing that could ever be known."""
    steps = found.steps
    if len(steps) == 1 and steps[0].most == 1:
        message = "A sequence has at least two steps."
        raise TapestryError(message, found.span, "Write EXISTS (r: …) for one row.")
    if all(step.negated for step in steps):
        message = "In this sequence nothing comes."
        raise TapestryError(message, found.span, "Write NOT EXISTS (x: …).")
    for step in steps:
        if step.negated or step.most > 1:
            _check_only(step)
    for step in takewhile(attrgetter("negated"), reversed(steps)):
        if step.within is None:
            message = "Nobody knows when this is over: something could still come."
            raise TapestryError(message, step.span, "Say how long: NOT x WITHIN 1 day.")
    first = next(step for step in steps if not step.negated)
    if first.within and first.most == 1:
        message = "WITHIN counts from the rows before, and there are none."
        raise TapestryError(message, first.within.span, "Write it behind a later step, or NOT x.")


def _check_only(step: n.Step) -> None:
    """Refuse a step that cannot be of what must not come, or of rows that are repeated."""
    what, example = ("NOT", "NOT x THEN NOT y") if step.negated else ("A repetition", "r{2}")
    if len(step.bindings) > 1:
        hint = f"Write a step of its own for each: {example}."
        raise TapestryError(f"{what} is of one variable.", step.span, hint)
    if not step.bindings[0].table:
        message = f"“{step.bindings[0].var}” stands for a row that is there already."
        raise TapestryError(message, step.span, f"{what} is of a new variable.")
    if step.negated and step.most > 1:
        raise TapestryError("What must not come is not repeated.", step.span, "Write NOT x.")
