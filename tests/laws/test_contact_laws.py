"""Address books and calendars: filters find what the oracle says of what stands, and of starts."""

from dataclasses import replace

import pytest
from hypothesis import strategies as st

from tapestry.core.clock import WEEK
from tapestry.core.contacts import CANCELLED, CONTACT, MEETING, book_of
from tapestry.core.message import PUBLIC
from tapestry.core.schema import ANNOTATIONS, MESSAGES
from tapestry.query.context import Context
from tapestry.query.frontend import read
from tests.laws import change_laws, filter_laws
from tests.support.generators.random_worlds import World
from tests.support.generators.rows import retractions, schedules
from tests.support.generators.values import one_of, whole
from tests.support.oracle import queries as oracle

ALICE = (PUBLIC, "user:alice")
_SENDERS = ("ann@x.org", "bill@x.org", "eve@x.org")
_FILTERS = (
    "from contacts",
    "from nobody in my address book",
    "from contacts and about index",
    "not from contacts or replies",
    "replied to and from contacts",
    "EXISTS (r, a IN annotations: r.inreplyto = m.msgid AND a.value = r.sender AND a.kind = "
    "'contact' AND a.owner = 'alice')",
    "NOT EXISTS (a IN annotations: a.value = m.sender AND a.kind = 'contact') "
    "AND m.received < now() - 2 weeks",
    "m.sender IN (SELECT a.value FROM annotations a WHERE a.kind = 'contact')",
    *["from people I meet this week"] * 3,
    "not from people I meet within one week",
    "from people I meet within one week and not about cancelled events",
    "about an event that has been cancelled",
    "about cancelled events or from contacts",
    "COUNT(a IN annotations: a.value = m.sender AND a.kind = 'meeting' AND a.starts > now()) > 1",
    "NOT EXISTS (a IN annotations: a.value = m.sender AND a.starts > now() - 1 week)",
    "m.ts IN (SELECT a.starts FROM annotations a WHERE a.value = m.sender)",
)
"""By phrase, and joined with the rest of the language."""


_soon = st.builds(int.__add__, one_of(0, WEEK, WEEK, 2 * WEEK), whole(0, 6))
"""When meetings start: as rows come, or a week later, so that they come near then."""


@st.composite
def books(draw):
    """Draw mail by few people, and who of them was in whose address book, now and then."""
    instant = whole(0, 6)
    mail = [
        {"msgid": f"m{place}", "ts": draw(instant), "audience": draw(one_of(PUBLIC, "user:alice"))}
        | {"sender": draw(one_of(*_SENDERS)), "subject": draw(one_of("index", "x"))}
        | {"inreplyto": draw(one_of(None, "m0", "m1")), "event": draw(one_of(None, "e", "f"))}
        | {"method": draw(one_of("request", "cancel", None))}
        for place in range(5)
    ]
    contacts = []
    for owner in ("alice", "bob"):
        for address in _SENDERS:
            for _ in range(draw(one_of(0, 1, 1, 2))):
                row = {"annid": f"a{len(contacts)}", "owner": owner, "msgid": book_of(owner)}
                row |= {"kind": draw(one_of(CONTACT, CONTACT, CONTACT, "tag")), "value": address}
                contacts.append(row | {"ts": draw(instant), "audience": f"user:{owner}"})
                meeting = {"annid": f"b{len(contacts)}", "starts": draw(_soon), "kind": MEETING}
                contacts.append(contacts[-1] | {"ts": draw(instant)} | meeting)
        off = {"annid": f"c{owner}", "value": draw(one_of("e", "f")), "kind": CANCELLED}
        contacts.append(
            {"owner": owner, "msgid": book_of(owner), "audience": f"user:{owner}"}
            | {"ts": draw(instant)}
            | off
        )
    return {MESSAGES: mail, ANNOTATIONS: contacts + draw(retractions(contacts, instant))}


@st.composite
def worlds(draw):
    query = read(draw(one_of(*_FILTERS)), Context(owner="alice"))
    schedule = tuple(draw(schedules(tuple(range(7)))))
    start = draw(one_of(None, None, schedule[0] - 1))
    return World(query, draw(books()), draw(one_of(ALICE, ALICE, (PUBLIC,))), schedule, start)


def delivered(draw, strategy):
    world = draw.draw(worlds())
    runs = filter_laws.run(world, strategy)
    assert [filter_laws.times(matches) for matches in runs] == filter_laws.expected(world)


def every_schedule(draw, aggregates):
    delivered(draw, "fast")


def the_general_rule(draw, aggregates):
    delivered(draw, "general")


def live(draw, aggregates):
    world = draw.draw(worlds())
    judge = oracle.Oracle(world.query, world.data, world.audiences)
    change_laws.follow(world, judge, net=draw.draw(st.booleans()))


def the_books_of_others_change_nothing(draw, aggregates):
    world = replace(draw.draw(worlds()), audiences=ALICE)
    shown = [row for row in world.data[ANNOTATIONS] if row["audience"] in ALICE]
    alone = replace(world, data=world.data | {ANNOTATIONS: shown})
    assert filter_laws.run(world) == filter_laws.run(alone)


LAWS = {
    every_schedule: 60,
    the_general_rule: 20,
    live: 20,
    the_books_of_others_change_nothing: 20,
}


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_law(law):
    filter_laws.check(law, LAWS[law])


@pytest.mark.long
@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_law_in_a_long_campaign(law):
    filter_laws.check(law, 100 * LAWS[law])
