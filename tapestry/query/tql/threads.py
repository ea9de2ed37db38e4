"""Parse what is said of threads: m IN THREAD OF (r: …), ANCESTOR(p, m)."""

from __future__ import annotations

from tapestry.core.errors import TapestryError
from tapestry.core.schema import MESSAGES
from tapestry.query.tql.exists import bindings
from tapestry.query.tql.expressions import Parser
from tapestry.query.tree import nodes as n
from tapestry.query.tree.threads import in_thread_of

_EXAMPLE = "Write m IN THREAD OF (r: r.sender = 'joe@x.org')."


def starts(parser: Parser) -> bool:
    """Return whether THREAD OF comes next."""
    return parser.token.word == "THREAD" and parser.after.word == "OF"


def thread_of(parser: Parser, left: n.Column) -> n.Condition:
    """Read ``THREAD OF (r: …)``, of the message ``left``: one of its thread meets the condition."""
    parser.take()
    parser.take()
    parser.expect("(", "“(” and a variable")
    parser.enter()
    bound = bindings(parser)
    if len(bound) > 1 or bound[0].table != MESSAGES:
        raise TapestryError("A thread is of messages, one variable.", bound[-1].span, _EXAMPLE)
    parser.scopes.append({bound[0].var})
    condition = parser.condition()
    parser.scopes.pop()
    parser.expect(")")
    parser.depth -= 1
    var = left.name.lower()
    roots = f"{var}_thread", f"{bound[0].var}_thread"
    if bound[0].var == var:
        raise TapestryError(
            f"“{var}” is the message itself.", bound[0].span, "Give the other one another name."
        )
    return in_thread_of(left.name, bound[0], condition, roots)


def ancestor(args: list[n.Term], call: n.Node) -> n.Condition:
    """Return that one message stands above another in a thread, as the other one's headers say."""
    names = [arg.name for arg in args if isinstance(arg, n.Column) and not arg.var]
    if len(args) != 2 or len(names) != 2:
        hint = "Write EXISTS (p: ANCESTOR(p, m) AND p.size > 5)."
        raise TapestryError("ANCESTOR takes two messages.", call.span, hint)
    above, below = names
    msgid = n.Column(above, "msgid", span=call.span)
    links = (n.Column(below, name, span=call.span) for name in ("inreplyto", "references"))
    return n.Or.of([n.Compare("=", link, msgid, span=call.span) for link in links], call.span)
