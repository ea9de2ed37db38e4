r"""The scripts of Dovecot's imaptest: how they are read, and what matches what a server answers.

    script ─ read_script ─> steps ─ send ─> replies ─ parse_reply ─> matches, which binds variables

Their syntax is that of docs/scripted_test.md in github.com/dovecot/imaptest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

Value: TypeAlias = "bytes | list[Value] | None"
"""A value of a reply: a text, NIL, or a list."""

Variables = dict[str, bytes]

STATUSES = b"ok", b"no", b"bad", b'""'

_VARIABLE = re.compile(rb"\$\$|\$\{([^}]*)\}|\$(\w*)")
_ATOM = re.compile(rb"[^\s()\[\"{]*\[[^\]]*\][^\s()]*|[^\s()]+")
_LITERAL = re.compile(rb"~?\{(\d+)\+?\}\r\n")
_QUOTED = re.compile(rb'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_TAG = re.compile(rb"tag\w*", re.IGNORECASE)


@dataclass(slots=True)
class Command:
    """A command, and how it is to end: with a status, and a text that begins so."""

    tag: bytes
    text: bytes
    status: bytes = b""
    prefix: bytes = b""


@dataclass(slots=True)
class Step:
    """Commands that are sent together; of what is heard some must be there, and some must not."""

    line: int
    connection: int
    commands: list[Command]
    heard: list[bytes] = field(default_factory=list)
    not_heard: list[bytes] = field(default_factory=list)

    @property
    def is_open(self) -> bool:
        return any(not command.status for command in self.commands)


@dataclass(slots=True)
class Script:
    """A script: its header, and its steps."""

    header: dict[str, str]
    steps: list[Step]

    @property
    def connections(self) -> int:
        return int(self.header.get("connections", "1"))

    @property
    def state(self) -> str:
        return self.header.get("state", "selected")

    def messages(self, mail: Sequence[bytes]) -> Iterator[bytes]:
        """Yield the messages that are in its mailbox: those of a file, over and over."""
        wanted = self.header.get("messages", "all")
        for number in range(len(mail) if wanted == "all" else int(wanted)):
            yield mail[number % len(mail)]


def read_script(content: bytes) -> Script:
    """Return a script; ValueError where a line belongs to no command."""
    header: dict[str, str] = {}
    script = Script(header, [])
    lines = _logical_lines(content)
    for _, line in lines:
        if not line:
            break
        key, _, value = line.decode().partition(":")
        header[key] = value.strip()
    for number, line in lines:
        if line:
            _take(script, number, line)
    return script


def read_mail(path: Path) -> list[bytes]:
    """Return the messages of a file of mail, as imaptest puts them: the last blank line is theirs.

    A line that begins with ``From `` and has a time is no line of a message.
    """
    parts = re.split(rb"(?m)^From .*\d\d:\d\d.*\n", path.read_bytes())
    return [part for part in parts if part]


def _logical_lines(content: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield lines by their numbers, without comments, and with literals for what is in braces."""
    lines = enumerate(content.removesuffix(b"\n").split(b"\n"), 1)
    for number, text in lines:
        line = text
        if line.startswith(b"#"):
            continue
        while line.endswith(b"{{{"):
            ends = b"\n" if line.endswith(b"~{{{") else b"\r\n"
            block = []
            for _, inner in lines:
                if inner.startswith(b"}}}"):
                    break
                block.append(inner)
            literal = ends.join(block)
            head = line.removesuffix(b"{{{").removesuffix(b"~")
            line = head + b"{%d}\r\n%b" % (len(literal), literal) + inner[3:]
        yield number, line


def _take(script: Script, number: int, line: bytes) -> None:
    """Add a line to the steps of a script."""
    step = script.steps[-1] if script.steps else None
    if line[:2] in (b"* ", b"! ", b"? "):
        if step is None:
            raise ValueError(f"Line {number} is of no command.")
        if line[:1] != b"?":
            (step.heard if line[:1] == b"*" else step.not_heard).append(line[2:])
        return
    connection = 0
    if script.connections > 1:
        first, _, line = line.partition(b" ")
        connection = int(first) - 1
    first, _, rest = line.partition(b" ")
    if step is not None and step.is_open and _ends(step, first, rest):
        return
    if first.lower() in STATUSES:
        script.steps.append(Step(number, connection, [Command(b"", rest, first.lower())]))
        return
    command = Command(first, rest) if _TAG.fullmatch(first) else Command(b"", line)
    if step is not None and step.is_open and command.tag:
        step.commands.append(command)
    else:
        script.steps.append(Step(number, connection, [command]))


def _ends(step: Step, first: bytes, rest: bytes) -> bool:
    """Tell whether a line says how a command of a step is to end, and note that."""
    for command in step.commands:
        status, prefix = first, rest
        if command.tag:
            if first != command.tag:
                continue
            status, _, prefix = rest.partition(b" ")
        if not command.status and status.lower() in STATUSES:
            command.status, command.prefix = status.lower(), prefix
            return True
    return False


def expanded(text: bytes, variables: Variables) -> bytes:
    """Return a text with the values of its variables; KeyError for one that has none."""

    def value(found: re.Match[bytes]) -> bytes:
        name = (found[1] or found[2] or b"").decode()
        return b"$" if found[0] == b"$$" else name.encode() if name.isdigit() else variables[name]

    return _VARIABLE.sub(value, text)


def parse_reply(data: bytes) -> list[Value]:
    """Return the values of a reply, with its literals.

    >>> parse_reply(b'1 FETCH (FLAGS (NIL) BODY[HEADER.FIELDS (to)] {2}\\r\\nhi X "a b")')
    [b'1', b'FETCH', [b'FLAGS', [None], b'BODY[HEADER.FIELDS (to)]', b'hi', b'X', b'a b']]
    """
    open_: list[list[Value]] = [[]]
    at = 0
    while at < len(data):
        if literal := _LITERAL.match(data, at):
            at = literal.end() + int(literal[1])
            open_[-1].append(data[literal.end() : at])
        elif quoted := _QUOTED.match(data, at):
            at = quoted.end()
            open_[-1].append(re.sub(rb"\\(.)", rb"\1", quoted[1]))
        elif data[at : at + 1] == b"(":
            inner: list[Value] = []
            open_[-1].append(inner)
            open_.append(inner)
            at += 1
        elif data[at : at + 1] == b")" and len(open_) > 1:
            open_.pop()
            at += 1
        elif atom := _ATOM.match(data, at):
            at = atom.end()
            open_[-1].append(None if atom[0].upper() == b"NIL" else atom[0])
        else:
            at += 1
    return open_[0]


def matches(wanted: bytes, reply: bytes, variables: Variables) -> bool:
    """Tell whether a reply is what is wanted; if so, variables get the values it has for them."""
    tried = dict(variables)
    if wanted.split(b" ")[0].lower() in (b"ok", b"no", b"bad", b"bye"):
        is_match = begins(wanted, reply, tried)
    else:
        is_match = _match_all(_with_defaults(parse_reply(wanted)), parse_reply(reply), tried)
    if is_match:
        variables |= tried
    return is_match


def begins(wanted: bytes, text: bytes, variables: Variables) -> bool:
    """Tell whether a text begins with what is wanted, and bind its variables."""
    return _bind(wanted, text, variables, rb"(?=(.*))")


def _bind(wanted: bytes, text: bytes, variables: Variables, end: bytes = rb"\Z") -> bool:
    pattern, at, names = b"", 0, []
    flags = re.DOTALL | re.IGNORECASE
    for found in _VARIABLE.finditer(wanted):
        pattern += re.escape(wanted[at : found.start()])
        at = found.end()
        name = (found[1] or found[2] or b"").decode()
        if found[0] == b"$$":
            pattern += re.escape(b"$")
        elif name.startswith("case:"):
            pattern += b"(?-i:%b)" % re.escape(name.removeprefix("case:").encode())
        elif name.isdigit() or name in variables:
            pattern += re.escape(variables.get(name, name.encode()))
        else:
            names.append(name)
            pattern += b"(.*?)"
    match = re.match(pattern + re.escape(wanted[at:]) + end, text, flags)
    if match is None:
        return False
    values = zip(names, match.groups(), strict=False)
    variables |= {name: value for name, value in values if name}
    return True


def _match(wanted: Value, value: Value, variables: Variables) -> bool:
    if wanted is None:
        return value is None
    if isinstance(wanted, list):
        return isinstance(value, list) and _match_list(wanted, value, variables)
    if wanted == b"$":
        return True
    if isinstance(value, list):
        return False
    return _bind(wanted, b"NIL" if value is None else value, variables)


def _match_all(wanted: Sequence[Value], values: Sequence[Value], variables: Variables) -> bool:
    if len(wanted) != len(values):
        return False
    pairs = zip(wanted, values, strict=True)
    return all(_match(first, second, variables) for first, second in pairs)


def _match_list(wanted: list[Value], values: list[Value], variables: Variables) -> bool:
    """Tell whether a list is what is wanted, by the directives with which that begins."""
    directives = []
    while wanted and isinstance(wanted[0], bytes) and wanted[0].startswith(b"$!"):
        directives.append(wanted[0][2:].decode().lower())
        wanted = wanted[1:]
    chains = [text for text in directives if text.startswith("unordered")]
    if not chains:
        return _match_all(wanted, values, variables)
    size = int(chains[-1].partition("=")[2] or 1)
    of_values = [values[at : at + size] for at in range(0, len(values), size)]
    found = set()
    for at in range(0, len(wanted), size):
        for place, chain in enumerate(of_values):
            tried = dict(variables)
            if _match_all(wanted[at : at + size], chain, tried):
                variables |= tried
                found.add(place)
                break
        else:
            return False
    others = {str(chain[0]).lower() for at, chain in enumerate(of_values) if at not in found}
    named = {kind: set(_named(directives, kind)) for kind in ("ignore", "ban")}
    if "noextra" in directives:
        return others <= named["ignore"]
    return not others & named["ban"]


def _named(directives: list[str], kind: str) -> Iterator[str]:
    for directive in directives:
        if directive.startswith(f"{kind}="):
            yield str(directive.partition("=")[2].encode())


def _with_defaults(wanted: list[Value]) -> list[Value]:
    """Return what is wanted with the directives of lists that have none."""
    words = [value.lower() if isinstance(value, bytes) else b"" for value in wanted]
    if words[1:2] == [b"fetch"]:
        _begin(wanted, 2, b"$!unordered=2")
        items = wanted[2]
        for at, item in enumerate(items if isinstance(items, list) else []):
            if isinstance(item, bytes) and item.lower() == b"flags":
                _begin(items, at + 1, b"$!unordered", b"$!noextra", rb"$!ignore=\recent")
    elif words[0] in (b"list", b"lsub"):
        _begin(wanted, 1, b"$!unordered")
    elif words[0] == b"status":
        _begin(wanted, 2, b"$!unordered=2")
    return wanted


def _begin(values: Value, at: int, *directives: bytes) -> None:
    if not isinstance(values, list) or at >= len(values):
        return
    inner = values[at]
    if isinstance(inner, list) and not (
        inner and isinstance(inner[0], bytes) and inner[0].startswith(b"$!")
    ):
        inner[:0] = directives
