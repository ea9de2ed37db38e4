"""What meets what is counted from histories."""

from __future__ import annotations

from tests.simulation import coverage
from tests.simulation.stories import Story


def test_a_filter_meets_what_happens_while_it_runs() -> None:
    story = Story()
    story.person("alice")
    story.person("bob")
    story.filter(1, "alice", "m.size > 1", features=["tql:Compare"], active=True)
    story.mail(10, {"msgid": "a"})
    story.mail(20, {"msgid": "b", "inreplyto": "a", "audience": "user:bob"})
    story.notes(30, {"annid": "1", "msgid": "a", "owner": "bob"})
    story.change(1, "edit", live=True)
    story.change(1, "pause", active=False)
    story.tell("fault", kind="restart")
    assert coverage.met(story.entries) == {
        f"tql:Compare | {rest}" for rest in ("kept | mail", "kept | vote", "live | edit")
    } | {"tql:Compare | live | pause"}


def test_an_edit_that_changed_nothing_is_none() -> None:
    story = Story()
    story.person("alice")
    story.filter(1, "alice", "m.size > 1", features=["tql:Compare"], active=True)
    story.change(1, "edit", same=True)
    assert not coverage.met(story.entries)


def test_every_phrase_and_construct_is_wanted_with_every_event() -> None:
    wanted = coverage.wanted(["phrase:new"])
    assert "phrase:new | retraction" in wanted
    assert "phrase:new | live" in wanted
    assert "live | left the list" in wanted
    assert "kept | left the list" not in wanted
