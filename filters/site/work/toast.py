"""What the next page says once: what a form has just done, and how that is undone."""

from __future__ import annotations

from typing import TypedDict

TOAST = "toast"
"""Key in the session of what the next page says."""


class Toast(TypedDict, total=False):
    """The words, and what undoes it: the key of a ``step`` of triage, or a signed ``change``."""

    words: str
    step: str
    change: str
