"""Sieve scripts to trees, by the generic grammar of RFC 5228, section 8.2.

It knows no command or test by name, so that one of an extension is read as any other.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

import lark

from filters.authoring.importing.entries import UnreadableFileError
from tapestry.query.limits import MAX_INTEGER

DEEPEST = 32
"""Levels of nesting that RFC 5228 demands at least are 15; more than these are refused."""

MOST_NODES = 2_000
"""Commands and tests of a script; one of more is to be imported in parts."""

_GRAMMAR = r"""
start: command*
command: IDENTIFIER argument* (test | tests)? (";" | block)
block: "{" command* "}"
argument: strings | NUMBER | TAG
strings: string | "[" string ("," string)* "]"
string: QUOTED | MULTILINE
tests: "(" test ("," test)* ")"
test: IDENTIFIER argument* (test | tests)?
IDENTIFIER: /[a-z_][a-z0-9_]*/i
TAG: /:[a-z_][a-z0-9_]*/i
NUMBER: /[0-9]+[kmg]?/i
QUOTED: /"(?:[^"\\]|\\.)*"/s
MULTILINE.2: /text:[ \t]*(?:#[^\n]*)?\r?\n(?:(?!\.\r?\n)[^\n]*\n)*\.\r?\n/i
%ignore /[ \t\r\n]+/
%ignore /#[^\n]*/
%ignore /\/\*(?:[^*]|\*(?!\/))*\*\//
"""

Argument = str | int | tuple[str, ...]
"""A tag (with its colon), a number, or a list of strings."""

Branch: TypeAlias = "lark.Tree[lark.Token] | lark.Token"
"""A part of a parse tree."""


@dataclass(frozen=True, slots=True)
class Node:
    """A command or a test: its name in small letters, arguments, tests, and block.

    ``source`` is where it stands, up to its block.
    """

    name: str
    arguments: tuple[Argument, ...]
    tests: tuple[Node, ...]
    block: tuple[Node, ...]
    source: str
    depth: int


def parse_sieve(text: str) -> tuple[Node, ...]:
    """Return the commands of a script; raises UnreadableFileError with the line of the error."""
    try:
        tree = _parser().parse(text if text.endswith("\n") else f"{text}\n")
    except lark.UnexpectedInput as error:
        line = max(1, error.line)
        raise UnreadableFileError(
            f"We could not read this as Gmail, Sieve or Tapestry filters (line {line})."
        ) from None
    commands = _Nodes(text).children(tree.children, 0)
    if not commands:
        raise UnreadableFileError("There is no filter in this.")
    return commands


@functools.cache
def _parser() -> lark.Lark:
    return lark.Lark(_GRAMMAR, parser="lalr", propagate_positions=True)


class _Nodes:
    """Makes nodes of a parse tree of a text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.count = 0

    def children(self, trees: list[Branch], depth: int) -> tuple[Node, ...]:
        return tuple(self.node(tree, depth + 1) for tree in _trees(trees))

    def node(self, tree: lark.Tree[lark.Token], depth: int) -> Node:
        if depth > DEEPEST:
            raise UnreadableFileError(f"This script is nested deeper than {DEEPEST} levels.")
        self.count += 1
        if self.count > MOST_NODES:
            raise UnreadableFileError(
                f"This script has more than {MOST_NODES:,} commands and tests: import it in parts."
            )
        name = tree.children[0]
        arguments: list[Argument] = []
        tests: tuple[Node, ...] = ()
        block: tuple[Node, ...] = ()
        end = tree.meta.end_pos
        for part in _trees(tree.children):
            match part.data:
                case "argument":
                    arguments.append(_argument(part.children[0]))
                case "test":
                    tests = (self.node(part, depth + 1),)
                case "tests":
                    tests = self.children(part.children, depth)
                case "block":
                    block = self.children(part.children, depth)
                    end = part.meta.start_pos
        source = self.text[tree.meta.start_pos : end].strip()
        return Node(str(name).lower(), tuple(arguments), tests, block, source, depth)


def _trees(branches: Iterable[Branch]) -> list[lark.Tree[lark.Token]]:
    return [branch for branch in branches if isinstance(branch, lark.Tree)]


def _argument(part: Branch) -> Argument:
    if isinstance(part, lark.Tree):
        return tuple(_string(str(text.children[0])) for text in _trees(part.children))
    if part.type == "TAG":
        return str(part).lower()
    scale = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30}.get(part[-1].lower(), 1)
    digits = part.rstrip("kmgKMG").lstrip("0") or "0"
    number = int(digits) * scale if len(digits) < len(str(MAX_INTEGER)) else MAX_INTEGER
    if number >= MAX_INTEGER:
        raise UnreadableFileError(f"Line {part.line}: write a smaller number, such as 10M.")
    return number


def _string(written: str) -> str:
    if written.startswith('"'):
        return re.sub(r"\\(.)", r"\1", written[1:-1], flags=re.DOTALL)
    lines = written.split("\n")[1:-2]
    return "\n".join(line[1:] if line.startswith("..") else line for line in lines)
