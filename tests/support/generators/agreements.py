"""Random filters of people who agree, and worlds full of votes on the same few messages."""

from __future__ import annotations

from hypothesis import strategies as st

from tapestry.core.schema import ANNOTATIONS, MESSAGES, Type
from tapestry.query.tree import nodes as n
from tests.support.generators.rows import retractions
from tests.support.generators.terms import column, conjoin, disjoin, integer, number, text
from tests.support.generators.values import one_of, whole
from tests.support.oracle.queries import Data
from tests.support.oracle.values import Row

PEOPLE = ("alice", "bob", "Joe")
_MAIL = ("m0", "m1", "m2", "m3", "m4")
_SHARES = (0.7, 0.5, 0.75, 0.0, 1.0, 0.6667)


@st.composite
def voted(draw: st.DrawFn) -> Data:
    """Draw five messages on most of which most people voted, some of them twice or in private."""
    instant = whole(0, 6)
    seen = one_of(*["public"] * 6, "user:alice", "user:bob")
    mail: list[Row] = [
        {"msgid": msgid, "ts": draw(instant) // 3, "audience": draw(seen), "sender_name": "Joe"}
        for msgid in _MAIL
    ]
    votes: list[Row] = []
    for owner in PEOPLE:
        for msgid in _MAIL:
            for _ in range(draw(one_of(1, 1, 1, 1, 0, 2))):
                signs = one_of(1.0, 1.0, 1.0, -1.0, -1.0, 0.5, None)
                kind = draw(one_of(*["vote"] * 8, "tag"))
                row = {"annid": f"a{len(votes)}", "owner": owner, "msgid": msgid, "kind": kind}
                row |= {"ts": draw(instant), "audience": draw(seen), "number": draw(signs)}
                votes.append(row)
    return {MESSAGES: mail, ANNOTATIONS: votes + draw(retractions(votes, instant))}


@st.composite
def queries(draw: st.DrawFn) -> n.CheckedQuery:
    """Draw a filter whose agreements are not written out."""
    part = draw(_parts())
    if draw(one_of(False, False, True)):
        more = n.Compare("=", column(n.Binding("m", MESSAGES), "msgid"), text("m0"))
        part = draw(one_of(conjoin, disjoin))([part, more])
    return n.CheckedQuery("m", part, "")


@st.composite
def _parts(draw: st.DrawFn) -> n.Condition:
    message, vote = n.Binding("m", MESSAGES), n.Binding("a", ANNOTATIONS)
    shape = draw(one_of("exists", "exists", "not exists", "count", "sender", "disagrees"))
    op = draw(one_of(">", ">", ">=", "<", "<=", "=", "<>"))
    share = draw(one_of(*map(number, _SHARES), integer(1)))
    somebody = column(message, "sender_name") if shape == "sender" else column(vote, "owner")
    one, other = [somebody, text(draw(one_of(*PEOPLE)))][:: draw(one_of(1, 1, -1))]
    agrees: n.Condition = n.Agreement(one, other, op, share)
    if shape == "sender":
        return agrees
    tests = [
        n.Compare("=", column(vote, "msgid"), column(message, "msgid")),
        n.Compare("=", column(vote, "kind"), text("vote")),
        n.Compare(">", column(vote, "number"), integer(0)),
        n.Not(agrees) if shape == "disagrees" else agrees,
    ]
    inside = conjoin(tests)
    if shape == "count":
        people_ = column(vote, "owner")
        count = n.Aggregate("COUNT", True, people_, (vote,), inside, Type.INTEGER)
        return n.Threshold(count, draw(one_of(">", ">=", "<")), integer(draw(one_of(0, 1, 2))))
    found = n.Exists((vote,), inside)
    return n.Not(found) if shape == "not exists" else found
