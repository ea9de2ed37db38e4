"""Key extractors: which tokens the new rows of a table have, for the predicate index to probe with.

A token of an event, the arrival of a row, is a value of a column, a word of it, or a text with
which it begins or ends.  A filter is entered under tokens of its constants; a row that concerns
it has one of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tapestry.plan import text_predicates

Kind = Literal["always", "any"] | text_predicates.Kind


@dataclass(frozen=True, slots=True)
class KeyExtractor:
    """A source of tokens: a column of the new rows of a table, or of those they lead to.

    ``hop`` is (a column of the new rows, another table, its column that equals that).  Kind
    ``any`` has the one token ``""`` if there is a row, ``always`` even if there is none.  ``by``
    is the column whose instant makes a row one of the window: it arrives, or comes of age.
    """

    table: str
    kind: Kind
    column: str = ""
    hop: tuple[str, str, str] | None = None
    by: str = "ts"

    @property
    def name(self) -> str:
        """Return the extractor as one word, which ``parse`` reads.

        >>> KeyExtractor("messages", "is", "sender", ("inreplyto", "messages", "msgid")).name
        'messages is sender inreplyto messages msgid'
        >>> KeyExtractor("messages", "any", by="received").name
        'messages.received any -'
        """
        table = self.table if self.by == "ts" else f"{self.table}.{self.by}"
        return " ".join([table, self.kind, self.column or "-", *(self.hop or ())])

    @classmethod
    def parse(cls, name: str) -> KeyExtractor:
        """Return the extractor of a name.

        >>> KeyExtractor.parse("annotations any -")
        KeyExtractor(table='annotations', kind='any', column='', hop=None, by='ts')
        """
        source, kind, column, *hop = name.split(" ")
        table, _, by = source.partition(".")
        followed = (hop[0], hop[1], hop[2]) if hop else None
        column = "" if column == "-" else column
        return cls(table, kind, column, followed, by or "ts")  # type: ignore[arg-type]
