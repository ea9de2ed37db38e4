"""What is asked of a news server: nothing that is no name and no wildmat."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tapestry.core.errors import TapestryError
from tapestry.ingest.nntp.session import NntpSession
from tapestry.ingest.nntp.token_bucket import TokenBucket
from tapestry.servers.account import Account

INJECTED = "*\r\nPOST\r\nFrom: joe@x.org"


class Client:
    """A connection that writes down what it is asked for."""

    def __init__(self) -> None:
        self.asked: list[str | None] = []

    def list(self, wildmat: str | None = None) -> tuple[str, list[tuple[str, str, str, str]]]:
        self.asked.append(wildmat)
        return "215", [("comp.misc", "3", "1", "y")]


@pytest.mark.parametrize("ask", [NntpSession.list_folders, NntpSession.expand])
@pytest.mark.parametrize("patterns", [[INJECTED], ["comp.*", INJECTED], ["a\r\nPOST"], ["*\0"]])
def test_a_pattern_that_is_none_is_not_told_to_the_server(
    ask: Callable[..., Any], patterns: list[str]
) -> None:
    client: Any = Client()
    account = Account("nntp", "news.x.org", 119, "none")
    session = NntpSession(account, client, TokenBucket(10))
    with pytest.raises(TapestryError, match="is neither a newsgroup nor a pattern"):
        ask(session, patterns)
    assert client.asked == []
    assert len(ask(session, ["comp.*"])) == 1 and client.asked == ["comp.*"]
