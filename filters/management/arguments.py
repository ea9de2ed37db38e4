"""Arguments that several commands read alike."""

from __future__ import annotations

from argparse import ArgumentTypeError

from tapestry.core.clock import parse_instant


def instant(text: str) -> int:
    """Read an ISO instant, for argparse."""
    try:
        return parse_instant(text)
    except ValueError as error:
        raise ArgumentTypeError(str(error)) from error


def instants(text: str) -> list[int]:
    """Read ISO instants with commas between."""
    return [instant(part) for part in text.split(",")]
