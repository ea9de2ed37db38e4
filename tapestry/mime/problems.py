"""Problems of a message, in words."""

from __future__ import annotations

from collections.abc import Iterable

NO_SEPARATOR = "no blank line after its headers"
NO_BOUNDARY = "it says it has parts but not where they begin"
NO_PARTS = "its parts are announced but not there"
NO_END = "its last part has no end"
ENCODED_PARTS = "its parts are encoded all together"

_WORDS = {
    "FirstHeaderLineIsContinuationDefect": "its first header begins in the middle",
    "MissingHeaderBodySeparatorDefect": NO_SEPARATOR,
    "MalformedHeaderDefect": "a header without a name",
    "InvalidHeaderDefect": "a header without a name",
    "MisplacedEnvelopeHeaderDefect": "an envelope line among its headers",
    "InvalidBase64CharactersDefect": "wrong characters in encoded text",
    "InvalidBase64PaddingDefect": "encoded text without its end",
    "InvalidBase64LengthDefect": "encoded text of an impossible length",
}
"""The words for the defects that the standard parser names."""


def in_words(defects: Iterable[Exception]) -> list[str]:
    """Return the words for defects that the standard parser notes."""
    names = [type(defect).__name__ for defect in defects]
    return [_WORDS.get(name, name) for name in names]
