"""Posting to a news server that breaks off: whether it may have taken the article."""

from __future__ import annotations

from typing import Any

import pytest

from tapestry.compose.transmission import post
from tests.support.servers.fake_servers import FakeNews

ARTICLE = b"Message-ID: <1@x.org>\r\nNewsgroups: a.b\r\n\r\nHello\r\n"


@pytest.mark.parametrize(
    ("reply", "may_be_taken", "is_final"),
    [("", True, False), ("nonsense", True, False), ("441 no such group", False, True)],
)
def test_an_article_without_an_answer_may_be_taken(
    reply: str, may_be_taken: bool, is_final: bool
) -> None:
    class Server(FakeNews):
        def hook(self, say: Any, command: str, argument: str, place: Any) -> bool | None:
            if command == "POST":
                say("340 send it")
            elif command == ".":
                say(*([reply] if reply else []))
            elif "POST" not in self.log:
                return None
            return command != "." or bool(reply)

    with Server({}) as server:
        transmission = post(server.account, ARTICLE, 5)
    assert (transmission.may_be_taken, transmission.is_final, transmission.accepted) == (
        may_be_taken,
        is_final,
        (),
    )
