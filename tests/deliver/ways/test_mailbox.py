"""Delivery to mailbox servers that refuse: which message is left out, and what is tried again."""

from __future__ import annotations

import time

import pytest

from tapestry.core.errors import OwnFaultError, TapestryError
from tapestry.deliver.batch import Batch, DeliveredMatch
from tapestry.deliver.imap.folders import MailFolders
from tapestry.deliver.ways import mailbox
from tapestry.deliver.ways.mailbox import MailboxSettings, deliver_to_mailbox, preview
from tapestry.tables.read.originals import Original
from tests.support.servers.fake_servers import FakeImap, letter


class FakeMailbox(FakeImap):
    """A server that can be written to, in the oldest way: no NAMESPACE, no keywords, no MOVE.

    ``refused`` are answers to APPEND in turn, by the number of the message; ``creation`` is the
    answer to CREATE, ``permanent`` the PERMANENTFLAGS.
    """

    delimiter = '"/"'
    creation = "OK done"
    permanent = "* OK [PERMANENTFLAGS (\\Seen)] no keywords"
    exists = False

    def __init__(self, capabilities="IMAP4rev1"):
        self.capabilities = capabilities
        self.refused = {}
        self.appended = []
        super().__init__({})

    def answer(self, say, told, state):
        if state.get("literal", 0) > 0:
            state["literal"] -= len(told) + 2
            state["text"].append(told)
            if state["literal"] <= 0:
                n = int(state["text"][-2])
                said = self.refused[n].pop(0) if self.refused.get(n) else "OK done"
                if said.startswith("OK"):
                    self.appended.append((n, state["flags"]))
                say(f"{state['tag']} {said}")
            return True
        tag, _, rest = told.partition(" ")
        command, _, argument = rest.partition(" ")
        if command == "LIST":
            say(f'* LIST (\\Noselect) {self.delimiter} ""' if argument == '"" ""' else "* OK none")
            say(f"{tag} OK done")
        elif command == "CREATE":
            self.exists = self.creation.startswith("OK")
            say(f"{tag} {self.creation}")
        elif command == "STATUS":
            say(f"{tag} NO there is none")
        elif command == "SELECT":
            say("* 0 EXISTS", "* OK [UIDVALIDITY 1]", self.permanent)
            say(f"{tag} OK done" if self.exists else f"{tag} NO there is none")
        elif command == "APPEND":
            size = int(argument.rpartition("{")[2].rstrip("}"))
            flags = argument[argument.index("(") : argument.index(")") + 1]
            state.update(literal=size + 2, text=[], flags=flags, tag=tag)
            say("+ go on")
        elif rest.startswith("UID SEARCH"):
            say("* SEARCH", f"{tag} OK done")
        else:
            return super().answer(say, told, state)
        return True


def match(n, op="insert", name="lunch"):
    return DeliveredMatch(
        n, op, 7, name, "", f"{n}@x.org", "public", f"no. {n}", "joe@x.org", "", 0, 0
    )


def deliver(server, *numbers, seen=(), flags=(), unreadable=None):
    confirmed = []

    def original_of(msgid, audience):
        number = int(msgid.partition("@")[0])
        if number == unreadable:
            raise OwnFaultError("An error of this site.")
        return Original(letter(number), (), flags)

    outcome = deliver_to_mailbox(
        server.account,
        MailboxSettings(),
        Batch("key", 0, 99, tuple(map(match, numbers))),
        original_of,
        lambda confirmation: confirmed.append((confirmation.match.sequence, confirmation.action)),
        seen=seen,
    )
    return outcome, confirmed


@pytest.mark.parametrize("refused", [1, 2])
@pytest.mark.parametrize("said", ["NO I do not like it", "BAD what is this?", "NO [TOOBIG] no"])
def test_a_message_that_is_refused_before_another_is_taken_is_left_out(refused, said):
    with FakeMailbox() as server:
        server.refused = {refused: [said] * 2}
        outcome, confirmed = deliver(server, 1, 2, 3)
        assert outcome.state == "delivered"
        assert confirmed == [(n, "skipped" if n == refused else "appended") for n in (1, 2, 3)]
        assert f"“no. {refused}”: 127.0.0.1 refuses it: " in outcome.answer


@pytest.mark.parametrize("said", ["NO I do not like it", "BAD what is this?"])
def test_a_server_that_takes_nothing_more_is_tried_again(said):
    with FakeMailbox() as server:
        server.refused = {n: [said] * 2 for n in (2, 3)}
        outcome, confirmed = deliver(server, 1, 2, 3)
        assert (outcome.state, confirmed) == ("retry", [(1, "appended")])
        assert "refuses it" in outcome.answer


def test_what_was_refused_for_a_moment_is_not_left_out():
    with FakeMailbox() as server:
        server.refused = {n: ["NO system error"] for n in (1, 2)}
        outcome, confirmed = deliver(server, 1, 2, 3)
        assert (outcome.state, confirmed) == ("delivered", [(n, "appended") for n in (1, 2, 3)])
        assert [n for n, _flags in server.appended] == [3, 1, 2]


def test_all_may_be_too_large():
    with FakeMailbox() as server:
        server.refused = {n: ["NO [TOOBIG] message is too large"] for n in (1, 2)}
        outcome, confirmed = deliver(server, 1, 2)
        assert (outcome.state, confirmed) == ("delivered", [(1, "skipped"), (2, "skipped")])


@pytest.mark.parametrize("code", ["UNAVAILABLE", "SERVERBUG", "TRYCREATE", "OVERQUOTA"])
def test_what_concerns_all_messages_is_tried_again(code):
    with FakeMailbox() as server:
        server.refused = {2: [f"NO [{code}] not now"]}
        outcome, confirmed = deliver(server, 1, 2, 3)
        assert (outcome.state, confirmed) == ("retry", [(1, "appended")])
        assert deliver(server, 2, 3)[0].state == "delivered"
        assert [n for n, _flags in server.appended] == [1, 2, 3]


def test_an_append_limit_is_kept_to():
    with FakeMailbox(f"IMAP4rev1 APPENDLIMIT={len(letter(1))}") as server:
        outcome, confirmed = deliver(server, 1, 1000)
        assert confirmed == [(1, "appended"), (1000, "skipped")]
        assert "takes no message that is so large" in outcome.answer
        assert [n for n, _flags in server.appended] == [1]


def test_no_keyword_is_set_where_there_are_none():
    with FakeMailbox() as server:
        assert deliver(server, 1, 2, seen={"2@x.org"})[0].state == "delivered"
        assert server.appended == [(1, "()"), (2, "(\\Seen)")]


@pytest.mark.parametrize(
    ("permanent", "kept"),
    [
        ("[PERMANENTFLAGS (\\Seen \\Flagged \\*)]", "\\Flagged todo"),
        ("[PERMANENTFLAGS (\\Seen \\FLAGGED \\Answered)]", "\\Flagged"),
        ("[PERMANENTFLAGS (\\Seen ToDo)]", "todo"),
        ("[PERMANENTFLAGS ()]", ""),
        ("says nothing of them", "\\Flagged"),
    ],
)
def test_of_the_flags_of_the_original_the_folder_gets_those_that_it_takes(permanent, kept):
    with FakeMailbox() as server:
        server.permanent = f"* OK {permanent}"
        ours = "$TapestryDelivered " if "\\*" in permanent else ""
        assert deliver(server, 1, flags=("\\Flagged", "todo"))[0].state == "delivered"
        assert server.appended == [(1, f"({ours}{kept})")]


def test_a_message_that_is_refused_with_its_flags_is_put_in_without_them():
    with FakeMailbox() as server:
        server.permanent = "* OK [PERMANENTFLAGS (\\Seen \\*)]"
        server.refused = {1: ["NO [LIMIT] too many keywords"]}
        outcome, confirmed = deliver(server, 1, flags=("todo",), seen={"1@x.org"})
        assert (outcome.state, confirmed) == ("delivered", [(1, "appended")])
        assert server.appended == [(1, "(\\Seen $TapestryDelivered)")]


def test_a_folder_that_may_not_be_written_to():
    with FakeMailbox() as server:
        server.refused = {1: ["NO [NOPERM] it is not yours"]}
        outcome, confirmed = deliver(server, 1, 2)
        assert (outcome.state, confirmed) == ("refused", [])
        assert "does not let joe put mail below Tapestry: " in outcome.answer


@pytest.mark.parametrize("parent", ["", " / ", "INBOX", "inbox/"])
def test_the_parent_is_a_folder_of_its_own(parent):
    with pytest.raises(TapestryError, match="a parent folder of their own"):
        MailboxSettings(parent)


@pytest.mark.parametrize(
    ("said", "state", "answer"),
    [
        ("NO permission denied", "refused", "does not let joe create the folder Tapestry/lunch"),
        ("NO [OVERQUOTA] too many", "retry", "is full"),
        ("NO [UNAVAILABLE] later", "retry", "cannot take mail just now"),
    ],
)
def test_a_folder_that_cannot_be_created(said, state, answer):
    with FakeMailbox() as server:
        server.creation = said
        outcome, confirmed = deliver(server, 1)
        assert (outcome.state, confirmed) == (state, [])
        assert answer in outcome.answer


def test_a_server_without_levels_of_folders():
    with FakeMailbox() as server:
        server.delimiter = "NIL"
        assert deliver(server, 1)[0].state == "delivered"
        assert any(line.endswith('CREATE "Tapestry - lunch"') for line in server.log)


def test_nothing_to_do_is_done():
    with FakeMailbox() as server:
        outcome, confirmed = deliver(server)
        assert (outcome.state, outcome.answer, confirmed) == (
            "delivered",
            "Nothing had to be done.",
            [],
        )


def test_a_preview_names_the_folders():
    matches = (match(1, name="lunch 1/2"), match(2, "delete"))
    shown = preview(Batch("key", 0, 2, matches), MailboxSettings("Mail/Found"))
    assert [folder for folder, _match in shown] == ["Mail/Found/lunch 1∕2", "Mail/Found/lunch/Left"]


def test_a_server_that_answers_a_little_now_and_then_is_left(monkeypatch):
    class Dripping(FakeMailbox):
        ended = False

        def hook(self, say, command, argument, place):
            if command != "CAPABILITY":
                return None
            for number in range(600):
                time.sleep(0.1)
                say(f"* {number} EXISTS")
            self.ended = True
            return False

    monkeypatch.setattr(mailbox, "LONGEST", 1.0)
    with Dripping() as server:
        server.greeting = "* OK hello"  # so it is asked what it can
        outcome, confirmed = deliver(server, 1)
        assert (outcome.state, confirmed, server.ended) == ("retry", [], False)


def test_a_message_that_cannot_be_read_costs_no_other():
    with FakeMailbox() as server:
        outcome, confirmed = deliver(server, 1, 2, 3, unreadable=3)
        assert outcome.state == "delivered"
        assert confirmed == [(1, "appended"), (2, "appended"), (3, "skipped")]
        assert "“no. 3”: An error of this site." in outcome.answer


def test_a_fault_of_our_own_code_is_none_of_the_server(monkeypatch):
    monkeypatch.setattr(MailFolders, "below", lambda *_: {}["nobody foresaw this"])
    with FakeMailbox() as server, pytest.raises(OwnFaultError):
        deliver(server, 1)
