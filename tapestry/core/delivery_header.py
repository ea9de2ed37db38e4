"""The header of every message that Tapestry sends: by it no mail loop begins.

Mail that has it is never taken in, from whatever source it comes.
"""

from __future__ import annotations

import re

DELIVERY_HEADER = "X-Tapestry-Delivery"
"""Its value is the key of the delivery (tapestry.deliver.batch.Batch)."""

_FIELD = re.compile(rb"(?:\A|\n)" + DELIVERY_HEADER.encode() + rb"[ \t]*:", re.IGNORECASE)
_END = re.compile(rb"\n\r?\n|\A\r?\n")


def has_delivery_header(raw: bytes) -> bool:
    r"""Return whether Tapestry sent a message, or resent it: the header is in its header section.

    >>> has_delivery_header(b"Subject: new\r\nx-tapestry-delivery: 7\r\n\r\nHello")
    True
    >>> has_delivery_header(b"Subject: new\r\n\r\nX-Tapestry-Delivery: in the text")
    False
    """
    end = _END.search(raw)
    return _FIELD.search(raw, 0, end.start() if end else len(raw)) is not None
