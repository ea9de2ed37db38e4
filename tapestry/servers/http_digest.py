"""Digest sign-in over HTTP (RFC 7616), for servers that ask for it: by urllib's own handler."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from urllib.error import URLError
from urllib.request import (
    AbstractDigestAuthHandler,
    HTTPPasswordMgr,
    Request,
    parse_keqv_list,
)

_DIGEST = re.compile(r"\bdigest\s+(.*)", re.IGNORECASE | re.DOTALL)
_VALUE = re.compile(r'\w+="(?:[^"\\]|\\.)*"|\w+=[^\s,"]+')


class _OnePassword(HTTPPasswordMgr):
    """One user, whatever is asked: that hosts are of one site is seen to before."""

    def __init__(self, user: str, password: str) -> None:
        super().__init__()
        self._both = user, password

    def find_user_password(self, realm: str, authuri: str) -> tuple[str | None, str | None]:
        return self._both


class HttpDigest:
    """Sign-in of a user for each request, once a server has asked for a digest."""

    def __init__(self, user: str, password: str) -> None:
        self._handler = AbstractDigestAuthHandler(_OnePassword(user, password))
        self._challenge: Mapping[str, str] = {}

    def is_asked_for(self, challenges: Sequence[str]) -> bool:
        """Take over what a server answered with 401; tell whether to try again by it.

        It is not where the digest was refused; of one whose time was over the server says so.
        """
        for challenge in filter(None, map(_DIGEST.search, challenges)):
            values = parse_keqv_list(_VALUE.findall(challenge[1]))
            if not self._challenge or values.get("stale", "").lower() == "true":
                self._challenge = values
                return True
        return False

    def headers(self, method: str, url: str) -> dict[str, str]:
        """Return the header field that signs a request, none as long as nobody asked for one."""
        with suppress(ValueError, URLError):  # an algorithm, or a kind of digest, unknown here
            signed = self._challenge and self._handler.get_authorization(
                Request(url, method=method), self._challenge
            )
            return {"Authorization": f"Digest {signed}"} if signed else {}
        return {}
