"""The manual page of ``tapestry``, as troff's macros of man have it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tapestry import VERSION
from tapestry.client.described import Described, Part


def page(
    about: str, sections: Mapping[str, Sequence[Described]], exit_codes: Mapping[int, str]
) -> str:
    """Return the page: what it is about, the commands of each section, and the exit codes."""
    lines = [
        f'.TH TAPESTRY 1 "" "Tapestry {VERSION}" "User Commands"',
        ".SH NAME",
        r"tapestry \- mail and news that filter themselves",
        ".SH SYNOPSIS",
        r".B tapestry",
        r".I COMMAND",
        r"[\fIOPTION\fR ...] [\fIARGUMENT\fR ...]",
        ".SH DESCRIPTION",
        *_paragraphs(about),
    ]
    for title, commands in sections.items():
        lines.append(f'.SH "{_escaped(title.upper())}"')
        for command in commands:
            lines += _command(command)
    lines.append('.SH "EXIT STATUS"')
    for code, meaning in exit_codes.items():
        lines += [".TP", rf"\fB{code}\fR", _line(meaning)]
    return "\n".join([*lines, ""])


def _paragraphs(about: str) -> Iterator[str]:
    for paragraph in about.strip().split("\n\n"):
        yield ".PP"
        yield _line(" ".join(paragraph.split()))


def _command(command: Described) -> Iterator[str]:
    taken = "".join(rf" \fI{_escaped(part.value)}\fR" for part in command.arguments)
    yield ".TP"
    yield rf"\fBtapestry {_escaped(command.name)}\fR{taken}"
    yield _line(command.help)
    yield ".RS"
    for part in command.parts:
        if part.flags != ("-h", "--help") and (part.help or part.choices):
            yield from (".TP", _named(part), _line(part.help or ", ".join(part.choices)))
    yield ".RE"


def _named(part: Part) -> str:
    value = rf" \fI{_escaped(part.value)}\fR" if part.value else ""
    flags = ", ".join(rf"\fB{_escaped(flag)}\fR" for flag in part.flags)
    return f"{flags}{value}" if flags else value.strip()


def _line(words: str) -> str:
    r"""Return words as a line that no macro begins.

    >>> print(_line(".5 of it: --all"))
    \&.5 of it: \-\-all
    """
    return f"{chr(92)}&{_escaped(words)}" if words[:1] in (".", "'") else _escaped(words)


def _escaped(words: str) -> str:
    r"""Return words as troff reads them, in ASCII.

    >>> print(_escaped("“--all”"))
    \[u201C]\-\-all\[u201D]
    """
    escapes = {"\\": r"\e", "-": r"\-", '"': r"\(dq"}
    return "".join(
        escapes.get(sign, sign) if sign.isascii() else rf"\[u{ord(sign):04X}]" for sign in words
    )
