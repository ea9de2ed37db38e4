"""Pulling from a real news server: groups, patterns, cross-posts, expiry, numbering anew."""

from __future__ import annotations

import time
import warnings

import pytest
import trustme

from tapestry.core.errors import TapestryError
from tapestry.ingest.nntp.session import open_nntp
from tapestry.ingest.pull import pull_account
from tapestry.ingest.sync_state import InMemorySyncStates
from tapestry.servers.account import ANYWHERE, Account
from tapestry.tables.delta.log import Tables
from tapestry.tables.read.messages import message
from tests.support.clocks import MemoryClock
from tests.support.intake import ingest, ingest_target
from tests.support.kept_memory import KeptMemory
from tests.support.servers.cutting_proxy import CuttingProxy
from tests.support.servers.inn import PASSWORD, USER, running_inn

pytestmark = pytest.mark.live

PUBLIC = ("public",)
AUTHORITY = trustme.CA()


@pytest.fixture(scope="module")
def running():
    # A server of its own: this one has a certificate.
    with running_inn(AUTHORITY) as server:
        yield server


@pytest.fixture
def server(running):
    """The server without any article: not for what is the same with those of other tests."""
    running.begin_anew()
    return running


@pytest.fixture
def tables(tmp_path):
    return Tables(tmp_path / "tables")


@pytest.fixture
def clock():
    return MemoryClock()


@pytest.fixture
def authority(tmp_path, monkeypatch):
    file = tmp_path / "authority.pem"
    AUTHORITY.cert_pem.write_to_path(str(file))
    monkeypatch.setenv("SSL_CERT_FILE", str(file))


def article(n, groups="comp.misc", body="Hello"):
    head = f"Message-ID: <{n}@x.org>\r\nFrom: Joe <joe@x.org>\r\nSubject: number {n}\r\n"
    return f"{head}Newsgroups: {groups}\r\n\r\n{body}\r\n".encode()


def counts(report):
    return report.read, report.added, report.duplicates


def ids(tables):
    rows = tables.open("messages").to_pyarrow_table(columns=["msgid"])
    return sorted(rows.column("msgid").to_pylist())


def test_a_group_is_taken_in_once(server, tables, clock):
    server.post(*map(article, range(5)))
    url = server.url("comp.misc")
    assert counts(ingest(url, tables, clock)) == (5, 5, 0)
    assert counts(ingest(url, tables, clock)) == (0, 0, 0)
    server.post(article(5))
    assert counts(ingest(url, tables, clock)) == (1, 1, 0)
    row = message(tables, "3@x.org", PUBLIC)
    assert (row.message.subject, row.message.newsgroups) == ("number 3", ("comp.misc",))
    assert row.message.source == f"nntp://127.0.0.1:{server.port}/comp.misc"


def test_an_article_too_large_comes_in_by_its_beginning(server, tables, clock, monkeypatch):
    large = article(1, body="\r\n".join(["A" * 70] * 500))
    server.post(article(0), large, article(2))
    monkeypatch.setattr("tapestry.ingest.large_message.LARGEST", 20_000)
    monkeypatch.setattr("tapestry.ingest.large_message.BEGINNING", 2_000)
    assert counts(ingest(server.url("comp.misc"), tables, clock)) == (3, 3, 0)
    kept = message(tables, "1@x.org", PUBLIC).message
    assert kept.size >= len(large) and 1000 < len(kept.body) < 2_000
    assert message(tables, "2@x.org", PUBLIC).message.body == "Hello\n"


def test_what_is_posted_arrives_byte_by_byte(server, tables, clock):
    body = "..two dots\r\n.\r\n. one\r\n" + "long" * 5000 + "\r\nGrüße"
    server.post(article(1, body=body))
    ingest(server.url("comp.misc"), tables, clock)
    row = message(tables, "1@x.org", PUBLIC)
    assert row.message.body == body.replace("\r\n", "\n") + "\n"


def test_groups_are_named_by_pattern(server, tables, clock):
    posted = ["comp.misc", "comp.sys.misc", "comp.sys.next", "test.one"]
    server.post(*(article(n, groups) for n, groups in enumerate(posted)))
    assert counts(ingest(server.url("comp.sys.*"), tables, clock)) == (2, 2, 0)
    assert ids(tables) == ["1@x.org", "2@x.org"]
    assert counts(ingest(server.url("comp.*"), tables, clock)) == (1, 1, 0)


def test_patterns_can_leave_groups_out(server):
    account = Account("nntp", "127.0.0.1", server.port, "none", allowed=ANYWHERE)
    with open_nntp(account) as line:
        assert line.expand(["comp.*", "!comp.sys.*"]) == ["comp.misc"]
        assert line.expand(["*", "!comp.*", "!control*", "!junk"]) == ["test.one"]
        assert line.expand(["test.none"]) == ["test.none"]
        assert [listed.messages for listed in line.list_folders(["test.*"])] == [0]


def test_a_cross_post_is_recorded_once_with_all_its_groups(server, tables, clock):
    server.post(article(1, "comp.misc,comp.sys.misc,test.one"), article(2, "test.one"))
    account = Account("nntp", "127.0.0.1", server.port, "none", allowed=ANYWHERE)
    target = ingest_target(tables, clock, "public")
    reports = list(pull_account(account, ["comp.*", "test.*"], target, InMemorySyncStates()))
    # It was fetched once, too.
    assert [(r.folder, r.tally.read, r.tally.added) for r in reports] == [
        ("comp.misc", 1, 1),
        ("comp.sys.misc", 0, 0),
        ("comp.sys.next", 0, 0),
        ("test.one", 1, 1),
    ]
    row = message(tables, "1@x.org", PUBLIC)
    assert row.message.newsgroups == ("comp.misc", "comp.sys.misc", "test.one")
    reports = list(pull_account(account, ["comp.*", "test.*"], target, InMemorySyncStates()))
    assert {r.tally.read for r in reports} == {0}


def test_expired_articles_are_passed_by(server, tables, clock):
    server.post(*map(article, range(6)))
    for n in (0, 3, 5):
        server.remove(f"{n}@x.org")
    url = server.url("comp.misc")
    assert counts(ingest(url, tables, clock)) == (3, 3, 0)
    for n in (1, 4):
        server.remove(f"{n}@x.org")
    assert counts(ingest(url, tables, clock)) == (0, 0, 0)
    server.post(article(6))
    assert counts(ingest(url, tables, clock)) == (1, 1, 0)
    assert ids(tables) == [f"{n}@x.org" for n in (1, 2, 4, 6)]


@pytest.mark.parametrize("then", [3, 8, 12], ids=["fewer", "as many", "more"])
def test_a_server_that_numbers_anew_is_read_from_its_start(server, tables, clock, then):
    target, memory = ingest_target(tables, clock, "public"), InMemorySyncStates()
    account = Account("nntp", "127.0.0.1", server.port, "none", allowed=ANYWHERE)

    def pulled():
        (report,) = pull_account(account, ["comp.misc"], target, memory)
        return report.tally.read, report.tally.added

    server.post(*map(article, range(8)))
    assert pulled() == (8, 8)
    server.begin_anew()
    server.post(*(article(n) for n in range(7, 7 + then)))
    assert pulled() == (then, then - 1)
    assert pulled() == (0, 0)
    server.post(article("last"))
    assert pulled() == (1, 1)
    assert len(ids(tables)) == 8 + then


@pytest.mark.parametrize("turns", [1, pytest.param(3, marks=pytest.mark.long)])
def test_without_a_memory_fewer_numbers_tell_of_numbering_anew(server, tables, clock, turns):
    server.post(*map(article, range(5)))
    url = server.url("comp.misc")
    ingest(url, tables, clock)
    for turn in range(turns):
        server.begin_anew()
        server.post(article(f"anew-{turn}"))
        assert ingest(url, tables, clock).added == 1
        assert ingest(url, tables, clock).read == 0
        server.post(*(article(f"{turn}-{n}") for n in range(turn + 2)))
        assert ingest(url, tables, clock).added == turn + 2


def test_a_server_that_begins_anew_with_the_same_articles_but_fewer_is_noticed(
    server, tables, clock
):
    target, memory = ingest_target(tables, clock, "public"), InMemorySyncStates()
    account = Account("nntp", "127.0.0.1", server.port, "none", allowed=ANYWHERE)
    server.post(*map(article, range(8)))
    list(pull_account(account, ["comp.misc"], target, memory))
    server.begin_anew()
    server.post(*map(article, [0, 1, 2, 3, "new"]))
    (report,) = pull_account(account, ["comp.misc"], target, memory)
    assert (report.tally.read, report.tally.added) == (5, 1)


def test_each_audience_takes_in_its_own(server, tables, clock):
    server.post(article(1))
    url = server.url("comp.misc")
    assert ingest(url, tables, clock).added == 1
    assert ingest(url, tables, clock, audience="user:joe").added == 1


def test_an_empty_group_is_no_error(server, tables, clock):
    assert counts(ingest(server.url("test.one"), tables, clock)) == (0, 0, 0)
    server.post(article(1, "test.one"))
    server.remove("1@x.org")
    assert counts(ingest(server.url("test.one"), tables, clock)) == (0, 0, 0)


def test_an_unknown_group_is_one_sentence(running, tables, clock):
    with pytest.raises(TapestryError, match=r"has no newsgroup comp\.none"):
        ingest(running.url("comp.none"), tables, clock)


@pytest.mark.parametrize("groups", ["", "a b", "comp.misc%0D%0AQUIT"])
def test_what_is_no_group_is_one_sentence(running, tables, clock, groups):
    with pytest.raises(TapestryError, match=r"Which newsgroups|neither a newsgroup"):
        ingest(running.url(groups), tables, clock)


@pytest.mark.parametrize("security", ["tls", "starttls"])
def test_one_logs_in_over_tls(server, tables, clock, authority, security):
    port = server.tls_port if security == "tls" else server.port
    account = Account("nntp", "127.0.0.1", port, security, USER, PASSWORD, allowed=ANYWHERE)
    with open_nntp(account) as line:
        assert line.client.sock.version().startswith("TLS")
        assert "secret.plans" in line.expand(["*"])
        line.client.post(article("secret", "secret.plans"))
        reports = pull_account(
            account, ["secret.*"], ingest_target(tables, clock, "user:joe"), InMemorySyncStates()
        )
        assert [report.tally.added for report in reports] == [1]


def test_a_reader_who_has_not_logged_in_does_not_see_the_groups_of_members(running, tables, clock):
    with pytest.raises(TapestryError) as caught:
        ingest(running.url("secret.plans"), tables, clock)
    assert "has no newsgroup" in caught.value.message or "does not let" in caught.value.message


def test_a_wrong_password_is_one_sentence(running):
    account = Account("nntp", "127.0.0.1", running.port, "none", USER, "guess", allowed=ANYWHERE)
    refused = pytest.raises(TapestryError, match="refused the user name or password")
    with refused as caught, open_nntp(account):
        pass
    assert "guess" not in caught.value.render()


def test_a_certificate_that_nobody_vouches_for_is_refused(running):
    account = Account(
        "nntp", "127.0.0.1", running.tls_port, "tls", USER, PASSWORD, allowed=ANYWHERE
    )
    with pytest.raises(TapestryError, match="is not to be trusted"), open_nntp(account):
        pass


def test_a_certificate_for_another_name_is_refused(running, authority):
    account = Account(
        "nntp", "localhost", running.tls_port, "tls", USER, PASSWORD, allowed=ANYWHERE
    )
    with pytest.raises(TapestryError, match="is not to be trusted"), open_nntp(account):
        pass


def test_a_port_where_no_news_is_served_is_one_sentence(tables, clock):
    with pytest.raises(TapestryError, match="cannot be reached: Connection refused"):
        ingest("nntp://127.0.0.1:1/comp.misc", tables, clock)


def test_an_article_over_which_the_line_always_breaks_is_asked_for_again_later(
    server, tables, clock, monkeypatch
):
    monkeypatch.setattr("tapestry.ingest.pull.FIRST_PAUSE", 0.01)
    monkeypatch.setattr("tapestry.ingest.unavailable.ASK_AGAIN", 2.0)
    server.post(article(0), article(1, body="long line\r\n" * 20_000), article(2))
    line, memory = CuttingProxy(server.port), KeptMemory()
    account = Account("nntp", "127.0.0.1", line.port, "none", allowed=ANYWHERE)

    def pull():
        list(pull_account(account, ["comp.misc"], ingest_target(tables, clock, "public"), memory))

    try:
        line.cuts = [100_000] * 20
        pull()
        assert ids(tables) == ["0@x.org", "2@x.org"]
        line.cuts = []
        until = time.monotonic() + 120
        while len(ids(tables)) < 3:
            assert time.monotonic() < until
            time.sleep(0.3)
            pull()
        assert memory.load("comp.misc")["withheld"]["missing"] == {}
    finally:
        line.close()


def test_the_library_warns_nobody(running, tables, clock):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ingest(running.url("comp.misc"), tables, clock)
