"""What may be a rule, and how it is shown."""

from __future__ import annotations

import pytest

from filters.inbox.appraisal.rules import Kind, compile_rule
from tapestry.core.errors import TapestryError
from tapestry.query.context import Context

TERRY = Context("terry", ("terry@x.org",))


@pytest.mark.parametrize(
    ("text", "kind", "shown"),
    [
        ("from Jones", Kind.CARD, "from Jones"),
        ("by Jones", Kind.CARD, "from Jones"),
        ("not from me", Kind.CARD, "not from me"),
        ("about query plan", Kind.CARD, 'about "query plan"'),
        ("substr(m.subject, 1, 2)='ab'", Kind.CARD, "substr(m.subject, 1, 2)='ab'"),
        ("older than a week", Kind.AGE, "one week old"),
        ("between two and three weeks old", Kind.AGE, "between two and three weeks old"),
        ("Per  vote", Kind.VOTES, "per vote"),
        ("for each reply", Kind.REPLIES, "per reply"),
        ("unread", Kind.UNREAD, "unread"),
    ],
)
def test_rules(text: str, kind: Kind, shown: str) -> None:
    rule = compile_rule(3, text, TERRY)
    assert (rule.weight, rule.kind, rule.text) == (3, kind, shown)
    again = compile_rule(3, shown, TERRY)
    assert again == rule, "what is shown means the same"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("mentioning spark", "A rule cannot look at the text of messages, only at their subject."),
        ("to me", "A rule cannot look at the recipients."),
        ("replies", "A rule cannot look at what a message answers."),
        ("with no reply", "A rule can look at one message only, not at others or at who voted."),
        ("from Jones and one week old", "A rule is about a message or about its age, not about"),
        ("date < now() - interval '1 day'", "A rule is about a message or about its age, not"),
        ("now() > TIMESTAMP '2026-01-31 12:00:00'", "A rule is about a message or about its age,"),
        ("with no reply for two weeks", "A rule can look at one message only, not at others"),
        ("frm Jones", "“frm” is not"),
    ],
)
def test_what_is_refused(text: str, message: str) -> None:
    with pytest.raises(TapestryError) as refused:
        compile_rule(1, text, TERRY)
    assert message.split("“")[0] in refused.value.message
