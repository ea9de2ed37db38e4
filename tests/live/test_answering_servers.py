r"""Real servers that a person's mail goes to: SMTP with a password, the folder \Sent, news."""

from __future__ import annotations

import ssl

import pytest
import trustme

from tapestry.compose.transmission import post, transmit
from tapestry.core.clock import DAY, to_instant
from tapestry.core.errors import TapestryError
from tapestry.deliver.imap.sent_folder import keep_sent
from tapestry.servers import connection
from tapestry.servers.account import ANYWHERE, Account, RefusedError
from tapestry.servers.connection import UnreachableError
from tapestry.servers.smtp import connected
from tests.support.servers.dovecot import PASSWORD, USER, running_dovecot
from tests.support.servers.smtp import running_smtp

pytestmark = pytest.mark.live

AUTHORITY = trustme.CA()
LOOPBACK = ("127.0.0.0/8",)
RAW = b"Message-ID: <1@x.org>\r\nFrom: a@x.org\r\nSubject: hi\r\n\r\nHello\r\n"
SENT_AT = 20_000 * DAY


@pytest.fixture
def trusted(tmp_path, monkeypatch):
    AUTHORITY.cert_pem.write_to_path(str(tmp_path / "authority.pem"))
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authority.pem"))
    monkeypatch.setattr(connection, "SECONDS", 60.0)


@pytest.fixture
def soon(monkeypatch):
    """What fails is told after two seconds."""
    monkeypatch.setattr(connection, "SECONDS", 2.0)


def context() -> ssl.SSLContext:
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    AUTHORITY.issue_cert("127.0.0.1").configure_cert(made)
    return made


def smtp_account(port, security, secret="s3cret", allowed=LOOPBACK) -> Account:
    return Account("smtp", "127.0.0.1", port, security, "terry", secret, allowed=allowed)


@pytest.mark.parametrize(
    ("security", "option"), [("tls", "ssl_context"), ("starttls", "tls_context")]
)
def test_mail_is_submitted_over_tls_with_a_password(trusted, security, option):
    with running_smtp("terry", "s3cret", **{option: context()}) as server:
        with connected(smtp_account(server.port, security), 60) as client:
            said = transmit(client, "a@x.org", ["b@x.org", "c@x.org"], RAW)
        assert said.accepted == ("b@x.org", "c@x.org") and not said.refused
        assert server.taken[0].rstrip() == RAW.rstrip()
        with (
            pytest.raises(RefusedError, match="refused the user name or password of terry"),
            connected(smtp_account(server.port, security, "wrong"), 60),
        ):
            pass


def test_this_machine_needs_no_tls(trusted):
    with running_smtp("terry", "s3cret") as server:
        account = Account(
            "smtp", "127.0.0.1", server.port, "none", "terry", "s3cret", allowed=LOOPBACK
        )
        with connected(account, 60) as client:
            assert transmit(client, "a@x.org", ["b@x.org"], RAW).accepted


def test_what_is_not_public_is_not_connected_to(trusted, soon):
    with running_smtp("terry", "s3cret") as server:
        account = smtp_account(server.port, "none", allowed=())
        with pytest.raises(UnreachableError), connected(account, 5):
            pass
        assert server.connections == 0


def test_a_certificate_of_another_authority(trusted, soon):
    other = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("127.0.0.1").configure_cert(other)
    with (
        running_smtp("terry", "s3cret", ssl_context=other) as server,
        pytest.raises(TapestryError),
        connected(smtp_account(server.port, "tls", allowed=ANYWHERE), 5),
    ):
        pass


def test_what_was_sent_is_put_into_the_folder_once():
    with running_dovecot(sent="Gesendet & mehr") as server:
        account = Account(
            "imap", "127.0.0.1", server.port, "none", USER, PASSWORD, allowed=ANYWHERE
        )
        for _ in range(2):
            assert keep_sent(account, RAW, SENT_AT, 60) == "Gesendet & mehr"
        with server.session() as client:
            client.select_folder("Gesendet & mehr")
            (uid,) = client.search()
            found = client.fetch([uid], ["FLAGS", "INTERNALDATE", "BODY.PEEK[]"])[uid]
        assert set(found[b"FLAGS"]) - {rb"\Recent"} == {rb"\Seen"}
        assert found[b"BODY[]"] == RAW
        assert to_instant(found[b"INTERNALDATE"].astimezone()) == SENT_AT


def test_a_mailbox_without_such_a_folder_gets_nothing(dovecot):
    account = Account("imap", "127.0.0.1", dovecot.port, "none", USER, PASSWORD, allowed=ANYWHERE)
    assert keep_sent(account, RAW, SENT_AT, 60) is None


def test_news_is_posted_once(inn):
    account = Account("nntp", "127.0.0.1", inn.port, "none", allowed=ANYWHERE)
    article = RAW.replace(b"1@x.org", b"post@x.org") + b".dots\r\n..\r\n"
    article = article.replace(b"Subject", b"Newsgroups: test.one\r\nSubject")
    for _ in range(2):
        assert post(account, article, 60).accepted
    with inn.session() as client:
        assert client.group("test.one")[1] == 1
        lines = client.article("<post@x.org>")[1].lines
        assert lines[-3:] == [b"Hello", b".dots", b".."]
    nowhere = article.replace(b"test.one", b"no.such").replace(b"post@", b"other@")
    said = post(account, nowhere, 60)
    assert not said.accepted and said.is_final and "441" in said.error
