"""The blocks of imports in a list: each is counted, all of a page in one query."""

from __future__ import annotations

from collections import Counter

from django.core.paginator import Paginator
from django.db import connection
from django.test.utils import CaptureQueriesContext

from filters.inbox.lists import listing
from filters.inbox.lists.rows import page_rows
from filters.inbox.models import Card, Match
from filters.people.models import User
from tapestry.core.clock import DAY, wall_clock
from tapestry.tables.delta.log import Tables
from tests.support.lists.listed_mail import installed


def imported(alice: User, blocks: int) -> None:
    """Let a filter find imports of several days: the first has one message, the next two …"""
    made, now = installed(alice, "all"), wall_clock()
    for block in range(blocks):
        for number in range(block + 1):
            msgid, at = f"{block}-{number}", now - block * DAY
            card = Card.objects.create(
                msgid=msgid, audience="public", ts=at, received=at, imported=f"box {block % 2}"
            )
            at_once = dict.fromkeys(("matched_at", "stored_at", "shown_at", "refreshed_at"), at)
            Match.objects.create(filter=made, msgid=msgid, audience="public", card=card, **at_once)


def test_the_blocks_of_a_page_are_counted_in_one_query(tables: Tables, alice: User) -> None:
    imported(alice, 6)
    page = Paginator(listing.cards(alice), 50).page(1)
    assert len(list(page)) == 21
    with CaptureQueriesContext(
        connection,
    ) as made:
        rows = page_rows(alice, page)
    counts = Counter((row.day, row.block) for row in rows)
    assert len(counts) == 6
    assert all(block and block.count == shown for (_, block), shown in counts.items())
    assert sum("COUNT(" in query["sql"] for query in made) == 1


def test_a_block_counts_what_is_on_other_pages(tables: Tables, alice: User) -> None:
    imported(alice, 6)
    page = Paginator(listing.cards(alice), 4).page(4)
    blocks = [row.block for row in page_rows(alice, page)]
    assert [block and block.count for block in blocks] == [5, 5, 5, 6]
