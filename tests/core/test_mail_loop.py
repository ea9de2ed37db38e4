"""Mail that Tapestry sent is known again."""

from __future__ import annotations

from email import message_from_bytes

import pytest

from tapestry.core.mail_loop import DELIVERY_HEADER, is_ours


@pytest.mark.parametrize("name", [DELIVERY_HEADER, DELIVERY_HEADER.lower(), "X-TAPESTRY-DELIVERY"])
def test_the_header_is_known_in_any_case(name: str) -> None:
    assert is_ours([name])
    assert is_ours({"Subject": "3 new in lunch", name: "key"})
    assert is_ours(message_from_bytes(f"Subject: lunch\r\n{name}: key\r\n\r\n".encode()))


def test_other_mail_is_not_ours_whatever_it_says_and_has_attached() -> None:
    text = f"Subject: {DELIVERY_HEADER}\nContent-Type: message/rfc822\n\n{DELIVERY_HEADER}: key\n\n"
    assert not is_ours(message_from_bytes(text.encode()))
    assert not is_ours([])
