"""What a way would send, for its page to show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Preview:
    """What a way would send: header fields in their order, and the content as text.

    HTML is what this site wrote; a page shows it in a sandboxed frame.
    """

    kind: Literal["html", "text", "json"]
    content: str
    headers: tuple[tuple[str, str], ...] = ()
