"""Nothing in a manifest of a backup is believed: what is wrong is said, and nothing is changed."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from filters.site.management.commands.restore import Command
from filters.upkeep.manifest import MANIFEST, Manifest, read_manifest
from tapestry.core.errors import TapestryError
from tests.support.faults.stored_world import run

ROWS = "tables/messages/0.parquet"
CONTENTS = {"db.sqlite3": b"a database", "secret.key": b"a key", ROWS: b"rows"}


def entry(content: bytes) -> dict[str, Any]:
    return {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}


FILES = {name: entry(content) for name, content in CONTENTS.items()}
WHOLE = {"format": 1, "made": "2026-11-23T12:00:00+00:00", "rows": {"messages": 3}, "files": FILES}


def changed(*path: str, to: Any) -> bytes:
    """The manifest with another value at a path."""
    manifest: Any = copy.deepcopy(WHOLE)
    inner = manifest
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = to
    return json.dumps(manifest).encode()


def without(*path: str) -> bytes:
    """The manifest without what is at a path."""
    manifest: Any = copy.deepcopy(WHOLE)
    inner = manifest
    for key in path[:-1]:
        inner = inner[key]
    del inner[path[-1]]
    return json.dumps(manifest).encode()


def named(name: str) -> bytes:
    """The manifest with another file."""
    return changed("files", name, to=entry(b"evil"))


@pytest.fixture
def backup(tmp_path: Path) -> Path:
    directory = tmp_path / "backup"
    for name, content in CONTENTS.items():
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_bytes(content)
    (directory / MANIFEST).write_text(json.dumps(WHOLE))
    return directory


MANGLED = {
    "empty": (b"", "not JSON"),
    "cut": (json.dumps(WHOLE).encode()[:-9], "not JSON"),
    "not UTF-8": (json.dumps(WHOLE).encode("utf-16"), "not JSON in UTF-8"),
    "deep": (b"[" * 200_000, "not JSON"),
    "long number": (b"1" * 10_000, "not JSON"),
    "list": (b"[]", "it is no object"),
    "null": (b"null", "it is no object"),
    "no format": (without("format"), "format is not 1"),
    "newer format": (changed("format", to=2), "newer version"),
    "true format": (changed("format", to=True), "format is not 1"),
    "no made": (without("made"), "“made” is not an instant"),
    "made of words": (changed("made", to="yesterday"), "“made” is not an instant"),
    "made a number": (changed("made", to=3), "“made” is not an instant"),
    "no rows": (without("rows"), "“rows” is no object"),
    "rows a list": (changed("rows", to=[]), "“rows” is no object"),
    "rows of words": (changed("rows", "messages", to="3"), "rows of 'messages'"),
    "no files": (without("files"), "“files” is no object"),
    "files empty": (changed("files", to={}), "names not one of db.sqlite3"),
    "files a list": (changed("files", to=[ROWS]), "“files” is no object"),
    "no database": (without("files", "db.sqlite3"), "names not one of db.sqlite3"),
    "two databases": (named("database.dump"), "names not one of db.sqlite3"),
    "file a number": (changed("files", ROWS, to=4), f"what it says of {ROWS} is no object"),
    "no size": (without("files", ROWS, "bytes"), f"the size of {ROWS}"),
    "negative size": (changed("files", ROWS, "bytes", to=-4), f"the size of {ROWS}"),
    "half a byte": (changed("files", ROWS, "bytes", to=4.5), f"the size of {ROWS}"),
    "true size": (changed("files", ROWS, "bytes", to=True), f"the size of {ROWS}"),
    "other size": (changed("files", ROWS, "bytes", to=5), f"{ROWS} is missing, or not as"),
    "no checksum": (without("files", ROWS, "sha256"), "is no SHA-256"),
    "short checksum": (changed("files", ROWS, "sha256", to="9f"), "is no SHA-256"),
    "file that is missing": (named("tables/missing"), "tables/missing is missing"),
    "directory": (named("tables/messages"), "tables/messages is missing"),
    "file in a file": (named(f"{ROWS}/evil"), "evil is missing"),
    "very long name": (named("tables/" + "x" * 5000), "is missing"),
    **{
        f"name {name!a}": (named(name), "it names a file that no backup has")
        for name in (
            "", ".", "..", "/", "/etc/passwd", "../evil", "../../x/evil", "tables/../../evil",
            "tables/..", "tables//evil", "tables/./evil", "tables/", "tables", "run/evil",
            "backup.json", "secret.key/evil", "tables/\0", "tables/\ud800", "tables/\x1b[2J",
        )
    },
}  # fmt: skip


def restored(source: Path) -> None:
    Command().run_from_argv(["manage.py", "restore", str(source), "--skip-checks"])


@pytest.mark.parametrize("case", MANGLED)
def test_a_mangled_manifest_is_refused_in_one_sentence_before_anything_is_written(
    backup: Path, tmp_path: Path, capsys: Any, monkeypatch: Any, case: str
) -> None:
    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    monkeypatch.setattr("filters.site.work.parts.services.data", lambda: data)
    content, words = MANGLED[case]
    (backup / MANIFEST).write_bytes(content)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(SystemExit) as ended:
        restored(backup)
    errors = capsys.readouterr().err
    assert ended.value.code == 1
    assert errors.startswith(f"error: {backup}") and words in errors
    assert len(errors.splitlines()) == 2, "a sentence, and what to do"
    written = [path for path in sorted(tmp_path.rglob("*")) if data / "run" not in path.parents]
    assert written in (before, sorted([*before, data / "run"]))


@pytest.mark.sqlite
def test_nothing_is_written_outside_the_data_directory(backup: Path, tmp_path: Path) -> None:
    evil, data = backup / "evil", tmp_path / "site" / "data"
    evil.write_bytes(b"evil")
    data.parent.mkdir()
    for name in (f"../../{backup.name}/../backup/evil", "../backup/evil", str(evil)):
        (backup / MANIFEST).write_bytes(named(name))
        program = run(data, "restore", backup)
        _, errors = program.communicate(timeout=600)
        assert program.returncode == 1 and "it names a file that no backup has" in errors, errors
    found = {path.relative_to(tmp_path) for path in tmp_path.rglob("evil")}
    assert found == {Path("backup/evil")}
    assert {path.name for path in data.iterdir()} <= {"run"}


def linked_file(backup: Path) -> None:
    elsewhere = (backup / ROWS).rename(backup.with_name("elsewhere"))
    (backup / ROWS).symlink_to(elsewhere)


def linked_directory(backup: Path) -> None:
    elsewhere = (backup / "tables").rename(backup.with_name("elsewhere"))
    (backup / "tables").symlink_to(elsewhere)


@pytest.mark.parametrize("link", [linked_file, linked_directory])
def test_a_symbolic_link_in_a_backup_is_refused(backup: Path, link: Callable[[Path], None]) -> None:
    link(backup)
    with pytest.raises(TapestryError, match="is a symbolic link, which no backup has"):
        read_manifest(backup)


def test_what_was_written_is_read(backup: Path) -> None:
    manifest = read_manifest(backup)
    assert (manifest.made, manifest.rows, manifest.size) == (WHOLE["made"], WHOLE["rows"], 19)
    assert (manifest.database, set(manifest.files)) == ("db.sqlite3", set(CONTENTS))
    linked = backup.with_name("latest")
    linked.symlink_to(backup)
    assert read_manifest(linked) == manifest, "the directory itself may be named by a link"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["bytes", "sha256", "..", ROWS]), inner, max_size=3)
    ),
    max_leaves=5,
)
PATHS = [(key,) for key in WHOLE] + [("files", name) for name in FILES]
PATHS += [("files", name, key) for name in FILES for key in ("bytes", "sha256", "more")]
PATHS += [("rows", "messages"), ("rows", "more"), ("more",)]


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(path=st.sampled_from(PATHS), value=JSON, name=st.text(max_size=12), cut=st.integers(0, 600))
def test_whatever_a_manifest_says_it_is_read_or_refused(
    backup: Path, path: tuple[str, ...], value: Any, name: str, cut: int
) -> None:
    mangled = changed(*path, to=value)
    for content in (mangled, mangled[:cut], mangled[:cut] + mangled[cut + 1 :], named(name)):
        (backup / MANIFEST).write_bytes(content)
        try:
            manifest = read_manifest(backup)
        except TapestryError as error:
            assert error.hint and "\n" not in error.message
            continue
        assert isinstance(manifest, Manifest) and set(manifest.files) <= set(CONTENTS)
