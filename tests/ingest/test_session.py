"""The URL of a session: where it goes, and as whom."""

from dataclasses import replace

import pytest

from tapestry.core.errors import TapestryError
from tapestry.ingest.session import read_url
from tapestry.servers.account import ANYWHERE, Account


@pytest.mark.parametrize(
    ("url", "account", "folder"),
    [
        (
            "imaps://joe%40x.org:p%2Fw@mail.x.org/Lists/R%20devel",
            Account("imap", "mail.x.org", 993, "tls", "joe@x.org", "p/w"),
            "Lists/R devel",
        ),
        ("imap://joe@mail.x.org", Account("imap", "mail.x.org", 143, "starttls", "joe"), ""),
        ("IMAP://joe@[::1]:1143/", Account("imap", "::1", 1143, "starttls", "joe"), ""),
        ("nntps://news.x.org/comp.*", Account("nntp", "news.x.org", 563, "tls"), "comp.*"),
        ("nntp://news.x.org/a,!b", Account("nntp", "news.x.org", 119, "none"), "a,!b"),
        ("nntp://joe:pw@x.org/a", Account("nntp", "x.org", 119, "starttls", "joe", "pw"), "a"),
    ],
)
def test_a_url_says_where_and_as_whom(url, account, folder):
    assert read_url(url) == (replace(account, allowed=ANYWHERE), folder)


def test_the_address_of_an_account_can_be_read_again_and_holds_no_secret():
    account = Account("imap", "::1", 993, "tls", "joe@x.org/a", "secret")
    assert "secret" not in account.address + repr(account)
    assert read_url(account.address) == (replace(account, secret="", allowed=ANYWHERE), "")


@pytest.mark.parametrize("url", ["imap://", "imap://x.org/INBOX", "nntp://", "nntp://x:port/a"])
def test_a_url_that_says_too_little_is_one_sentence(url):
    with pytest.raises(TapestryError, match="not the URL of"):
        read_url(url)
