"""Which matches come first, and which of many are shown."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from tapestry.deliver.batch import DeliveredMatch
from tapestry.deliver.ranking import fair_shares, grouped, net_changes, rank
from tests.support.delivery.delivered_matches import NOW, match

FEW = st.integers(-2, 2)
SIZES = st.lists(st.integers(0, 40), max_size=12)


@st.composite
def matches(draw: st.DrawFn) -> list[DeliveredMatch]:
    rows = draw(st.lists(st.tuples(st.integers(1, 4), FEW, FEW), max_size=60))
    return [
        match(number, filter_id, votes=votes, received=NOW + received)
        for number, (filter_id, votes, received) in enumerate(rows)
    ]


def test_votes_count_most_then_how_new_then_the_last_match() -> None:
    old = match(1, votes=2, received=NOW)
    disliked = match(2, votes=-1, received=NOW + 9)
    new, newer = match(3, received=NOW + 1), match(4, received=NOW + 2)
    tied = match(5, received=NOW + 1)
    assert rank([disliked, new, newer, tied, old]) == (old, newer, tied, new, disliked)


@given(matches())
def test_ranking_does_not_depend_on_the_order_in_which_matches_come(
    given_matches: list[DeliveredMatch],
) -> None:
    ranked = rank(given_matches)
    assert rank(reversed(given_matches)) == ranked
    for better, worse in pairwise(ranked):
        assert (better.votes, better.received, better.sequence) > (
            worse.votes,
            worse.received,
            worse.sequence,
        )


@given(SIZES, st.integers(0, 60))
def test_nobody_gets_more_while_another_still_wants(sizes: list[int], limit: int) -> None:
    shares = fair_shares(sizes, limit)
    assert sum(shares) == min(limit, sum(sizes))
    assert all(share <= size for share, size in zip(shares, sizes, strict=True))
    unserved = [share for share, size in zip(shares, sizes, strict=True) if share < size]
    assert not unserved or max(shares) <= min(unserved) + 1


@given(matches(), st.integers(0, 30))
def test_each_group_has_the_best_of_its_filter(
    given_matches: list[DeliveredMatch], limit: int
) -> None:
    groups = grouped(given_matches, limit)
    assert sum(len(group.matches) for group in groups) == min(limit, len(given_matches))
    for group in groups:
        own = [match for match in given_matches if match.filter_id == group.filter_id]
        assert group.matches == rank(own)[: len(group.matches)]
        assert len(group.matches) + group.more == len(own)


def test_groups_stand_in_the_order_of_their_names() -> None:
    names = {1: "zebra", 2: "Apple", 3: "mango"}
    given_matches = [match(number, number, filter_name=name) for number, name in names.items()]
    assert [group.filter_name for group in grouped(given_matches, 9)] == ["Apple", "mango", "zebra"]


def test_one_that_has_very_many_does_not_crowd_out_the_others() -> None:
    flood = [match(number, 1) for number in range(200)]
    groups = grouped([*flood, match(900, 2), match(901, 3)], 25)
    assert [(len(group.matches), group.more) for group in groups] == [(23, 177), (1, 0), (1, 0)]


def test_what_came_and_went_is_what_it_is_in_the_end() -> None:
    came, went = match(1), match(2, op="delete", msgid="m1@example.com")
    again = match(3, msgid="m1@example.com")
    assert net_changes([came, went]) == (went,)
    assert net_changes([came, went, again]) == (again,)


def test_copies_in_other_filters_and_audiences_are_messages_of_their_own() -> None:
    rows = (match(1), match(2, 2, msgid="m1@example.com"))
    private = match(3, msgid="m1@example.com", audience="user:terry")
    assert net_changes([*rows, private]) == (*rows, private)
