"""What a rule says: compiled from its text, as its owner means it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from filters.inbox.models import AppraiserRule
from filters.people import people
from filters.people.models import User
from tapestry.core.errors import TapestryError
from tapestry.query.context import Context
from tapestry.query.frontend import read
from tapestry.query.phrases.recognize import canonical_phrase
from tapestry.query.tree import nodes as n
from tapestry.query.tree.printer import print_tql
from tapestry.query.tree.walk import reads_now, walk
from tapestry.rewrite.monotone.bound_in_time import offset
from tapestry.rewrite.normal.isolate_now import isolate_now
from tapestry.rewrite.stages import EventPoint
from tapestry.tables.read.messages import CARD

MOST_RULES = 30
"""Rules that a person may have."""


class Kind(Enum):
    """What a rule goes by, and so when it is decided."""

    CARD = "what a card has"
    AGE = "the age of the message"
    VOTES = "per vote"
    REPLIES = "per reply"
    UNREAD = "unread"

    @property
    def is_stored(self) -> bool:
        """Tell whether neither time nor reading changes what comes of it."""
        return self not in (Kind.AGE, Kind.UNREAD)


COUNTED = {
    Kind.VOTES: ("per vote", "for each vote", "for every vote", "each vote", "votes"),
    Kind.REPLIES: ("per reply", "for each reply", "for every reply", "each reply"),
    Kind.UNREAD: ("unread", "not read", "new"),
}
"""The spellings of what no filter says, the first as it is shown."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule as it is applied: ``text`` as shown, ``meaning`` what it compiles to.

    ``condition`` is TRUE of a kind that counts.  ``ages`` are those, in microseconds, at which
    the condition on an age turns.
    """

    weight: int
    kind: Kind
    text: str
    meaning: str
    condition: n.Condition
    ages: tuple[int, ...] = ()


def compile_rule(weight: int, text: str, context: Context) -> Rule:
    """Compile a rule.

    Raises TapestryError for what is no filter, and for what a card cannot answer.
    """
    counted = " ".join(text.lower().split())
    for kind, spellings in COUNTED.items():
        if counted in spellings:
            return Rule(weight, kind, spellings[0], spellings[0], n.Truth(True))
    checked = read(text, context)
    _require_card(checked.condition)
    shown = canonical_phrase(checked) or " ".join(checked.lasting_text.split())
    meaning = print_tql(checked)
    if not reads_now(checked.condition):
        return Rule(weight, Kind.CARD, shown, meaning, checked.condition)
    condition = isolate_now(checked.condition)
    return Rule(weight, Kind.AGE, shown, meaning, condition, tuple(_ages(condition)))


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
    stored = [f"{rule.weight} {rule.meaning}" for rule in rules if rule.kind.is_stored]
    return "\n".join(re.sub(r"\s+", " ", line) for line in sorted(stored))


def _require_card(condition: n.Condition) -> None:
    for node in walk(condition):
        if isinstance(node, n.Exists | n.Threshold | n.Top | n.InQuery):
            raise TapestryError(
                "A rule can look at one message only, not at others or at who voted.",
                hint="Of votes and replies a rule can count “per vote” and “per reply”.",
            )
        if isinstance(node, n.Column) and node.name not in CARD:
            raise TapestryError(
                f"A rule cannot look at {_in_words(node.name)}.",
                hint="It can say who a message is from, what it is about, and how old it is.",
            )


def _ages(condition: n.Condition) -> Iterator[int]:
    """Yield the ages at which a condition on nothing but ``received`` and now turns."""
    for test in walk(condition):
        match test:
            case n.Compare(_, n.Now(), bound) if _is_received(EventPoint(bound)):
                yield offset(EventPoint(bound))
            case n.Compare() | n.Like() | n.Has() | n.InList() | n.IsNull():
                raise TapestryError(
                    "A rule is about a message or about its age, not about both.",
                    hint="Write two rules, such as “from Jones” and “one week old”.",
                )


def _is_received(point: EventPoint) -> bool:
    return point.anchor is not None and point.anchor[0].name == "received"


def _in_words(column: str) -> str:
    words = {
        "body": "the text of messages, only at their subject",
        **dict.fromkeys(("to", "to_names", "cc", "cc_names"), "the recipients"),
        **dict.fromkeys(("filenames", "media_types"), "the files attached"),
        **dict.fromkeys(("diff_paths", "patch"), "the patches in a message"),
        "questions": "questions in the text of messages, only at their subject",
        "automatic": "whether a program sent a message",
        "list": "the mailing list",
        "newsgroups": "the newsgroup",
        "inreplyto": "what a message answers",
    }
    return words.get(column, f"the column {column}")
