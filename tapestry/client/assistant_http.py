"""Tools for assistants over HTTP (streamable HTTP), each request with the token of its person.

It listens on this machine alone: tokens travel by it in the clear, and a proxy with TLS is before
it.
"""

from __future__ import annotations

from typing import Any

import uvicorn
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from tapestry.client.assistant import server_of
from tapestry.client.site import Site

HOST = "127.0.0.1"
NO_TOKEN = "Send “Authorization: Bearer …” with a token of your page Access tokens."


class WithToken:
    """Lets in requests that bring a token; whether it opens anything, the site says."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not bearer_of(Headers(scope=scope)):
            challenge = {"WWW-Authenticate": "Bearer"}
            await PlainTextResponse(NO_TOKEN, 401, challenge)(scope, receive, send)
        else:
            await self._app(scope, receive, send)


def bearer_of(headers: Headers) -> str:
    """Return the token of a request, "" where there is none.

    >>> bearer_of(Headers({"Authorization": "Bearer tapestry_x"}))
    'tapestry_x'
    """
    scheme, _, token = headers.get("Authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def app_of(url: str) -> WithToken:
    """Return the application whose tools ask the site at an address."""

    def site_of(request: Any) -> Site:
        return Site(url, bearer_of(request.headers))

    return WithToken(server_of(site_of).streamable_http_app(stateless_http=True, host=HOST))


def serve(url: str, port: int) -> None:
    """Serve assistants at http://127.0.0.1:PORT/mcp until it is told to end."""
    uvicorn.run(app_of(url), host=HOST, port=port, log_level="warning", access_log=False)
