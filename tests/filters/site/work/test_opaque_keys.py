"""Keys that are shown tell nobody how many there are."""

from __future__ import annotations

from typing import Any

import pytest

from filters.site.work.crypto.opaque_keys import decrypt, encrypt, keyed_digest


def test_a_key_comes_back_and_cannot_be_read_or_compared(settings: Any) -> None:
    keys = [0, 1, 2, 3, 255, 256, 10**12, (1 << 63) - 1]
    texts = [encrypt(key) for key in keys]
    assert [decrypt(text) for text in texts] == keys
    assert len(set(texts)) == len(keys) and {len(text) for text in texts} == {22}
    assert sorted(texts) != texts, "their order is not that of the keys"
    settings.SECRET_KEY = "of another site"
    assert [encrypt(key) for key in keys] != texts


@pytest.mark.parametrize("text", ["", "7", "not one", "A" * 22, "A" * 44, "\u00e9" * 22])
def test_a_text_that_is_no_key_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        decrypt(text)


def test_a_digest_cannot_be_guessed_by_who_knows_the_text(settings: Any) -> None:
    first = keyed_digest("feed", "7 messages")
    assert first == keyed_digest("feed", "7 messages") != keyed_digest("sidebar", "7 messages")
    settings.SECRET_KEY = "of another site"
    assert keyed_digest("feed", "7 messages") != first
