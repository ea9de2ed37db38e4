"""Which addresses mail is sent to: none that a mail server could take for something else."""

from __future__ import annotations

import pytest

from tapestry.core.errors import TapestryError
from tapestry.deliver.mail.recipient_address import recipient_address
from tests.support.delivery.unusable_addresses import UNUSABLE


@pytest.mark.parametrize("address", UNUSABLE)
def test_what_is_no_place_for_mail_is_refused_in_a_sentence(address: str) -> None:
    with pytest.raises(TapestryError, match="is not an address that mail can be sent to"):
        recipient_address(address)


@pytest.mark.parametrize(
    "address",
    ["terry@x.org", "O'Brien@x.org", "a+b=c@x.co.uk", "a..b@docomo.ne.jp", "1@xn--bcher-kva.org"],
)
def test_what_people_have_is_taken(address: str) -> None:
    assert recipient_address(address) == address
