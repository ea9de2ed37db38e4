"""The IMAP server as `up` starts it, and mail programs as people have them."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.conf import LazySettings
from django.db import connection

from filters.api.authentication import make_token
from filters.inbox.models import Match
from filters.people.models import User
from filters.site.launch.processes import imap
from filters.site.settings.imap import ImapPlace, read_imap
from tapestry.core.errors import TapestryError
from tapestry.core.processes.child_process import free_port, stop
from tapestry.tables.delta.log import Tables
from tests.filters.imap.conftest import Place, certify, connect
from tests.filters.imap.test_reading import RAW, put
from tests.support.lists.listed_mail import find, installed
from tests.support.processes.site_parts import eventually
from tests.support.processes.terminal import Terminal

MBSYNC = """\
IMAPAccount tapestry
Host localhost
Port {port}
User alice
Pass {secret}
SSLType IMAPS
SystemCertificates no
CertificateFile {authority}

IMAPStore there
Account tapestry

MaildirStore here
Path {mail}/
Inbox {mail}/INBOX
SubFolders Verbatim

Channel all
Far :there:
Near :here:
Patterns *
Create Near
Sync All
SyncState *
"""


NEOMUTT = """\
set folder = "imaps://localhost:{port}/"
set spoolfile = "+Filters/plans"
set imap_user = alice
set imap_pass = "{secret}"
set certificate_file = "{authority}"
set ssl_use_system_certs = no
set ssl_force_tls = yes
set imap_idle = yes
set timeout = 5
set mail_check = 5
set header_cache = ""
set quit = yes
set auto_tag = no
set wait_key = no
set mark_old = no
set arrow_cursor = yes
set index_format = "%C %Z %s"
set status_format = "messages: %m"
set pager_format = "reading"
set beep = no
"""


@pytest.fixture
def process(transactional_db: None, data: Path, settings: LazySettings) -> Iterator[Place]:
    """Start the server as a process; fail if an error is in its log."""
    certificate, authority = certify(data)
    settings.IMAP = place = ImapPlace("127.0.0.1", free_port(), str(certificate), "")
    environment = os.environ | {
        "DATABASE_URL": f"sqlite:///{connection.settings_dict['NAME']}",
        "DJANGO_SETTINGS_MODULE": "tapestry.settings",
        "SECRET_KEY": "of the tests",
        "TAPESTRY_DATA": str(data),
        "TAPESTRY_IMAP": f"{place.host}:{place.port}",
        "TAPESTRY_IMAP_CERTIFICATE": place.certificate,
    }
    (program,) = imap()
    child = program.start(data, environment)
    log = data / program.log
    try:
        while not _answers(place.port):
            assert child.alive, log.read_text()
            time.sleep(0.1)
        yield place.port, authority
    finally:
        stop([child])
    assert "Traceback" not in log.read_text(), log.read_text()


def _answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 5).close()
    except OSError:
        return False
    return True


@pytest.mark.live
def test_the_process_serves_a_list(process: Place, alice: User, tables: Tables) -> None:
    put(tables, "plan@x", RAW)
    find(tables, installed(alice, "plans"), "plan@x")
    client = connect(process)
    client.login("alice", make_token(alice, "phone", ["imap"], 7)[1])
    client.select_folder("INBOX")
    assert client.fetch([1], ["ENVELOPE"])[1][b"ENVELOPE"].subject == b"The plan"
    client.logout()


@pytest.mark.live
def test_mbsync_keeps_a_copy_and_brings_flags_back(
    process: Place, alice: User, tables: Tables, tmp_path: Path
) -> None:
    mbsync = shutil.which("mbsync")
    assert mbsync is not None, "`make test` installs it on Debian: isync."
    put(tables, "plan@x", RAW)
    find(tables, installed(alice, "plans"), "plan@x")
    mail = tmp_path / "copy"
    mail.mkdir()
    secret = make_token(alice, "laptop", ["imap"], 7)[1]
    port, authority = process
    config = tmp_path / "mbsyncrc"
    config.write_text(MBSYNC.format(port=port, secret=secret, authority=authority, mail=mail))

    def sync() -> list[Path]:
        done = subprocess.run([mbsync, "-c", config, "all"], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        folder = mail / "Filters" / "plans"
        return [path for name in ("new", "cur") for path in (folder / name).iterdir()]

    (copy,) = sync()
    assert b"Shall we meet on Tuesday?" in copy.read_bytes()
    copy.rename(copy.parent.parent / "cur" / f"{copy.name.partition(':')[0]}:2,FS")
    sync()
    assert Match.objects.get().read_at is not None
    assert alice.message_states.get().starred_at is not None
    Match.objects.update(read_at=None)
    (copy,) = sync()
    assert copy.name.endswith(":2,F")


@pytest.fixture
def neomutt(process: Place, alice: User, tmp_path: Path) -> Callable[[], Terminal]:
    """Return a function that starts NeoMutt, which opens the list of a filter."""
    assert shutil.which("neomutt") is not None, "`make test` installs it on Debian."
    secret = make_token(alice, "laptop", ["imap"], 7)[1]
    port, authority = process
    config = tmp_path / "neomuttrc"
    config.write_text(NEOMUTT.format(port=port, secret=secret, authority=authority))
    return lambda: Terminal(["neomutt", "-n", "-F", str(config)], tmp_path)


@pytest.mark.live
def test_neomutt_reads_and_flags(
    alice: User, tables: Tables, neomutt: Callable[[], Terminal]
) -> None:
    put(tables, "plan@x", RAW)
    find(tables, installed(alice, "plans"), "plan@x")
    with neomutt() as screen:
        screen.wait_for(b"The plan")
        screen.press(b"\r")
        screen.wait_for(b"Shall we meet on Tuesday?")
        screen.press(b"iF$")
        eventually(lambda: Match.objects.get().read_at is not None)
        eventually(lambda: alice.message_states.filter(starred_at__isnull=False).exists())


@pytest.mark.live
@pytest.mark.long
def test_neomutt_sees_what_is_new(
    alice: User, tables: Tables, neomutt: Callable[[], Terminal]
) -> None:
    filter_ = installed(alice, "plans")
    put(tables, "plan@x", RAW)
    find(tables, filter_, "plan@x")
    with neomutt() as screen:
        screen.wait_for(b"The plan")
        put(tables, "later@x", RAW.replace(b"The plan", b"A later one"))
        find(tables, filter_, "later@x")
        screen.wait_for(b"New mail in this mailbox")
    with neomutt() as screen:
        screen.wait_for(b"A later one")


@pytest.mark.parametrize(
    ("place", "says"),
    [
        ("993", "which is no address with a port"),
        ("mail.example.org:993", "which is no address with a port"),
        ("0.0.0.0:993", "there is no certificate"),
    ],
)
def test_a_place_that_is_none_is_one_sentence(place: str, says: str) -> None:
    with pytest.raises(TapestryError, match=says):
        read_imap({"TAPESTRY_IMAP": place})


def test_a_certificate_that_is_none_is_one_sentence(tmp_path: Path) -> None:
    environ = {"TAPESTRY_IMAP": "[::]:993", "TAPESTRY_IMAP_CERTIFICATE": str(tmp_path / "no")}
    place = read_imap(environ)
    assert place is not None and place.host == "::"
    with pytest.raises(TapestryError, match="cannot be used"):
        place.context()
