"""Every address of the site, from its table of addresses: none is forgotten, nor are new ones."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from django.urls import URLPattern, URLResolver, get_resolver

PARAMETER = re.compile(r"<(?:\w+:)?(\w+)>|\(\?P<(\w+)>[^)]*\)")


def every_address(values: Mapping[str, str]) -> dict[str, str]:
    """Return the address behind each route, by the route.

    ``values`` are those of parameters: by name, or by the name of an address and a parameter of
    it (``feed.token``).  A parameter without a value is a KeyError.
    """
    return dict(_addresses(get_resolver(), "", values))


def _addresses(
    resolver: URLResolver, before: str, values: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    for entry in resolver.url_patterns:
        route = before + str(entry.pattern).lstrip("^").rstrip("$")
        if isinstance(entry, URLPattern):
            yield route, f"/{_filled(route, entry.name or '', values)}"
        else:
            yield from _addresses(entry, route, values)


def _filled(route: str, name: str, values: Mapping[str, str]) -> str:
    def value(found: re.Match[str]) -> str:
        parameter = found[1] or found[2]
        return values.get(f"{name}.{parameter}") or values[parameter]

    return PARAMETER.sub(value, route)
