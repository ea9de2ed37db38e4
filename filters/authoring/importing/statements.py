"""What is said of a message, as a phrase as long as there is one, else as a condition in TQL."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from tapestry.core.errors import TapestryError
from tapestry.query.check.checker import check
from tapestry.query.context import Context
from tapestry.query.frontend import parse, read
from tapestry.query.phrases.joining import joined, negated
from tapestry.query.phrases.nodes import PhraseNode
from tapestry.query.phrases.printer import print_phrase
from tapestry.query.phrases.semantics import condition_of
from tapestry.query.tree import nodes as n
from tapestry.query.tree.parsed import Parsed, on_message
from tapestry.query.tree.printer import print_tql


class NoEquivalentError(Exception):
    """A filter cannot say this; the message, empty if there is nothing to add, says why."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A condition that is not checked yet, and the phrase that means it, None if there is none.

    ``problem`` says in a sentence why it means only nearly what was to be said.
    """

    condition: n.Condition
    phrase: PhraseNode | None = None
    problem: str = ""

    def text(self, context: Context) -> str:
        """Return the text of a filter that says this; raises TapestryError if none can.

        The phrase is taken if, read again, it means the same.
        """
        tql = print_tql(check(Parsed(on_message(self.condition), "tql"), "", context, parse))
        if self.phrase is not None:
            phrase = print_phrase(self.phrase)
            with suppress(TapestryError):
                if print_tql(read(phrase, context)) == tql:
                    return phrase
        read(tql, context)
        return tql


def phrased(phrase: PhraseNode, context: Context, problem: str = "") -> Statement:
    """Return what a phrase says; raises TapestryError if it says nothing to this person."""
    return Statement(condition_of(phrase, context), phrase, problem)


def all_of(statements: Sequence[Statement]) -> Statement:
    """Return what says that all of some statements are true, one at least."""
    return _joined("and", statements, n.And.of([statement.condition for statement in statements]))


def any_of(statements: Sequence[Statement]) -> Statement:
    """Return what says that some statement is true, of one at least."""
    return _joined("or", statements, n.Or.of([statement.condition for statement in statements]))


def opposite(statement: Statement) -> Statement:
    """Return what is said of every other message, of one without that header too."""
    phrase = None if statement.phrase is None else negated(statement.phrase)
    return Statement(n.NotTrue(statement.condition), phrase, statement.problem)


def _joined(word: str, statements: Sequence[Statement], condition: n.Condition) -> Statement:
    phrases = [statement.phrase for statement in statements if statement.phrase is not None]
    problems = [statement.problem for statement in statements if statement.problem]
    phrase = joined(word, phrases) if len(phrases) == len(statements) else None
    return Statement(condition, phrase, problems[0] if problems else "")
