"""The long form: SELECT … FROM … JOIN … WHERE … UNION, at the top and inside EXISTS and IN."""

from __future__ import annotations

from tapestry.core.errors import Span, TapestryError
from tapestry.core.schema import COLUMNS
from tapestry.query.lexer import Token
from tapestry.query.limits import MAX_NESTING
from tapestry.query.names import RESERVED, advice, is_message, table_named, variable
from tapestry.query.nodes import (
    TERMS,
    And,
    Binding,
    Column,
    Condition,
    Exists,
    Literal,
    Or,
    Term,
    Truth,
)
from tapestry.query.parsed import Branch
from tapestry.query.parser import Parser

Select = tuple[tuple[Term, ...], Span, tuple[Binding, ...], Condition]
"""What is selected (``*`` is a Column of that name), its place, FROM, and ON AND WHERE."""

COUNTING = (
    "More than two replies can be written EXISTS (a, b, c: a.inreplyto = m.msgid AND b.inreplyto = "
    "m.msgid AND c.inreplyto = m.msgid AND a.msgid < b.msgid AND b.msgid < c.msgid)."
)


def starts(parser: Parser) -> bool:
    """Return whether a SELECT comes next, in parentheses or not."""
    count = 0
    while parser.ahead(count).word == "(" and count <= MAX_NESTING:
        count += 1
    return parser.ahead(count).word == "SELECT"


def query(parser: Parser) -> tuple[Branch, ...]:
    """Read a whole filter in the long form."""
    return tuple(
        Branch(_delivered(parser, items, span, bindings), bindings, condition)
        for items, span, bindings, condition in _union(parser)
    )


def exists(parser: Parser, start: int) -> Condition:
    """Read what stands between the parentheses of EXISTS (SELECT …)."""
    found: list[Condition] = []
    for items, _, bindings, condition in _union(parser):
        for item in items:
            if isinstance(item, Column):
                _check_item(item, bindings)
        found.append(Exists(bindings, condition, span=parser.since(start)))
    return found[0] if len(found) == 1 else Or(tuple(found), span=parser.since(start))


def values(parser: Parser) -> list[tuple[Term, tuple[Binding, ...], Condition]]:
    """Read what stands between the parentheses of IN (SELECT …)."""
    selects = []
    for items, span, bindings, condition in _union(parser):
        if len(items) != 1 or (isinstance(items[0], Column) and items[0].name == "*"):
            raise TapestryError(
                "The SELECT after IN names one column.", span, "Write IN (SELECT r.inreplyto …)."
            )
        selects.append((items[0], bindings, condition))
    return selects


def no_value(parser: Parser) -> TapestryError:
    """Return the error for a SELECT that stands for a value."""
    start = parser.token.start
    selected = parser.after
    if selected.word in ("COUNT", "SUM", "AVG", "MIN", "MAX"):
        parser.take()
        return no_aggregate(parser, parser.take())
    return TapestryError(
        "A SELECT can stand only at the start, and after EXISTS or IN.",
        Span(start, selected.end),
        "Write EXISTS (r: …) instead.",
    )


def no_aggregate(parser: Parser, name: Token) -> TapestryError:
    """Return the error for COUNT, SUM and the like, up to the closing parenthesis."""
    depth, end = 0, name.end
    while parser.token.kind not in ("end", "wrong"):
        token = parser.take()
        depth += {"(": 1, ")": -1}.get(token.word, 0)
        end = token.end
        if depth == 0:
            break
    return TapestryError(f"{name.word} is not supported yet.", Span(name.start, end), COUNTING)


def _union(parser: Parser) -> list[Select]:
    selects = _branch(parser)
    while parser.accept("UNION"):
        if not parser.accept("ALL"):
            parser.accept("DISTINCT")
        selects += _branch(parser)
    word = parser.token.word
    if word in ("INTERSECT", "EXCEPT", "MINUS"):
        raise TapestryError(
            f"{word} is not part of the language.",
            parser.token.span,
            "Write one condition with AND and NOT.",
        )
    if word in ("GROUP", "HAVING"):
        message = f"{word}{' BY' if word == 'GROUP' else ''} is not supported yet."
        raise TapestryError(message, parser.token.span, COUNTING)
    if word in ("ORDER", "LIMIT"):
        message = f"{word}{' BY' if word == 'ORDER' else ''} is not supported yet."
        hint = "Leave it out: a filter selects messages, in no order."
        raise TapestryError(message, parser.token.span, hint)
    return selects


def _branch(parser: Parser) -> list[Select]:
    if parser.accept("("):
        parser.enter()
        selects = _union(parser)
        parser.expect(")")
        parser.depth -= 1
        return selects
    parser.expect("SELECT")
    if not parser.accept("DISTINCT"):
        parser.accept("ALL")
    start = parser.token.start
    items = [_item(parser)]
    while parser.accept(","):
        items.append(_item(parser))
    span = parser.since(start)
    parser.expect("FROM")
    parser.scopes.append(set())
    bindings, conditions = _from(parser)
    if parser.accept("WHERE"):
        conditions.append(parser.condition())
    parser.scopes.pop()
    if not conditions:
        conditions.append(Truth(True))
    condition = conditions[0] if len(conditions) == 1 else And(tuple(conditions))
    return [(tuple(items), span, bindings, condition)]


def _item(parser: Parser) -> Term:
    token = parser.token
    if parser.accept("*"):
        return Column("", "*", span=token.span)
    if (
        token.kind in ("name", "quoted")
        and parser.after.word == "."
        and parser.ahead(2).word == "*"
    ):
        parser.at += 3
        return Column(token.value, "*", span=parser.since(token.start))
    found = parser.expression()
    if not isinstance(found, TERMS):
        raise TapestryError(
            "A SELECT names a column.", parser.since(token.start), "Write SELECT m.msgid."
        )
    if parser.accept("AS"):
        parser.take()
    return found


def _from(parser: Parser) -> tuple[tuple[Binding, ...], list[Condition]]:
    bindings = [_table(parser)]
    conditions: list[Condition] = []
    while True:
        word = parser.token.word
        if parser.accept(",") or parser.accept("CROSS", "JOIN"):
            bindings.append(_table(parser))
        elif parser.accept("JOIN") or parser.accept("INNER", "JOIN"):
            bindings.append(_table(parser))
            parser.expect("ON")
            conditions.append(parser.condition())
        elif word in ("LEFT", "RIGHT", "FULL", "NATURAL"):
            name = "NATURAL JOIN is" if word == "NATURAL" else "Outer joins are"
            raise TapestryError(
                f"{name} not part of the language.",
                parser.token.span,
                "Write JOIN … ON …, or NOT EXISTS for rows that have no partner.",
            )
        else:
            return tuple(bindings), conditions


def _table(parser: Parser) -> Binding:
    token = parser.token
    if token.word == "(":
        raise TapestryError(
            "A table’s name stands here, not a SELECT.", token.span, "Write EXISTS (r: …) instead."
        )
    if token.kind not in ("name", "quoted"):
        raise parser.unexpected("the name of a table", "The tables are messages and annotations.")
    parser.take()
    table = table_named(token.value, token.span)
    name = token
    if parser.accept("AS") or _is_alias(parser.token):
        if parser.token.kind not in ("name", "quoted"):
            raise parser.unexpected("a variable")
        name = parser.take()
    called = variable(name)
    if called in parser.scopes[-1]:
        hint = f"Write {table} r, and r.msgid."
        raise TapestryError(f"The variable “{called}” stands here twice.", name.span, hint)
    parser.scopes[-1].add(called)
    return Binding(called, table, span=name.span)


def _is_alias(token: Token) -> bool:
    return token.kind == "quoted" or (token.kind == "name" and token.word not in RESERVED)


def _delivered(
    parser: Parser, items: tuple[Term, ...], span: Span, bindings: tuple[Binding, ...]
) -> str:
    """Return the variable whose messages a SELECT delivers."""
    messages = [binding.var for binding in bindings if is_message(binding)]
    example = f"Write SELECT {messages[0] if messages else 'm'}.msgid."
    item = items[0]
    if len(items) == 1 and isinstance(item, Column) and item.name.lower() in ("msgid", "*"):
        owner = _check_item(item, bindings)
        if owner is not None and is_message(owner):
            return owner.var
    elif len(items) == 1 and isinstance(item, Column):
        _check_item(item, bindings)
    raise TapestryError("A filter selects the msgid of a message.", span, example)


def _check_item(item: Column, bindings: tuple[Binding, ...]) -> Binding | None:
    """Return the variable of FROM that a selected column belongs to; None for ``*`` of several."""
    if isinstance(item, Literal):
        return None
    owners = [
        binding
        for binding in bindings
        if (not item.var or item.var.lower() == binding.var)
        and (item.name == "*" or item.name.lower() in COLUMNS[binding.table])
    ]
    if len(owners) == 1 or (owners and item.name == "*"):
        return owners[0] if len(owners) == 1 else None
    shown = f"{item.var}.{item.name}" if item.var else item.name
    if owners:
        choices = " or ".join(f"{owner.var}.{item.name}" for owner in owners)
        message = f"“{shown}” could belong to more than one variable."
        raise TapestryError(message, item.span, f"Write {choices}.")
    names = [binding.var for binding in bindings]
    if item.var and item.var.lower() not in names:
        message = f"No variable “{item.var}” is known here."
        raise TapestryError(message, item.span, advice(item.var, names, "Known here:"))
    here = dict.fromkeys(
        column
        for binding in bindings
        if item.var.lower() in ("", binding.var)
        for column in COLUMNS[binding.table]
    )
    raise TapestryError(
        f"There is no column “{shown}”.",
        item.span,
        advice(item.name, here, "The columns here are"),
    )
