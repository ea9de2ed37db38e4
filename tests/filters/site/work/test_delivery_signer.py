"""Each site knows its own mail, and no other's."""

from __future__ import annotations

from typing import Any

from filters.site.work.crypto.delivery_signer import delivery_signer


def test_the_secret_is_that_of_the_site_and_of_this_purpose(settings: Any) -> None:
    value = delivery_signer().value("1-2")
    assert delivery_signer().key_of(value) == "1-2"
    assert settings.SECRET_KEY.encode() not in delivery_signer().secret
    settings.SECRET_KEY = "of another site"
    assert delivery_signer().key_of(value) is None
