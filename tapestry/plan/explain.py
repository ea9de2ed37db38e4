"""Show every stage of a filter."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from tapestry.core.schema import Type
from tapestry.plan.compile import Compiled, compile_filter
from tapestry.plan.cost import cost, triggers
from tapestry.plan.lowering.top_k import counts_all_rows
from tapestry.plan.signature import Constant, constants
from tapestry.query.context import Context
from tapestry.query.phrases.recognize import canonical_phrase
from tapestry.query.tree import nodes as n
from tapestry.query.tree.printer import print_condition, print_sql, print_term, print_tql
from tapestry.query.tree.walk import transform
from tapestry.rewrite.monotonicity import Monotonicity, analyze, least_monotone
from tapestry.rewrite.pipeline import Strategy
from tapestry.rewrite.restore import (
    conjunction_condition,
    delta_query_condition,
    monotone_condition,
)
from tapestry.rewrite.stages import Conjunction, EventPoint, MonotoneDisjunct

MESSAGE = n.Column("m", "msgid", Type.TEXT)
"""The column to which a reply, a vote or a tag points."""


@dataclass(frozen=True, slots=True)
class Stages:
    """A filter in every form; lists have an entry for each disjunct or delta query."""

    text: str
    notation: str
    phrase: str | None
    tql: str
    sql: str
    normal: tuple[str, ...]
    blocking: str
    monotone: tuple[dict[str, object], ...]
    incremental: tuple[dict[str, object], ...]
    signature: str
    constants: tuple[dict[str, object], ...]
    cost: str
    triggers: tuple[dict[str, object], ...]
    warnings: tuple[str, ...]

    def as_dict(self) -> dict[str, object]:
        """Return the stages for JSON."""
        return asdict(self)


def explain(text: str, context: Context, strategy: Strategy = "fast") -> Stages:
    """Compile a filter and return all its stages; raises TapestryError as ``read`` does."""
    compiled = compile_filter(text, context, strategy)
    checked = compiled.checked
    conditions: list[n.Condition] = []
    parameters: list[dict[str, object]] = []
    for part in compiled.query.normal.disjuncts:
        first = len(parameters) + 1
        conditions.append(_with_parameters(part, first))
        parameters += [_parameter(constant, first) for constant in constants(part)]
    return Stages(
        text=checked.text,
        notation=_notation(checked),
        phrase=canonical_phrase(checked),
        tql=print_tql(checked),
        sql=print_sql(checked),
        normal=tuple(
            print_condition(conjunction_condition(part)) for part in compiled.query.normal.disjuncts
        ),
        blocking=filter_monotonicity(compiled).value,
        monotone=tuple(
            {
                "disjunct": disjunct.monotone.index,
                "condition": print_condition(monotone_condition(disjunct.monotone)),
                "description": analyze(disjunct.monotone.conjunction).description,
                "rule": disjunct.rule,
            }
            for disjunct in compiled.query.disjuncts
        ),
        incremental=tuple(
            {
                "disjunct": disjunct.monotone.index,
                "rule": delta_query.rule,
                "C": _event(delta_query.event),
                "from": [f"{binding.table} {binding.var}" for binding in delta_query.bindings],
                "condition": print_condition(delta_query_condition(delta_query)),
            }
            for disjunct in compiled.query.disjuncts
            for delta_query in disjunct.delta_queries
        ),
        signature=print_condition(n.Or.of(conditions)),
        constants=tuple(parameters),
        cost=cost(compiled),
        triggers=triggers(compiled),
        warnings=warnings(compiled),
    )


def filter_monotonicity(compiled: Compiled) -> Monotonicity:
    """Return how a filter has to be run: as its least monotone disjunct has to."""
    return least_monotone(
        analyze(disjunct.monotone.conjunction).monotonicity for disjunct in compiled.query.disjuncts
    )


def warnings(compiled: Compiled, *, live: bool = False) -> tuple[str, ...]:
    """Return what the owner of a filter should know before installing it, in its mode."""
    disjuncts = compiled.query.disjuncts
    if not disjuncts:
        return ("This filter can never match a message.",)
    if not live and any(_matches_at_once(disjunct.monotone) for disjunct in disjuncts):
        return (
            "This matches a message the moment it arrives, before anything could answer it. "
            "“Two weeks old with no reply” waits for two weeks first; a live filter lets go of "
            "the message once it is answered.",
        )
    tops = (top for part in disjuncts for top in part.monotone.conjunction.top_k_tests)
    if any(map(counts_all_rows, tops)):
        return (
            "This is a top of all time: whenever something of what it counts is new, all of it is "
            "counted again. “Among the top ten by votes this week” reads that week alone.",
        )
    return ()


def _matches_at_once(disjunct: MonotoneDisjunct) -> bool:
    """Tell whether only a later message could keep the disjunct from holding."""
    conjunction = disjunct.conjunction
    later = any(
        isinstance(test, n.Compare) and test.op == "=" and MESSAGE in (test.left, test.right)
        for part in conjunction.not_exists
        for test in part.plain
    )
    if not later or conjunction.bindings or conjunction.temporal_predicates:
        return False
    return analyze(conjunction).monotonicity is Monotonicity.BOUNDED


def _notation(checked: n.CheckedQuery) -> str:
    if checked.notation == "phrase":
        return "phrase"
    return "SQL" if checked.text.lstrip("( \t\n").upper().startswith("SELECT") else "TQL"


def _event(moment: EventPoint) -> str:
    shown = print_term(moment.term)
    return f"just after {shown}" if moment.shift else shown


def _with_parameters(part: Conjunction, first: int) -> n.Condition:
    """Return a disjunct with parameters for its constants, counted from ``first``."""

    def change(node: n.Node) -> n.Node:
        if isinstance(node, n.Values) and node.slot is not None:
            return n.Values((f"${first + node.slot}",), Type.NULL)
        if isinstance(node, n.Literal) and node.slot is not None:
            return n.Column("", f"${first + node.slot}", node.type)
        return node

    return transform(conjunction_condition(part), change)


def _parameter(constant: Constant, first: int) -> dict[str, object]:
    value = list(constant.value) if isinstance(constant.value, tuple) else constant.value
    return {"parameter": f"${first + constant.slot}", "type": constant.type.value, "value": value}
