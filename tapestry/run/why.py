"""A filter's answer about one message, part by part: what is true, since when, and until when.

    condition ─ split at AND, OR, NOT ─> parts ─ and this message ─> change_windows ─> instants

Each part is compiled and evaluated as a live filter about this message alone, from its arrival on,
and on into the future: what only the passing of time changes is known beforehand.  So nothing here
reads the language a second time, and what the asker may not see does not exist for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count, takewhile
from typing import Literal

from tapestry.core.clock import DAY
from tapestry.core.ports import Change
from tapestry.core.schema import MESSAGES, Type
from tapestry.plan.compile import Compiled, compile_filter
from tapestry.plan.engine import Engine
from tapestry.plan.witnesses import Kind, witnesses
from tapestry.query.context import Context
from tapestry.query.frontend import read
from tapestry.query.phrases.patterns import longest
from tapestry.query.phrases.recognize import is_single_phrase, recognize
from tapestry.query.tree import nodes as n
from tapestry.query.tree.printer import print_condition, print_tql
from tapestry.query.tree.walk import is_plain, reads_now, walk
from tapestry.run.ask import Question
from tapestry.run.changes import change_windows
from tapestry.run.execute import Subscription
from tapestry.run.resources import EngineOn
from tapestry.tables.delta.log import Tables, snapshot
from tapestry.tables.read.messages import lookup

AHEAD = 3_653 * DAY
"""How far into the future the passing of time is looked at: ten years."""

MOST_PARTS = 24
"""Parts of a filter that are told apart: one of more alternatives is told as a whole."""

MOST_COUNTED = 50
"""The greatest threshold of which it is told how much is missing."""

Joint = Literal["all", "any", ""]
"""All parts have to hold, any of them, or there are none."""


@dataclass(frozen=True, slots=True)
class Count:
    """The count of a threshold: the number now, the least that meets it, and of what.

    ``kind`` is None for what no phrase has.  ``distinct``: one person counts once.  ``is_lasting``:
    what counts now counts as long as it stands.
    """

    number: int
    least: int
    kind: Kind | None = None
    distinct: bool = False
    is_lasting: bool = True


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a filter, about one message.

    ``spans``: from when until when it held, in order; the end is None if it holds for good as far
    as the passing of time goes.  ``since``: since when it is as it is now.  ``then``: when it
    changes next if nothing happens but the passing of time, None if it does not.  ``is_fixed``: it
    is about what the message itself says, which never changes.
    """

    words: str
    holds: bool
    since: int
    then: int | None
    spans: tuple[tuple[int, int | None], ...]
    is_fixed: bool = False
    joint: Joint = ""
    parts: tuple[Part, ...] = ()
    counted: Count | None = None


@dataclass(slots=True)
class _Node:
    """A part to be asked: the number of its subscription, and those of its lower thresholds."""

    condition: n.Condition
    joint: Joint
    parts: tuple[_Node, ...]
    number: int = 0
    lower: range = range(0)


def why(engine_on: EngineOn, tables: Tables, question: Question, msgid: str) -> Part | None:
    """Return how a filter answers about one message at the question's ``at``, part by part.

    None if no copy of the message is visible to the audiences at that instant.  Raises
    TapestryError where the text is at fault, or one of its parts is too much.
    """
    rows = lookup(tables, MESSAGES, "msgid", [msgid], question.audiences, ("msgid", "ts"))
    arrived = min((row["ts"] for row in rows), default=None)
    if arrived is None or arrived > question.at:
        return None
    engine = engine_on(snapshot(tables))
    with engine.limit(question.seconds):
        return parts_of(engine, question, msgid, arrived)


def parts_of(engine: Engine, question: Question, msgid: str, arrived: int) -> Part:
    """Return how a filter answers about a message that ``arrived`` at an instant, part by part."""
    checked = read(question.text, replace(question.context, by_name=True))
    root = _split(checked.condition)
    if sum(1 for _ in _nodes(root)) > MOST_PARTS:
        root = _Node(checked.condition, "", ())
    about = _about(checked, msgid)
    asked: list[n.Condition] = []
    for node in _nodes(root):
        node.number = len(asked)
        asked.append(node.condition)
        lower = _lower(node.condition)
        node.lower = range(len(asked), len(asked) + len(lower))
        asked += lower
    compiled = [_compiled(condition, about, question.context) for condition in asked]
    subscriptions = [
        Subscription(number, plan, question.audiences, arrived - 1, arrived - 1)
        for number, plan in enumerate(compiled)
    ]
    instants = [question.at, question.at + AHEAD]
    past, future = change_windows(engine, subscriptions, instants, net=False)
    spans = [_spans(changes) for changes in _by_number([*past, *future], len(asked))]
    return _part(root, checked, spans, arrived, question.at)


def _split(node: n.Condition, *, negated: bool = False) -> _Node:
    """Cut a condition at AND, OR and NOT, by De Morgan's laws, down to what is one phrase."""
    match node:
        case n.Not(arg=n.And() | n.Or() | n.Not() as arg) if not is_single_phrase(arg):
            return _split(arg, negated=not negated)
        case n.And(args=args) | n.Or(args=args) if not is_single_phrase(node):
            phrases = _phrases(type(node), args)
            parts = tuple(_split(part, negated=negated) for part in phrases)
            joint: Joint = "all" if isinstance(node, n.And) is not negated else "any"
            return _Node(_signed(node, negated=negated), joint, parts)
    return _Node(_signed(node, negated=negated), "", ())


def _phrases(kind: type[n.And | n.Or], args: tuple[n.Condition, ...]) -> Iterator[n.Condition]:
    """Yield the parts of an AND or OR; those next to each other that are one phrase, as one."""
    begin = 0
    while begin < len(args):
        ends = range(min(begin + longest(), len(args)), begin + 1, -1)
        several = (kind(args[begin:end]) for end in ends)
        part = next((part for part in several if is_single_phrase(part)), args[begin])
        begin += len(part.args) if part is not args[begin] and isinstance(part, kind) else 1
        yield part


def _signed(node: n.Condition, *, negated: bool) -> n.Condition:
    if not negated:
        return node
    return node.arg if isinstance(node, n.Not) else n.Not(node)


def _nodes(node: _Node) -> Iterator[_Node]:
    yield node
    for part in node.parts:
        yield from _nodes(part)


def _about(checked: n.CheckedQuery, msgid: str) -> n.CheckedQuery:
    column = n.Column(checked.var, "msgid", Type.TEXT)
    test = n.Compare("=", column, n.Literal(msgid, Type.TEXT))
    return replace(checked, condition=test, phrase=None)


def _compiled(condition: n.Condition, about: n.CheckedQuery, context: Context) -> Compiled:
    """Return the plans of a part about one message: its text is read as any filter's."""
    both = n.And.of([condition, about.condition])
    return compile_filter(print_tql(replace(about, condition=both)), context, "general")


def _lower(condition: n.Condition) -> list[n.Condition]:
    """Return the lower thresholds of a count: that there are at least 1, 2 …, below its own."""
    least = _least(condition)
    if least is None or not isinstance(condition, n.Threshold):
        return []
    return [
        replace(condition, op=">=", constant=n.Literal(number, Type.INTEGER))
        for number in range(1, least)
    ]


def _least(condition: n.Condition) -> int | None:
    """Return the least number that meets a threshold of a count, None if there is none such."""
    match condition:
        case n.Threshold(n.Aggregate(function="COUNT"), ">" | ">=" as op, n.Literal(int(number))):
            least = number + 1 if op == ">" else number
            return least if 0 < least <= MOST_COUNTED else None
    return None


def _by_number(changes: Sequence[Change], size: int) -> list[list[Change]]:
    found: list[list[Change]] = [[] for _ in range(size)]
    for change in changes:
        found[change.filter_id].append(change)
    return found


def _spans(changes: Sequence[Change]) -> list[tuple[int, int | None]]:
    spans: list[tuple[int, int | None]] = []
    for change in changes:
        if change.op == "insert":
            spans.append((change.at, None))
        elif change.op == "delete":
            spans[-1] = (spans[-1][0], change.at)
    return spans


def _part(
    node: _Node,
    checked: n.CheckedQuery,
    spans: Sequence[Sequence[tuple[int, int | None]]],
    arrived: int,
    at: int,
) -> Part:
    own = spans[node.number]
    instants = sorted({at for span in own for at in span if at is not None})
    holds = _holds(own, at)
    counted = _counted(node, checked, spans, at)
    return Part(
        words=recognize(node.condition) or print_condition(node.condition),
        holds=holds,
        since=max((instant for instant in instants if instant <= at), default=arrived),
        then=next((instant for instant in instants if instant > at), None),
        spans=tuple(own),
        is_fixed=_is_fixed(node.condition),
        joint=node.joint,
        parts=tuple(_part(part, checked, spans, arrived, at) for part in node.parts),
        counted=counted,
    )


def _is_fixed(condition: n.Condition) -> bool:
    others = any(isinstance(node, n.InFilter) for node in walk(condition))
    return is_plain(condition) and not reads_now(condition) and not others


def _holds(spans: Sequence[tuple[int, int | None]], at: int) -> bool:
    return any(begin <= at and (end is None or at < end) for begin, end in spans)


def _counted(
    node: _Node,
    checked: n.CheckedQuery,
    spans: Sequence[Sequence[tuple[int, int | None]]],
    at: int,
) -> Count | None:
    least, condition = _least(node.condition), node.condition
    if least is None or not isinstance(condition, n.Threshold) or _holds(spans[node.number], at):
        return None
    met = takewhile(lambda number: number < len(node.lower)
                    and _holds(spans[node.lower[number]], at), count())  # fmt: skip
    number = sum(1 for _ in met)
    compiled = compile_filter(print_tql(replace(checked, condition=condition)), Context())
    (conjunction,) = compiled.query.normal.disjuncts
    shape = next(iter(witnesses(conjunction, compiled.query.var)), None)
    owner = condition.aggregate.term
    return Count(
        number,
        least,
        None if shape is None else shape.kind,
        condition.aggregate.distinct and isinstance(owner, n.Column) and owner.name == "owner",
        shape is not None and shape.age is None,
    )
