"""Servers that speak in bytes that are no text, or repeat the password they were told."""

from __future__ import annotations

import traceback
from base64 import b64encode
from dataclasses import replace

import pytest

from tapestry.core.errors import TapestryError
from tapestry.ingest.session import open_session
from tapestry.servers.account import ConnectionLostError
from tapestry.tables.delta.log import Tables
from tests.support.clocks import MemoryClock
from tests.support.intake import ingest_target
from tests.support.kept_memory import KeptMemory
from tests.support.servers.fake_servers import FakeImap, FakeNews, letter
from tests.support.servers.pulled import ids, pulled

pytestmark = pytest.mark.live

SECRET = "s3cret"
TOKEN = b64encode(f"user=joe\1auth=Bearer {SECRET}\1\1".encode()).decode()


@pytest.fixture
def target(tmp_path):
    return ingest_target(Tables(tmp_path / "tables"), MemoryClock(), "user:alice")


# Bytes that are no text


def test_an_answer_that_is_not_utf8_can_be_stored(target):
    class French(FakeNews):
        def hook(self, say, command, argument, place):
            if command == "GROUP":
                say("502 Accès refusé\0".encode("latin-1"))
                return True
            return None

    with French({"a.b": {}}) as server:
        _reports, error = pulled(server.account, ["a.b"], target)
    assert error.message == "127.0.0.1 does not let everybody in: 502 Acc?s refus?."


def test_groups_whose_names_are_no_text_are_left_out(target):
    odd = b"de.gr\xfc\xdfe".decode(errors="surrogateescape")
    groups = {"de.a": {1: letter("a")}, odd: {1: letter("odd")}, "de.z": {1: letter("z")}}
    with FakeNews(groups) as server:
        _reports, error = pulled(server.account, ["de.*"], target)
        with open_session(server.account) as session:
            offered = [listed.name for listed in session.list_folders()]
    assert (error, ids(target)) == (None, ["a", "z"])
    assert offered == ["de.a", "de.z"]


def test_lines_of_a_list_that_name_no_group_are_left_out():
    groups = {"de.a": {}, "de b": {}, "": {}, "de.größe": {}}
    with FakeNews(groups) as server, open_session(server.account) as session:
        assert session.expand(["*"]) == ["de.a", "de.größe"]


def test_a_message_id_that_is_no_text_is_not_remembered(target):
    class Odd(FakeNews):
        def overview(self, place, first, last):
            return [b"1\tsubject\tfrom\tdate\t<gr\xfc\xdfe@x.org>\t\t10\t1"]

    memory = KeptMemory()
    with Odd({"a.b": {1: letter("a")}}) as server:
        _reports, error = pulled(server.account, ["a.b"], target, memory)
    assert (error, ids(target)) == (None, ["a"])
    assert "marks" not in memory.load("a.b")


@pytest.mark.parametrize(
    "odd",
    [b'"R&D"', b'"&2AA-"', b'"&AAo-"', b'"a&zzz"', b"NIL", b'"&!!-"', b'""', "Entwürfe".encode()],
)
def test_a_folder_whose_name_is_no_text_is_left_out(odd):
    class Odd(FakeImap):
        def listing(self):
            return [b'* LIST () "/" ' + name for name in (b'"Z"', odd, b'"Gr&APYA3w-e"', b"INBOX")]

    with Odd({}) as server, open_session(server.account) as session:
        assert [listed.name for listed in session.list_folders()] == ["INBOX", "Größe", "Z"]


def test_a_folder_of_any_letters_is_opened_after_the_folders_were_listed(target):
    with (
        FakeImap({"Gr&APYA3w-e": {1: letter(1)}}) as server,
        open_session(server.account) as session,
    ):
        (listed,) = session.list_folders()
        assert session.examine(listed.name).messages == 1


# The password


class Parrot(FakeImap):
    """Repeats what it is told at the login in its goodbye."""

    def hook(self, say, command, argument, place):
        if command == "LOGIN":
            say(f"* BYE cannot handle: LOGIN {argument}")
            return False
        if command == "AUTHENTICATE":
            say("+ ", f"* BYE cannot handle: {argument} {TOKEN}")
            return True
        return None


class ParrotOfNews(FakeNews):
    answer_to_pass = ""

    def hook(self, say, command, argument, place):
        if command == "AUTHINFO" and argument.upper().startswith("PASS"):
            say(f"{self.answer_to_pass}unknown command AUTHINFO {argument}")
            return True
        return None


def refused(account):
    with pytest.raises(TapestryError) as caught, open_session(account):
        pass
    # Neither does a log show it, of where the error came from.
    shown = "".join(traceback.format_exception(caught.value))
    for hidden in (SECRET, TOKEN):
        assert hidden not in caught.value.render()
        assert hidden not in shown
    return caught.value


@pytest.mark.parametrize("method", ["password", "xoauth2"])
def test_a_goodbye_that_repeats_the_login_is_not_quoted_whole(method):
    with Parrot({}) as server:
        server.capabilities = "IMAP4rev1 AUTH=XOAUTH2"
        error = refused(replace(server.account, method=method, secret=SECRET))
    assert isinstance(error, ConnectionLostError)
    assert "…" in error.message


@pytest.mark.parametrize("code", ["", "400 ", "481 ", "502 ", "381 ", "205 "])
def test_an_answer_that_repeats_the_password_is_not_quoted_whole(code):
    with ParrotOfNews({}) as server:
        server.answer_to_pass = code
        account = replace(server.account, user="joe", secret=SECRET)
        error = refused(account)
    if not code:
        assert isinstance(error, ConnectionLostError)
