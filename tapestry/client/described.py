"""Commands as their parsers describe them: the one source of completion and of the manual."""

from __future__ import annotations

from argparse import SUPPRESS, Action, ArgumentParser
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Part:
    """An option, by its flags, or without any an argument.

    ``value`` is the word for what it takes, "" for a switch; ``choices`` are all it may be.
    """

    flags: tuple[str, ...]
    value: str
    choices: tuple[str, ...]
    help: str


@dataclass(frozen=True, slots=True)
class Described:
    """A command: its name, a sentence about it, and its parts, arguments last."""

    name: str
    help: str
    parts: tuple[Part, ...]

    @property
    def options(self) -> tuple[Part, ...]:
        return tuple(part for part in self.parts if part.flags)

    @property
    def arguments(self) -> tuple[Part, ...]:
        return tuple(part for part in self.parts if not part.flags)


def described(name: str, parser: ArgumentParser) -> Described:
    """Return what the parser of a command says of it.

    >>> parser = ArgumentParser(description="Find messages.")
    >>> _ = parser.add_argument("--limit", metavar="N", help="at most N")
    >>> _ = parser.add_argument("text", metavar="TEXT")
    >>> [(part.flags, part.value) for part in described("ask", parser).parts]
    [(('-h', '--help'), ''), (('--limit',), 'N'), ((), 'TEXT')]
    """
    words = " ".join((parser.description or "").split())
    return Described(name, words, tuple(sorted(_parts(parser), key=lambda part: not part.flags)))


def merged(commands: Iterable[Described]) -> list[Described]:
    """Return the commands by name; of one name, the first, with the options of all."""
    by_name: dict[str, Described] = {}
    for command in commands:
        first = by_name.setdefault(command.name, command)
        there = {flag for part in first.parts for flag in part.flags}
        more = tuple(part for part in command.options if there.isdisjoint(part.flags))
        by_name[command.name] = replace(first, parts=(*first.options, *more, *first.arguments))
    return [by_name[name] for name in sorted(by_name)]


def _parts(parser: ArgumentParser) -> Iterator[Part]:
    # Of argparse this alone lists what a parser takes.
    actions: list[Action] = parser._actions
    for action in actions:
        if action.help == SUPPRESS or action.nargs == "A...":  # commands of a command
            continue
        takes_none = action.nargs == 0
        word = action.metavar if isinstance(action.metavar, str) else action.dest.upper()
        choices = tuple(map(str, action.choices or ()))
        words = " ".join((action.help or "").split())
        yield Part(tuple(action.option_strings), "" if takes_none else word, choices, words)
