"""Budgets, as the auditor judges them: what is over one is slower, and nothing else is."""

from __future__ import annotations

import pytest

from tests.simulation.auditor import judge
from tests.simulation.auditor.findings import Finding, when
from tests.simulation.stories import Story

MINUTE = 60_000_000
HOUR = 60 * MINUTE


def findings(story: Story, law: str = "budgets") -> list[Finding]:
    return [finding for finding in judge(story.entries) if finding.law == law]


def story_of(rules: str, *groups: str) -> Story:
    story = Story()
    story.tell("budgets", rules=rules)
    story.person("alice", *groups)
    return story


def hooked(rules: str, *instants: int, groups: tuple[str, ...] = ()) -> Story:
    """Return a history in which a webhook is sent what is shown at each instant, at once."""
    story = story_of(rules, *groups)
    story.filter(1, "alice", "m.size > 0")
    story.destination(5, "alice", "webhook")
    for number, at in enumerate(instants):
        story.mail(at, {"msgid": f"m{number}"})
        row = story.match(1, f"m{number}", at, told=when(at))
        story.now = at + 1
        story.hooked(5, number, number + 1, row)
    story.settle(instants[-1] + 2)
    return story


@pytest.mark.parametrize(
    ("rules", "instants", "is_wrong"),
    [
        ("deliveries=2", (1 * MINUTE, 2 * MINUTE), False),
        ("deliveries=2", (1 * MINUTE, 2 * MINUTE, 3 * MINUTE), True),
        ("deliveries=2", (1 * MINUTE, 2 * MINUTE, HOUR), False),
        ("deliveries=2", (1 * MINUTE, 2 * MINUTE, 25 * HOUR + 5 * MINUTE), False),
        ("user:bob:deliveries=0", (1 * MINUTE, 2 * MINUTE), False),
        ("deliveries=0 group:x:deliveries=2", (1 * MINUTE, 2 * MINUTE), False),
        ("deliveries=5 user:alice:deliveries=1", (1 * MINUTE, 2 * MINUTE), True),
    ],
)
def test_what_is_over_the_deliveries_of_a_day_is_sent_at_full_hours(
    rules: str, instants: tuple[int, ...], is_wrong: bool
) -> None:
    assert bool(findings(hooked(rules, *instants, groups=("x",)))) is is_wrong


@pytest.mark.parametrize(("shown", "is_wrong"), [(2 * MINUTE, True), (5 * HOUR, False)])
def test_what_was_shown_before_the_clock_was_set_back_waits_for_no_full_hour(
    shown: int, is_wrong: bool
) -> None:
    story = hooked("deliveries=1", MINUTE)
    story.mail(2 * MINUTE, {"msgid": "m1"})
    row = story.match(1, "m1", shown, told=when(shown))
    story.now = 3 * MINUTE
    story.hooked(5, 1, 2, row)
    story.settle(4 * MINUTE)
    assert bool(findings(story)) is is_wrong


@pytest.mark.parametrize(
    ("rules", "is_wrong"), [("deliveries=1", False), ("user:bob:deliveries=0", True)]
)
def test_a_delivery_waits_for_a_full_hour_where_its_owner_had_as_many_as_may_be(
    rules: str, is_wrong: bool
) -> None:
    story = hooked(rules, MINUTE)
    (look,) = (entry for entry in story.entries if entry.get("kind") == "destinations")
    look["rows"][0]["due_at"] = HOUR
    assert bool(findings(story, "put off")) is is_wrong


@pytest.mark.parametrize(
    ("rules", "is_wrong"), [("seconds=0", False), ("user:bob:seconds=0 deliveries=1", True)]
)
def test_a_filter_waits_for_another_hour_only_where_its_owner_has_a_budget_of_seconds(
    rules: str, is_wrong: bool
) -> None:
    story = story_of(rules)
    story.filter(1, "alice", "m.size > 0")
    story.tell("slow", rows=[{"key": 1, "owner": "alice", "since": 5}])
    story.settle(HOUR)
    assert bool(findings(story)) is is_wrong


@pytest.mark.parametrize(
    ("rules", "is_wrong"), [("filters=2", False), ("filters=1", True), ("group:x:filters=1", False)]
)
def test_nobody_makes_more_filters_than_they_may_have(rules: str, is_wrong: bool) -> None:
    story = story_of(rules)
    for key in (1, 2):
        story.filter(key, "alice", "m.size > 0")
    story.settle(HOUR)
    assert bool(findings(story)) is is_wrong


@pytest.mark.parametrize(
    ("rules", "is_wrong"), [("deliveries=0", False), ("deliveries=1", True), ("", True)]
)
def test_a_forward_is_a_digest_for_the_budget_only_where_that_is_used(
    rules: str, is_wrong: bool
) -> None:
    story = story_of(rules)
    story.filter(1, "alice", "m.size > 0")
    story.destination(5, "alice", "forward")
    story.mail(MINUTE, {"msgid": "m1"})
    story.match(1, "m1", MINUTE)
    name = f"<{5:032x}-0-1-flood.{7:032x}@127.0.0.1>"
    text = "f1 found 1 messages, after the deliveries of a day, so they come as one digest."
    story.received(5, name, {"headers": {"Message-ID": name}, "text": text})
    story.settle(HOUR)
    assert bool(findings(story)) is is_wrong


def test_a_digest_for_the_budget_that_is_tried_again_later_keeps_its_words() -> None:
    story = story_of("deliveries=1")
    story.filter(1, "alice", "m.size > 0")
    story.destination(5, "alice", "forward")
    for number, at in ((1, MINUTE), (2, 2 * MINUTE)):
        story.mail(at, {"msgid": f"m{number}"})
        story.match(1, f"m{number}", at)
    text = "f1 found 1 messages, after the deliveries of a day, so they come as one digest."
    flood = f"<{5:032x}-1-2-flood.{7:032x}@127.0.0.1>"
    for name, at in (
        (f"<{5:032x}-0-1.{6:032x}@127.0.0.1>", 3 * MINUTE),
        (flood, 4 * MINUTE),
        (flood, 300 * HOUR),
    ):
        story.now = at
        story.received(5, name, {"headers": {"Message-ID": name}, "text": text})
    story.settle(301 * HOUR)
    assert not findings(story)
