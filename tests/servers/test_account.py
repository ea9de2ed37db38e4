"""Accounts: what may be told to whom."""

import pytest

from tapestry.servers.account import (
    Account,
    RefusedError,
    is_this_machine,
    require_private_connection,
)


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST.", "127.0.0.1", "127.8.9.1", "::1"])
def test_this_machine_may_be_told_anything(host):
    assert is_this_machine(host)
    require_private_connection(Account("imap", host, 143, "none", "joe", "secret"))


@pytest.mark.parametrize("host", ["x.org", "10.0.0.1", "localhost.x.org", "127.0.0.1.x.org", ""])
def test_others_are_told_no_secret_in_the_clear(host):
    require_private_connection(Account("nntp", host, 119, "none"))
    with pytest.raises(RefusedError, match="for all to read"):
        require_private_connection(Account("imap", host, 143, "none", "joe", "secret"))
