"""Resolve names to rows of tables, and say what else might have been meant."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tapestry.core.errors import Span, TapestryError
from tapestry.core.schema import COLUMNS, MESSAGES
from tapestry.query.tree.identifiers import RESERVED
from tapestry.query.tree.nodes import Binding, Column

_VARIABLE = re.compile(r"[^\W\d]\w*")

_OTHER_WORDS = {
    "from": "sender",
    "author": "sender",
    "from_name": "sender_name",
    "recipient": "to",
    "id": "msgid",
    "message_id": "msgid",
    "newsgroup": "newsgroups",
    "group": "newsgroups",
    "parent": "inreplyto",
    "in_reply_to": "inreplyto",
    "text": "body",
    "msgs": "messages",
    "message": "messages",
    "votes": "annotations",
}


def nearest(word: str, choices: Iterable[str]) -> str | None:
    """Return the choice that looks most like a word, if any does.

    >>> nearest("subjct", ["sender", "subject"])
    'subject'
    """
    known = list(choices)
    other = _OTHER_WORDS.get(word.lower())
    if other in known:
        return other
    close = difflib.get_close_matches(word.lower()[:100], known, n=1, cutoff=0.6)
    return close[0] if close else None


def advice(word: str, choices: Iterable[str], otherwise: str) -> str:
    """Return a hint that names the nearest choice, or lists all of them."""
    known = list(choices)
    near = nearest(word, known)
    return f"Did you mean “{near}”?" if near else f"{otherwise} {', '.join(known)}."


def table_named(name: str, span: Span) -> str:
    """Return a table's name in lower case; refuse what is none."""
    if name.lower() in COLUMNS:
        return name.lower()
    raise TapestryError(
        f"There is no table “{name}”.", span, advice(name, COLUMNS, "The tables are")
    )


def variable_named(written: str, span: Span | None) -> str:
    """Return the name of a variable in lower case; refuse what cannot be one."""
    name = written.lower()
    if not _VARIABLE.fullmatch(name) or name.upper() in RESERVED:
        raise TapestryError(f"“{written}” cannot name a variable.", span, "Use letters and digits.")
    return name


def outside(name: str) -> str:
    """Return what the parser calls a variable whose name another one takes inside it.

    Nobody can write it.
    """
    return " " + name


def no_variable(name: str, span: Span | None, known: list[str]) -> TapestryError:
    """Return the error of a variable that is not among those known."""
    hint = advice(name, known, "Known here:")
    return TapestryError(f"No variable “{name}” is known here.", span, hint)


def ambiguous(written: Column, name: str, variables: Iterable[str]) -> TapestryError:
    """Return the error of a column that several variables have."""
    choices = " or ".join(f"{variable}.{name}" for variable in variables)
    message = f"“{written.name}” could belong to more than one variable."
    return TapestryError(message, written.span, f"Write {choices}.")


def no_column(written: Column, bindings: list[Binding]) -> TapestryError:
    """Return the error of a column that none of the variables has."""
    shown = f"{written.var}.{written.name}" if written.var else written.name
    here = dict.fromkeys(column for binding in bindings for column in COLUMNS[binding.table])
    hint = advice(written.name, here, "The columns here are")
    return TapestryError(f"There is no column “{shown}”.", written.span, hint)


@dataclass(frozen=True, slots=True)
class Scope:
    """The variables of one FROM or EXISTS: what its author calls them -> what they are.

    ``hidden`` are variables that stand around a TOP or a window and are not known inside it.
    """

    variables: dict[str, Binding]
    outer: Scope | None = None
    hidden: Scope | None = None

    def _outward(self) -> Iterator[Scope]:
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.outer

    def find(self, name: str) -> Binding | None:
        """Return the innermost variable of this name."""
        for scope in self._outward():
            if name.lower() in scope.variables:
                return scope.variables[name.lower()]
        return None

    def variable(self, name: str, span: Span | None) -> Binding:
        """Return the innermost variable of this name; refuse one that is not there."""
        binding = self.find(name)
        if binding is None and self._hides(name):
            raise TapestryError(
                f"“{name}” is not known inside TOP, LAST or FIRST, which rank all messages.",
                span,
                "Only the message that is ranked can be named there, and what is bound inside.",
            )
        if binding is None:
            raise no_variable(name, span, self._names())
        return binding

    def column(self, written: Column) -> Column:
        """Return a column with its variable's own name and its type."""
        binding = self.owner(written)
        columns = COLUMNS[binding.table]
        name = written.name.lower()
        if name not in columns:
            raise TapestryError(
                f"The table {binding.table} has no column “{written.name}”.",
                written.span,
                advice(written.name, columns, "It has"),
            )
        return Column(binding.var, name, columns[name], span=written.span)

    def owner(self, written: Column) -> Binding:
        """Return the variable that a column belongs to.

        Unqualified, it is that of the one variable of the innermost scope that has it.
        """
        if written.var:
            return self.variable(written.var, written.span)
        name = written.name.lower()
        for scope in self._outward():
            owners = {
                called: binding
                for called, binding in scope.variables.items()
                if name in COLUMNS[binding.table]
            }
            if len(owners) > 1:
                raise ambiguous(written, name, owners)
            for binding in owners.values():
                return binding
        if self.find(written.name):
            message = f"“{written.name}” is a variable, not a value."
            raise TapestryError(message, written.span, f"Name a column: {name}.msgid.")
        bindings = [b for scope in self._outward() for b in scope.variables.values()]
        raise no_column(written, bindings)

    def _hides(self, name: str) -> bool:
        return any(
            scope.hidden.find(name) or scope.hidden._hides(name)
            for scope in self._outward()
            if scope.hidden
        )

    def _names(self) -> list[str]:
        scopes = self._outward()
        return [name for scope in scopes for name in scope.variables if name == name.strip()]


def known_column(name: str) -> bool:
    """Return whether any table has a column of this name."""
    return any(name.lower() in columns for columns in COLUMNS.values())


def is_message(binding: Binding) -> bool:
    """Return whether a variable ranges over messages."""
    return binding.table == MESSAGES
