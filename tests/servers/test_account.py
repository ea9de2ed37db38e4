"""Accounts: what may be told to whom."""

import imaplib
import re

import pytest

from tapestry.core.errors import OwnFaultError
from tapestry.ingest.imap.session import open_imap
from tapestry.servers import imap
from tapestry.servers.account import (
    Account,
    ConnectionLostError,
    RefusedError,
    is_this_machine,
    protocol_explained,
    reading_reply,
    require_private_connection,
)
from tests.support.servers.fake_servers import FakeImap, letter


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST.", "127.0.0.1", "127.8.9.1", "::1"])
def test_this_machine_may_be_told_anything(host):
    assert is_this_machine(host)
    require_private_connection(Account("imap", host, 143, "none", "joe", "secret"))


@pytest.mark.parametrize("host", ["x.org", "10.0.0.1", "localhost.x.org", "127.0.0.1.x.org", ""])
def test_others_are_told_no_secret_in_the_clear(host):
    require_private_connection(Account("nntp", host, 119, "none"))
    with pytest.raises(RefusedError, match="for all to read"):
        require_private_connection(Account("imap", host, 143, "none", "joe", "secret"))


JOE = Account("imap", "x.org", 993, "tls", "joe", "s3cret")


def explained():
    return protocol_explained(JOE, imaplib.IMAP4.error, "an IMAP server")


@pytest.mark.parametrize("error", [ValueError("of s3cret"), TypeError(), LookupError(), KeyError()])
def test_an_error_of_our_own_is_said_as_one_and_its_traceback_is_logged(error, caplog):
    def our_own_function():
        raise error

    words = "a fault of this site and not of the server"
    with pytest.raises(OwnFaultError, match=words) as told, explained():
        our_own_function()
    number = re.search(r"number (\w+)", told.value.message)[1]
    assert number in caplog.text and type(error).__name__ in caplog.text
    assert "our_own_function" in caplog.text and "s3cret" not in caplog.text


class Odd(FakeImap):
    """Numbers messages in words."""

    def hook(self, say, command, argument, place):
        if command != "UID SEARCH":
            return None
        say("* SEARCH s3cret", "TAG OK done")
        return True


def test_what_a_library_cannot_read_is_the_servers_fault_and_its_traceback_is_logged(caplog):
    with (
        Odd({"INBOX": {1: letter(1)}}) as server,
        pytest.raises(ConnectionLostError, match="answers with what is not IMAP") as told,
        open_imap(server.account) as session,
        imap.explained(server.account),
    ):
        session.examine("INBOX")
        session.client.search("ALL")
    is_logged(told.value, caplog, "parse_message_list")


def is_logged(error, caplog, frame):
    number = re.search(r"under (\w+)", error.hint)[1]
    assert number in caplog.text
    assert frame in caplog.text and "s3cret" not in caplog.text


def test_what_we_cannot_read_of_a_reply_is_the_servers_fault(caplog):
    words = "answers with what is not IMAP"
    response = {b"UIDVALIDITY": JOE.secret.encode()}
    with pytest.raises(ConnectionLostError, match=words) as told, explained(), reading_reply():
        int(response[b"UIDVALIDITY"])
    is_logged(told.value, caplog, "int(response")
