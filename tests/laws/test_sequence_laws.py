"""The laws of what goes by an order, on random examples, and on many more in a long campaign."""

import pytest

from tapestry.query.context import Context
from tapestry.query.frontend import read
from tests.laws import filter_laws, sequence_laws
from tests.support.generators.random_worlds import World

by_name = pytest.mark.parametrize("law", sequence_laws.LAWS, ids=lambda law: law.__name__)
of_each = pytest.mark.parametrize("kind", ["sequences", "windows", "functions", "lasts"])


@of_each
@by_name
def test_law(law, kind):
    filter_laws.check(law, sequence_laws.LAWS[law], kind)


@pytest.mark.long
@of_each
@by_name
def test_law_in_a_long_campaign(law, kind):
    filter_laws.check(law, 200 * sequence_laws.LAWS[law], kind)


# By hand: an auction house in mail, after NEXMark.  A message that answers nothing is an auction,
# its replies are bids, and what they cost is their size.

HOUR = 60


def auction(msgid, at, seller="ann"):
    return {"msgid": msgid, "ts": at, "sender": seller, "audience": "public"}


def bid(msgid, at, on, bidder, price):
    return auction(msgid, at, bidder) | {"inreplyto": on, "size": price}


MAIL = [
    auction("a1", 0),
    bid("b1", 10, "a1", "bob", 1),
    bid("b2", 20, "a1", "cat", 2),
    bid("b3", 20, "a1", "dan", 3),
    bid("b4", 30, "a1", "bob", 4),
    auction("a2", 100),
    bid("b5", 100 + HOUR, "a2", "bob", 9),
    auction("a3", 300),
    bid("b6", 301 + HOUR, "a3", "cat", 1),
]
MICROSECONDS = {"HOUR": f"{HOUR / 1_000_000:f} seconds"}


@pytest.mark.parametrize(
    ("text", "matched"),
    [
        # Bids that rise three times in a row; the two of one instant come in no order.
        (
            "SEQ(m THEN r THEN s THEN t: r.inreplyto = m.msgid AND s.inreplyto = m.msgid AND"
            " t.inreplyto = m.msgid AND r.size < s.size AND s.size < t.size)",
            {"a1": 30},
        ),
        # An auction without a bid within an hour; one at its last instant is in time.
        (
            "m.inreplyto IS NULL AND SEQ(m THEN NOT r WITHIN HOUR: r.inreplyto = m.msgid)",
            {"a3": 301 + HOUR},
        ),
        # A bid by somebody who was outbid; nobody else bid in between but once.
        (
            "SEQ(r THEN s THEN NOT x THEN m: r.inreplyto = m.inreplyto AND r.sender = m.sender"
            " AND s.inreplyto = m.inreplyto AND s.size > r.size AND m.size > s.size"
            " AND x.inreplyto = m.inreplyto)",
            {"b4": 30},
        ),
        # Two bids by different people within an hour, whoever else bids.
        (
            "SEQ(m THEN r THEN s WITHIN HOUR: r.inreplyto = m.msgid AND s.inreplyto = m.msgid"
            " AND r.sender <> s.sender)",
            {"a1": 20},
        ),
        # Query 6: where the average of the last two bids of its bidder is above 4, when it comes.
        (
            "AVG(x.size: x.sender = m.sender AND x.inreplyto IS NOT NULL"
            " AND x IN LAST 2 PER x.sender AMONG x.inreplyto IS NOT NULL) > 4"
            " AND m.inreplyto IS NOT NULL",
            {"b1": 160, "b4": 160, "b5": 160},
        ),
        (
            "AVG(x.size IN LAST 2: x.sender = m.sender AND x.inreplyto IS NOT NULL) > 4"
            " AND m.inreplyto IS NOT NULL",
            {"b1": 160, "b4": 160, "b5": 160},
        ),
        # And as it stands there: the last two auctions of a seller, each by its highest bid.
        (
            "m.inreplyto IS NULL AND AVG(x.size IN LAST 2: EXISTS (s: s.sender = m.sender AND"
            " s.inreplyto IS NULL AND x.inreplyto = s.msgid) AND NOT EXISTS (h: h.inreplyto ="
            " x.inreplyto AND h.size > x.size)) > 6",
            {"a1": 160, "a2": 160, "a3": 300},
        ),
        # Two of its bids are by bob, but never two of the last three: b4, then b2 before b3.
        ("COUNT(x IN LAST 3 AMONG x.inreplyto = m.msgid: x.sender = 'bob') = 2", {}),
        ("COUNT(x IN LAST 4 AMONG x.inreplyto = m.msgid: x.sender = 'bob') = 2", {"a1": 30}),
        ("MAX(x.size IN LAST 1: x.inreplyto = m.msgid) = 2", {"a1": 20}),
        # Of b2 and b3, of one instant, the one whose msgid is first.
        ("m IN LAST 1 PER m.inreplyto AND m.size > 1", {"b2": 20, "b4": 30, "b5": 160}),
        ("m IN FIRST 1 PER m.inreplyto", {"b1": 10, "b5": 160, "b6": 361}),
        # A message alone comes after none: the first of ann's auctions until there is another.
        (
            "NOT PERCENT_RANK() OVER (PARTITION BY m.sender ORDER BY m.received DESC) > 0.5"
            " AND m.inreplyto IS NULL",
            {"a1": 0, "a2": 100, "a3": 300},
        ),
        # What is unknown among which is not among them.
        ("m.size = 2 AND m NOT IN LAST 1 PER m.sender AMONG m.subject HAS 'x'", {"b2": 20}),
        ("m.size = 2 AND m NOT IN LAST 1 AMONG m.subject HAS 'x'", {"b2": 20}),
    ],
)
def test_an_auction_house(text, matched):
    query = read(text.replace("HOUR", MICROSECONDS["HOUR"]), Context())
    world = World(query, {"messages": MAIL, "annotations": []}, ("public",), (25, 200, 500), None)
    runs = [filter_laws.times(matches) for matches in filter_laws.run(world)]
    assert {msgid: at for run in runs for msgid, at in run.items()} == matched
    assert runs == filter_laws.expected(world)


def vote(annid, at, number, **more):
    own = {"annid": annid, "ts": at, "msgid": "a1", "owner": "bob", "audience": "public"}
    return own | {"kind": "vote", "number": number} | more


VOTES = [
    vote("v1", 10, 4.0),
    vote("v2", 20, 6.0),
    vote("v3", 30, 0.0),
    vote("v4", 40, None, kind="retraction", value="v3"),
    vote("v5", 50, 8.0),
]


@pytest.mark.parametrize(
    ("average", "matched"),
    [
        ("= 4", {"a1": 10}),
        ("= 5", {"a1": 20}),
        ("< 4", {"a1": 30}),
        # What is taken back makes room for the one before it: 6 and 8, not 0 and 8.
        ("= 7", {"a1": 50}),
        ("= 8", {}),
    ],
)
def test_the_last_votes(average, matched):
    text = "AVG(a.number IN LAST 2 annotations: a.msgid = m.msgid AND a.kind = 'vote')"
    query = read(f"{text} {average}", Context())
    world = World(query, {"messages": MAIL, "annotations": VOTES}, ("public",), (25, 90), None)
    runs = [filter_laws.times(matches) for matches in filter_laws.run(world)]
    assert {msgid: at for run in runs for msgid, at in run.items()} == matched
    assert runs == filter_laws.expected(world)


def test_a_late_row_has_its_place_among_the_last():
    late = bid("b0", 40, "a1", "eve", 100) | {"received": 15}
    query = read("MAX(x.size IN LAST 3: x.inreplyto = m.msgid) > 50", Context())
    tables = {"messages": [*MAIL, late], "annotations": []}
    world = World(query, tables, ("public",), (500,), None)
    assert filter_laws.run(world) == [[]]
    query = read("MAX(x.size IN LAST 4: x.inreplyto = m.msgid) > 50", Context())
    world = World(query, tables, ("public",), (500,), None)
    assert list(map(filter_laws.times, filter_laws.run(world))) == [{"a1": 40}]
