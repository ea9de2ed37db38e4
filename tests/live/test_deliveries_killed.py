"""Every match is delivered once by every way, whichever worker is killed, and whenever."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass

import pytest
from imapclient import IMAPClient

from tests.support.delivery.delivered_people import People, Servers
from tests.support.delivery.deliveries_killed import run_campaign, running_workers
from tests.support.delivery.deliveries_received import (
    NAME,
    differences,
    mailbox_differences,
    servable,
    wanted,
)
from tests.support.delivery.readers import FeedReader, StreamReader
from tests.support.servers.cutting_proxy import CuttingProxy
from tests.support.servers.dovecot import running_dovecot
from tests.support.servers.http_recorder import recording_server

pytestmark = [
    pytest.mark.live,
    pytest.mark.django_db(transaction=True),
    pytest.mark.timeout(1800),
]

NO_MAIL = rb"\Noselect"
"""The attribute of a folder that has only folders (RFC 3501, section 7.2.2)."""

KILLS = [
    pytest.param(3, id="3"),
    pytest.param(200, id="200", marks=[pytest.mark.long, pytest.mark.timeout(3600)]),
]


@pytest.fixture
def dovecot():
    """A mail server for one campaign: another puts messages of the same names into its folders."""
    with running_dovecot() as server:
        yield server


@pytest.fixture
def servers(dovecot, smtp):
    proxy = CuttingProxy(dovecot.port)
    with recording_server() as http:
        yield Servers(smtp, http, proxy)
    proxy.close()


@pytest.fixture
def campaign(servers, dovecot, settings, tmp_path):
    """Return a function that runs a campaign, and returns what is wrong in the end."""
    settings.DATA = tmp_path
    settings.SECRET_KEY = "of the tests"

    def run(kills, seed, fault="", steps=()):
        people = People(servers, random.Random(seed))
        people.settle()
        readers = [StreamReader(), FeedReader()]
        log = tmp_path / "workers.log"
        with running_workers(servers, log, fault) as workers:
            run_campaign(people, workers, kills, [reader.look for reader in readers], steps)
        if not fault:
            assert all(len(wanted(each)) > kills // 2 for each in servable())
            assert "Traceback" not in log.read_text(), log.read_text()[-5000:]
        found = list(differences(people))
        for reader in readers:
            found += reader.differences()
        return found + list(mailbox_differences(people, folders_of(dovecot)))

    return run


def folders_of(server):
    """Return the names of the messages in each folder of a mailbox."""
    with server.session() as client:
        folders = [name for flags, _, name in client.list_folders() if NO_MAIL not in flags]
        return {name: subjects_in(client, name) for name in folders}


def subjects_in(client: IMAPClient, name):
    client.select_folder(name, readonly=True)
    fetched = client.fetch(client.search(), ["ENVELOPE"])
    subjects = [str(data[b"ENVELOPE"].subject, "ascii") for data in fetched.values()]
    return [subject for subject in subjects if NAME.fullmatch(subject)]


@pytest.mark.parametrize("kills", KILLS)
def test_every_match_is_delivered_once_by_every_way(campaign, kills):
    found = campaign(kills, seed=kills)
    assert not found, "\n".join(found)


@dataclass(frozen=True)
class Planted:
    """A fault, the steps at which workers are killed, and what must be found, a pattern."""

    fault: str
    steps: tuple[str, ...]
    found: str
    kills: int = 3
    long: bool = False


PLANTED = [
    Planted("confirm_first", ("batch made",), "is in 0 deliveries", kills=1),
    Planted("other_key", ("sent",), "is in two deliveries|comes after", kills=4, long=True),
    Planted("open_range", ("sent",), "is in two deliveries", kills=6, long=True),
    Planted("muted_too", ("claimed",), "was not to be sent", kills=1, long=True),
    Planted("everybodys", ("claimed",), "was not to be sent", kills=1, long=True),
    Planted("not_looked_for", ("message sent",), "too many", kills=6, long=True),
    Planted("too_early", ("released",), "was not to be sent", kills=1, long=True),
]


@pytest.mark.parametrize(
    "planted",
    [pytest.param(each, id=each.fault, marks=[pytest.mark.long] * each.long) for each in PLANTED],
)
def test_the_campaign_finds_a_planted_fault(campaign, planted):
    found = campaign(planted.kills, 7, planted.fault, planted.steps)
    assert any(re.search(planted.found, words) for words in found), found
