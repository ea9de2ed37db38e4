"""What can be wrong with a message, in words."""

from __future__ import annotations

WORDS = {
    "StartBoundaryNotFoundDefect": "its parts are announced but not there",
    "CloseBoundaryNotFoundDefect": "its last part has no end",
    "MultipartInvariantViolationDefect": "it says it has parts and has none",
    "NoBoundaryInMultipartDefect": "it says it has parts but not where they begin",
    "MissingHeaderBodySeparatorDefect": "no blank line after its headers",
    "FirstHeaderLineIsContinuationDefect": "its first header begins in the middle",
    "MalformedHeaderDefect": "a header without a name",
    "MisplacedEnvelopeHeaderDefect": "an envelope line among its headers",
    "InvalidMultipartContentTransferEncodingDefect": "its parts are encoded all together",
    "InvalidBase64CharactersDefect": "wrong characters in encoded text",
    "InvalidBase64PaddingDefect": "encoded text without its end",
    "InvalidBase64LengthDefect": "encoded text of an impossible length",
    "InvalidDateDefect": "unreadable date",
    "UndecodableBytesDefect": "bytes that are no text",
    "RecursionError": "parts within parts, too deep to be read",
}
"""What the standard parser calls it, and we."""


def in_words(name: str) -> str:
    """Return what is wrong, in words.

    >>> in_words("CloseBoundaryNotFoundDefect")
    'its last part has no end'
    """
    return WORDS.get(name, name)
