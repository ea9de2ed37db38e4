"""A folder of any size is taken in with memory that does not grow with it."""

import json
import subprocess
import sys

import pytest

from tests.support.servers.dovecot import PASSWORD, USER

pytestmark = [pytest.mark.live, pytest.mark.timeout(1800)]

PULL = """\
import json, resource, sys
from tests.support.clocks import MemoryClock
from tests.support.intake import ingest_target
from pathlib import Path
from tapestry.servers.account import ANYWHERE, Account
from tapestry.ingest.pull import pull_account
from tapestry.ingest.sync_state import InMemorySyncStates
from tapestry.tables.delta.log import Tables

port, user, secret, root, *folders = sys.argv[1:]
account = Account("imap", "127.0.0.1", int(port), "none", user, secret, allowed=ANYWHERE)
for folder in folders:
    target = ingest_target(Tables(Path(root) / folder), MemoryClock(), "user:alice")
    (report,) = pull_account(account, [folder], target, InMemorySyncStates())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"read": report.tally.read, "added": report.tally.added, "peak": peak}))
"""


def fill(server, folder, count):
    """Put files into a Maildir: to append as many would take long."""
    server.put(folder)
    new = server.home / "mail" / USER / f".{folder}" / "new"
    body = "What a line has to say.\n" * 40
    for n in range(count):
        head = f"Message-ID: <{n}@x.org>\nFrom: Joe <joe@x.org>\nSubject: number {n}\n\n"
        (new / f"{1_000_000_000 + n}.M{n}P1.x").write_text(head + body)


def pull(server, folders, root):
    """Pull one folder after another in a process; return of each what came, and the peak so far."""
    done = subprocess.run(
        [sys.executable, "-c", PULL, str(server.port), USER, PASSWORD, str(root), *folders],
        env={"PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
        timeout=1500,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize(
    "count",
    [pytest.param(8_000, id="8000"), pytest.param(100_000, id="100000", marks=pytest.mark.long)],
)
def test_memory_does_not_grow_with_the_folder(dovecot, tmp_path, count):
    fill(dovecot, f"Small-{count}", 2_000)
    fill(dovecot, f"Large-{count}", count)
    small, large = pull(dovecot, [f"Small-{count}", f"Large-{count}"], tmp_path)
    assert (small["added"], large["added"]) == (2_000, count)
    # A batch is 2,000 messages.  What does grow is the list of known keys, a little.
    assert large["peak"] < small["peak"] + 100, (small, large)
