"""Random filters about threads, and worlds for them, as Hypothesis strategies."""

from hypothesis import strategies as st

from tapestry.query.context import Context
from tapestry.query.frontend import read
from tapestry.query.tree import nodes as n
from tests.support.generators import random_worlds
from tests.support.generators.values import one_of

THREADS = (
    "m IN THREAD OF (r: r.sender = 'mary@x.org')",
    "m IN THREAD OF (r: r.sender = 'joe@x.org' AND r.received < m.received)",
    "m IN THREAD OF (r: r.msgid <> m.msgid)",
    "EXISTS (b, s IN threads: s.msgid = m.msgid AND b.msgid = s.root AND b.sender = 'joe@x.org')",
    "m IN THREAD OF (r: NOT EXISTS (a: a.inreplyto = r.msgid))",
    "EXISTS (s IN threads: s.msgid = m.msgid AND s.root = 'm0')",
    "COUNT(DISTINCT s.msgid IN threads: s.root = m.msgid) > 2",
    "EXISTS (s IN threads: s.msgid = m.msgid "
    "AND COUNT(DISTINCT t.msgid IN threads: t.root = s.root) > 2)",
    "EXISTS (p: ANCESTOR(p, m) AND p.sender = 'joe@x.org')",
)
OTHERS = ("m.size > 1", "m.inreplyto IS NULL", "m.ts < now() - 3 seconds")


@st.composite
def queries(draw):
    """Draw a filter of one or two conditions, most of them about threads."""
    parts = [draw(one_of(*THREADS))]
    if draw(st.booleans()):
        parts.append(draw(one_of(*THREADS, *OTHERS)))
    signed = [f"NOT {part}" if draw(one_of(False, False, True)) else part for part in parts]
    query = read(draw(one_of(" AND ", " OR ")).join(signed), Context())
    return n.CheckedQuery("m", query.condition, "")


def worlds():
    """Return a strategy of worlds whose filter is about threads."""
    return queries().flatmap(random_worlds.worlds_of)
