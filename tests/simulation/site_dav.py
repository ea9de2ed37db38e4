"""The way to address books and calendars in the coordinator's memory: HTTP without a socket.

It stands where a client over a connection would: what asks it, follows redirects and reads the
answers is the product's own (tapestry.servers.dav).
"""

from __future__ import annotations

from email.message import Message
from functools import partial

from tapestry.servers import dav
from tapestry.servers.account import Account
from tests.simulation.site_connections import Ask, opened_as


def give_books(ask: Ask) -> None:
    """Have every address book and calendar be one of the coordinator's."""
    dav.opened = opened_as(partial(Client, ask))


class Client:
    """As much of an HTTP connection as is used, for one question; then it is the answer."""

    authenticate = dav._Client.authenticate

    def __init__(self, ask: Ask, account: Account) -> None:
        self.ask, self.account = ask, account
        self.login: dict[str, str] = {}
        self.headers = Message()
        self.status, self._body = 0, b""

    def request(self, method: str, path: str, body: bytes, headers: dict[str, str]) -> None:
        asked = {"method": method, "path": path, "body": body.decode(), "depth": headers["Depth"]}
        answer = self.ask("dav", {**asked, "user": self.account.user})
        match answer["answer"]:
            case "hang":
                raise TimeoutError("timed out")
            case "cut":
                raise ConnectionResetError("Connection reset by peer")
        self.status, self._body = answer["status"], answer.get("body", "").encode()
        if answer.get("location"):
            self.headers["Location"] = answer["location"]

    def getresponse(self) -> Client:
        return self

    def getheader(self, name: str) -> str | None:
        return self.headers[name]

    def read(self, size: int) -> bytes:
        return self._body[:size]
