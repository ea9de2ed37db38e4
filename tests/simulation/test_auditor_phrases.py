"""The auditor holds what the words of a filter say to its TQL; what they quote says nothing."""

import pytest

from tests.simulation.auditor import judge
from tests.simulation.stories import Story

LATER = "tagged later"
TAG = "EXISTS (a IN annotations: a.msgid = m.msgid AND a.kind = 'tag' AND a.value = '{}')"


@pytest.mark.parametrize(
    ("text", "tql", "is_right"),
    [
        (LATER, TAG.format("later"), True),
        (LATER, TAG.format("sooner"), False),
        (f'mentioning "{LATER}"', f"m.subject HAS '{LATER}'", True),
    ],
)
def test_words_and_tql_say_the_same(text, tql, is_right):
    story = Story()
    story.person("alice")
    story.filter(1, "alice", tql, name="f", text=text)
    story.settle(20_000 * 86_400_000_000)
    found = [str(finding) for finding in judge(story.entries)]
    assert [f"“{text}” of alice says nothing of" in sentence for sentence in found] == (
        [] if is_right else [True]
    )
