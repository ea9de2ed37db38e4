"""Commands as the standards have them, where pymap reads them otherwise."""

from __future__ import annotations

from collections.abc import Iterable

from pymap.frozen import frozenlist
from pymap.imap.state import ConnectionState
from pymap.parsing import Params
from pymap.parsing.command import Command
from pymap.parsing.command.select import FetchCommand, SearchCommand, UidSearchCommand
from pymap.parsing.commands import Commands as PymapCommands
from pymap.parsing.commands import InvalidCommand
from pymap.parsing.exceptions import NotParseable
from pymap.parsing.primitives import List
from pymap.parsing.response import CommandResponse, ResponseOk, UntaggedResponse
from pymap.parsing.specials import (
    ExtensionOption,
    ExtensionOptions,
    FetchAttribute,
    SearchKey,
    SequenceSet,
    Tag,
)
from pymap.selected import SelectedMailbox

EVERY_HEADER = ""
"""The name by which a search asks for all headers."""

RETURN, RETURNED = b"RETURN", {b"MIN", b"MAX", b"COUNT", b"ALL"}
"""Before what a search is to return, and what it may."""


class Commands(PymapCommands):
    """A text that cannot be decoded is refused, and BINARY.PEEK is answered as BINARY."""

    def __init__(self) -> None:
        super().__init__()
        self.register(Search)
        self.register(UidSearch)

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


class Search(SearchCommand):
    """A search that may ask for the first, the last, the number or all in one (RFC 4731)."""

    @classmethod
    def _parse_options(cls, buf: memoryview, params: Params) -> tuple[ExtensionOptions, memoryview]:
        start = cls._whitespace_length(buf)
        if bytes(buf[start : start + len(RETURN)]).upper() != RETURN:
            return ExtensionOptions.empty(), buf
        after = buf[start + len(RETURN) :]
        options, rest = ExtensionOptions.parse(after, params)
        if len(rest) == len(after) or not RETURNED.issuperset(options.value):
            raise NotParseable(after)
        return options or ExtensionOptions([ExtensionOption(b"ALL", List([]))]), rest


class UidSearch(Search, UidSearchCommand):
    """The same, of UIDs."""


class State(ConnectionState):
    """What a connection is at; it answers a search in the form that is asked for."""

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
        values[b"ALL"] = bytes(SequenceSet.build(numbers))
    return {name: value for name, value in values.items() if options.has(name)}


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
