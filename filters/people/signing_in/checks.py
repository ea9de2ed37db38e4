"""A check whether TAPESTRY_PROXIES can be right."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Warning


def check_proxies(**_options: Any) -> list[CheckMessage]:
    """Warn where all clients would be counted as one, or could choose their address."""
    hosts = set(settings.ALLOWED_HOSTS) - {"localhost", "127.0.0.1", "[::1]"}
    if hosts and not settings.PROXIES:
        return [
            Warning(
                "TAPESTRY_HOSTS is set, but TAPESTRY_PROXIES is not: "
                "all who sign in are counted as one address.",
                hint="Set TAPESTRY_PROXIES to the number of proxies in front of the site.",
                id="filters.W001",
            )
        ]
    if settings.PROXIES and not hosts:
        return [
            Warning(
                "TAPESTRY_PROXIES is set, but TAPESTRY_HOSTS is not: "
                "without a proxy, clients choose the address that they are counted as.",
                hint="Unset TAPESTRY_PROXIES, or name the host of the proxy in TAPESTRY_HOSTS.",
                id="filters.W001",
            )
        ]
    return []
