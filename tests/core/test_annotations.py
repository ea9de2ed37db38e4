"""What has been said of a message, and who may see it."""

from __future__ import annotations

import pytest

from tapestry.core.annotations import annotation_audience, may_be_public, summarize
from tapestry.core.message import Annotation


def vote(annid: str, owner: str, number: float) -> Annotation:
    return Annotation(annid, "m", owner, "vote", None, number)


def tag(annid: str, owner: str, value: str) -> Annotation:
    return Annotation(annid, "m", owner, "tag", value)


@pytest.mark.parametrize(
    ("message", "private", "annotation"),
    [
        ("public", False, "public"),
        ("public", True, "user:terry"),
        ("group:parc", False, "group:parc"),
        ("group:parc", True, "user:terry"),
        ("user:terry", False, "user:terry"),
        ("user:terry", True, "user:terry"),
    ],
)
def test_an_annotation_is_seen_by_no_more_people_than_its_message(
    message: str, private: bool, annotation: str
) -> None:
    assert annotation_audience(message, "terry", private=private) == annotation


def test_there_is_a_choice_only_where_others_see_the_message() -> None:
    assert may_be_public("public")
    assert may_be_public("group:parc")
    assert not may_be_public("user:terry")


def test_the_last_vote_of_each_person_counts() -> None:
    stands = summarize([vote("1", "bob", 1), vote("2", "amy", 1), vote("3", "bob", -1)])
    assert stands.voted_for == ("amy",)
    assert stands.voted_against == ("bob",)


def test_an_annotation_that_comes_twice_counts_once() -> None:
    stands = summarize([vote("1", "bob", 1), vote("2", "bob", -1), vote("1", "bob", 1)])
    assert stands.voted_against == ("bob",)


def test_tags_are_sorted_and_say_who_gave_them() -> None:
    stands = summarize([tag("1", "bob", "new"), tag("2", "amy", "new"), tag("3", "amy", "good")])
    assert stands.tags == (("good", ("amy",)), ("new", ("bob", "amy")))


def test_other_kinds_and_empty_ones_stand_for_nothing() -> None:
    odd = [Annotation("1", "m", "bob", "smile", "hm"), vote("2", "bob", 0), tag("3", "bob", "")]
    assert summarize(odd) == summarize([])
