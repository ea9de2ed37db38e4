"""Sieve scripts (RFC 5228): each branch of an ``if`` is a filter of what it would have filed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from filters.authoring.importing.entries import (
    MOST_CLAUSES,
    MOST_ENTRIES,
    Clause,
    Entry,
    shown,
)
from filters.authoring.importing.sieve_grammar import Node, parse_sieve
from filters.authoring.importing.sieve_tests import Translation

ACTIONS = {
    "keep": "Keep it in the inbox: what a filter finds is in its list and in the inbox.",
    "discard": "Delete it: a filter never deletes mail.",
    "redirect": "Forward it: set up forwarding under Delivery, for this filter.",
    "stop": "Stop: a message may be in several filters, and later rules are filters of their own.",
    "reject": "Refuse it: Tapestry does not answer by itself.",
    "ereject": "Refuse it: Tapestry does not answer by itself.",
    "vacation": "Answer it: Tapestry does not answer by itself.",
    "addflag": "Set a flag: a filter only collects messages.",
    "setflag": "Set a flag: a filter only collects messages.",
    "removeflag": "Remove a flag: a filter only collects messages.",
    "notify": "Notify: set up notifications under Delivery, for this filter.",
}
"""What is said of each action that is not translated."""


def read_sieve(text: str) -> list[Entry]:
    """Return the filters of a script, and what else it has; raises UnreadableFileError.

    At most one more than are offered.
    """
    rules = islice(_rules(parse_sieve(text), []), MOST_ENTRIES + 1)
    return [
        entry if entry.title else Entry(f"Sieve rule {number}", *_rest(entry))
        for number, entry in enumerate(rules, 1)
    ]


def _rest(entry: Entry) -> tuple[str, tuple[Clause, ...], bool]:
    return entry.text, entry.clauses, entry.is_exact


def _rules(commands: Sequence[Node], around: list[Node]) -> Iterator[Entry]:
    """Yield the rules among commands, inside the tests ``around`` them."""
    before: list[Node] = []
    loose: list[Node] = []
    for command in commands:
        if command.name in ("if", "elsif", "else"):
            before = [] if command.name == "if" else before
            yield from _branch(command, before, around)
            before = [*before, *command.tests]
        elif command.name != "require" and (around == [] or command.name not in ("keep", "stop")):
            loose.append(command)
    if loose and not around:
        clauses = tuple(_action(command) for command in loose[:MOST_CLAUSES])
        yield Entry("", "", clauses, is_exact=False)


def _branch(command: Node, before: Sequence[Node], around: list[Node]) -> Iterator[Entry]:
    tests = [*around, *(_opposite(test) for test in before), *command.tests]
    actions = [inner for inner in command.block if inner.name not in ("if", "elsif", "else")]
    nested = [inner for inner in command.block if inner.name in ("if", "elsif", "else")]
    if actions or not nested:
        translation = Translation()
        parts = [part for test in tests if (part := translation.condition(test))]
        is_exact = not any(clause.problem for clause in translation.clauses)
        clauses = (*translation.clauses, *map(_action, actions))
        yield Entry(_folder(actions), " AND ".join(parts), clauses[:MOST_CLAUSES], is_exact)
    yield from _rules(nested, tests)


def _opposite(test: Node) -> Node:
    return Node("not", (), (test,), (), f"not {test.source}", test.depth)


def _folder(actions: Sequence[Node]) -> str:
    """Return the last part of the folder that a rule files into, empty if it does not."""
    for action in actions:
        names = [value for value in action.arguments if isinstance(value, tuple) and value]
        if action.name == "fileinto" and names:
            return names[-1][0].replace("/", ".").rpartition(".")[2].strip()
    return ""


def _action(action: Node) -> Clause:
    source = shown(action.source)
    if action.name == "fileinto" and _folder([action]):
        return Clause(source, "the name of the filter", is_action=True)
    known = ACTIONS.get(action.name)
    unknown = f"Not translated: Tapestry has nothing like “{action.name}”."
    sentence = f"Not translated. {known}" if known else unknown
    return Clause(source, problem=sentence, is_action=True)
