"""Aggregates defined in SQL: decayed(a.number IN annotations: …), AGGREGATE (…) … OF (…)."""

from __future__ import annotations

import re
from dataclasses import replace

from tapestry.core.errors import TapestryError
from tapestry.query.tql import aggregates, definitions
from tapestry.query.tql.expressions import Parser
from tapestry.query.tql.lexer import Token
from tapestry.query.tree import nodes as n
from tapestry.query.tree.identifiers import AGGREGATES, DEFINED, RANKS, RESERVED, SHARES, VALUES

LONGEST_NAME = 50

_NAME = re.compile(r"[a-z][a-z0-9_]*")
_BUILT_IN = "lower upper trim length substr substring coalesce has now getdate dateadd seq agrees"
_TAKEN = {*RESERVED, *AGGREGATES, *aggregates.OTHERS, *RANKS, *VALUES, *SHARES, DEFINED, "OF"}
_TAKEN |= {"CASE", "ANCESTOR", "CURRENT_TIMESTAMP", "TIMESTAMP", *_BUILT_IN.upper().split()}


def name_of(parser: Parser) -> str:
    """Read the name that a definition gives."""
    token = parser.token
    if not token.is_name:
        raise parser.unexpected("a name", definitions.EXAMPLE)
    name = token.value.lower()
    if not _NAME.fullmatch(name) or len(name) > LONGEST_NAME:
        hint = f"Write a letter, then letters, digits and “_”: {LONGEST_NAME} at most."
        raise TapestryError("This cannot name an aggregate.", token.span, hint)
    if name.upper() in _TAKEN:
        message = f"“{token.value}” is a word of the language already."
        raise TapestryError(message, token.span, f"Give it another name: my_{name}.")
    parser.take()
    return name


def comes(parser: Parser) -> bool:
    """Tell whether parentheses come with a column in them and a colon, as an aggregate has."""
    if parser.token.word != "(":
        return False
    depth, qualified = 0, False
    for token in parser.tokens[parser.at :]:
        depth += (token.word == "(") - (token.word == ")")
        qualified = qualified or token.word == "."
        if not depth or (depth == 1 and token.word == ":"):
            return qualified and depth == 1
    return False


def named(parser: Parser, name: Token, owner: Token | None = None) -> n.Aggregate:
    """Read the parentheses of an aggregate of one's own, or of its owner's; its name is read."""
    own = name.value.lower()
    called = f"{owner.value}.{own}" if owner else own
    return _of(parser, owner or name, called)


def written_out(parser: Parser, name: Token) -> n.Aggregate:
    """Read a definition, and what it is of; AGGREGATE is read."""
    definition = definitions.definition(parser).text
    if not parser.accept("OF"):
        hint = "Write OF (a.number IN annotations: a.msgid = m.msgid) > 3."
        raise TapestryError("“OF”, and what it is of, is expected here.", parser.token.span, hint)
    return _of(parser, name, definition)


def _of(parser: Parser, start: Token, definition: str) -> n.Aggregate:
    parser.expect("(")
    parser.enter()
    args = [parser.shallow(parser.term())]
    while parser.token.word == "," and not _begins_rows(parser):
        parser.take()
        args.append(parser.shallow(parser.term()))
    term = n.Fold(definition, tuple(args), span=parser.since(start.start))
    bindings, last = aggregates.bindings_of(parser, term)
    if last:
        hint = "Write a.number IN annotations: …, without LAST."
        raise TapestryError("An aggregate that is defined counts all rows.", term.span, hint)
    function = start._replace(value=DEFINED, word=DEFINED)
    aggregate = aggregates.inside(parser, function, False, term, bindings)
    return replace(aggregate, span=parser.since(start.start))


def _begins_rows(parser: Parser) -> bool:
    """Tell whether a variable comes after the comma, not a value."""
    return parser.after.is_name and parser.ahead(2).word in (",", ":", "IN")
