"""Somebody who gives tokens, and says whether one is good: a small server of OAuth 2."""

from __future__ import annotations

import json
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit


class Provider:
    """What it knows: refresh tokens, and the access tokens it gave for them."""

    def __init__(self, user: str) -> None:
        self.user = user
        self.refresh = {"refresh-0"}
        self.access: set[str] = set()
        self.asked: list[dict[str, str]] = []
        self.rotates = False
        self.broken = False
        self.says: bytes | None = None
        """Sent as it is, instead of an answer."""
        self.url = ""

    def give(self, asked: dict[str, str]) -> tuple[int, dict[str, object]]:
        self.asked.append(asked)
        if self.broken:
            return 503, {}
        if asked.get("refresh_token") not in self.refresh:
            return 400, {"error": "invalid_grant"}
        token = f"access-{secrets.token_hex(8)}"
        self.access.add(token)
        given: dict[str, object] = {"access_token": token, "expires_in": 3600}
        if self.rotates:
            self.refresh = {f"refresh-{len(self.asked)}"}
            given["refresh_token"] = next(iter(self.refresh))
        return 200, given

    def judge(self, token: str) -> tuple[int, dict[str, object]]:
        return 200, {"active": "yes" if token in self.access else "no", "username": self.user}


@contextmanager
def running_provider(user: str) -> Iterator[Provider]:
    """Serve on a free port: ``/token`` of its URL gives tokens, ``/check?token=`` judges them."""
    provider = Provider(user)

    class Answers(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            if provider.says is not None:
                self.wfile.write(provider.says)
                self.close_connection = True
                return
            self._say(*provider.give({name: value[0] for name, value in parse_qs(body).items()}))

        def do_GET(self) -> None:
            query = parse_qs(urlsplit(self.path).query)
            self._say(*provider.judge(query.get("token", [""])[0]))

        def _say(self, code: int, what: dict[str, object]) -> None:
            body = json.dumps(what).encode()
            self.send_response(code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_args: object) -> None:
            """Be silent."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        provider.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield provider
        finally:
            server.shutdown()
