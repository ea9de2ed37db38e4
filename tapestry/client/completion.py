"""Completion for bash, zsh and fish: commands, options, and the values that are few."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence

from tapestry.client.described import Described, Part

Script = Callable[[Sequence[Described]], str]


def bash(commands: Sequence[Described]) -> str:
    """Return a script for bash; what it does not know is completed as a file."""
    lines = [
        "_tapestry() {",
        '    local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}" words=',
        "    COMPREPLY=()",
        "    if (( COMP_CWORD == 1 )); then",
        f"        words={shlex.quote(' '.join(command.name for command in commands))}",
        '    else case "${COMP_WORDS[1]} $before" in',
    ]
    for command in commands:
        for part in _with_value(command):
            names = "|".join(f"{shlex.quote(f'{command.name} {flag}')}" for flag in part.flags)
            lines.append(f"        {names}) words={shlex.quote(' '.join(part.choices))} ;;")
    lines.append('        *) case "${COMP_WORDS[1]}" in')
    for command in commands:
        flags = [flag for part in command.options for flag in part.flags if flag[:2] == "--"]
        words = [*flags, *(choice for part in command.arguments for choice in part.choices)]
        lines.append(f"            {command.name}) words={shlex.quote(' '.join(words))} ;;")
    return "\n".join(
        [
            *lines,
            "        esac ;;",
            "    esac; fi",
            '    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")',
            "}",
            "complete -o default -F _tapestry tapestry",
            "",
        ]
    )


def zsh(commands: Sequence[Described]) -> str:
    """Return a script for zsh, to be sourced, or put as ``_tapestry`` on the fpath."""
    lines = ["#compdef tapestry", "_tapestry() {", "    local -a commands", "    commands=("]
    for command in commands:
        about = f"{command.name}:{command.help.replace(':', chr(92) + ':')}"
        lines.append(f"        {shlex.quote(about)}")
    lines += [
        "    )",
        "    if (( CURRENT == 2 )); then _describe command commands; return; fi",
        "    local command=$words[2]",
        "    shift words; (( CURRENT-- ))",
        "    case $command in",
    ]
    for command in commands:
        specs = [spec for part in command.options for spec in _zsh_option(part)]
        choices = " ".join(choice for part in command.arguments for choice in part.choices)
        specs.append(f"*: :({choices})" if choices else "*: :_files")
        lines.append(f"        {command.name}) _arguments {shlex.join(specs)} ;;")
    lines += [
        "    esac",
        "}",
        'if [[ "$funcstack[1]" = _tapestry ]]; then _tapestry "$@"; '
        "else compdef _tapestry tapestry; fi",
        "",
    ]
    return "\n".join(lines)


def fish(commands: Sequence[Described]) -> str:
    """Return a script for fish."""
    lines = []
    for command in commands:
        words = f"-f -a {command.name} -d {_fish_quoted(command.help)}"
        lines.append(f"complete -c tapestry -n __fish_use_subcommand {words}")
        here = f"complete -c tapestry -n '__fish_seen_subcommand_from {command.name}'"
        for part in command.parts:
            flags = [f"-l {flag[2:]}" for flag in part.flags if flag[:2] == "--"]
            flags += [f"-s {flag[1:]}" for flag in part.flags if flag[:2] != "--"]
            values = f" -f -a {_fish_quoted(' '.join(part.choices))}" if part.choices else ""
            takes = " -r" if part.value and part.flags else ""
            if flags or values:
                about = _fish_quoted(part.help)
                lines.append(f"{here} {' '.join(flags)}{takes}{values} -d {about}")
    return "\n".join([*lines, ""])


SHELLS: dict[str, Script] = {"bash": bash, "zsh": zsh, "fish": fish}


def _with_value(command: Described) -> Iterator[Part]:
    return (part for part in command.options if part.value)


def _zsh_option(part: Part) -> Iterator[str]:
    choices = f"({' '.join(part.choices)})" if part.choices else "_files"
    value = f":{part.value}:{choices}" if part.value else ""
    about = part.help
    for sign in "\\[]:":
        about = about.replace(sign, f"\\{sign}")
    for flag in part.flags:
        yield f"{flag}[{about}]{value}"


def _fish_quoted(words: str) -> str:
    r"""Quote for fish, which knows two escapes between single quotes.

    >>> print(_fish_quoted(r"a person's \ sign"))
    'a person\'s \\ sign'
    """
    escaped = words.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
