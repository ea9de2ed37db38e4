"""The long form: SELECT … FROM … JOIN … WHERE … UNION, at the top and inside EXISTS and IN."""

from __future__ import annotations

from dataclasses import replace

from tapestry.core.errors import Span, TapestryError
from tapestry.core.schema import COLUMNS
from tapestry.query.check import scope
from tapestry.query.limits import MAX_NESTING
from tapestry.query.tql import group_by
from tapestry.query.tql.expressions import Parser, only_compared
from tapestry.query.tql.group_by import Select
from tapestry.query.tql.lexer import Token
from tapestry.query.tree import nodes as n
from tapestry.query.tree.identifiers import AGGREGATES, RESERVED
from tapestry.query.tree.parsed import Branch


def starts(parser: Parser) -> bool:
    """Return whether a SELECT comes next, in parentheses or not."""
    return parser.ahead(_parentheses(parser)).word == "SELECT"


def starts_aggregate(parser: Parser) -> bool:
    """Return whether the SELECT that comes next, in parentheses, selects an aggregate."""
    count = _parentheses(parser)
    selected = parser.ahead(count + 1).word in AGGREGATES and parser.ahead(count + 2).word == "("
    return count > 0 and selected


def _parentheses(parser: Parser) -> int:
    """Return how many parentheses are opened next, counting to just above the limit."""
    count = 0
    while parser.ahead(count).word == "(" and count <= MAX_NESTING:
        count += 1
    return count


def query(parser: Parser) -> tuple[Branch, ...]:
    """Read a whole filter in the long form."""
    return tuple(group_by.branch(select, _delivered(select)) for select in _union(parser))


def exists(parser: Parser, start: int) -> n.Condition:
    """Read what stands between the parentheses of EXISTS (SELECT …)."""
    conditions: list[n.Condition] = []
    for select in _union(parser):
        _check_plain(select, "EXISTS (SELECT …)")
        for item in select.items:
            if isinstance(item, n.Aggregate):
                hint = f"Compare it: (SELECT {item.function}(…) FROM …) > 0."
                raise TapestryError("A SELECT of an aggregate always has a row.", item.span, hint)
            if isinstance(item, n.Column):
                _check_item(item, select.bindings)
        conditions.append(n.Exists(select.bindings, select.condition, span=parser.since(start)))
    return n.Or.of(conditions, parser.since(start))


def within(parser: Parser, left: n.Term) -> list[n.InQuery | n.Top]:
    """Read what stands between the parentheses of ``left`` IN (SELECT …)."""
    tests: list[n.InQuery | n.Top] = []
    for select in _union(parser):
        item = select.items[0]
        if len(select.items) != 1 or (isinstance(item, n.Column) and item.name == "*"):
            raise TapestryError(
                "The SELECT after IN names one column.",
                select.span,
                "Write IN (SELECT r.inreplyto …).",
            )
        if isinstance(item, n.Aggregate):
            raise only_compared(item.span)
        if select.order is None:
            tests.append(_among_groups(select, left, item))
        elif isinstance(left, n.Column) and left.name.lower() == "msgid":
            tests.append(group_by.top(select, _delivered(select).var, left))
        else:
            raise TapestryError(
                "Only the msgid of a message can be IN a SELECT with a LIMIT.",
                left.span,
                "Write EXISTS (x: x.msgid = r.inreplyto AND x IN TOP 10 BY …).",
            )
    return tests


def _among_groups(select: Select, left: n.Term, item: n.Term) -> n.InQuery:
    """Return that ``left`` is among what a SELECT gives: of each of its groups, the msgid."""
    if select.group is None:
        return n.InQuery(left, item, select.bindings, select.condition)
    owner = _check_item(item, select.bindings) if isinstance(item, n.Column) else None
    group = _check_item(select.group, select.bindings)
    names = {term.name.lower() for term in (item, select.group) if isinstance(term, n.Column)}
    if owner is None or owner != group or names != {"msgid"}:
        raise TapestryError(
            "The SELECT after IN can be grouped by the msgid it selects, and by nothing else.",
            select.group.span,
            "Write (SELECT COUNT(*) FROM messages r WHERE r.inreplyto = m.msgid) > 5.",
        )
    groups = group_by.branch(select, owner)
    value = n.Column(groups.var, "msgid", span=item.span)
    return n.InQuery(left, value, groups.bindings, groups.condition)


def aggregate(parser: Parser) -> n.Aggregate:
    """Read SELECT and an aggregate, after a parenthesis; refuse any other SELECT there."""
    first = parser.token
    if parser.after.word not in AGGREGATES or parser.ahead(2).word != "(":
        raise TapestryError(
            "A SELECT can stand only at the start, after EXISTS or IN, or for an aggregate.",
            Span(first.start, parser.after.end),
            "Write EXISTS (r: …), or (SELECT COUNT(*) FROM …) > 5, instead.",
        )
    selects = _union(parser)
    span = parser.since(first.start)
    select = selects[0]
    aggregate = select.items[0]
    if len(selects) > 1 or len(select.items) > 1 or not isinstance(aggregate, n.Aggregate):
        hint = "Compare each aggregate on its own, and join the comparisons with AND or OR."
        raise TapestryError("One aggregate stands here, of one SELECT.", span, hint)
    _check_plain(select, "(SELECT COUNT(*) …)")
    if aggregate.bindings:
        raise TapestryError(
            "This aggregate says twice of which rows it is.",
            aggregate.span,
            "Write SELECT COUNT(*) FROM … WHERE …, or COUNT(r: …) without a SELECT.",
        )
    return replace(aggregate, bindings=select.bindings, condition=select.condition, span=span)


def _check_plain(select: Select, where: str) -> None:
    """Refuse GROUP BY and LIMIT in a SELECT that is no filter."""
    if select.group is not None:
        raise TapestryError(
            f"GROUP BY cannot stand in {where}.",
            select.group.span,
            "Write (SELECT COUNT(*) FROM annotations a WHERE a.msgid = m.msgid) > 5.",
        )
    if select.limit is not None:
        hint = "Leave ORDER BY and LIMIT out."
        raise TapestryError(f"LIMIT cannot stand in {where}.", select.limit.span, hint)


def _union(parser: Parser) -> list[Select]:
    selects = _branch(parser)
    while parser.accept("UNION"):
        if not parser.accept("ALL"):
            parser.accept("DISTINCT")
        selects += _branch(parser)
    token = parser.token
    if token.word in ("INTERSECT", "EXCEPT", "MINUS"):
        raise TapestryError(
            f"{token.word} is not part of the language.",
            token.span,
            "Write one condition with AND and NOT.",
        )
    if token.word in ("ORDER", "LIMIT", "OFFSET", "FETCH"):
        alone = len(selects) == 1 and selects[0].limit is None
        if alone:
            selects = [group_by.ordered(parser, selects[0])]
        if not alone or parser.token.word == "UNION":
            raise TapestryError(
                "It is not clear which SELECT this LIMIT is for.",
                token.span,
                "Put each SELECT that has one into parentheses.",
            )
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
    items = parser.listed(lambda: _item(parser))
    span = parser.since(start)
    parser.expect("FROM")
    parser.scopes.append(set())
    bindings, conditions = _from(parser)
    if parser.accept("WHERE"):
        conditions.append(parser.condition())
    parser.scopes.pop()
    select = Select(tuple(items), span, bindings, n.And.of(conditions))
    return [group_by.grouped(parser, select)]


def _item(parser: Parser) -> n.Term | n.Aggregate:
    token = parser.token
    if parser.accept("*"):
        return n.Column("", "*", span=token.span)
    if token.is_name and parser.after.word == "." and parser.ahead(2).word == "*":
        parser.at += 3
        return n.Column(token.value, "*", span=parser.since(token.start))
    # With the parenthesis around its SELECT, that of an aggregate counts as one.
    less = int(token.word in AGGREGATES and parser.after.word == "(")
    parser.depth -= less
    node = parser.expression()
    parser.depth += less
    if not isinstance(node, (*n.TERMS, n.Aggregate)):
        raise TapestryError(
            "A SELECT names a column.", parser.since(token.start), "Write SELECT m.msgid."
        )
    if parser.accept("AS"):
        parser.take()
    return node


def _from(parser: Parser) -> tuple[tuple[n.Binding, ...], list[n.Condition]]:
    bindings = [_table(parser)]
    conditions: list[n.Condition] = []
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


def _table(parser: Parser) -> n.Binding:
    token = parser.token
    if token.word == "(":
        raise TapestryError(
            "A table’s name stands here, not a SELECT.", token.span, "Write EXISTS (r: …) instead."
        )
    if not token.is_name:
        raise parser.unexpected("the name of a table", "The tables are messages and annotations.")
    parser.take()
    table = scope.table_named(token.value, token.span)
    name = token
    if parser.accept("AS") or _is_alias(parser.token):
        if not parser.token.is_name:
            raise parser.unexpected("a variable")
        name = parser.take()
    called = scope.variable_named(name.value, name.span)
    if called in parser.scopes[-1]:
        hint = f"Write {table} r, and r.msgid."
        raise TapestryError(f"The variable “{called}” stands here twice.", name.span, hint)
    parser.scopes[-1].add(called)
    return n.Binding(called, table, span=name.span)


def _is_alias(token: Token) -> bool:
    return token.kind == "quoted" or (token.kind == "name" and token.word not in RESERVED)


def _delivered(select: Select) -> n.Binding:
    """Return the variable whose messages a SELECT delivers."""
    items, bindings = select.items, select.bindings
    messages = [binding.var for binding in bindings if scope.is_message(binding)]
    example = f"Write SELECT {messages[0] if messages else 'm'}.msgid."
    item = items[0]
    if len(items) == 1 and isinstance(item, n.Column) and item.name.lower() in ("msgid", "*"):
        owner = _check_item(item, bindings)
        if owner is not None and scope.is_message(owner):
            _check_group(select, item, owner.var)
            return owner
    elif len(items) == 1 and isinstance(item, n.Column):
        _check_item(item, bindings)
    if any(isinstance(item, n.Aggregate) for item in items):
        example += " Aggregates stand in HAVING and ORDER BY."
    raise TapestryError("A filter selects the msgid of a message.", select.span, example)


def _check_group(select: Select, item: n.Column, var: str) -> None:
    """Refuse groups other than those of the msgid that is selected."""
    group = select.group
    if group is None:
        return
    owner = _check_item(group, select.bindings)
    if owner is None or owner.var != var or group.name.lower() != "msgid" or item.name == "*":
        raise group_by.only_msgid(select.span if item.name == "*" else group.span)


def _check_item(item: n.Column, bindings: tuple[n.Binding, ...]) -> n.Binding | None:
    """Return the variable of FROM that a selected column belongs to; None for ``*`` of several."""
    if isinstance(item, n.Literal):
        return None
    owners = [
        binding
        for binding in bindings
        if (not item.var or item.var.lower() == binding.var)
        and (item.name == "*" or item.name.lower() in COLUMNS[binding.table])
    ]
    if len(owners) == 1 or (owners and item.name == "*"):
        return owners[0] if len(owners) == 1 else None
    if owners:
        raise scope.ambiguous(item, item.name, [owner.var for owner in owners])
    named = [binding for binding in bindings if item.var.lower() in ("", binding.var)]
    if not named:
        raise scope.no_variable(item.var, item.span, [binding.var for binding in bindings])
    raise scope.no_column(item, named)
