"""What a rule says: compiled from its text, as its owner means it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from filters.inbox.appraisal.age import is_age, says_now
from filters.inbox.appraisal.condition import COLUMNS, FUNCTIONS, NODES
from filters.inbox.models import AppraiserRule
from filters.people import people
from filters.people.models import User
from tapestry.core.errors import TapestryError
from tapestry.query.context import Context
from tapestry.query.frontend import read
from tapestry.query.phrases.recognize import canonical_phrase
from tapestry.query.tree import nodes as n
from tapestry.query.tree.printer import print_tql
from tapestry.query.tree.walk import walk

MOST_RULES = 30
"""Rules that a person may have."""


class Kind(Enum):
    """What a rule goes by, and so when it is decided."""

    CARD = "what a card has"
    AGE = "the age of the message"
    VOTES = "per vote"
    REPLIES = "per reply"
    UNREAD = "unread"


COUNTED = {
    Kind.VOTES: ("per vote", "for each vote", "for every vote", "each vote", "votes"),
    Kind.REPLIES: ("per reply", "for each reply", "for every reply", "each reply"),
    Kind.UNREAD: ("unread", "not read", "new"),
}
"""The spellings of what no filter says, the first as it is shown."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule as it is applied: ``text`` as shown, ``meaning`` what it compiles to.

    ``condition`` is None of a kind that counts.
    """

    weight: int
    kind: Kind
    text: str
    meaning: str
    condition: n.Condition | None = None


def compile_rule(weight: int, text: str, context: Context) -> Rule:
    """Compile a rule.

    Raises TapestryError for what is no filter, and for what a card cannot answer.
    """
    counted = " ".join(text.lower().split())
    for kind, spellings in COUNTED.items():
        if counted in spellings:
            return Rule(weight, kind, spellings[0], spellings[0])
    checked = read(text, context)
    shown = canonical_phrase(checked) or " ".join(checked.lasting_text.split())
    meaning = print_tql(checked)
    if says_now(checked.condition):
        if not is_age(checked.condition):
            raise TapestryError(
                "A rule is about a message or about its age, not about both.",
                hint="Write two rules, such as “from Jones” and “one week old”.",
            )
        return Rule(weight, Kind.AGE, shown, meaning, checked.condition)
    _require_card(checked.condition)
    return Rule(weight, Kind.CARD, shown, meaning, checked.condition)


def rules_of(user: User) -> tuple[Rule, ...]:
    """Return a person's rules, in their order; one that is no rule any more counts for nothing."""
    context = people.context(user)
    compiled = []
    for stored in AppraiserRule.objects.filter(owner=user):
        try:
            compiled.append(compile_rule(stored.weight, stored.text, context))
        except TapestryError:
            continue
    return tuple(compiled)


def signature(rules: Sequence[Rule]) -> str:
    """Return what is equal for rules that come to the same scores in the database."""
    stored = [f"{r.weight} {r.meaning}" for r in rules if r.kind not in (Kind.AGE, Kind.UNREAD)]
    return "\n".join(re.sub(r"\s+", " ", line) for line in sorted(stored))


def _require_card(condition: n.Condition) -> None:
    for node in walk(condition):
        if isinstance(node, n.Exists | n.Threshold | n.Top | n.InQuery | n.Aggregate):
            raise TapestryError(
                "A rule can look at one message only, not at others or at who voted.",
                hint="Of votes and replies a rule can count “per vote” and “per reply”.",
            )
        if isinstance(node, n.Column) and node.name not in COLUMNS:
            raise TapestryError(
                f"A rule cannot look at {_in_words(node.name)}.",
                hint="It can say who a message is from, what it is about, and how old it is.",
            )
        if not isinstance(node, NODES) or (isinstance(node, n.Call) and not _is_known(node)):
            raise TapestryError(
                "That is more than a rule can say.",
                hint="Write who a message is from, what it is about, or how old it is.",
            )


def _is_known(call: n.Call) -> bool:
    return call.name == "coalesce" or (call.name in FUNCTIONS and len(call.args) == 1)


def _in_words(column: str) -> str:
    words = {
        "body": "the text of messages, only at their subject",
        "to": "the recipients",
        "cc": "the recipients",
        "list": "the mailing list",
        "newsgroups": "the newsgroup",
        "inreplyto": "what a message answers",
    }
    return words.get(column, f"the column {column}")
