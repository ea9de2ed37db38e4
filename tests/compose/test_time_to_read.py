"""Whatever somebody writes is read in time that is linear in its length, or nearly so."""

from __future__ import annotations

from contextlib import suppress
from time import process_time

import pytest

from tapestry.compose.addressing import list_post
from tapestry.compose.recipients import LONGEST, Recipient, read_recipients
from tapestry.core.errors import TapestryError


def test_a_header_of_a_stranger() -> None:
    begun = process_time()
    assert list_post({"list-post": ["<mailto:" + "a" * 64_000]}) is None
    assert process_time() - begun < 5


def test_fields_of_recipients() -> None:
    begun = process_time()
    for text in ("a" + " " * (LONGEST - 2) + "b", "<a" + " " * 19_000 + "b<", '"\\' * 9000):
        with suppress(TapestryError):
            read_recipients(text)
    assert process_time() - begun < 4


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('"a <b>" <c@x.org>', "a <b>"),
        ("Mary  < c@x.org > ", "Mary"),
        ("<c@x.org>", ""),
        ("c@x.org (Mary Jones)", "Mary Jones"),
    ],
)
def test_names_and_addresses_are_told_apart(text: str, name: str) -> None:
    assert read_recipients(text) == (Recipient("c@x.org", name),)
