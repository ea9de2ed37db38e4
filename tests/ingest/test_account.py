"""Accounts: what a URL says, what may be told to whom, and a polite rate."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tapestry.core.errors import TapestryError
from tapestry.ingest.account import (
    Account,
    RefusedError,
    is_this_machine,
    require_private_connection,
)
from tapestry.ingest.nntp.token_bucket import TokenBucket
from tapestry.ingest.nntp.wildmat import check_pattern, matches
from tapestry.ingest.session import read_url


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
    assert read_url(url) == (account, folder)


def test_the_address_of_an_account_can_be_read_again_and_holds_no_secret():
    account = Account("imap", "::1", 993, "tls", "joe@x.org/a", "secret")
    assert "secret" not in account.address + repr(account)
    assert read_url(account.address) == (replace(account, secret=""), "")


@pytest.mark.parametrize("url", ["imap://", "imap://x.org/INBOX", "nntp://", "nntp://x:port/a"])
def test_a_url_that_says_too_little_is_one_sentence(url):
    with pytest.raises(TapestryError, match="not the URL of"):
        read_url(url)


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST.", "127.0.0.1", "127.8.9.1", "::1"])
def test_this_machine_may_be_told_anything(host):
    assert is_this_machine(host)
    require_private_connection(Account("imap", host, 143, "none", "joe", "secret"))


@pytest.mark.parametrize("host", ["x.org", "10.0.0.1", "localhost.x.org", "127.0.0.1.x.org", ""])
def test_others_are_told_no_secret_in_the_clear(host):
    require_private_connection(Account("nntp", host, 119, "none"))
    with pytest.raises(RefusedError, match="for all to read"):
        require_private_connection(Account("imap", host, 143, "none", "joe", "secret"))


@pytest.mark.parametrize(
    ("patterns", "group", "fits"),
    [
        ("comp.*", "comp.misc", True),
        ("comp.*", "comp", False),
        ("comp.?", "comp.c", True),
        ("comp.* !comp.sys.*", "comp.sys.mac", False),
        ("comp.* !comp.sys.* comp.sys.mac", "comp.sys.mac", True),
        ("!comp.* comp.misc", "comp.misc", True),
        ("a+b.(c)", "a+b.(c)", True),
        ("a.b", "axb", False),
    ],
)
def test_the_last_pattern_that_fits_decides(patterns, group, fits):
    assert matches(patterns.split(), group) is fits


@pytest.mark.parametrize("wanted", ["", "a b", "a,b", "a\r\nQUIT", "a\x00", "!", "x" * 500])
def test_what_is_no_pattern_is_refused(wanted):
    with pytest.raises(TapestryError, match="neither a newsgroup nor a pattern"):
        check_pattern(wanted)


def test_a_handful_goes_at_once_and_then_so_many_in_a_second():
    now, slept = 0.0, []

    def sleep(seconds):
        nonlocal now
        slept.append(seconds)
        now += seconds

    bucket = TokenBucket(10, burst=5, clock=lambda: now, sleep=sleep)
    for _ in range(5):
        bucket.acquire()
    assert slept == []
    for _ in range(20):
        bucket.acquire()
    assert now == pytest.approx(2.0)
    now += 60
    slept.clear()
    for _ in range(5):
        bucket.acquire()
    assert slept == []
