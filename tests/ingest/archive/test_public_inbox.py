"""An archive in git: what it adds is read once, whatever becomes of it between two times."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest

from tapestry.core.errors import TapestryError
from tapestry.core.schema import MESSAGES
from tapestry.ingest.archive.public_inbox import repositories
from tapestry.tables.delta.log import Tables
from tests.support.clocks import MemoryClock
from tests.support.intake import ingest

AUTHOR = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@x.org", "GIT_AUTHOR_DATE": "@1 +0000"}
COMMITTER = {name.replace("AUTHOR", "COMMITTER"): value for name, value in AUTHOR.items()}


def git(repo: Path, *arguments: str, given: bytes = b"") -> str:
    command = ["git", "--git-dir", os.fspath(repo), *arguments]
    environ = os.environ | AUTHOR | COMMITTER
    return (
        subprocess.run(command, input=given, env=environ, check=True, capture_output=True)
        .stdout.decode()
        .strip()
    )


def begin(repo: Path) -> Path:
    repo.mkdir(parents=True)
    git(repo, "init", "--quiet", "--bare", "--initial-branch=master")
    return repo


def letter(name: str) -> bytes:
    return f"Message-ID: <{name}@x.org>\nSubject: {name}\nFrom: a@x.org\n\n{name}\n".encode()


def commit(repo: Path, tree: str, parent: str | None) -> str:
    of_parent = ("-p", parent) if parent else ()
    return git(repo, "commit-tree", tree, "-m", "x", *of_parent)


def add(repo: Path, names: Iterable[str], file: str = "m", parent: str | None = None) -> str | None:
    """Commit a message each, as version 2 does."""
    for name in names:
        blob = git(repo, "hash-object", "-w", "--stdin", given=letter(name))
        tree = git(repo, "mktree", given=f"100644 blob {blob}\t{file}\n".encode())
        parent = commit(repo, tree, parent)
    if parent:
        git(repo, "update-ref", "refs/heads/master", parent)
    return parent


@pytest.fixture
def tables(tmp_path: Path) -> Tables:
    return Tables(tmp_path / "tables")


@pytest.fixture
def clock() -> MemoryClock:
    return MemoryClock()


def names_in(tables: Tables) -> list[str]:
    rows = tables.open(MESSAGES).to_pyarrow_table(columns=["msgid"]).column("msgid").to_pylist()
    return sorted(msgid.partition("@")[0] for msgid in rows)


def take_in(path: Path, tables: Tables, clock: MemoryClock) -> tuple[int, list[str]]:
    """Ingest an archive; return how many messages were read, and those that are there."""
    report = ingest(os.fspath(path), tables, clock)
    return report.read, names_in(tables)


def test_an_archive_goes_on_where_it_stopped_over_commits_and_epochs(
    tmp_path: Path, tables: Tables, clock: MemoryClock
) -> None:
    inbox = tmp_path / "list"
    first = begin(inbox / "git" / "0.git")
    last = add(first, ["a", "b"])
    assert take_in(inbox, tables, clock) == (2, ["a", "b"])
    git(first, "gc", "--quiet")
    last = add(first, ["c"], parent=last)
    add(first, ["b"], file="d", parent=last)
    assert take_in(inbox, tables, clock) == (1, ["a", "b", "c"]), "what is removed there stays here"
    for number in (2, 10):
        add(begin(inbox / "git" / f"{number}.git"), [f"of{number}"])
    begin(inbox / "git" / "11.git")
    (inbox / "all.git").mkdir()
    assert [repo.name for repo in repositories(inbox)] == ["0.git", "2.git", "10.git", "11.git"]
    assert take_in(inbox, tables, clock) == (2, ["a", "b", "c", "of10", "of2"])
    assert take_in(inbox, tables, clock)[0] == 0


def test_an_archive_whose_history_is_written_anew_is_read_again_and_nothing_is_there_twice(
    tmp_path: Path, tables: Tables, clock: MemoryClock
) -> None:
    repo = begin(tmp_path / "list.git")
    add(repo, ["a", "b", "c"])
    take_in(repo, tables, clock)
    last = add(repo, ["a", "c"])
    assert take_in(repo, tables, clock) == (2, ["a", "b", "c"])
    add(repo, ["d", "e"], parent=last)
    assert take_in(repo, tables, clock)[1] == ["a", "b", "c", "d", "e"]
    assert take_in(repo, tables, clock)[0] == 0


def test_an_archive_of_version_1_is_read(
    tmp_path: Path, tables: Tables, clock: MemoryClock
) -> None:
    repo, entries, parent = begin(tmp_path / "list.git"), b"", None
    for name in ("a", "b"):
        blob = git(repo, "hash-object", "-w", "--stdin", given=letter(name))
        below = git(repo, "mktree", given=f"100644 blob {blob}\t{blob[2:]}\n".encode())
        entries += f"040000 tree {below}\t{blob[:2]}\n".encode()
        parent = commit(repo, git(repo, "mktree", given=entries), parent)
    git(repo, "update-ref", "refs/heads/master", str(parent))
    assert take_in(repo, tables, clock) == (2, ["a", "b"])


def test_a_repository_of_something_else_is_refused(
    tmp_path: Path, tables: Tables, clock: MemoryClock
) -> None:
    repo = begin(tmp_path / "code" / ".git")
    add(repo, ["a"], file="main.c")
    with pytest.raises(TapestryError, match="holds no mail"):
        take_in(tmp_path / "code", tables, clock)


def test_a_damaged_epoch_is_named_and_the_others_are_read(
    tmp_path: Path, tables: Tables, clock: MemoryClock
) -> None:
    inbox = tmp_path / "list"
    for number, name in enumerate(["a", "b", "c"]):
        add(begin(inbox / "git" / f"{number}.git"), [name])
    repo = inbox / "git" / "1.git"
    name = git(repo, "rev-parse", "master:m")
    blob = repo / "objects" / name[:2] / name[2:]
    blob.chmod(0o600)
    blob.write_bytes(b"broken")
    with pytest.raises(TapestryError, match=r"1\.git is damaged"):
        take_in(inbox, tables, clock)
    blob.unlink()
    with pytest.raises(TapestryError, match=r"1\.git is damaged"):
        take_in(inbox, tables, clock)
    assert names_in(tables) == ["a", "c"]
