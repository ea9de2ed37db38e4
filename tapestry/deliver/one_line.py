"""Text of strangers as one safe line: subjects, names, explanations, addresses."""

from __future__ import annotations

import re

from tapestry.query.limits import BIDI

LONGEST = 200
"""Characters of a line unless the caller says otherwise."""

_MARKS = re.compile(BIDI.pattern)
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_SURROGATE = re.compile("[\ud800-\udfff]")


def one_line(text: str, longest: int = LONGEST) -> str:
    r"""Return text on one line of at most ``longest`` characters, cut with an ellipsis.

    Control characters and line ends become spaces, halves of characters U+FFFD; marks that change
    the direction of text go, for they could hide what a line says.

    >>> one_line("lunch\r\nBcc: all@x.org\u202e  ?")
    'lunch Bcc: all@x.org ?'
    """
    if not text.isprintable():  # Only then is there anything to remove.
        text = _MARKS.sub("", _CONTROL.sub(" ", text[: 8 * longest]))
        text = _SURROGATE.sub("\ufffd", text)
    text = " ".join(text.split())
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"


def web_address(url: str) -> str:
    """Return an address of the web; nothing for a broken one or any other (``javascript:``).

    >>> web_address("https://example.com/a?b=c"), web_address("javascript:alert(1)")
    ('https://example.com/a?b=c', '')
    """
    good = url.startswith(("https://", "http://")) and url.isascii() and url.isprintable()
    return url if good and " " not in url else ""
