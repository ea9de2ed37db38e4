"""Commands as the standards have them, where pymap reads them otherwise."""

from __future__ import annotations

from collections.abc import Iterable

from pymap.frozen import frozenlist
from pymap.parsing import Params
from pymap.parsing.command import Command
from pymap.parsing.command.select import FetchCommand
from pymap.parsing.commands import Commands as PymapCommands
from pymap.parsing.commands import InvalidCommand
from pymap.parsing.specials import FetchAttribute, SearchKey, Tag

EVERY_HEADER = ""
"""The name by which a search asks for all headers."""


class Commands(PymapCommands):
    """A text that cannot be decoded is refused, and BINARY.PEEK is answered as BINARY."""

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
