"""The line to an IMAP server: who is let in, over what, and that nothing is left behind."""

from __future__ import annotations

import os
import socket
import threading
import time
from contextlib import contextmanager

import pytest
import trustme
from imapclient import IMAPClient

from tapestry.core.errors import TapestryError
from tapestry.ingest.imap.session import open_imap
from tapestry.ingest.pull import pull_account
from tapestry.ingest.sync_state import InMemorySyncStates
from tapestry.servers.account import ANYWHERE, Account, ConnectionLostError, RefusedError
from tapestry.tables.delta.log import Tables
from tests.support.clocks import MemoryClock
from tests.support.intake import ingest_target
from tests.support.kept_memory import KeptMemory
from tests.support.servers.cutting_proxy import CuttingProxy
from tests.support.servers.dovecot import (
    PASSWORD,
    PASSWORD_ABROAD,
    USER,
    USER_ABROAD,
    running_dovecot,
)
from tests.support.servers.provider import running_provider

pytestmark = pytest.mark.live

AUTHORITY = trustme.CA()
OTHER_AUTHORITY = trustme.CA()


@pytest.fixture(scope="module")
def provider():
    with running_provider(USER) as running:
        yield running


@pytest.fixture(scope="module")
def server(provider):
    # A server of its own: this one has a certificate, and asks the provider about tokens.
    with running_dovecot(AUTHORITY, f"{provider.url}/check?token=") as running:
        yield running


@pytest.fixture
def authority(tmp_path, monkeypatch):
    def trust(which):
        file = tmp_path / "authority.pem"
        which.cert_pem.write_to_path(str(file))
        monkeypatch.setenv("SSL_CERT_FILE", str(file))

    trust(AUTHORITY)
    return trust


@pytest.fixture
def folder(request):
    return request.node.name.partition("[")[0]


@pytest.fixture
def target(tmp_path):
    return ingest_target(Tables(tmp_path / "tables"), MemoryClock(), "user:alice")


@pytest.fixture
def line(server):
    proxy = CuttingProxy(server.port)
    yield proxy
    proxy.close()


def account(port, security="none", secret=PASSWORD, method="password", host="127.0.0.1"):
    return Account("imap", host, port, security, USER, secret, method, allowed=ANYWHERE)


def mail(n, size=0):
    head = f"Message-ID: <{n}@x.org>\r\nFrom: Joe <joe@x.org>\r\nSubject: number {n}\r\n\r\n"
    return f"{head}{'x' * 70}\r\n".encode() * 1 + b"y" * size


def pull(account, folder, target, memory=None):
    (report,) = pull_account(account, [folder], target, memory or InMemorySyncStates())
    if report.error is not None:
        raise report.error
    return report.tally.read, report.tally.added


def ids(target):
    rows = target.tables.open("messages").to_pyarrow_table(columns=["msgid"])
    return sorted(rows.column("msgid").to_pylist())


# Who is let in


@pytest.mark.parametrize("security", ["tls", "starttls"])
@pytest.mark.parametrize("method", ["password", "xoauth2"])
def test_one_is_let_in_over_tls(server, provider, authority, security, method):
    provider.access.add("good")
    secret = PASSWORD if method == "password" else "good"
    port = server.tls_port if security == "tls" else server.port
    with open_imap(account(port, security, secret, method)) as opened:
        assert opened.client.socket().version().startswith("TLS")
        assert "INBOX" in [listed.name for listed in opened.list_folders()]


@pytest.mark.parametrize("user", [USER_ABROAD, USER])
def test_names_and_passwords_may_be_of_any_letters(server, user):
    account = Account(
        "imap", "127.0.0.1", server.port, "none", user, PASSWORD_ABROAD, allowed=ANYWHERE
    )
    if user == USER_ABROAD:
        with open_imap(account) as opened:
            assert opened.list_folders()
        return
    refused = pytest.raises(RefusedError, match="refused the user name or password")
    with refused, open_imap(account):
        pass


@pytest.mark.parametrize(
    ("secret", "method", "what"),
    [("guess", "password", "user name or password"), ("guess", "xoauth2", "token")],
)
def test_a_wrong_secret_is_refused_in_one_sentence(server, authority, secret, method, what):
    refused = pytest.raises(RefusedError, match=f"refused the {what} of {USER}")
    with refused as caught, open_imap(account(server.tls_port, "tls", secret, method)):
        pass
    assert secret not in caught.value.render()
    # Nor is it in what a log would show of where it came from.
    assert caught.value.__cause__ is None


@pytest.mark.parametrize(("security", "port"), [("tls", "tls_port"), ("starttls", "port")])
def test_a_certificate_of_somebody_elses_is_refused(server, authority, security, port):
    authority(OTHER_AUTHORITY)
    refused = pytest.raises(RefusedError, match=r"certificate .* is not to be trusted")
    with refused, open_imap(account(getattr(server, port), security)):
        pass


def test_a_certificate_for_another_name_is_refused(server, authority):
    refused = pytest.raises(RefusedError, match=r"certificate .* is not to be trusted")
    with refused, open_imap(account(server.tls_port, "tls", host="localhost")):
        pass


def test_the_password_is_never_sent_in_the_clear_to_another_machine(server, monkeypatch):
    # What counts is the name: to anybody but this machine the line may be overheard.
    monkeypatch.setattr("tapestry.servers.account.is_this_machine", lambda host: False)
    # Another of its own: its log is read from the start.
    with running_dovecot() as plain:
        for security in ("none", "starttls"):
            refused = pytest.raises(RefusedError, match="the password would travel for all to read")
            with refused, open_imap(account(plain.port, security)):
                pass
        assert "alice" not in (plain.home / "dovecot.log").read_text()


# What is left behind: nothing


def test_no_flag_is_set_and_nothing_is_moved(server, folder, target):
    server.put(folder, *map(mail, range(3)))

    def state():
        with server.session() as client:
            status = client.folder_status(folder, ["UIDNEXT", "HIGHESTMODSEQ", "RECENT", "UNSEEN"])
            client.select_folder(folder, readonly=True)
            return status, client.get_flags(client.search())

    before = state()
    assert pull(account(server.port), folder, target) == (3, 3)
    assert state() == before


def test_what_was_not_changed_is_known_by_one_number(server, line, folder, target):
    server.put(folder, *map(mail, range(50)))
    memory = InMemorySyncStates()
    assert pull(account(line.port), folder, target, memory) == (50, 50)
    line.passed = 0
    assert pull(account(line.port), folder, target, memory) == (0, 0)
    unchanged = line.passed
    line.passed = 0
    assert pull(account(line.port), folder, target) == (0, 0)
    assert unchanged < line.passed
    server.put(folder, mail(50))
    assert pull(account(line.port), folder, target, memory) == (1, 1)


def test_a_change_of_flags_brings_nothing_again(server, folder, target):
    server.put(folder, *map(mail, range(5)))
    memory = InMemorySyncStates()
    pull(account(server.port), folder, target, memory)
    with server.session() as client:
        client.select_folder(folder)
        client.add_flags(client.search(), [b"\\Seen"])
    assert pull(account(server.port), folder, target, memory) == (0, 0)


# What the server cannot give


def test_a_message_that_the_server_cannot_read_does_not_hold_up_the_others(
    server, folder, target, monkeypatch
):
    server.put(folder, *map(mail, range(5)))
    files = [file for file in (server.home / "mail").rglob("*S=*") if folder in str(file)]
    (broken,) = [file for file in files if b"<2@x.org>" in file.read_bytes()]
    memory = KeptMemory()
    monkeypatch.setattr("tapestry.ingest.pull.FIRST_PAUSE", 0.01)
    monkeypatch.setattr("tapestry.ingest.unavailable.ASK_AGAIN", 2.0)
    broken.chmod(0)
    if os.geteuid() == 0:
        os.chown(broken, 0, 0)
    pull(account(server.port), folder, target, memory)
    assert ids(target) == [f"{n}@x.org" for n in (0, 1, 3, 4)]
    # Once somebody has mended it, it comes as well.
    server.put(folder, mail(5))
    assert pull(account(server.port), folder, target, memory) == (1, 1)
    (broken,) = (server.home / "mail").rglob(f"{broken.name.partition(':')[0]}*")
    broken.chmod(0o644)
    wait_for_all(6, server.port, folder, target, memory)


def test_a_message_whose_size_the_server_cannot_tell_does_not_hold_up_the_others(
    server, folder, target, monkeypatch
):
    monkeypatch.setattr("tapestry.ingest.pull.FIRST_PAUSE", 0.01)
    monkeypatch.setattr("tapestry.ingest.unavailable.ASK_AGAIN", 2.0)
    server.put(folder, mail(0))
    new = server.home / "mail" / USER / f".{folder}" / "new"
    # Where a file's name does not say its size, Dovecot must open it, and hangs up if it cannot.
    for n in (1, 2):
        file = new / f"170000000{n}.M{n}P1.host"
        file.write_bytes(mail(n))
        file.chmod(0o644)
    broken = new / "1700000001.M1P1.host"
    broken.chmod(0)
    memory = KeptMemory()
    pull(account(server.port), folder, target, memory)
    assert ids(target) == ["0@x.org", "2@x.org"]
    (broken,) = (server.home / "mail").rglob("1700000001.M1P1.host*")
    broken.chmod(0o644)
    wait_for_all(3, server.port, folder, target, memory)


def wait_for_all(count, port, folder, target, memory):
    until = time.monotonic() + 120
    while len(ids(target)) < count:
        assert time.monotonic() < until
        time.sleep(0.3)
        pull(account(port), folder, target, memory)
    assert ids(target) == [f"{n}@x.org" for n in range(count)]


def test_a_message_over_which_the_line_always_breaks_is_asked_for_again_later(
    server, line, folder, target, monkeypatch
):
    monkeypatch.setattr("tapestry.ingest.pull.FIRST_PAUSE", 0.01)
    monkeypatch.setattr("tapestry.ingest.unavailable.ASK_AGAIN", 2.0)
    server.put(folder, mail(0), mail(1, size=200_000), mail(2))
    memory = KeptMemory()
    line.cuts = [100_000] * 20
    pull(account(line.port), folder, target, memory)
    assert ids(target) == ["0@x.org", "2@x.org"]
    line.cuts = []
    wait_for_all(3, line.port, folder, target, memory)


def test_a_line_that_is_always_cut_at_once_is_given_up(server, line, folder, target, monkeypatch):
    monkeypatch.setattr("tapestry.ingest.pull.FIRST_PAUSE", 0.01)
    server.put(folder, mail(0))
    line.cuts = [1500, *[700] * 20]
    with pytest.raises(ConnectionLostError, match="broke off"):
        pull(account(line.port), folder, target)
    assert len(line.cuts) > 10


@contextmanager
def saying(*lines):
    """A server that says this to each who calls, a line for a line, and hangs up."""

    def talk(caller):
        with caller, caller.makefile("rb") as asked:
            for line in lines:
                caller.sendall(line)
                if not asked.readline():
                    return

    def serve(listener):
        while True:
            try:
                caller, _address = listener.accept()
            except OSError:
                return
            caller.settimeout(5)
            try:
                talk(caller)
            except OSError:
                continue

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve, args=(listener,), daemon=True)
        thread.start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)


HELLO = b"* OK [CAPABILITY IMAP4rev1] hello\r\n"


@pytest.mark.parametrize(
    "lines",
    [
        [b""],
        [b"SSH-2.0-OpenSSH\r\n"],
        [b"HTTP/1.1 400 Bad Request\r\n\r\n"],
        [b"* BYE go away\r\n"],
        [b"\xff\xfe\x00\r\n"],
        [HELLO],
        [HELLO, b"* BYE\r\n"],
        [HELLO, b"* \xff {\r\n"],
        [HELLO, b"* OK {99999999999999999999}\r\n"],
        [HELLO, b"x" * 2_000_000],
    ],
)
def test_whatever_a_server_says_the_error_is_one_sentence(lines):
    with saying(*lines) as port, pytest.raises(TapestryError), open_imap(account(port), 2):
        pass


def test_a_server_that_says_nothing_is_given_up():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        refused = pytest.raises(ConnectionLostError, match="does not answer")
        with refused, open_imap(account(port), 2):
            pass


def test_the_library_logs_no_password(server, caplog):
    with caplog.at_level("DEBUG"), open_imap(account(server.port)) as opened:
        opened.list_folders()
    assert PASSWORD not in caplog.text
    assert IMAPClient.__name__ not in caplog.text
