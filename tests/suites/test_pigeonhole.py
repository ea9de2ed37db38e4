"""Imported Sieve scripts find what Pigeonhole's ``sieve-test`` files, on the same messages.

A rule of which the import says that it is not translated, or only nearly, is not compared.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from random import Random

import pytest

from filters.authoring.importing.files import read_file
from tapestry.core.schema import ANNOTATIONS, MESSAGES
from tapestry.ingest.parse import parse
from tapestry.plan.compile import compile_filter
from tapestry.query.context import Context
from tests.suites.answers import answer
from tests.suites.sieve_scripts import mail, script
from tests.support.engines.sqlite_engine import SqliteEngine

pytestmark = pytest.mark.live

RULES, MESSAGES_A_SCRIPT = 60, 30

LEAST = 12
"""Rules of a script that are compared and find something, at least: about a third do."""

CONFIG = """\
log_path = /dev/stderr
mail_location = maildir:{home}/mail
mail_home = {home}
first_valid_uid = 1
{user}
plugin {{
  sieve_max_actions = 0
  sieve_max_redirects = 0
}}
"""

FILED = re.compile(r"store message in folder: R(\d+)")


@pytest.fixture
def home() -> Iterator[Path]:
    """A directory that nobody may use: as root, sieve-test runs as that user."""
    if shutil.which("sieve-test") is None:
        pytest.skip("There is no sieve-test; `make test` installs dovecot-sieve on Debian.")
    with tempfile.TemporaryDirectory(prefix="sieve-") as directory:
        path = Path(directory)
        path.chmod(0o777)
        user = "mail_uid = nobody\nmail_gid = nogroup" if os.geteuid() == 0 else ""
        (path / "dovecot.conf").write_text(CONFIG.format(home=path, user=user))
        yield path


def filed(home: Path, raw: bytes) -> set[int]:
    """Return the rules by which Pigeonhole files a message."""
    (home / "message").write_bytes(raw)
    command = ["sieve-test", "-c", home / "dovecot.conf", home / "script.sieve", home / "message"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return {int(number) for number in FILED.findall(done.stdout)}


def differences(home: Path, seed: int) -> Iterator[str]:
    """Yield the rules of a random script that find something else here than there."""
    chance = Random(seed)
    text = script(chance, RULES)
    (home / "script.sieve").write_text(text)
    messages = list(mail(chance, MESSAGES_A_SCRIPT))
    rows = [asdict(parse(raw).message) | {"ts": 0} for raw in messages]
    engine = SqliteEngine({MESSAGES: rows, ANNOTATIONS: []})
    theirs = [filed(home, raw) for raw in messages]
    rules = text.splitlines()[1:]
    finding = 0
    for number, entry in enumerate(read_file(text.encode())):
        if not entry.is_exact:
            continue
        plan = compile_filter(entry.text, Context())
        found = answer(plan, ("public",), engine, 1)
        ours = {i for i, row in enumerate(rows) if row["msgid"] in found}
        finding += bool(ours)
        for i in ours ^ {i for i, folders in enumerate(theirs) if number in folders}:
            who = "only here" if i in ours else "only there"
            yield f"{who}: {rules[number]}\n{entry.text}\n{messages[i].decode()[:600]}"
    if finding < LEAST:
        yield f"only {finding} rules were compared that find something"


@pytest.mark.parametrize("seed", range(4))
def test_imported_rules_find_what_they_filed(home: Path, seed: int) -> None:
    found = list(differences(home, seed))
    assert not found, f"{len(found)}, the first of which is\n{found[0]}"


@pytest.mark.long
def test_imported_rules_find_what_they_filed_in_a_long_campaign(home: Path) -> None:
    for seed in range(100, 200):
        assert not list(differences(home, seed)), seed
