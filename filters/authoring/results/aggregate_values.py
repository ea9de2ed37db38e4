"""Values of an aggregate on real messages, for the page on which it is written.

newest rows that the reader may see ─> their messages ─> all rows of each ─> the aggregate

Law: a value is that by which a filter judges the message.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from filters.inbox.lists.tallies import with_retracted
from filters.people import people
from filters.people.models import User
from filters.site.work.parts import services
from tapestry.core.clock import NEVER, wall_clock
from tapestry.core.errors import Span, TapestryError
from tapestry.core.schema import ANNOTATIONS, COLUMNS, MESSAGES, RETRACTED, Type
from tapestry.plan.lowering.folds import Folds, order_columns
from tapestry.plan.row_predicates import holds, value_of
from tapestry.query.frontend import read
from tapestry.query.tql.parser import parse_definition
from tapestry.query.tree import nodes as n
from tapestry.query.tree.definitions import Definition
from tapestry.query.tree.printer import print_term
from tapestry.query.tree.walk import conjuncts, equalities, transform
from tapestry.tables.read.messages import Card, card_of, lookup, narrowest_by_msgid
from tapestry.tables.read.recent_names import newest_rows

LOOKED_AT, SHOWN = 2_000, 10
"""Rows, the newest, by which messages are found, and messages that are shown."""

MARKS = {
    Type.TEXT: "'a'",
    Type.INTEGER: "3",
    Type.NUMBER: "3",
    Type.INSTANT: "TIMESTAMP '2025-01-01'",
    Type.DURATION: "2 days",
}
"""What a value of each type may be compared with."""

_VOTES = {Type.NUMBER: "a.number", Type.INSTANT: "a.ts", Type.TEXT: "a.owner"}
_VOTES[Type.DURATION] = "a.ts - m.received"
_REPLIES = {Type.INTEGER: "r.size", Type.NUMBER: "r.size", Type.INSTANT: "r.received"}
_REPLIES |= {Type.TEXT: "r.sender", Type.DURATION: "r.received - m.received"}


@dataclass(frozen=True, slots=True)
class ShownValue:
    """A message and the aggregate of its rows, as it is written; "NULL" if it has none."""

    card: Card
    value: str


def usual_rows(definition: Definition) -> str:
    """Return of what an aggregate may be: of the votes on a message, else of its replies."""
    kinds = [kind for _, kind in definition.parameters]
    if Type.INTEGER in kinds:
        return f"{', '.join(_REPLIES[kind] for kind in kinds)}: r.inreplyto = m.msgid"
    terms = ", ".join(_VOTES[kind] for kind in kinds)
    return f"{terms} IN annotations: a.msgid = m.msgid AND a.kind = 'vote'"


def values_of(user: User, text: str, of: str = "") -> tuple[str, list[ShownValue]]:
    """Return of what an aggregate is, and its values on the newest messages that have such rows.

    ``of`` is what stands in its parentheses: ``a.number IN annotations: a.msgid = m.msgid``.
    Raises TapestryError with the place in the definition ``text``, or in ``of``.
    """
    _, definition = parse_definition(text)
    of = of.strip() or usual_rows(definition)
    asked = _read(user, definition, of)
    values = _values(asked, people.audiences(user))
    return of, [
        ShownValue(card, print_term(n.Literal(value, definition.returns))) for card, value in values
    ]


@dataclass(frozen=True, slots=True)
class _Asked:
    """An aggregate, the column of its rows that names the message, the columns of that."""

    fold: n.Fold
    rows: n.Binding
    key: str
    condition: n.Condition


def _read(user: User, definition: Definition, of: str) -> _Asked:
    """Read what an aggregate is of; raise TapestryError with the place in that."""
    before = f"{definition.text} OF ("
    try:
        query = read(f"{before}{of}) <> {MARKS[definition.returns]}", people.context(user))
    except TapestryError as error:
        start, end = (error.span.start, error.span.end) if error.span else (0, 0)
        low, high = (min(max(at - len(before), 0), len(of)) for at in (start, end))
        raise TapestryError(error.message, Span(low, high), error.hint, of) from error
    everything = Span(0, len(of))
    match query.condition:
        case n.Threshold(aggregate=n.Aggregate(term=n.Fold() as fold, bindings=(rows,)) as asked):
            pass
        case _:
            hint = "Write a.number IN annotations: a.msgid = m.msgid."
            raise TapestryError("Values are shown of one table of rows.", everything, hint, of)
    for own, other in equalities(conjuncts(asked.condition)):
        is_key = own.name == "msgid" if rows.table == ANNOTATIONS else own.type is Type.TEXT
        if own.var == rows.var and (other.var, other.name) == ("m", "msgid") and is_key:
            return _Asked(_flat(fold), rows, own.name, _flat(asked.condition))
    hint = "Write a.msgid = m.msgid, or r.inreplyto = m.msgid."
    raise TapestryError("Nothing says which rows belong to a message.", everything, hint, of)


def _flat(node: Any) -> Any:
    """Return a tree whose columns have the names of their variables in their own."""
    return transform(
        node,
        lambda part: (
            n.Column("", f"{part.var}.{part.name}", part.type)
            if isinstance(part, n.Column)
            else part
        ),
    )


def _values(asked: _Asked, audiences: Sequence[str]) -> list[tuple[Card, Any]]:
    """Return messages, those with the newest rows first, each with the aggregate of its rows."""
    tables, table = services.tables(), asked.rows.table
    newest = newest_rows(tables, table, [asked.key, "audience"], audiences, LOOKED_AT)
    named = [key for key in newest[asked.key].to_pylist() if key is not None]
    msgids = list(dict.fromkeys(named))[: 5 * SHOWN]
    columns = list(COLUMNS[MESSAGES])
    found = lookup(tables, MESSAGES, "msgid", msgids, audiences, columns)
    mail = narrowest_by_msgid(found)
    rows: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for row in lookup(tables, table, asked.key, mail, audiences, COLUMNS[table]):
        rows[row[asked.key]].append(row)
    shown = [msgid for msgid in msgids if msgid in mail][:SHOWN]
    lines = [line for msgid in shown for line in _lines(asked, mail[msgid], rows[msgid])]
    order = len(order_columns([asked.rows]))
    aggregate = Folds(asked.fold.definition, 1, 1, order, ())
    values = {row[0]: row[1] for row in aggregate(lines)}
    return [(card_of(mail[msgid]), values.get(msgid)) for msgid in shown]


def _lines(
    asked: _Asked, message: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a message that count, as ``Folds`` reads them."""
    now, var = wall_clock(), asked.rows.var
    if asked.rows.table == ANNOTATIONS:
        rows = [row for row in with_retracted(rows) if row[RETRACTED] == NEVER]
    around = {f"m.{name}": value for name, value in message.items()}
    for row in rows:
        bound = around | {f"{var}.{name}": value for name, value in row.items()}
        try:
            counts = holds(asked.condition, bound, now)
        except TypeError:
            message_ = "Values are shown of conditions on rows and their message alone."
            raise TapestryError(message_, hint="A filter may ask more.") from None
        if counts:
            place = [bound[f"{own}.{name}"] for own, name in order_columns([asked.rows])]
            args = [value_of(arg, bound, now) for arg in asked.fold.args]
            yield message["msgid"], *place, *args
