"""COUNT(r: …), SUM(a.number IN annotations: …), and how SQL writes them: COUNT(*)."""

from __future__ import annotations

from dataclasses import replace

from tapestry.core.errors import TapestryError
from tapestry.core.schema import ANNOTATIONS, COLUMNS, MESSAGES
from tapestry.query.check.scope import variable_named
from tapestry.query.tql import exists, group_by
from tapestry.query.tql.expressions import Parser
from tapestry.query.tql.lexer import Token
from tapestry.query.tql.token_stream import SHARE
from tapestry.query.tree import nodes as n
from tapestry.query.tree.identifiers import AGGREGATES, SHARES
from tapestry.query.tree.walk import columns_of

_WORDS = """
    ANY_VALUE APPROX_COUNT_DISTINCT ARRAY_AGG AVERAGE BIT_AND BIT_OR BOOL_AND BOOL_OR COLLECT_LIST
    COLLECT_SET CORR COUNT_IF COVAR_POP COVAR_SAMP EVERY FIRST GROUP_CONCAT LAST LISTAGG MEAN MEDIAN
    MODE PERCENTILE STDDEV STDDEV_POP STDDEV_SAMP STDEV STRING_AGG TOTAL VARIANCE VAR_POP
    VAR_SAMP
"""
OTHERS = frozenset(_WORDS.split())


def names_one(name: Token) -> bool:
    """Return whether a name before a parenthesis is that of an aggregate; refuse unknown ones."""
    if name.word in OTHERS:
        raise TapestryError(
            f"{name.word} is not an aggregate of the language.",
            name.span,
            "The aggregates are COUNT, SUM, AVG, MIN and MAX.",
        )
    return name.word in AGGREGATES or name.word in SHARES


def aggregate(parser: Parser, name: Token) -> n.Aggregate:
    """Read an aggregate's parentheses; its name is read.

    Without bindings it is one of SQL, whose rows the SELECT around it gives.
    """
    parser.expect("(")
    parser.enter()
    share = name.word in SHARES
    end = "AMONG" if share else ":"
    tiles = group_by.limit(parser, "NTILE", "tiles") if name.word == "NTILE" else None
    if tiles:
        parser.expect(",")
    distinct = parser.accept("DISTINCT")
    term: n.Term | None = None
    bindings: tuple[n.Binding, ...] = ()
    last: n.Among | None = None
    start = parser.token
    if not distinct and parser.accept("*"):
        if name.word != "COUNT":
            raise _no_column(name, start)
    elif start.is_name and parser.after.word in (",", ":", "IN", "AMONG"):
        if distinct or not (share or name.word == "COUNT"):
            raise _no_column(name, start)
        if parser.after.word == "IN" and parser.ahead(2).word == "LAST":
            var = variable_named(parser.take().value, start.span)
            table, last = _table(parser)
            bindings = (n.Binding(var, table or MESSAGES, span=start.span),)
        else:
            bindings = exists.bindings(parser, end)
    else:
        term = parser.shallow(parser.term())
        if isinstance(term, n.Literal):
            raise TapestryError(
                f"{name.word} is of a column, not of a constant.",
                term.span,
                "Count rows by COUNT(r: …), or in SQL COUNT(*).",
            )
        bindings, last = bindings_of(parser, term, end)
    read = inside(parser, name, distinct, term, bindings, last)
    return replace(read, among=replace(read.among, tiles=tiles)) if read.among and tiles else read


def inside(
    parser: Parser,
    name: Token,
    distinct: bool,
    term: n.Term | None,
    bindings: tuple[n.Binding, ...],
    last: n.Among | None = None,
) -> n.Aggregate:
    """Read what follows the variables, up to the closing parenthesis."""
    condition: n.Condition = n.Truth(True)
    if bindings:
        parser.scopes.append({binding.var for binding in bindings})
        share = name.word in SHARES
        among = last is not None and parser.accept("AMONG")
        if last and not among and (share or not parser.accept(":")):
            hint = "Write COUNT(r IN LAST 10: r.inreplyto = m.msgid)."
            raise parser.unexpected("“AMONG” or “:”, and a condition", SHARE if share else hint)
        condition = parser.condition()
        if share and parser.token.word != ":":
            raise parser.unexpected("“:” and a test")
        if (share or among) and parser.accept(":"):
            last = replace(last or n.Among(None, n.Truth(True)), test=parser.condition())
        parser.scopes.pop()
    parser.expect(")", "“)”" if bindings else "“:” and a condition, or “)”")
    parser.depth -= 1
    span = parser.since(name.start)
    return n.Aggregate(name.word, distinct, term, bindings, condition, among=last, span=span)


def _no_column(name: Token, start: Token) -> TapestryError:
    if name.word in SHARES:
        return TapestryError(f"{name.word} is of rows.", start.span, SHARE)
    what = "DISTINCT" if name.word == "COUNT" else name.word
    column = "DISTINCT r.sender" if name.word == "COUNT" else "r.size"
    return TapestryError(
        f"{what} needs a column.",
        start.span,
        f"Write {name.word}({column}: r.inreplyto = m.msgid).",
    )


def _table(parser: Parser) -> tuple[str | None, n.Among | None]:
    """Read the rows after a variable: ``IN annotations``, ``IN LAST 10 annotations``, nothing."""
    if not parser.accept("IN"):
        return None, None
    if not parser.accept("LAST"):
        return exists.table_of(parser), None
    last = n.Among(group_by.limit(parser, "A window", "rows"), n.Truth(True))
    named = parser.token.is_name and parser.token.word != "AMONG"
    return exists.table_of(parser) if named else None, last


def bindings_of(
    parser: Parser, term: n.Term, end: str = ":"
) -> tuple[tuple[n.Binding, ...], n.Among | None]:
    """Read the variables after a term, up to ``end``, of the last up to what they are among.

    None in SQL.

    The one variable that the term names is bound first, unless it stands among those listed:
    ``SUM(a.number IN annotations, r: …)``, ``SUM(a.number, r, a IN annotations: …)``.  A term
    of several names only variables that are listed or stand outside.
    """
    if parser.token.word == ")":
        return (), None
    table, last = _table(parser)
    listed: tuple[n.Binding, ...] = ()
    if not last and parser.accept(","):
        listed = exists.bindings(parser, end)
    elif not last:
        parser.expect(
            end, "“:” and a condition, or “)”" if end == ":" else f"“{end}” and a condition"
        )
    columns = list(columns_of(term))
    for column in columns:
        if not column.var:
            raise TapestryError(
                f"The variable of “{column.name}” is missing.",
                column.span,
                f"Write r.{column.name} for messages, a.{column.name} IN annotations for those.",
            )
    names = {variable_named(column.var, column.span) for column in columns}
    if (last or isinstance(term, n.Fold)) and len(names) > 1:
        names = {name for name in names if not parser.visible(name)}
    if len(names) == 1 and not names & {binding.var for binding in listed}:
        name = names.pop()
        own = next(column for column in columns if column.var.lower() == name)
        _check_own(parser, name, own, table)
        return (n.Binding(name, table or MESSAGES, span=own.span), *listed), last
    if table or not listed:
        raise TapestryError(
            "It is not clear which variables are counted over.",
            term.span,
            "List them after the value: MAX(r.size - q.size, r, q: …).",
        )
    return listed, None


def _check_own(parser: Parser, name: str, column: n.Column, table: str | None) -> None:
    """Refuse a variable that is bound by its column, and seems to be meant otherwise."""
    if parser.visible(name):
        raise TapestryError(
            f"“{name}” stands for another row already.",
            column.span,
            f"Give the rows that are counted another name: r.{column.name}.",
        )
    wanted = column.name.lower()
    if table is None and wanted not in COLUMNS[MESSAGES] and wanted in COLUMNS[ANNOTATIONS]:
        raise TapestryError(
            f"The table messages has no column “{column.name}”.",
            column.span,
            f"Write {name}.{wanted} IN annotations.",
        )
