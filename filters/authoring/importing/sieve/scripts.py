"""Sieve scripts (RFC 5228): each branch of an ``if`` is a filter of what it would have filed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from filters.authoring.importing.entries import MOST_CLAUSES, Clause, Entry, shown
from filters.authoring.importing.sieve.actions import (
    acts_of,
    clause_of,
    folder_of,
    label_of,
    objection_to,
)
from filters.authoring.importing.sieve.conditions import TOO_LONG, Translation
from filters.authoring.importing.sieve.grammar import Node, parse_sieve
from tapestry.query.limits import MAX_BYTES

MOST_TEXT = 1 << 20
"""Characters that the filters of one script have together."""

TOO_MUCH = "Not translated: the rules before this one fill 1 MB: import the script in parts."

_EXPANDING = {"variables", "encoded-character"}
"""Extensions with which ``${name}`` stands for something else."""


def read_sieve(text: str) -> list[Entry]:
    """Return the filters of a script, and what else it has; raises UnreadableFileError."""
    commands = parse_sieve(text)
    rules = _Rules(commands).among(commands, [])
    return [
        entry if entry.title else replace(entry, title=f"Sieve rule {number}")
        for number, entry in enumerate(rules, 1)
    ]


class _Rules:
    """Makes filters of the rules of a script, as long as they are not too long together."""

    def __init__(self, commands: Sequence[Node]) -> None:
        self._has_variables = _has_variables(commands)
        self._translated: dict[int, tuple[Node, str, list[Clause]]] = {}
        self._room = MOST_TEXT

    def among(self, commands: Sequence[Node], around: list[Node]) -> Iterator[Entry]:
        """Yield the rules among commands, inside the tests ``around`` them."""
        before: list[Node] = []
        loose: list[Node] = []
        for command in commands:
            if command.name in ("if", "elsif", "else"):
                before = [] if command.name == "if" else before
                yield from self._branch(command, before, around)
                before = [*before, *map(_opposite, command.tests)]
            elif command.name != "require" and not (around and command.name in ("keep", "stop")):
                loose.append(command)
        if loose and not around:
            clauses = tuple(clause_of(command) for command in loose[:MOST_CLAUSES])
            yield Entry("", "", clauses, is_exact=False)

    def _branch(self, command: Node, before: list[Node], around: list[Node]) -> Iterator[Entry]:
        tests = [*around, *before, *command.tests]
        actions = [inner for inner in command.block if inner.name not in ("if", "elsif", "else")]
        nested = [inner for inner in command.block if inner.name in ("if", "elsif", "else")]
        if actions or not nested:
            yield self._rule(tests, actions)
        yield from self.among(nested, tests)

    def _rule(self, tests: Sequence[Node], actions: Sequence[Node]) -> Entry:
        parts: dict[str, None] = {}
        clauses: list[Clause] = []
        length = 0
        for test in tests:
            part, its_clauses = self._translate(test)
            clauses += its_clauses
            if part and part not in parts:
                parts[part] = None
                length += len(part) + len(" AND ")
            if length > MAX_BYTES:
                break
        problem = TOO_LONG if length > MAX_BYTES else TOO_MUCH if length > self._room else ""
        if problem:
            clauses = [Clause(shown(tests[-1].source), problem=problem)]
        text = "" if problem else " AND ".join(parts)
        self._room -= len(text)
        is_exact = not any(clause.problem for clause in clauses)
        label = label_of(actions)
        does = [clause_of(action, label) for action in actions]
        shown_clauses = (*clauses, *does)[:MOST_CLAUSES]
        return Entry(
            folder_of(actions),
            text,
            shown_clauses,
            is_exact,
            acts=acts_of(actions),
            objection=objection_to(actions),
            label=label,
        )

    def _translate(self, test: Node) -> tuple[str, list[Clause]]:
        """Translate a test once, in however many rules it is."""
        if id(test) not in self._translated:
            translation = Translation(self._has_variables)
            self._translated[id(test)] = (test, translation.condition(test), translation.clauses)
        _, condition, clauses = self._translated[id(test)]
        return condition, clauses


def _has_variables(commands: Sequence[Node]) -> bool:
    """Return whether ``${name}`` may stand for something else in a script."""
    required = (
        value
        for command in commands
        if command.name == "require"
        for given in command.arguments
        if isinstance(given, tuple)
        for value in given
    )
    return not _EXPANDING.isdisjoint(required) or _has_set(commands)


def _has_set(commands: Sequence[Node]) -> bool:
    return any(command.name == "set" or _has_set(command.block) for command in commands)


def _opposite(test: Node) -> Node:
    return Node("not", (), (test,), (), f"not {test.source}", test.depth)
