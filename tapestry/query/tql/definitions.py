"""Read the definition of an aggregate in SQL, and check it: names, types, size.

CREATE AGGREGATE decayed(x NUMBER) RETURNS NUMBER
  STATE (s NUMBER) INITIALIZE (x) ITERATE (s * 0.9 + x) TERMINATE s

It reads no rows: its terms are of its parameters and its state, which are given as columns of no
variable.  Division and CASE are for definitions alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from tapestry.core.errors import Span, TapestryError
from tapestry.core.schema import Type
from tapestry.query.check.comparisons import compare
from tapestry.query.check.scope import Scope, advice
from tapestry.query.check.terms import NUMERIC, a, typed
from tapestry.query.limits import MAX_DEFINITION, MAX_VARIABLES
from tapestry.query.tql.expressions import Parser
from tapestry.query.tree import nodes as n
from tapestry.query.tree.definitions import TYPES, Definition, Variables
from tapestry.query.tree.identifiers import RESERVED
from tapestry.query.tree.walk import transform, type_of

EXAMPLE = (
    "Write (x NUMBER) RETURNS NUMBER STATE (s NUMBER) INITIALIZE (x) ITERATE (s * 0.9 + x)"
    " TERMINATE s."
)
_WORDS = [
    "RETURNS",
    "STATE",
    "INITIALIZE",
    "ITERATE",
    "TERMINATE",
    "OF",
    "CASE",
    "WHEN",
    "THEN",
    "ELSE",
    "END",
]


@dataclass(frozen=True, slots=True)
class _Names(Scope):
    """The parameters and the state of a definition: names without a variable."""

    types: Mapping[str, Type] = field(default_factory=dict)

    def column(self, written: n.Column) -> n.Column:
        name = written.name.lower()
        if written.var or name not in self.types:
            shown = f"{written.var}.{written.name}" if written.var else written.name
            hint = advice(written.name, self.types, "Known here:")
            raise TapestryError(f"“{shown}” is not known in the definition.", written.span, hint)
        return n.Column("", name, self.types[name], span=written.span)


def definition(parser: Parser) -> Definition:
    """Read a definition from its parameters on, and return it checked."""
    start = parser.token.start
    parser.defining = True
    parameters = _variables(parser, {})
    _expect(parser, "RETURNS")
    returns = _type(parser)
    _expect(parser, "STATE")
    state = _variables(parser, dict(parameters))
    known = dict(parameters)
    _expect(parser, "INITIALIZE")
    initialize = _values(parser, state, known)
    known |= dict(state)
    _expect(parser, "ITERATE")
    iterate = _values(parser, state, known)
    terminate = None
    if parser.accept("TERMINATE"):
        terminate = _fitting(_term(parser, dict(state)), returns, "what it RETURNS")
    elif not _fits(state[0][1], returns):
        message = f"It returns {state[0][0]}, which is {a(state[0][1])}, not {a(returns)}."
        raise TapestryError(message, parser.since(start), "Say what it is by TERMINATE.")
    parser.defining = False
    read = Definition(parameters, returns, state, initialize, iterate, terminate)
    if len(read.text) > MAX_DEFINITION:
        message = f"A definition has at most {MAX_DEFINITION:,} characters."
        raise TapestryError(message, parser.since(start), "Say less in it.")
    return read


def case(parser: Parser) -> n.Case:
    """Read ``WHEN … THEN … ELSE … END``; CASE is read."""
    start = parser.tokens[parser.at - 1].start
    parser.enter()
    parser.expect("WHEN")
    cases = [_when(parser)]
    while parser.accept("WHEN"):
        cases.append(_when(parser))
    otherwise: n.Term = n.Literal(None, Type.NULL)
    if parser.accept("ELSE"):
        otherwise = parser.term()
    parser.expect("END")
    parser.depth -= 1
    for condition, value in reversed(cases):
        otherwise = n.Case(condition, value, otherwise, span=parser.since(start))
    assert isinstance(otherwise, n.Case)
    return otherwise


def _when(parser: Parser) -> tuple[n.Condition, n.Term]:
    parser.made += 1  # each stands inside the one before
    condition = parser.condition()
    parser.expect("THEN")
    return condition, parser.term()


def _expect(parser: Parser, word: str) -> None:
    parser.expect(word, f"“{word}”") if parser.token.word == word else _refuse(parser, word)


def _refuse(parser: Parser, word: str) -> None:
    raise parser.unexpected(f"“{word}”", EXAMPLE)


def _variables(parser: Parser, known: dict[str, Type]) -> Variables:
    """Read names with their types, in parentheses; none may be known already."""
    start = parser.expect("(").start
    variables: dict[str, Type] = {}
    while True:
        token = parser.token
        if token.kind != "name" or token.word in RESERVED or token.word in _WORDS:
            raise parser.unexpected("a name and its type", EXAMPLE)
        name = parser.take().value.lower()
        if name in variables or name in known:
            raise TapestryError(f"“{name}” stands here twice.", token.span, "Give it another name.")
        variables[name] = _type(parser)
        if not parser.accept(","):
            break
    parser.expect(")", "“,” or “)”")
    if len(variables) > MAX_VARIABLES:
        message = f"There may be {MAX_VARIABLES} of them at most."
        raise TapestryError(message, parser.since(start), "Leave some out.")
    return tuple(variables.items())


def _type(parser: Parser) -> Type:
    if parser.token.word not in TYPES:
        raise parser.unexpected("a type", "The types are TEXT, INTEGER, NUMBER, INSTANT, DURATION.")
    return TYPES[parser.take().word]


def _values(parser: Parser, state: Variables, known: Mapping[str, Type]) -> tuple[n.Term, ...]:
    """Read the next values of the state, in parentheses."""
    start = parser.expect("(").start
    terms = [_term(parser, known)]
    while parser.accept(","):
        terms.append(_term(parser, known))
    parser.expect(")", "“,” or “)”")
    if len(terms) != len(state):
        message = f"The state has {len(state)} variables, and here are {len(terms)} values."
        raise TapestryError(message, parser.since(start), "Give each of them a value.")
    return tuple(
        _fitting(term, kind, name) for term, (name, kind) in zip(terms, state, strict=True)
    )


def _fitting(term: n.Term, kind: Type, of: str) -> n.Term:
    if not _fits(type_of(term), kind):
        message = f"This is {a(type_of(term))}, and {of} is {a(kind)}."
        raise TapestryError(message, term.span, "Give it a value of that type.")
    return term


def _fits(given: Type, wanted: Type) -> bool:
    return given in (wanted, Type.NULL) or (given, wanted) == (Type.INTEGER, Type.NUMBER)


def _term(parser: Parser, known: Mapping[str, Type]) -> n.Term:
    names = _Names({}, types=known)
    term: n.Term = transform(parser.shallow(parser.term()), lambda node: _checked(node, names))
    return term


def _checked(node: n.Node, names: _Names) -> n.Node:
    """Return a node of a definition, what stands in it being checked."""
    match node:
        case n.Now():
            raise TapestryError("now() cannot stand in a definition.", node.span, "Give it an age.")
        case n.Case(value=value, otherwise=otherwise):
            return replace(node, type=_common(type_of(value), type_of(otherwise), node.span))
        case n.Call(name="list"):
            raise _no_test(node)
        case n.Column() | n.Arith() | n.Call() | n.Literal():
            return typed(node, names)
        case n.Compare(op=op, left=left, right=right, span=span):
            return compare(op, left, right, span)
        case n.And() | n.Or() | n.Not() | n.IsNull() | n.Truth():
            return node
        case _:
            raise _no_test(node)


def _no_test(node: n.Node) -> TapestryError:
    hint = "Compare with =, <>, <, <=, > or >=, or by IS NULL."
    return TapestryError("This cannot stand in a definition.", node.span, hint)


def _common(one: Type, other: Type, span: Span | None) -> Type:
    if one is other or other is Type.NULL:
        return one
    if one is Type.NULL:
        return other
    if one in NUMERIC and other in NUMERIC:
        return Type.NUMBER
    message = f"CASE cannot choose between {a(one)} and {a(other)}."
    raise TapestryError(message, span, "Give it values of one type.")
