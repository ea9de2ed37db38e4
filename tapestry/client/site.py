"""A site that runs, as a program with a token sees it (``filters/api``)."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from ipaddress import ip_address
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

import urllib3

from tapestry import VERSION
from tapestry.core.errors import TapestryError

PATIENCE = urllib3.Timeout(connect=10.0, read=60.0)
POLL = (0.1, 0.2, 0.4, 0.8)
"""Seconds until an answer of the workers is asked for again; the last, from then on."""

LONGEST = 120.0
"""Seconds that an answer of the workers is waited for."""

REFUSED, NOT_OPENED, AWAY = 3, 4, 5
"""Exit codes: the site refuses what is asked; the token opens it not; the site does not answer."""


class CallError(TapestryError):
    """A call that has failed, with the exit code that says how."""

    def __init__(self, code: int, message: str, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.code = code


class Site:
    """The API of a site: calls and their answers, as JSON values.

    Raises CallError for an address to which a token must not be sent: one that is neither https
    nor this machine.
    """

    def __init__(self, url: str, token: str) -> None:
        parts = urlsplit(url)
        host = parts.hostname or ""
        if parts.scheme not in ("http", "https") or not host:
            raise CallError(2, f"{url!r} is no address of a site.", "Begin with https://.")
        if parts.scheme == "http" and not _is_loopback(host):
            raise CallError(2, f"Your token could be read on the way to {url}.", "Use https.")
        self.url = url
        self._base = f"{url.rstrip('/')}/api/v1/"
        self._headers = {"Authorization": f"Bearer {token}", "User-Agent": f"tapestry/{VERSION}"}
        retry = urllib3.Retry(3, backoff_factor=0.5, redirect=0, raise_on_status=False)
        self._pool = urllib3.PoolManager(maxsize=10, timeout=PATIENCE, retries=retry)

    def get(self, path: str, **query: Any) -> Any:
        """Return what a call that reads answers."""
        return self._call("GET", path, query)[1]

    def post(self, path: str, content: Mapping[str, Any], **query: Any) -> Any:
        return self._call("POST", path, query, content)[1]

    def patch(self, path: str, content: Mapping[str, Any]) -> Any:
        return self._call("PATCH", path, {}, content)[1]

    def delete(self, path: str) -> None:
        """Delete what a path names."""
        self._call("DELETE", path, {})

    def original(self, msgid: str) -> bytes:
        """Return the bytes of a message as it came."""
        answer = self._request("GET", f"message/original?{urlencode({'id': msgid})}", None)
        return answer.data

    def asked(self, path: str, content: Mapping[str, Any], **query: Any) -> tuple[str, Any]:
        """Ask the workers, and wait for the answer; return its path, and the answer."""
        task = self.post(path, content, **query)["task"]
        here, until = f"{path}/{task}", time.monotonic() + LONGEST
        for pause in _pauses():
            status, answer = self._call("GET", here, {})
            if status != 202:
                return here, answer
            if time.monotonic() > until:
                raise CallError(AWAY, "This takes too long.", "Try again in a minute.")
            time.sleep(pause)
        raise AssertionError("pauses do not end")

    def _call(
        self, method: str, path: str, query: Mapping[str, Any], content: Any = None
    ) -> tuple[int, Any]:
        asked = {name: value for name, value in query.items() if value is not None}
        where = f"{path}?{urlencode(asked)}" if asked else path
        answer = self._request(method, where, content)
        return answer.status, json.loads(answer.data) if answer.data else None

    def _request(self, method: str, path: str, content: Any) -> urllib3.BaseHTTPResponse:
        body = None if content is None else json.dumps(content).encode()
        headers = self._headers | ({"Content-Type": "application/json"} if body else {})
        try:
            answer = self._pool.request(method, self._base + path, body=body, headers=headers)
        except urllib3.exceptions.HTTPError as error:
            reason = str(getattr(error, "reason", None) or error)
            raise CallError(AWAY, f"{self._base} does not answer: {reason}.") from error
        if answer.status < 300:
            return answer
        raise CallError(_code(answer.status), _detail(answer))


def path_of(*parts: str) -> str:
    """Return the path of a call, its parts quoted.

    >>> path_of("filters", "a/b", "matches")
    'filters/a%2Fb/matches'
    """
    return "/".join(quote(part, safe="") for part in parts)


def _code(status: int) -> int:
    if status in (401, 403):
        return NOT_OPENED
    return REFUSED if status < 500 and status != 429 else AWAY


def _detail(answer: urllib3.BaseHTTPResponse) -> str:
    """Return the sentence of problem details (RFC 9457), or the status where there are none."""
    try:
        return str(json.loads(answer.data)["detail"])
    except (ValueError, KeyError, TypeError):
        return f"The site answered with status {answer.status}."


def _pauses() -> Iterator[float]:
    yield from POLL
    while True:
        yield POLL[-1]


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
