"""A condition on a card holds exactly if the language's meaning says so."""

from __future__ import annotations

import pytest

from filters.inbox.appraisal.condition import holds
from filters.inbox.models import Card
from tapestry.query.context import Context
from tapestry.query.frontend import read
from tests.support.engines.nested_loops import holds as judged

CARDS = [
    Card(sender=sender, sender_name=name, subject=subject, received=at, ts=at, date=at, msgid="m")
    for at, (sender, name, subject) in enumerate(
        [
            ("jones@x.org", "Mary Jones", "The query plan"),
            ("mary@x.org", "", "Re: the QUERY-plan"),
            ("", "Jones Müller", ""),
            ("j.ones@x.org", "Jonesy", "queryplan 100%"),
            ("BIG@x.org", "ΟΔΟΣ", "plan the query"),
        ]
    )
]
TEXTS = (
    *("from Jones", "not from Jones", "from @x.org", "from mary or Jones", "about query plan"),
    *("about plan and not from mary", "not about query", "since 3 March 2025", "from ΟΔΟΣ"),
    *("m.subject IS NULL", "m.sender_name IN ('Jonesy', 'x')", "NOT m.sender_name = 'Jonesy'"),
    *("lower(m.sender) = 'big@x.org'", "length(m.subject) > 13", "m.subject LIKE '%100\\%'"),
    *("m.sender = 'x' OR m.subject IS NOT NULL", "TRUE", "m.received >= m.date"),
)


@pytest.mark.parametrize("text", TEXTS)
def test_equals_the_oracle(text: str) -> None:
    query = read(text, Context("terry", ("terry@x.org",)))
    for card in CARDS:
        names = ("sender", "sender_name", "subject", "received", "ts", "date", "msgid")
        row = {name: getattr(card, name) for name in names}
        row = {name: None if value == "" else value for name, value in row.items()}
        assert holds(query.condition, card) == judged(query.condition, {query.var: row}, {}, 0)
