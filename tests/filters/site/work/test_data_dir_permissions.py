"""What a command makes where nothing is yet is its user's alone."""

from __future__ import annotations

import os
import stat
import subprocess
from pathlib import Path

from tests.support.paths import ROOT
from tests.support.processes import forked

MANAGE = ROOT / "manage.py"


def test_mail_that_a_command_takes_in_is_its_users_alone(tmp_path: Path) -> None:
    mbox = tmp_path / "box"
    mbox.write_bytes(b"From x\nMessage-ID: <a@x>\nSubject: divorce\n\nText.\n")
    data = tmp_path / "data"
    environment = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"}
    account = ["createsuperuser", "--noinput", "--username=alice", "--email=alice@example.org"]
    for command in (["ingest", mbox], account, ["ingest", mbox, "--audience", "user:alice"]):
        done = forked.run(
            [MANAGE, *command],
            env=environment | {"TAPESTRY_DATA": str(data), "DJANGO_SUPERUSER_PASSWORD": "secret"},
            umask=0o022,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert done.returncode == 0, done.stderr
    made = [data, *data.rglob("*")]
    assert {path.name for path in made} > {"data", "db.sqlite3", "messages", "originals"}
    assert [path for path in made if stat.S_IMODE(path.stat().st_mode) & 0o077] == []
