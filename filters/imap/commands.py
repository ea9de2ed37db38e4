"""Commands as the standards have them, where pymap reads them otherwise."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pymap.frozen import frozenlist
from pymap.imap.state import ConnectionState
from pymap.parsing import Params
from pymap.parsing.command import Command
from pymap.parsing.command.auth import AppendCommand
from pymap.parsing.command.select import (
    FetchCommand,
    SearchCommand,
    UidFetchCommand,
    UidSearchCommand,
)
from pymap.parsing.commands import Commands as PymapCommands
from pymap.parsing.commands import InvalidCommand
from pymap.parsing.exceptions import NotParseable
from pymap.parsing.primitives import List
from pymap.parsing.response import CommandResponse, ResponseOk, UntaggedResponse
from pymap.parsing.specials import (
    AString,
    ExtensionOption,
    ExtensionOptions,
    FetchAttribute,
    Mailbox,
    SearchKey,
    SequenceSet,
    Tag,
)
from pymap.selected import SelectedMailbox

EVERY_HEADER = ""
"""The name by which a search asks for all headers."""

ALL, PARTIAL = b"ALL", b"PARTIAL"

RETURN, RETURNED = b"RETURN", {b"MIN", b"MAX", b"COUNT", ALL, PARTIAL}
"""Before what a search is to return, and what it may."""

_ENDS = rb"(?P<minus>-?)[1-9]\d*:(?P=minus)[1-9]\d*"

_RANGE, _ASKED = re.compile(_ENDS), re.compile(rb"PARTIAL (" + _ENDS + rb")(?=[ )])", re.IGNORECASE)

_NO_UID = 2**32 - 1
"""A UID that no message has."""


class Commands(PymapCommands):
    """A text that cannot be decoded is refused, and BINARY.PEEK is answered as BINARY."""

    def __init__(self) -> None:
        super().__init__()
        self.register(Append)
        self.register(Search)
        self.register(UidSearch)
        self.register(UidFetch)

    def parse(self, buf: memoryview, params: Params) -> tuple[Command, memoryview]:
        try:
            command, rest = super().parse(buf, params)
        except UnicodeDecodeError:
            tag, rest = Tag.parse(buf, params)
            name = bytes(rest).split()[0].upper()
            return InvalidCommand(params.copy(tag=tag.value), None, name, Command), buf[0:0]
        if isinstance(command, FetchCommand):
            command.attributes = [*map(_answered_as_binary, command.attributes)]
        return command, rest


class Append(AppendCommand):
    """What would put a message here: it is refused before the program sends its bytes."""

    @classmethod
    def parse(cls, buf: memoryview, params: Params) -> tuple[AppendCommand, memoryview]:
        mailbox, _ = Mailbox.parse(buf, params)
        return cls(params.tag, mailbox, []), buf[0:0]


class Search(SearchCommand):
    """A search for the first, the last, the number, all in one (RFC 4731), or a page (RFC 9394)."""

    @classmethod
    def _parse_options(cls, buf: memoryview, params: Params) -> tuple[ExtensionOptions, memoryview]:
        start = cls._whitespace_length(buf)
        if bytes(buf[start : start + len(RETURN)]).upper() != RETURN:
            return ExtensionOptions.empty(), buf
        returned, end, keys = bytes(buf[start + len(RETURN) :]).partition(b")")
        after = memoryview(_with_strings(returned + end) + keys)
        options, rest = ExtensionOptions.parse(after, params)
        is_known = RETURNED.issuperset(options.value) and _is_page(options)
        if len(rest) == len(after) or not is_known or {ALL, PARTIAL} <= options.value.keys():
            raise NotParseable(after)
        return options or ExtensionOptions([ExtensionOption(ALL, List([]))]), rest


class UidSearch(Search, UidSearchCommand):
    """The same, of UIDs."""


class UidFetch(UidFetchCommand):
    """A fetch that may ask for a page of the UIDs that it names (RFC 9394, 3.3)."""

    @classmethod
    def parse(cls, buf: memoryview, params: Params) -> tuple[UidFetchCommand, memoryview]:
        names, begin, modifiers = bytes(buf).rpartition(b"(")
        command, rest = super().parse(memoryview(names + _with_strings(begin + modifiers)), params)
        if not _is_page(command.options):
            raise NotParseable(buf)
        return command, rest


class State(ConnectionState):
    """What a connection is at; it answers searches and fetches in the form that is asked for."""

    async def do_fetch(self, cmd: FetchCommand) -> tuple[CommandResponse, SelectedMailbox | None]:
        if cmd.uid and cmd.options.has(PARTIAL):
            named = self.selected.messages.get_all(cmd.sequence_set)
            uids = _page([message.uid for _, message in named], _range(cmd.options))
            cmd.sequence_set = SequenceSet.build(uids or [_NO_UID], uid=True)
        return await super().do_fetch(cmd)

    async def do_search(self, cmd: SearchCommand) -> tuple[CommandResponse, SelectedMailbox | None]:
        if not cmd.options:
            return await super().do_search(cmd)
        if not cmd.uid:
            self.selected.hide_expunged = True
        matches, selected = await self.session.search_mailbox(self.selected, cmd.keys)
        numbers = [message.uid if cmd.uid else number for number, message in matches]
        response = ResponseOk(cmd.tag, cmd.command + b" completed.")
        line = [b'ESEARCH (TAG "%b")' % cmd.tag, *[b"UID"] * cmd.uid]
        line += [b"%b %b" % pair for pair in _returned(numbers, cmd.options).items()]
        response.add_untagged(UntaggedResponse(b" ".join(line)))
        return response, selected


def _returned(numbers: list[int], options: ExtensionOptions) -> dict[bytes, bytes]:
    """Return what a search tells; where nothing is found, that has no first, last or all."""
    values = {b"COUNT": b"%d" % len(numbers)}
    if numbers:
        values |= {b"MIN": b"%d" % min(numbers), b"MAX": b"%d" % max(numbers)}
        values[ALL] = bytes(SequenceSet.build(numbers))
    if options.has(PARTIAL):
        page = _page(numbers, text := _range(options))
        values[PARTIAL] = b"(%b %b)" % (text, bytes(SequenceSet.build(page)) if page else b"NIL")
    return {name: value for name, value in values.items() if options.has(name)}


def _with_strings(options: bytes) -> bytes:
    """Return options with pages as strings: pymap reads no number below 0."""
    return _ASKED.sub(rb'PARTIAL ("\1")', options)


def _is_page(options: ExtensionOptions) -> bool:
    """Tell whether a page, if one is asked for, was a range."""
    return not options.has(PARTIAL) or _RANGE.fullmatch(_range(options)) is not None


def _range(options: ExtensionOptions) -> bytes:
    given = options.value[PARTIAL].value
    return given[0].value if given and isinstance(given[0], AString) else b""


def _page(numbers: list[int], text: bytes) -> list[int]:
    """Return a page of numbers that ascend; its ends are counted from the last if they are below 0.

    >>> _page([3, 5, 8, 9], b"3:2"), _page([3, 5, 8, 9], b"-1:-3"), _page([3], b"2:9")
    ([5, 8], [9, 8, 5], [])
    """
    first, last = sorted(abs(int(end)) for end in text.split(b":"))
    ordered = numbers[::-1] if text.startswith(b"-") else numbers
    return ordered[first - 1 : last]


class _Peeked(FetchAttribute):
    """BINARY.PEEK of a command (RFC 3516, 4.2)."""

    @property
    def for_response(self) -> FetchAttribute:
        return FetchAttribute(b"BINARY", self.section, self.partial).for_response


def _answered_as_binary(attribute: FetchAttribute) -> FetchAttribute:
    if attribute.value != b"BINARY.PEEK":
        return attribute
    return _Peeked(attribute.value, attribute.section, attribute.partial)


def without_text(keys: Iterable[SearchKey]) -> frozenset[SearchKey]:
    """Return keys in which TEXT is BODY or any header: pymap takes it for BODY alone."""
    return frozenset(_without_text(key) for key in keys)


def _without_text(key: SearchKey) -> SearchKey:
    match key.value:
        case b"TEXT":
            header = SearchKey(b"HEADER", (EVERY_HEADER, key.filter_str))
            either = SearchKey(b"BODY", key.filter), header
            return SearchKey(b"OR", either, key.inverse)
        case b"OR":
            left, right = key.filter_key_or
            return SearchKey(b"OR", (_without_text(left), _without_text(right)), key.inverse)
        case b"KEYSET":
            return SearchKey(b"KEYSET", frozenlist(without_text(key.filter_key_set)), key.inverse)
    return key
