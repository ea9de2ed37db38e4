"""TAPESTRY_ALARM_MAIL and TAPESTRY_ALARM_WEBHOOK: how the operator hears that something stands."""

from __future__ import annotations

from tapestry.core.errors import TapestryError


def read_addresses(text: str) -> list[str]:
    """Return addresses that stand with commas between; TapestryError if one is none.

    >>> read_addresses("ann@example.org, joe@example.org")
    ['ann@example.org', 'joe@example.org']
    """
    addresses = [address.strip() for address in text.split(",") if address.strip()]
    for address in addresses:
        name, _, host = address.partition("@")
        if not (name and host) or any(letter.isspace() for letter in address):
            raise TapestryError(
                f"TAPESTRY_ALARM_MAIL holds “{address[:100]}”, which is no address.",
                hint="Write ann@example.org,joe@example.org.",
            )
    return addresses


def read_webhook(text: str) -> str:
    """Return the address of a web server, or "" for none; TapestryError if it is none.

    >>> read_webhook("https://hooks.example.org/tapestry"), read_webhook("")
    ('https://hooks.example.org/tapestry', '')
    """
    url = text.strip()
    if url:
        from tapestry.servers.private_hosts import read_target  # every command reads settings

        try:
            read_target(url)
        except TapestryError as error:
            raise TapestryError(
                f"TAPESTRY_ALARM_WEBHOOK: {error.message}", hint=error.hint
            ) from error
    return url
