"""Recipients as a person types them: split, checked, and written back.

    Mary Jones <mary@example.org>, bill@example.org; "Smith, Ann" <ann@example.org>

Capitals before the @ stay, for they may matter to the server there (RFC 5321, section 2.4).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from tapestry.core.errors import TapestryError
from tapestry.deliver.mail.recipient_address import recipient_address
from tapestry.deliver.one_line import one_line

MOST_RECIPIENTS = 100
"""Recipients of a message, in To, Cc and Bcc together."""

LONGEST = 20_000
"""Characters of a field of recipients."""

_TOKEN = re.compile(
    r'"(?:\\.|[^"\\]){0,500}"|<[^<>]*>|\([^()]*\)|[,;\r\n]|[^",;<(\r\n]+|.', re.DOTALL
)
_COMMENT = re.compile(r"(?P<address>\S+)\s*\((?P<name>[^()]*)\)")
_QUOTED = re.compile(r'"((?:\\.|[^"\\])*)"')
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_PLAIN_NAME = re.compile(r"[\w' -]+")


@dataclass(frozen=True, slots=True)
class Recipient:
    """An address, and a display name that may be empty."""

    address: str
    name: str = ""

    @property
    def key(self) -> str:
        """Return a value that is equal for two recipients who are the same."""
        return self.address.casefold()

    def __str__(self) -> str:
        r"""Return it as a person types it.

        >>> str(Recipient("mary@x.org", "Jones, Mary"))
        '"Jones, Mary" <mary@x.org>'
        """
        if not self.name:
            return self.address
        name = self.name
        if not _PLAIN_NAME.fullmatch(name):
            name = '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'
        return f"{name} <{self.address}>"


def read_recipients(text: str) -> tuple[Recipient, ...]:
    """Return the recipients in a text, each once, in order.

    >>> read_recipients('Mary Jones <mary@x.org>, bill@x.org; mary@x.org')
    (Recipient(address='mary@x.org', name='Mary Jones'), Recipient(address='bill@x.org', name=''))

    Raise TapestryError, in words, at the first that is no address, or if there are too many.
    """
    if len(text) > LONGEST:
        raise TapestryError(f"A field of addresses may have {LONGEST:,} characters.")
    return at_most(unique(_recipient(item) for item in items_of(text)))


def at_most(recipients: Collection[Recipient]) -> tuple[Recipient, ...]:
    """Return recipients; raise TapestryError if they are more than a message may have."""
    if len(recipients) > MOST_RECIPIENTS:
        raise TapestryError(
            f"These are {len(recipients):,} recipients; a message may have {MOST_RECIPIENTS}.",
            hint="Write to a mailing list, or send the message in parts.",
        )
    return tuple(recipients)


def unique(recipients: Iterable[Recipient], known: Collection[str] = ()) -> tuple[Recipient, ...]:
    """Return recipients, each once, without those whose keys are known."""
    found: dict[str, Recipient] = {}
    for recipient in recipients:
        if recipient.key not in known:
            found.setdefault(recipient.key, recipient)
    return tuple(found.values())


def in_words(recipients: Iterable[Recipient]) -> str:
    """Return recipients as a person types them."""
    return ", ".join(map(str, recipients))


def items_of(text: str) -> list[str]:
    """Return the texts of the recipients in a text, as they were typed.

    >>> items_of('Mary Jones, "Smith, Ann" <ann@x.org>')
    ['Mary Jones', '"Smith, Ann" <ann@x.org>']
    """
    items, item = [], ""
    for token in _TOKEN.findall(text):
        if token in ",;\r\n":
            items.append(item)
            item = ""
        else:
            item += token
    return [item.strip() for item in (*items, item) if item.strip()]


def _recipient(item: str) -> Recipient:
    name, opening, address = item.removesuffix(">").rpartition("<")
    if not (opening and item.endswith(">") and ">" not in address):
        found = _COMMENT.fullmatch(item)
        address, name = (found["address"], found["name"]) if found else (item, "")
    quoted = _QUOTED.fullmatch(name.strip())
    if quoted:
        name = _ESCAPED.sub(r"\1", quoted[1])
    address = address.strip().removeprefix("mailto:")
    recipient_address(address)
    return Recipient(address, one_line(name.strip(), 80))
